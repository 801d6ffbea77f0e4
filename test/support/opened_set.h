/* SPDX-License-Identifier: MIT */
/* What the scripted tests of opening on libuv's pool share: a set of two attrs
 * on two CPUs, with rings, whose requests the test has run. */
#ifndef UVPERF_TEST_OPENED_SET_H
#define UVPERF_TEST_OPENED_SET_H

#include "scripted_set.h"

typedef struct opened_s {
  uvperf_set_t set;
  counters_make_t make;
  fake_event_t *events[8];
  int opened; /* calls of its callback */
  int status;
  uvperf_error_t error;
  int closed;
} opened_set_t;

/* Plans it, with a scripted kernel and a pool that waits. */
void opened_set_plan(opened_set_t *opened, uint32_t flags);
/* uvperf_set_open, and what it gives. */
int opened_set_begin(uv_loop_t *loop, opened_set_t *opened);
/* Has all requests run. */
void opened_set_run_pool(void);
/* Closes it, until nothing of it is left. */
void opened_set_close(uv_loop_t *loop, opened_set_t *opened);

/* The callbacks of open and close. */
void opened_set_on_open(uvperf_set_t *set, int status,
                        const uvperf_error_t *error);
void opened_set_on_close(uvperf_set_t *set);

/* For fake_on_open: so much time passes that each open is a request of its
 * own. */
int opened_set_take_time(struct perf_event_attr *attr);
void opened_set_pass_time(void);

#endif
