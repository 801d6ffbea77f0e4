/* SPDX-License-Identifier: MIT */
/* What read(2) on a perf event gives. Needs no libuv. */
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

#ifdef __cplusplus
}
#endif

#endif
