/* SPDX-License-Identifier: MIT */
/* --metric-only: a column of each metric, and a row of each place. */
#ifndef STAT_COLUMNS_H
#define STAT_COLUMNS_H

#include "stat/metric.h"
#include "stat/report.h"

typedef struct stat_column_s {
  size_t event;
  const char *unit;
  char *name; /* "insn per cycle", "branch-misses of all branches" */
} stat_column_t;

typedef struct stat_columns_s {
  stat_column_t *list;
  size_t nr;
  size_t capacity;
} stat_columns_t;

/* Finds the metrics of the events that are open, whether or not they have a
 * value now. As perf-stat(1) leaves out events by the second and CPUs utilized,
 * software events have none. */
void stat_columns_find(stat_columns_t *columns, const stat_report_t *report);

/* Whether a row begins with a line: it is the first one of its place. */
int stat_columns_is_row(const stat_report_t *report, size_t line);

/* The value of a column in the row that begins with a line: 1, or 0 if there is
 * none. */
int stat_columns_value(const stat_report_t *report, const stat_column_t *column,
                       const stat_line_t *row, stat_metric_t *metric);

void stat_columns_free(stat_columns_t *columns);

#endif
