/* SPDX-License-Identifier: MIT */
/* For options.open in scripted tests of opening on libuv's pool: a function one
 * of whose calls does not return before the handle has given it up. */
#ifndef UVPERF_TEST_HANGING_OPEN_H
#define UVPERF_TEST_HANGING_OPEN_H

#include "support.h"

#include "uvperf.h"

typedef struct hanging_open_s {
  uv_loop_t *loop;
  const int *opened;        /* calls of the handle's open callback */
  unsigned hangs_at;        /* the number of this call, from 1 */
  int code;                 /* what it returns then; 0: an event */
  uvperf_handle_t *handle;  /* is closed meanwhile, unless it is NULL */
  uvperf_close_cb close_cb; /* then */
  const int *closed;        /* calls of close_cb */
  unsigned calls;
} hanging_open_t;

/* The value of options.open. open_arg is a hanging_open_t. The call that hangs
 * runs the loop, and other requests of the pool, until the open callback was
 * called, and the close callback, if the handle is closed. */
int hanging_open(const struct perf_event_attr *attr, int32_t pid, int32_t cpu,
                 int group_fd, unsigned long flags, void *arg);

#endif
