/* SPDX-License-Identifier: MIT */
/* What the benchmarks found: a table for the reader, JSON for a program. */
#ifndef UVPERF_BENCH_REPORT_H
#define UVPERF_BENCH_REPORT_H

#include <stdio.h>

#include "compare.h"

typedef struct bench_report_s {
  FILE *table;
  FILE *json; /* NULL: none is wanted */
  int is_tty; /* progress is shown on stderr */
  size_t rounds;
  const char *benchmark; /* that is running */
  size_t nr_verdicts;
  size_t nr_times;
  size_t nr_missed; /* bounds */
} bench_report_t;

/* Which machine this is. */
void bench_report_begin(bench_report_t *report);

/* A line of the table; its head is before the first. */
void bench_report_verdict(bench_report_t *report,
                          const bench_verdict_t *verdict);

/* A line of what has no yardstick, in a table of its own: the median and the
 * 90th percentile of times in ns, and the median of what perf(1) takes, if
 * nr_perf is not 0. Sorts both. */
void bench_report_times(bench_report_t *report, const char *name, double *times,
                        size_t nr, double *perf, size_t nr_perf);

/* What is going on, on a terminal: round of rounds. */
void bench_report_progress(const bench_report_t *report, const char *comparison,
                           size_t round);

/* Says why a benchmark, or a part of it, was not run: a need that is not met
 * here ("tracefs"). */
void bench_report_skip(bench_report_t *report, const char *need);

/* How many bounds hold. */
void bench_report_end(bench_report_t *report);

#endif
