/* SPDX-License-Identifier: MIT */
/* The mean and deviation of the values of several runs. */
#ifndef STAT_MATH_H
#define STAT_MATH_H

#include <stdint.h>

/* Values seen so far; all zero at first. */
typedef struct stat_series_s {
  uint64_t nr;
  double mean;
  double m2; /* the sum of the squares of the differences from the mean */
} stat_series_t;

void stat_series_add(stat_series_t *series, double value);

/* Returns the standard deviation of the mean (not of the values), in percent of
 * the mean, as `perf stat -r` prints it. Returns 0 for fewer than two values,
 * or if the mean is 0. */
double stat_series_deviation_percent(const stat_series_t *series);

#endif
