/* SPDX-License-Identifier: MIT */
/* Reads one moment on two clocks. */
#include <string.h>
#include <time.h>

#include "uvperf/system.h"

#include "host/system.h"
#include "sys/sys.h"

#define TRIES 10

static int try_pair(uvperf_clock_pair_t *pair) {
  uint64_t before, after;
  int rc = uvperf__sys_now(CLOCK_MONOTONIC, &before);

  memset(pair, 0, sizeof(*pair));
  if (rc == 0)
    rc = uvperf__sys_now(CLOCK_REALTIME, &pair->realtime);
  if (rc == 0)
    rc = uvperf__sys_now(CLOCK_MONOTONIC, &after);
  if (rc != 0)
    return rc;
  /* The result is the middle of the interval. The true time differs from the
   * middle by at most half of the interval, rounded up. */
  pair->error = (after - before + 1) / 2;
  pair->monotonic = before + pair->error;
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
  if (rc == 0 && uvperf__system_clock_ahead(CLOCK_MONOTONIC, &ahead) == 0)
    pair->monotonic -= (uint64_t)ahead;
  return rc;
}
