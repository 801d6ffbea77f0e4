/* SPDX-License-Identifier: MIT */
#include "trace/latency.h"

#include <math.h>

#define NR_BUCKETS ((size_t)TRACE_LATENCY_POWERS * TRACE_LATENCY_PARTS)

static size_t bucket_of(uint64_t ns) {
  size_t power = 0, i;
  uint64_t rest;

  for (rest = ns; rest > 1; rest >>= 1)
    power++;
  if (power >= TRACE_LATENCY_POWERS)
    return NR_BUCKETS - 1;
  i = (size_t)((power >= 2 ? ns >> (power - 2) : ns << (2 - power)) & 3);
  return power * TRACE_LATENCY_PARTS + i;
}

/* Returns the shortest time of a bucket. */
static uint64_t start_of(size_t bucket) {
  uint64_t part = bucket % TRACE_LATENCY_PARTS;

  return (TRACE_LATENCY_PARTS + part) << (bucket / TRACE_LATENCY_PARTS) >> 2;
}

/* Uses Welford's algorithm, which works with the small distances from the
 * mean. */
void trace_latency_add(trace_latency_t *latency, uint64_t ns) {
  double distance = (double)ns - latency->mean;

  if (latency->nr == 0 || ns < latency->min)
    latency->min = ns;
  if (ns > latency->max)
    latency->max = ns;
  latency->nr++;
  latency->total += ns;
  latency->mean += distance / (double)latency->nr;
  latency->squares += distance * ((double)ns - latency->mean);
  latency->buckets[bucket_of(ns)]++;
}

void trace_latency_join(trace_latency_t *latency,
                        const trace_latency_t *other) {
  double nr = (double)latency->nr, more = (double)other->nr;
  double distance = other->mean - latency->mean;
  size_t i;

  if (other->nr == 0)
    return;
  if (latency->nr == 0 || other->min < latency->min)
    latency->min = other->min;
  if (other->max > latency->max)
    latency->max = other->max;
  latency->squares +=
      other->squares + distance * distance * nr * more / (nr + more);
  latency->mean += distance * more / (nr + more);
  latency->nr += other->nr;
  latency->total += other->total;
  for (i = 0; i < NR_BUCKETS; i++)
    latency->buckets[i] += other->buckets[i];
}

uint64_t trace_latency_percentile(const trace_latency_t *latency,
                                  unsigned percent) {
  uint64_t wanted = (uint64_t)ceil((double)latency->nr * percent / 100);
  uint64_t nr = 0, end;
  size_t i;

  if (latency->nr == 0)
    return 0;
  for (i = 0; i + 1 < NR_BUCKETS; i++) {
    nr += latency->buckets[i];
    if (nr >= wanted)
      break;
  }
  end = start_of(i + 1) - 1;
  if (end < latency->min)
    return latency->min;
  return end > latency->max || i + 1 == NR_BUCKETS ? latency->max : end;
}

double trace_latency_stddev(const trace_latency_t *latency) {
  return latency->nr < 2 ? 0
                         : sqrt(latency->squares / (double)(latency->nr - 1));
}
