/* SPDX-License-Identifier: MIT */
/* A perf.data file of what the calling thread really did: a clock's samples and
 * exactly so many hits of a tracepoint, with their side-band records, in the
 * order of one ring; for the tests of what perf(1) makes of it. */
#ifndef UVPERF_TEST_RECORD_LIVE_H
#define UVPERF_TEST_RECORD_LIVE_H

#include "live.h"

#include "record/file.h"

/* Types of records are below this. */
#define RECORD_LIVE_TYPES 128

typedef struct record_live_s {
  /* What is wanted. */
  const char *path;
  int without_tracepoint;
  int is_group;       /* so the file says of the two */
  const char *synced; /* a copy of the file before it is closed, or NULL */
  /* The event whose id comes when the file was synced: 1 the clock, 2 the
   * tracepoint. */
  size_t late_id;
  uint64_t hits; /* of LIVE_SYSCALL */
  /* What was written, by type; and of samples by event. */
  uint64_t written[RECORD_LIVE_TYPES];
  uint64_t clock_samples;
  uint64_t hit_samples;
  uint64_t first_time, last_time; /* of the hits */
} record_live_t;

/* Skips the test where there is no such event. */
void record_live_make(const char *test, uv_loop_t *loop, record_live_t *live);

#endif
