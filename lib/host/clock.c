/* SPDX-License-Identifier: MIT */
/* One moment on two clocks. */
#include <errno.h>
#include <time.h>

#include "uvperf/system.h"

#include "host/system.h"

#define TRIES 10

static uint64_t nanoseconds(const struct timespec *time) {
  return (uint64_t)time->tv_sec * 1000000000 + (uint64_t)time->tv_nsec;
}

static int try_pair(uvperf_clock_pair_t *pair) {
  struct timespec before, day, after;

  if (clock_gettime(CLOCK_MONOTONIC, &before) != 0 ||
      clock_gettime(CLOCK_REALTIME, &day) != 0 ||
      clock_gettime(CLOCK_MONOTONIC, &after) != 0)
    return -errno;
  /* The middle, which is off by half of the time at most, rounded up. */
  pair->error = (nanoseconds(&after) - nanoseconds(&before) + 1) / 2;
  pair->monotonic = nanoseconds(&before) + pair->error;
  pair->realtime = nanoseconds(&day);
  return 0;
}

int uvperf_clock_pair(uvperf_clock_pair_t *pair) {
  uvperf_clock_pair_t one;
  int rc = try_pair(pair);
  int64_t ahead;
  int i;

  for (i = 1; i < TRIES && rc == 0; i++) {
    rc = try_pair(&one);
    if (rc == 0 && one.error < pair->error)
      *pair = one;
  }
  if (uvperf__system_clock_ahead("", CLOCK_MONOTONIC, &ahead) == 0)
    pair->monotonic -= (uint64_t)ahead;
  return rc;
}

uint64_t uvperf_clock_realtime(const uvperf_clock_pair_t *pair, uint64_t time) {
  return pair->realtime + (time - pair->monotonic);
}
