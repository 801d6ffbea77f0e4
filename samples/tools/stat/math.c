/* SPDX-License-Identifier: MIT */
/* Keeps the mean and variance of a series with Welford's method, which does not
 * keep the values. This method loses no digits if values are large and close to
 * each other (Knuth, The Art of Computer Programming, volume 2, 4.2.2). */
#include "stat/math.h"

#include <math.h>

void stat_series_add(stat_series_t *series, double value) {
  double delta = value - series->mean;

  series->nr++;
  series->mean += delta / (double)series->nr;
  series->m2 += delta * (value - series->mean);
}

double stat_series_deviation_percent(const stat_series_t *series) {
  double nr = (double)series->nr;

  if (series->nr < 2 || fpclassify(series->mean) == FP_ZERO)
    return 0;
  return 100 * sqrt(series->m2 / (nr - 1) / nr) / fabs(series->mean);
}
