/* SPDX-License-Identifier: MIT */
/* Measures several contenders in turn, in one run of the program, so that other
 * load on the machine affects all of them alike. */
#ifndef UVPERF_BENCH_COMPARE_H
#define UVPERF_BENCH_COMPARE_H

#include <stddef.h>

/* Limits of a comparison. */
#define BENCH_MOST_METRICS    3
#define BENCH_MOST_CONTENDERS 6
#define BENCH_MOST_ROUNDS     199

/* Less is better. */
typedef struct bench_metric_s {
  const char *name; /* "CPU per record" */
  const char *unit; /* "ns" */
} bench_metric_t;

typedef struct bench_contender_s {
  const char *name;
  /* One short run: fills in a value for each metric. Returns 0, or 1 after
   * printing what failed. */
  int (*run)(void *arg, double *values);
  void *arg;
  /* For a yardstick and each metric: the measured value is at most this
   * multiple; 0: only report the ratio. */
  double bounds[BENCH_MOST_METRICS];
} bench_contender_t;

/* The first contender is measured, the others are its yardsticks. In a round
 * each runs once, and each yardstick once more, to be compared with itself:
 * that is the noise. Every round reverses the order. */
typedef struct bench_comparison_s {
  const char *name; /* the case: "56 bytes, 6 fields" */
  const bench_metric_t *metrics;
  size_t nr_metrics;
  const bench_contender_t *contenders;
  size_t nr_contenders;
} bench_comparison_t;

/* Of all runs: the median and the quartiles. */
typedef struct bench_spread_s {
  double low;
  double median;
  double high;
} bench_spread_t;

/* One metric of the measured contender, against one yardstick. */
typedef struct bench_verdict_s {
  const char *benchmark;
  const char *comparison;
  const bench_metric_t *metric;
  const char *measured; /* its name */
  const char *yardstick;
  size_t rounds;
  bench_spread_t value;
  bench_spread_t yard;
  bench_spread_t ratio; /* of the two in one round */
  double noise;         /* how far the yardstick is from itself */
  double bound;         /* 0: none */
  int holds;            /* ratio.median - noise <= bound */
} bench_verdict_t;

struct bench_report_s;

/* Runs the rounds of one comparison and reports each metric against each
 * yardstick. Returns 0, or 1 after printing what failed. */
int bench_compare(struct bench_report_s *report,
                  const bench_comparison_t *comparison);

#endif
