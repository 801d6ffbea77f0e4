/* SPDX-License-Identifier: MIT */
/* Metrics that are derived from several counts: instructions per cycle, the
 * percentage of misses, and so on. */
#ifndef STAT_METRIC_H
#define STAT_METRIC_H

#include "stat/report.h"

/* The most metrics that a line can have. */
#define STAT_METRICS 2

typedef struct stat_metric_s {
  double value;
  int width; /* of the value in text, as in perf-stat(1) */
  int decimals;
  const char *suffix; /* of the value, in text */
  const char *unit;
} stat_metric_t;

/* Derives the metrics of a line, from this line and other lines of the same
 * place. Returns the number of metrics. */
size_t stat_metrics(const stat_report_t *report, const stat_line_t *line,
                    stat_metric_t metrics[STAT_METRICS]);

#endif
