/* SPDX-License-Identifier: MIT */
/* What the live tests of side-band records share: an event that writes nothing
 * but these, and the sample_id trailer of a record checked against what was
 * done. */
#ifndef UVPERF_TEST_LIVE_SIDEBAND_H
#define UVPERF_TEST_LIVE_SIDEBAND_H

#include "live.h"

#define LIVE_TRAILER                                                           \
  (PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ID |                       \
   PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU | PERF_SAMPLE_IDENTIFIER)

/* What a trailer must say. */
typedef struct live_truth_s {
  uint64_t before; /* CLOCK_MONOTONIC, before any record */
  int cpu;         /* where all is done */
  pid_t pid, tid;
} live_truth_t;

/* An attr of no record yet: set the bits that make them. Each wakes, and has
 * the whole trailer with times of CLOCK_MONOTONIC, or, with has_trailer 0,
 * none. User side only. */
void live_sideband_attr(struct perf_event_attr *attr, int has_trailer);

/* Asserts that a record has the trailer that its event asked for, or that
 * nothing holds where it asked for none. */
void live_assert_trailer(live_collector_t *collector,
                         const uvperf_record_t *record,
                         const live_truth_t *truth);

/* Pins the caller to the last CPU, and takes it, its pid, its tid and the time
 * for the truth. */
void live_truth_pin(live_truth_t *truth, cpu_set_t *old);

/* As live_end, for an event that writes records of others too: only those that
 * the hook counts are counted. */
void live_end_among_others(live_collector_t *collector, const uint64_t *counter,
                           uint64_t nr);

#endif
