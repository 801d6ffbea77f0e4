/* SPDX-License-Identifier: MIT */
/* Writes a report for programs, as objects with the keys of `perf stat -j`. */
#include "stat/report.h"

#include <inttypes.h>
#include <stdlib.h>

#include "common/memory.h"
#include "common/text.h"
#include "stat/columns.h"
#include "stat/metric.h"
#include "stat/note.h"
#include "stat/value.h"

static void put_string(FILE *file, const char *key, const char *text) {
  fprintf(file, "\"%s\":", key);
  common_text_put_json(file, text);
}

static void put_number(FILE *file, const char *key, double value,
                       int decimals) {
  char text[STAT_NUMBER_BYTES];

  stat_value_print(text, value, decimals);
  fprintf(file, ",\"%s\":%s", key, text);
}

static void put_place(FILE *file, const stat_report_t *report,
                      const stat_line_t *line) {
  char text[STAT_PLACE_BYTES + 16];

  if (report->by == STAT_BY_CPU) {
    fprintf(file, "\"cpu\":\"%" PRId32 "\",", line->place);
  } else if (report->by >= STAT_BY_CORE) {
    put_string(file, stat_value_group(report->by),
               stat_value_place(report, line));
    fprintf(file, ",\"aggregate-number\":%" PRIu32 ",", line->nr_cpus);
  } else {
    snprintf(text, sizeof(text), "%s-%" PRId32, stat_value_place(report, line),
             line->place);
    put_string(file, "thread", text);
    fputc(',', file);
  }
}

static void put_begin(FILE *file, const stat_report_t *report,
                      const stat_line_t *line) {
  fputc('{', file);
  if (report->is_interval)
    fprintf(file, "\"interval\":%" PRIu64 ".%09" PRIu64 ",",
            report->at_ns / 1000000000, report->at_ns % 1000000000);
  if (report->by != STAT_BY_NONE && line->place >= 0)
    put_place(file, report, line);
}

static void put_event(FILE *file, const stat_event_t *event) {
  put_string(file, "event", event->label);
  if (event->cgroup != NULL)
    common_text_put_member(file, "cgroup", event->cgroup);
}

/* Values are strings, as in perf-stat(1), because some values are words. */
static void put_value(FILE *file, const stat_report_t *report,
                      const stat_line_t *line) {
  const stat_event_t *event = &report->events[line->event];
  char text[STAT_NUMBER_BYTES];

  if (stat_value_is_counted(line))
    stat_value_print(text, stat_value(report, line), 6);
  else
    snprintf(text, sizeof(text), "%s", stat_value_word(line));
  put_string(file, "counter-value", text);
  common_text_put_member(file, "unit", stat_value_unit(event));
  fputc(',', file);
  put_event(file, event);
  if (report->nr_runs > 1)
    put_number(file, "variance", line->deviation, 2);
  fprintf(file, ",\"event-runtime\":%" PRIu64,
          stat_value_runtime(report, line));
  put_number(file, "pcnt-running", stat_value_percent(line), 2);
}

static void put_metric(FILE *file, const stat_metric_t *metric) {
  put_number(file, "metric-value", metric->value, 6);
  common_text_put_member(file, "metric-unit", metric->unit);
}

/* Puts the keys that perf-stat(1) does not have. */
static void put_state(FILE *file, const stat_line_t *line) {
  char why[STAT_NOTE_BYTES];

  /* The count of a task that has ended is complete. */
  common_text_put_member(file, "state",
                         uvperf_count_state_name(stat_value_is_counted(line)
                                                     ? UVPERF_COUNT_COUNTING
                                                     : line->count.state));
  if (stat_value_is_counted(line) && line->count.nr_missing > 0)
    fprintf(file, ",\"counts\":%" PRIu32 ",\"missing\":%" PRIu32,
            line->count.nr_counts, line->count.nr_missing);
  if (stat_note_why(line, why))
    common_text_put_member(file, "error", why);
}

static void put_line(FILE *file, const stat_report_t *report,
                     const stat_line_t *line) {
  stat_metric_t metrics[STAT_METRICS];
  size_t i, nr = stat_metrics(report, line, metrics);

  put_begin(file, report, line);
  put_value(file, report, line);
  if (nr > 0)
    put_metric(file, &metrics[0]);
  put_state(file, line);
  fputs("}\n", file);
  for (i = 1; i < nr; i++) {
    put_begin(file, report, line);
    put_event(file, &report->events[line->event]);
    put_metric(file, &metrics[i]);
    fputs("}\n", file);
  }
}

void stat_json_lines(FILE *file, const stat_report_t *report) {
  size_t i;

  for (i = 0; i < report->nr_lines; i++) {
    if (!stat_value_is_hidden(report, &report->lines[i]))
      put_line(file, report, &report->lines[i]);
  }
}

/* Each key is followed by a comma, also the last one. */
static void put_columns(FILE *file, const stat_report_t *report,
                        const stat_line_t *row, const stat_columns_t *columns) {
  char text[STAT_NUMBER_BYTES];
  stat_metric_t metric;
  size_t i;

  put_begin(file, report, row);
  for (i = 0; i < columns->nr; i++) {
    if (!stat_columns_value(report, &columns->list[i], row, &metric))
      continue;
    stat_value_print(text, metric.value, metric.decimals);
    common_text_put_json(file, columns->list[i].name);
    fprintf(file, ":\"%s\",", text);
  }
}

/* Uses the format of later versions of perf-stat(1), because the output of 6.1
 * is not JSON. */
void stat_json_metrics(FILE *file, const stat_report_t *report,
                       const stat_columns_t *columns) {
  char *text = NULL;
  FILE *memory;
  size_t size, i;

  for (i = 0; i < report->nr_lines; i++) {
    if (!stat_columns_is_row(report, i))
      continue;
    memory = common_memory_open(&text, &size);
    put_columns(memory, report, &report->lines[i], columns);
    common_memory_close(memory);
    fprintf(file, "%.*s}\n", (int)(size - (text[size - 1] == ',')), text);
    free(text);
  }
}
