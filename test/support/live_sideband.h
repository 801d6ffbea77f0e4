/* SPDX-License-Identifier: MIT */
/* Shared by the live tests of side-band records: an event that writes nothing
 * else, and a check of a record's sample_id trailer against what the test
 * did. */
#ifndef UVPERF_TEST_LIVE_SIDEBAND_H
#define UVPERF_TEST_LIVE_SIDEBAND_H

#include "live.h"

#define LIVE_TRAILER                                                           \
  (PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ID |                       \
   PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU | PERF_SAMPLE_IDENTIFIER)

/* What a trailer must contain. */
typedef struct live_truth_s {
  uint64_t before; /* CLOCK_MONOTONIC, before any record */
  int cpu;         /* on which everything happens */
  pid_t pid, tid;
} live_truth_t;

/* An attr that makes no records yet: set their bits. Each record wakes, and has
 * the whole trailer with times of CLOCK_MONOTONIC, or none if has_trailer is 0.
 * User side only. */
void live_sideband_attr(struct perf_event_attr *attr, int has_trailer);

/* Asserts that a record has the trailer that its event asked for, or no value
 * of it if none was asked for. */
void live_assert_trailer(live_collector_t *collector,
                         const uvperf_record_t *record,
                         const live_truth_t *truth);

/* Pins the caller to the last CPU, and stores that CPU, the pid, the tid and
 * the time as the truth. */
void live_truth_pin(live_truth_t *truth, cpu_set_t *old);

/* As live_end, for an event that also writes records of other tasks: only the
 * records that the hook counts are counted. */
void live_end_among_others(live_collector_t *collector, const uint64_t *counter,
                           uint64_t nr);

#endif
