/* SPDX-License-Identifier: MIT */
/* How long calls took: a histogram of nanoseconds, and statistics. */
#ifndef TRACE_LATENCY_H
#define TRACE_LATENCY_H

#include <stddef.h>
#include <stdint.h>

/* Each power of two has four buckets. Times of 2^44 ns (4.9 hours) or more are
 * in the last bucket. */
#define TRACE_LATENCY_POWERS 44
#define TRACE_LATENCY_PARTS  4

/* All zero at first. */
typedef struct trace_latency_s {
  uint64_t nr;
  uint64_t total, min, max; /* nanoseconds */
  double mean, squares;     /* squares of the distances from the mean */
  uint64_t buckets[TRACE_LATENCY_POWERS * TRACE_LATENCY_PARTS];
} trace_latency_t;

void trace_latency_add(trace_latency_t *latency, uint64_t ns);

/* Adds everything from another histogram. */
void trace_latency_join(trace_latency_t *latency, const trace_latency_t *other);

/* Returns the percentile, or 0 if there are no calls. The result can be up to a
 * quarter too large, but is never above the maximum. */
uint64_t trace_latency_percentile(const trace_latency_t *latency,
                                  unsigned percent);

double trace_latency_stddev(const trace_latency_t *latency);

#endif
