/* SPDX-License-Identifier: MIT */
/* A program that closes all handles of its loop by uv_walk asks here about
 * each: an inner handle is closed by the handle of ours that has it. */
#include "loop/hotplug.h"
#include "loop/interval_timer.h"
#include "loop/watch.h"
#include "uvperf/event.h"

int uvperf_walk_close(uv_handle_t *handle) {
  return uvperf__watch_close_owner(handle) ||
         uvperf__interval_timer_close_owner(handle) ||
         uvperf__hotplug_close_owner(handle);
}
