/* SPDX-License-Identifier: MIT */
/* The perf events of watch: one on each CPU, or where that is not allowed one
 * on each CPU for each thread of a tree. */
#ifndef WATCH_EVENTS_H
#define WATCH_EVENTS_H

#include <stddef.h>
#include <stdint.h>

#include "uvperf.h"

#include "watch/line.h"

typedef struct watch_events_s {
  uint32_t kinds; /* what the records are for: WATCH_BIT()s, to be set before */
  uvperf_set_t set;
  int is_open;    /* the set */
  int of_tree;    /* they are of a tree's threads only */
  size_t refused; /* threads that may not be watched */
} watch_events_t;

/* Opens the events, disabled: of all tasks if that is allowed, else of the tree
 * of a process, if there is one (0 for none). `ring_bytes` is the size of a
 * ring or 0. 0, or a UV_E*; the set is to be closed if it is open, on failure
 * too. */
int watch_events_open(watch_events_t *events, uv_loop_t *loop, int32_t pid,
                      size_t ring_bytes, uvperf_error_t *error);

/* Records that the kernel could not write. Those at the end of a stream are
 * told in no LOST record, but when the events are read. */
uint64_t watch_events_lost(watch_events_t *events);

#endif
