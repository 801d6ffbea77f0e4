/* SPDX-License-Identifier: MIT */
/* The perf events of watch. There is an event on each CPU. If that is not
 * permitted, there is an event on each CPU for each thread of a tree. */
#ifndef WATCH_EVENTS_H
#define WATCH_EVENTS_H

#include <stddef.h>
#include <stdint.h>

#include "uvperf.h"

#include "watch/line.h"

typedef struct watch_events_s {
  uint32_t
      kinds; /* WATCH_BIT()s of the lines to print; set it before opening */
  uvperf_set_t set;
  int is_open;    /* the set */
  int of_tree;    /* only threads of a tree are watched */
  size_t refused; /* threads that may not be watched */
} watch_events_t;

/* Opens the events, disabled: for all tasks if that is permitted, otherwise for
 * the process `pid` (0 for none) and its descendants. `ring_bytes` is the size
 * of a ring, or 0. Returns 0 or a UV_E*. If the set is open, the caller closes
 * it, also after a failure. */
int watch_events_open(watch_events_t *events, uv_loop_t *loop, int32_t pid,
                      size_t ring_bytes, uvperf_error_t *error);

#endif
