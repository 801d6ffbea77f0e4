/* SPDX-License-Identifier: MIT */
/* Writes a report for programs, as the fields of `perf stat -x`. */
#include "stat/report.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/text.h"
#include "stat/columns.h"
#include "stat/metric.h"
#include "stat/note.h"
#include "stat/value.h"

/* The line that is being written. */
typedef struct fields_s {
  FILE *file;
  const char *separator;
  size_t nr;
} fields_t;

/* Puts a field, quoted if necessary. perf-stat(1) quotes nothing, so a label
 * with a comma shifts all fields after it. */
static void put(fields_t *fields, const char *text) {
  char *clean = common_text_cleaned(text);
  size_t i;
  int is_quoted =
      strchr(clean, '"') != NULL || strstr(clean, fields->separator) != NULL;
  if (fields->nr++ > 0)
    fputs(fields->separator, fields->file);
  if (is_quoted)
    fputc('"', fields->file);
  for (i = 0; clean[i] != '\0'; i++) {
    if (clean[i] == '"')
      fputc('"', fields->file);
    fputc(clean[i], fields->file);
  }
  if (is_quoted)
    fputc('"', fields->file);
  free(clean);
}

static void put_number(fields_t *fields, double value, int decimals,
                       const char *suffix) {
  char text[STAT_NUMBER_BYTES], field[STAT_NUMBER_BYTES + 8];

  stat_value_print(text, value, decimals);
  snprintf(field, sizeof(field), "%s%s", text, suffix);
  put(fields, field);
}

static void put_place(fields_t *fields, const stat_report_t *report,
                      const stat_line_t *line) {
  const char *name = stat_value_place(report, line);
  char text[STAT_PLACE_BYTES + 16] = "";

  if (report->by == STAT_BY_CPU && line->place >= 0)
    snprintf(text, sizeof(text), "CPU%" PRId32, line->place);
  else if (report->by >= STAT_BY_CORE)
    snprintf(text, sizeof(text), "%s", name);
  else if (report->by == STAT_BY_THREAD && line->place >= 0)
    snprintf(text, sizeof(text), "%s-%" PRId32, name, line->place);
  put(fields, text);
  if (report->by < STAT_BY_CORE)
    return;
  snprintf(text, sizeof(text), "%" PRIu32, line->nr_cpus);
  put(fields, text);
}

static void put_begin(fields_t *fields, const stat_report_t *report,
                      const stat_line_t *line) {
  char text[32];

  if (report->is_interval) {
    snprintf(text, sizeof(text), "%" PRIu64 ".%09" PRIu64,
             report->at_ns / 1000000000, report->at_ns % 1000000000);
    put(fields, text);
  } else if (report->is_summary) {
    put(fields, "summary");
  }
  if (report->by != STAT_BY_NONE)
    put_place(fields, report, line);
}

static void put_value(fields_t *fields, const stat_report_t *report,
                      const stat_line_t *line) {
  const stat_event_t *event = &report->events[line->event];
  char text[32];

  if (stat_value_is_counted(line))
    put_number(fields, stat_value(report, line), stat_value_decimals(event),
               "");
  else
    put(fields, stat_value_word(line));
  put(fields, stat_value_unit(event));
  put(fields, event->label);
  if (event->cgroup != NULL)
    put(fields, event->cgroup);
  if (report->nr_runs > 1)
    put_number(fields, line->deviation, 2, "%");
  snprintf(text, sizeof(text), "%" PRIu64, stat_value_runtime(report, line));
  put(fields, text);
  put_number(fields, stat_value_percent(line), 2, "");
}

/* Puts one more field if the value is incomplete or could not be read. */
static void put_note(fields_t *fields, const stat_line_t *line) {
  char text[STAT_NOTE_BYTES];

  if (stat_note_missing(line, text))
    put(fields, text);
  else if (line->count.state == UVPERF_COUNT_ERROR && stat_note_why(line, text))
    put(fields, text);
}

/* A second metric has its own line, in which the fields of the event are
 * empty. */
static void put_line(FILE *file, const char *separator,
                     const stat_report_t *report, const stat_line_t *line) {
  fields_t fields = {file, separator, 0};
  stat_metric_t metrics[STAT_METRICS] = {{0, 0, 0, "", ""}};
  size_t i, j, nr = stat_metrics(report, line, metrics);
  size_t nr_fields = report->nr_runs > 1 ? 6 : 5;

  if (report->events[line->event].cgroup != NULL)
    nr_fields++;
  put_begin(&fields, report, line);
  put_value(&fields, report, line);
  if (nr == 0) {
    put(&fields, "");
    put(&fields, "");
  }
  for (i = 0; i < nr; i++) {
    if (i > 0) {
      fputc('\n', file);
      fields.nr = 0;
      put_begin(&fields, report, line);
      for (j = 0; j < nr_fields; j++)
        put(&fields, "");
    }
    put_number(&fields, metrics[i].value, metrics[i].decimals, "");
    put(&fields, metrics[i].unit);
    if (i == 0)
      put_note(&fields, line);
  }
  if (nr == 0)
    put_note(&fields, line);
  fputc('\n', file);
}

void stat_csv_lines(FILE *file, const char *separator,
                    const stat_report_t *report) {
  size_t i;

  for (i = 0; i < report->nr_lines; i++) {
    if (!stat_value_is_hidden(report, &report->lines[i]))
      put_line(file, separator, report, &report->lines[i]);
  }
}

void stat_csv_metrics_head(FILE *file, const char *separator,
                           const stat_report_t *report,
                           const stat_columns_t *columns) {
  fields_t fields = {file, separator, 0};
  size_t i;

  if (report->is_interval)
    put(&fields, "time");
  if (report->by == STAT_BY_CPU)
    put(&fields, "cpu");
  if (report->by >= STAT_BY_CORE) {
    put(&fields, stat_value_group(report->by));
    put(&fields, "cpus");
  }
  for (i = 0; i < columns->nr; i++)
    put(&fields, columns->list[i].name);
  put(&fields, "");
  fputc('\n', file);
}

void stat_csv_metrics(FILE *file, const char *separator,
                      const stat_report_t *report,
                      const stat_columns_t *columns) {
  stat_metric_t metric;
  size_t i, j;

  for (i = 0; i < report->nr_lines; i++) {
    fields_t fields = {file, separator, 0};

    if (!stat_columns_is_row(report, i))
      continue;
    put_begin(&fields, report, &report->lines[i]);
    for (j = 0; j < columns->nr; j++) {
      if (stat_columns_value(report, &columns->list[j], &report->lines[i],
                             &metric))
        put_number(&fields, metric.value, metric.decimals, "");
      else
        put(&fields, "");
    }
    put(&fields, "");
    fputc('\n', file);
  }
}
