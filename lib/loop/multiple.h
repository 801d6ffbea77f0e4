/* SPDX-License-Identifier: MIT */
/* Timers that are due at multiples of their interval, in the time of uv_now,
 * fire in the same iteration of the loop, no matter when they were started. */
#ifndef UVPERF_LIB_LOOP_MULTIPLE_H
#define UVPERF_LIB_LOOP_MULTIPLE_H

#include <stdint.h>

/* Returns the first multiple of an interval (above 0) that is later than
 * `now`. */
static inline uint64_t uvperf__next_multiple(uint64_t now, uint64_t interval) {
  return now - now % interval + interval;
}

#endif
