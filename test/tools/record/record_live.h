/* SPDX-License-Identifier: MIT */
/* Makes a perf.data file of real work of the calling thread, for the tests that
 * read it with perf(1). It has samples of a clock, a known number of hits of a
 * tracepoint, and side-band records, all in the order of one ring. */
#ifndef UVPERF_TEST_RECORD_LIVE_H
#define UVPERF_TEST_RECORD_LIVE_H

#include "live.h"

#include "record/file.h"

/* All types of records are below this number. */
#define RECORD_LIVE_TYPES 128

typedef struct record_live_s {
  /* The request: */
  const char *path;
  int without_tracepoint;
  int is_group;       /* the file marks the two as a group */
  const char *synced; /* a copy of the file before it is closed, or NULL */
  /* The event whose id is added after the file was synced: 1 is the clock, 2
   * the tracepoint, 0 none. */
  size_t late_id;
  uint64_t hits; /* of LIVE_SYSCALL */
  /* The result: numbers of written records by type, and of samples by event. */
  uint64_t written[RECORD_LIVE_TYPES];
  uint64_t clock_samples;
  uint64_t hit_samples;
  uint64_t first_time, last_time; /* of the hits */
} record_live_t;

/* Skips the test if these events cannot be opened. */
void record_live_make(const char *test, uv_loop_t *loop, record_live_t *live);

#endif
