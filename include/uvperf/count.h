/* SPDX-License-Identifier: MIT */
/* What read(2) on a perf event gives, and what can be made of it. Needs no
 * libuv. */
#ifndef UVPERF_COUNT_H
#define UVPERF_COUNT_H

#include <stdint.h>

#include "uvperf/version.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One count. Fields whose bit is not in `present` are 0. All are totals since
 * the event was opened; the kernel never resets the times, not even by
 * PERF_EVENT_IOC_RESET. Source: perf_event_open(2), "Reading results". */
typedef struct uvperf_count_s {
  /* The PERF_FORMAT_* bits that the event's attr.read_format asked for. */
  uint64_t present;
  /* In units of the event: events, or nanoseconds for the clocks. */
  uint64_t value;
  /* PERF_FORMAT_TOTAL_TIME_ENABLED, nanoseconds. */
  uint64_t time_enabled;
  /* PERF_FORMAT_TOTAL_TIME_RUNNING, nanoseconds; less than time_enabled when
   * the PMU was multiplexed. */
  uint64_t time_running;
  /* PERF_FORMAT_ID. */
  uint64_t id;
  /* PERF_FORMAT_LOST (Linux 6.0): records the kernel could not write. Overlaps
   * with the LOST records in the ring: never add the two. */
  uint64_t lost;
  uint64_t reserved[4];
} uvperf_count_t;

/** Scales a count for the time that its event was not on a counter: value *
 *  enabled / running, in 128 bits, exact, rounded down. With running not below
 *  enabled it is the value.
 *
 *  Not for an event of a task on one CPU: the kernel counts it as enabled also
 *  while the task runs on another.
 *  @param value    In units of the event.
 *  @param enabled  Nanoseconds.
 *  @param running  Nanoseconds.
 *  @param scaled   Receives the result.
 *  @return 0, or
 *    -ENODATA    running is 0 and enabled is not: it never ran, and nothing is
 *      known; *scaled is 0;
 *    -EOVERFLOW  the result does not fit; *scaled is UINT64_MAX;
 *    -EINVAL     scaled is NULL.
 *  Source: perf_event_open(2), PERF_FORMAT_TOTAL_TIME_RUNNING. */
UVPERF_EXTERN int uvperf_scale(uint64_t value, uint64_t enabled,
                               uint64_t running, uint64_t *scaled);

/** Gives what an event counted between two uvperf_event_read: value, times and
 *  lost are differences, the rest is the newer's. A value that became less was
 *  reset in between (uvperf_event_reset): then it is the newer's. So is lost,
 *  and so are both times if one of them became less.
 *  @param older  The first.
 *  @param newer  The second.
 *  @param delta  Receives the difference; may be one of the two.
 *  @return 0, or
 *    -EINVAL  an argument is NULL, or both have ids and these differ; delta is
 *      left alone.
 *  Source: perf_event_open(2), PERF_EVENT_IOC_RESET. */
UVPERF_EXTERN int uvperf_count_delta(const uvperf_count_t *older,
                                     const uvperf_count_t *newer,
                                     uvperf_count_t *delta);

#ifdef __cplusplus
}
#endif

#endif
