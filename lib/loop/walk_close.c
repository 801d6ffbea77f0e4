/* SPDX-License-Identifier: MIT */
/* For programs that close all handles of a loop by uv_walk: if a handle is an
 * inner handle of ours, closes its owner. */
#include "loop/hotplug.h"
#include "loop/interval_timer.h"
#include "loop/watch.h"
#include "uvperf/event.h"

int uvperf_walk_close(uv_handle_t *handle) {
  return uvperf__watch_close_owner(handle) ||
         uvperf__interval_timer_close_owner(handle) ||
         uvperf__hotplug_is(handle);
}
