/* SPDX-License-Identifier: MIT */
/* What a count tells beside others: instructions per cycle, misses of all, and
 * so on. */
#ifndef STAT_METRIC_H
#define STAT_METRIC_H

#include "stat/report.h"

/* As many as can be told of one line. */
#define STAT_METRICS 2

typedef struct stat_metric_s {
  double value;
  int width; /* of the value in text, as perf-stat(1) has it */
  int decimals;
  const char *suffix; /* of the value, in text */
  const char *unit;
} stat_metric_t;

/* Tells what can be derived of a line and the others of its CPU; how many
 * metrics that are. */
size_t stat_metrics(const stat_report_t *report, const stat_line_t *line,
                    stat_metric_t metrics[STAT_METRICS]);

#endif
