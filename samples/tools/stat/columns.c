/* SPDX-License-Identifier: MIT */
/* Finds the columns: the metrics of a report in which every open event has a
 * count. */
#include "stat/columns.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/memory.h"
#include "stat/value.h"

/* The rules of valid_only_metric in perf's stat-display.c. */
static int is_left_out(const char *unit) {
  return strstr(unit, "/sec") != NULL || strstr(unit, "CPUs utilized") != NULL;
}

/* The name of a column. A metric such as "of all branches" begins with the
 * label of its event. */
static char *make_name(const stat_event_t *event, const char *unit) {
  const char *cgroup = event->cgroup == NULL ? "" : event->cgroup;
  const char *label = strncmp(unit, "of all", 6) == 0 ? event->label : "";
  size_t size = strlen(label) + strlen(unit) + strlen(cgroup) + 3;
  char *name = common_calloc(1, size);

  snprintf(name, size, "%s%s%s%s%s", label, label[0] == '\0' ? "" : " ", unit,
           cgroup[0] == '\0' ? "" : " ", cgroup);
  return name;
}

static void add(stat_columns_t *columns, const stat_report_t *report,
                size_t event, const char *unit) {
  stat_column_t *column;

  column = COMMON_ADD(columns->list, columns->nr, columns->capacity);
  column->event = event;
  column->unit = unit;
  column->name = make_name(&report->events[event], unit);
}

/* Makes a line for each event, with a value if the event is open anywhere. */
static stat_line_t *make_lines(const stat_report_t *report) {
  stat_line_t *lines = common_calloc(report->nr_events, sizeof(*lines)), *line;
  size_t i;

  for (i = 0; i < report->nr_events; i++) {
    lines[i].event = i;
    lines[i].place = -1;
    lines[i].mean = 1;
    lines[i].count.time_running = 1;
  }
  for (i = 0; i < report->nr_lines; i++) {
    line = &lines[report->lines[i].event];
    if (report->lines[i].count.state != UVPERF_COUNT_NONE &&
        report->lines[i].count.state != UVPERF_COUNT_NOT_AVAILABLE)
      line->count.state = UVPERF_COUNT_COUNTING;
  }
  return lines;
}

void stat_columns_find(stat_columns_t *columns, const stat_report_t *report) {
  stat_line_t *lines = make_lines(report);
  stat_metric_t metrics[STAT_METRICS];
  stat_report_t made = *report;
  size_t i, j, nr;

  memset(columns, 0, sizeof(*columns));
  made.lines = lines;
  made.nr_lines = made.nr_events;
  made.elapsed_ns = 1;
  for (i = 0; i < made.nr_events; i++) {
    nr = stat_metrics(&made, &lines[i], metrics);
    for (j = 0; j < nr; j++) {
      if (!is_left_out(metrics[j].unit))
        add(columns, report, i, metrics[j].unit);
    }
  }
  free(lines);
}

int stat_columns_is_row(const stat_report_t *report, size_t line) {
  size_t i;

  if (stat_value_is_hidden(report, &report->lines[line]))
    return 0;
  for (i = 0; i < line; i++) {
    if (report->lines[i].place == report->lines[line].place &&
        !stat_value_is_hidden(report, &report->lines[i]))
      return 0;
  }
  return 1;
}

int stat_columns_value(const stat_report_t *report, const stat_column_t *column,
                       const stat_line_t *row, stat_metric_t *metric) {
  stat_metric_t metrics[STAT_METRICS];
  const stat_line_t *line;
  size_t i, j, nr;

  for (i = 0; i < report->nr_lines; i++) {
    line = &report->lines[i];
    if (line->event != column->event || line->place != row->place)
      continue;
    nr = stat_metrics(report, line, metrics);
    for (j = 0; j < nr; j++) {
      *metric = metrics[j];
      if (strcmp(metrics[j].unit, column->unit) == 0)
        return 1;
    }
  }
  return 0;
}

void stat_columns_free(stat_columns_t *columns) {
  size_t i;

  for (i = 0; i < columns->nr; i++)
    free(columns->list[i].name);
  free(columns->list);
  memset(columns, 0, sizeof(*columns));
}
