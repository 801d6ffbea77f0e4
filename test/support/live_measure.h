/* SPDX-License-Identifier: MIT */
/* Shared by the tests of measuring functions: a set of events by their names,
 * with a reading of its own, and work that is a uvperf_measure_fn. */
#ifndef UVPERF_TEST_LIVE_MEASURE_H
#define UVPERF_TEST_LIVE_MEASURE_H

#include "live.h"

typedef struct live_measure_run_s {
  uvperf_set_t set;
  uvperf_reading_t *reading;
} live_measure_run_t;

/* Opens the events that a list names, on the target; NULL means the calling
 * thread. Fails the test on error. */
void live_measure_open(uv_loop_t *loop, live_measure_run_t *run,
                       const char *names, const uvperf_target_t *target);
/* Counts during one call: resets, enables, calls, disables and reads. */
void live_measure_do(live_measure_run_t *run, uvperf_measure_fn fn, void *arg);
/* Closes it, and runs the loop until its close callback was called. */
void live_measure_close(live_measure_run_t *run);

/* The sum of an attr over all places. */
uvperf_count_t live_measure_total(const live_measure_run_t *run, size_t attr);
/* Fails the test unless that is `value`, with all of the time on a counter. */
void live_measure_is(const live_measure_run_t *run, size_t attr,
                     uint64_t value);
/* Fails the test unless a count has this value. */
void live_measure_count_is(const uvperf_count_t *count, uint64_t value);

/* Makes a meter of these events, on the target; NULL means the calling thread.
 * Fails the test on error. */
uvperf_meter_t *live_measure_meter(const char *names,
                                   const uvperf_target_t *target);

/* Work with a known effect: see live.h. The argument is a uint64_t *, how
 * often; for live_measure_touch it is a live_region(). */
void live_measure_nothing(void *arg);
void live_measure_syscalls(void *arg);
void live_measure_writes(void *arg);
void live_measure_touch(void *arg);
/* Adds 1 to an int. */
void live_measure_note(void *arg);

/* Lists of events by names: writes to live_word, calls of live_called, both by
 * breakpoints of the user side. */
#define LIVE_MEASURE_NAME_BYTES 64
const char *live_measure_writes_name(char name[LIVE_MEASURE_NAME_BYTES]);
const char *live_measure_calls_name(char name[LIVE_MEASURE_NAME_BYTES]);

#endif
