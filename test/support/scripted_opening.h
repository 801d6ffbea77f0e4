/* SPDX-License-Identifier: MIT */
/* Shared by the scripted tests of opening on libuv's pool: a set of two attrs
 * on two CPUs, with rings. The test runs its requests. */
#ifndef UVPERF_TEST_SCRIPTED_OPENING_H
#define UVPERF_TEST_SCRIPTED_OPENING_H

#include "scripted_set.h"

typedef struct opened_s {
  uvperf_set_t set;
  evlist_make_t make;
  fake_event_t *events[8];
  int opened; /* calls of its callback */
  int status;
  uvperf_error_t error;
  int closed;
} scripted_opening_t;

/* Plans it, with a scripted kernel and a pool that waits. */
void scripted_opening_plan(scripted_opening_t *opened, uint32_t flags);
/* Returns what uvperf_set_init returns. */
int scripted_opening_begin(uv_loop_t *loop, scripted_opening_t *opened);
/* Closes it, and runs the loop until nothing of it is left. */
void scripted_opening_close(uv_loop_t *loop, scripted_opening_t *opened);

/* The callback of close. */
void scripted_opening_on_close(uvperf_handle_t *handle);

/* For fake_on_open: advances the clock so far that each open is a request of
 * its own. */
int scripted_opening_take_time(struct perf_event_attr *attr);

#endif
