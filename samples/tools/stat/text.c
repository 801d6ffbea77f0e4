/* SPDX-License-Identifier: MIT */
/* Prints a report for people, in the columns of perf-stat(1). Two things differ
 * from perf-stat(1): no line ends in blanks, and a second metric is below the
 * first. */
#include "stat/report.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/text.h"
#include "stat/columns.h"
#include "stat/metric.h"
#include "stat/note.h"
#include "stat/value.h"

enum {
  TIME_WIDTH = 16, /* of the columns, without the blank after them */
  CPU_WIDTH = 10,
  CPUS_WIDTH = 4,
  COMM_WIDTH = 16,
  TID_WIDTH = 8,
  COUNT_WIDTH = 18,
  COLUMN_WIDTH = 20, /* of a metric in a row, at least */
  UNIT_WIDTH = 4,    /* at least: there is a heading */
  LABEL_WIDTH = 32,
  METRIC_WIDTH = 35
};

/* The line that is being written. Blanks are written only when more text
 * follows. */
typedef struct row_s {
  FILE *file;
  size_t blanks;
} row_t;

static size_t columns_of(const char *text) {
  size_t columns = 0, nr;

  for (; *text != '\0'; text += nr == 0 ? 1 : nr, columns++)
    nr = common_text_printable(text);
  return columns;
}

static void put(row_t *row, const char *text) {
  if (*text == '\0')
    return;
  fprintf(row->file, "%*s%s", (int)row->blanks, "", text);
  row->blanks = 0;
}

static void put_left(row_t *row, const char *text, size_t width) {
  size_t columns = columns_of(text);

  put(row, text);
  row->blanks += columns < width ? width - columns : 0;
}

static void put_right(row_t *row, const char *text, size_t width) {
  size_t columns = columns_of(text);

  row->blanks += columns < width ? width - columns : 0;
  put(row, text);
}

/* Puts a name that users chose, left-aligned, without characters that a
 * terminal could take for a command. */
static void put_name(row_t *row, const char *name, size_t width) {
  char *clean = common_text_cleaned(name);

  put_left(row, clean, width);
  free(clean);
}

static size_t unit_width(const stat_report_t *report) {
  size_t width = UNIT_WIDTH, i;

  for (i = 0; i < report->nr_events; i++) {
    size_t columns = columns_of(stat_value_unit(&report->events[i]));

    width = columns > width ? columns : width;
  }
  return width;
}

/* Returns the width of the column for cgroups, or 0 without cgroups. */
static size_t cgroup_width(const stat_report_t *report) {
  size_t width = 0, i;

  for (i = 0; i < report->nr_events; i++) {
    const char *cgroup = report->events[i].cgroup;
    size_t columns = cgroup == NULL ? 0 : columns_of(cgroup);

    width = columns > width ? columns : width;
  }
  return width;
}

/* Returns the width of the name of a core, die, socket or node. */
static size_t group_width(enum stat_by by) {
  if (by == STAT_BY_CORE)
    return 15;
  return by == STAT_BY_DIE ? 12 : 6;
}

/* The columns before the count. */
static void put_place(row_t *row, const stat_report_t *report,
                      const stat_line_t *line) {
  const char *name = stat_value_place(report, line);
  char text[STAT_PLACE_BYTES + 32] = "", clean[STAT_PLACE_BYTES];
  size_t columns;

  switch (report->by) {
    case STAT_BY_CPU:
      if (line->place >= 0)
        snprintf(text, sizeof(text), "CPU%" PRId32, line->place);
      put_left(row, text, CPU_WIDTH + 1);
      break;
    case STAT_BY_THREAD: /* the dashes are aligned */
      common_text_clean(clean, sizeof(clean), name);
      columns = columns_of(clean);
      columns = columns < COMM_WIDTH ? columns : COMM_WIDTH;
      if (line->place >= 0)
        snprintf(text, sizeof(text), "%s-%" PRId32, clean, line->place);
      row->blanks += COMM_WIDTH - columns;
      put_left(row, text, columns + 1 + TID_WIDTH + 1);
      break;
    default:
      if (line->place >= 0)
        snprintf(text, sizeof(text), "%-*s %*" PRIu32,
                 (int)group_width(report->by), name, CPUS_WIDTH, line->nr_cpus);
      put_left(row, text, group_width(report->by) + 1 + CPUS_WIDTH + 1);
      break;
  }
}

static void put_begin(row_t *row, const stat_report_t *report,
                      const stat_line_t *line) {
  char text[32];

  if (report->is_interval) {
    snprintf(text, sizeof(text), "%6" PRIu64 ".%09" PRIu64,
             report->at_ns / 1000000000, report->at_ns % 1000000000);
    put_left(row, text, TIME_WIDTH + 1);
  }
  if (report->by != STAT_BY_NONE)
    put_place(row, report, line);
}

static void put_value(row_t *row, const stat_report_t *report,
                      const stat_line_t *line) {
  /* The format is in a variable, because ISO C does not know the flag that
   * groups digits. */
  const char *grouped = "%'.*f";
  char text[STAT_NUMBER_BYTES];

  if (stat_value_is_counted(line))
    snprintf(text, sizeof(text), grouped,
             stat_value_decimals(&report->events[line->event]),
             stat_value(report, line));
  else
    snprintf(text, sizeof(text), "%s", stat_value_word(line));
  put_right(row, text, COUNT_WIDTH);
  row->blanks++;
}

static void put_metric(row_t *row, const stat_metric_t *metric) {
  char text[STAT_NUMBER_BYTES + 64];

  row->blanks++;
  snprintf(text, sizeof(text), "# %*.*f%s %s", metric->width, metric->decimals,
           metric->value, metric->suffix, metric->unit);
  put_left(row, text, METRIC_WIDTH - 1);
}

/* Puts the deviation, the percentage and the missing counts after a value. */
static void put_end(row_t *row, const stat_line_t *line) {
  const uvperf_count_t *count = &line->count;
  char text[STAT_NOTE_BYTES];

  if (line->deviation > 0) {
    snprintf(text, sizeof(text), "  ( +-%6.2f%% )", line->deviation);
    put(row, text);
  }
  if (count->time_running != count->time_enabled && count->time_enabled > 0) {
    snprintf(text, sizeof(text), "  (%.2f%%)", stat_value_percent(line));
    put(row, text);
  }
  if (stat_note_missing(line, text)) {
    put(row, "  (");
    put(row, text);
    put(row, ")");
  }
  fputc('\n', row->file);
}

static void put_line(FILE *file, const stat_report_t *report,
                     const stat_line_t *line) {
  const stat_event_t *event = &report->events[line->event];
  stat_metric_t metrics[STAT_METRICS];
  size_t units = unit_width(report), cgroups = cgroup_width(report);
  row_t row = {file, 0};
  size_t i, nr;

  put_begin(&row, report, line);
  put_value(&row, report, line);
  put_name(&row, stat_value_unit(event), units + 1);
  put_name(&row, event->label, LABEL_WIDTH);
  /* This column is padded, so metrics begin at the same place in all lines. */
  if (cgroups > 0) {
    row.blanks++;
    put_name(&row, event->cgroup == NULL ? "" : event->cgroup, cgroups);
  }
  nr = stat_metrics(report, line, metrics);
  if (nr == 0)
    row.blanks += METRIC_WIDTH;
  for (i = 0; i < nr; i++) {
    if (i > 0) {
      fputc('\n', file);
      row.blanks = 0;
      put_begin(&row, report, line);
      row.blanks += COUNT_WIDTH + 1 + units + 1 + LABEL_WIDTH;
      row.blanks += cgroups == 0 ? 0 : 1 + cgroups;
    }
    put_metric(&row, &metrics[i]);
  }
  put_end(&row, line);
}

static void put_place_head(row_t *row, enum stat_by by) {
  if (by == STAT_BY_CPU) {
    put_left(row, "CPU", CPU_WIDTH + 1);
  } else if (by >= STAT_BY_CORE) {
    put_left(row, stat_value_group(by), group_width(by) + 1);
    put_left(row, "cpus", CPUS_WIDTH + 1);
  } else if (by == STAT_BY_THREAD) {
    put_right(row, "comm", COMM_WIDTH);
    put_left(row, "-pid", 1 + TID_WIDTH + 1);
  }
}

static void put_interval_head(FILE *file, const stat_report_t *report) {
  row_t row = {file, 0};

  put(&row, "#");
  put_right(&row, "time", TIME_WIDTH - 1);
  row.blanks++;
  put_place_head(&row, report->by);
  put_right(&row, "counts", COUNT_WIDTH);
  row.blanks++;
  put_right(&row, "unit", unit_width(report));
  put(&row, " events");
  fputc('\n', file);
}

void stat_text_head(FILE *file, const stat_report_t *report) {
  row_t row = {file, 0};

  if (report->is_interval) {
    put_interval_head(file, report);
    return;
  }
  fputs("\n Performance counter stats for ", file);
  put_name(&row, report->title, 0);
  if (report->nr_runs > 1)
    fprintf(file, " (%" PRIu32 " runs)", report->nr_runs);
  fputs(":\n\n", file);
}

void stat_text_lines(FILE *file, const stat_report_t *report) {
  size_t i;

  for (i = 0; i < report->nr_lines; i++) {
    if (!stat_value_is_hidden(report, &report->lines[i]))
      put_line(file, report, &report->lines[i]);
  }
}

/* -- --metric-only --------------------------------------------------------- */

static size_t column_width(const stat_column_t *column) {
  size_t columns = columns_of(column->name);

  return columns < COLUMN_WIDTH ? COLUMN_WIDTH : columns;
}

static size_t place_width(enum stat_by by) {
  if (by == STAT_BY_NONE)
    return 0;
  return by == STAT_BY_CPU ? CPU_WIDTH + 1
                           : group_width(by) + 1 + CPUS_WIDTH + 1;
}

void stat_text_metrics_head(FILE *file, const stat_report_t *report,
                            const stat_columns_t *columns) {
  row_t row = {file, 0};
  size_t i;

  if (report->is_interval) {
    put(&row, "#");
    put_right(&row, "time", TIME_WIDTH - 1);
    row.blanks++;
    put_place_head(&row, report->by);
  } else {
    row.blanks = place_width(report->by);
  }
  for (i = 0; i < columns->nr; i++) {
    row.blanks +=
        column_width(&columns->list[i]) - columns_of(columns->list[i].name);
    put_name(&row, columns->list[i].name, 0);
    row.blanks++;
  }
  fputc('\n', file);
}

static void put_row(FILE *file, const stat_report_t *report,
                    const stat_line_t *line, const stat_columns_t *columns) {
  char text[STAT_NUMBER_BYTES + 64];
  stat_metric_t metric;
  row_t row = {file, 0};
  size_t i, end;

  put_begin(&row, report, line);
  for (i = 0; i < columns->nr; i++) {
    text[0] = '\0';
    if (stat_columns_value(report, &columns->list[i], line, &metric))
      snprintf(text, sizeof(text), "%*.*f%s", metric.width, metric.decimals,
               metric.value, metric.suffix);
    /* A suffix can be a blank. */
    end = strlen(text) > 0 && text[strlen(text) - 1] == ' ';
    text[strlen(text) - end] = '\0';
    put_right(&row, text, column_width(&columns->list[i]) - end);
    row.blanks += end + 1;
  }
  fputc('\n', file);
}

void stat_text_metrics(FILE *file, const stat_report_t *report,
                       const stat_columns_t *columns) {
  size_t i;

  for (i = 0; i < report->nr_lines; i++) {
    if (stat_columns_is_row(report, i))
      put_row(file, report, &report->lines[i], columns);
  }
}

/* -- below the lines ------------------------------------------------------- */

/* Returns the number of decimals that show two digits of the deviation. */
static int get_decimals(double deviation) {
  int decimals = 2;

  if (!(deviation > 0))
    return 9;
  if (deviation < 1)
    decimals += (int)ceil(-log10(deviation));
  return decimals > 9 ? 9 : decimals;
}

static void put_elapsed(FILE *file, const stat_report_t *report) {
  double seconds = (double)report->elapsed_ns / 1e9;
  double deviation = seconds * report->elapsed_deviation / 100;
  int decimals = get_decimals(deviation);

  if (report->nr_runs < 2) {
    fprintf(file, " %17.9f seconds time elapsed\n", seconds);
    return;
  }
  fprintf(file, " %17.*f +- %.*f seconds time elapsed", decimals, seconds,
          decimals, deviation);
  if (report->elapsed_deviation > 0)
    fprintf(file, "  ( +-%6.2f%% )", report->elapsed_deviation);
  fputc('\n', file);
}

void stat_text_tail(FILE *file, const stat_report_t *report) {
  if (!report->is_interval) {
    fputc('\n', file);
    put_elapsed(file, report);
    if (report->has_times) {
      fprintf(file, "\n %17.9f seconds user\n", (double)report->user_ns / 1e9);
      fprintf(file, " %17.9f seconds sys\n", (double)report->system_ns / 1e9);
    }
    fputc('\n', file);
  }
  stat_note_print(file, report);
}
