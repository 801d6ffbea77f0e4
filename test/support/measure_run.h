/* SPDX-License-Identifier: MIT */
/* Shared by the tests of measuring functions: a set of events by their names,
 * with a reading of its own, and work that is a uvperf_measure_fn. */
#ifndef UVPERF_TEST_MEASURE_RUN_H
#define UVPERF_TEST_MEASURE_RUN_H

#include "live.h"

typedef struct measure_run_s {
  uvperf_set_t set;
  uvperf_reading_t *reading;
} measure_run_t;

/* Opens the events that a list names, on the target; NULL means the calling
 * thread. Fails the test on error. */
void measure_open(uv_loop_t *loop, measure_run_t *run, const char *names,
                  const uvperf_target_t *target);
/* Counts during one call: resets, enables, calls, disables and reads. */
void measure_do(measure_run_t *run, uvperf_measure_fn fn, void *arg);
/* Closes it, and runs the loop until its close callback was called. */
void measure_close(measure_run_t *run);

/* The sum of an attr over all places. */
uvperf_count_t measure_total(const measure_run_t *run, size_t attr);
/* Fails the test unless that is `value`, with all of the time on a counter. */
void measure_is(const measure_run_t *run, size_t attr, uint64_t value);
/* Fails the test unless a count has this value. */
void measure_count_is(const uvperf_count_t *count, uint64_t value);

/* Makes a meter of these events, on the target; NULL means the calling thread.
 * Fails the test on error. */
uvperf_meter_t *measure_meter(const char *names, const uvperf_target_t *target);

/* Work with a known effect: see live.h. The argument is a uint64_t *, how
 * often; for measure_touch it is a live_region(). */
void measure_nothing(void *arg);
void measure_syscalls(void *arg);
void measure_writes(void *arg);
void measure_touch(void *arg);
/* Adds 1 to an int. */
void measure_note(void *arg);

/* Lists of events by names: writes to live_word, calls of live_called, both by
 * breakpoints of the user side. */
#define MEASURE_NAME_BYTES 64
const char *measure_writes_name(char name[MEASURE_NAME_BYTES]);
const char *measure_calls_name(char name[MEASURE_NAME_BYTES]);

#endif
