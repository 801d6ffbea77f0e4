/* SPDX-License-Identifier: MIT */
/* --metric-only: a column for each metric, and a row for each place. */
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

/* Finds the metrics of the open events, also metrics without a value now. Like
 * perf-stat(1), leaves out rates per second and CPUs utilized. So software
 * events have no columns. */
void stat_columns_find(stat_columns_t *columns, const stat_report_t *report);

/* Returns 1 if a row begins with this line, because the line is the first of
 * its place. */
int stat_columns_is_row(const stat_report_t *report, size_t line);

/* Finds the value of a column in the row that begins with this line. Returns
 * 1 and *metric, or 0 if the column has no value. */
int stat_columns_value(const stat_report_t *report, const stat_column_t *column,
                       const stat_line_t *row, stat_metric_t *metric);

void stat_columns_free(stat_columns_t *columns);

#endif
