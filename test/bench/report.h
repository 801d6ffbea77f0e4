/* SPDX-License-Identifier: MIT */
/* The results of the benchmarks: a table for people, JSON for programs. */
#ifndef UVPERF_BENCH_REPORT_H
#define UVPERF_BENCH_REPORT_H

#include <stdio.h>

#include "compare.h"

typedef struct bench_report_s {
  FILE *table;
  FILE *json; /* NULL: not wanted */
  int is_tty; /* progress is shown on stderr */
  size_t rounds;
  const char *benchmark; /* the running one */
  size_t nr_verdicts;
  size_t nr_missed; /* bounds */
} bench_report_t;

/* Describes this machine. */
void bench_report_begin(bench_report_t *report);

/* A line of the table; its head is before the first. */
void bench_report_verdict(bench_report_t *report,
                          const bench_verdict_t *verdict);

/* Shows the progress on a terminal: round of rounds. */
void bench_report_progress(const bench_report_t *report, const char *comparison,
                           size_t round);

/* Says why a benchmark, or a part of it, was not run: something needed is
 * missing here ("tracefs"). */
void bench_report_skip(bench_report_t *report, const char *need);

/* How many bounds hold. */
void bench_report_end(bench_report_t *report);

#endif
