/* SPDX-License-Identifier: MIT */
/* A timer that ticks at start + k * interval, measured by uv_hrtime. A set uses
 * it for readings at even intervals. (Flushes use flush_timer.h.) The hub runs
 * the tick in the check phase, in the time that all members share. The work of
 * a tick can continue in the next iterations of the loop. */
#ifndef UVPERF_LIB_LOOP_INTERVAL_TIMER_H
#define UVPERF_LIB_LOOP_INTERVAL_TIMER_H

#include <stdint.h>

#include <uv.h>

#include "loop/hub.h"

typedef struct uvperf__interval_timer_s uvperf__interval_timer_t;

typedef struct uvperf__interval_timer_ops_s {
  /* Called when start + k * interval is reached, at most once for each k and
   * never early. If the loop was late by several intervals, there is one tick
   * for all of them, and the next tick comes at the next multiple. The owner
   * may start, stop and close the timer in this function.
   *
   * It may take max_ns. Returns 0 if the work is done. Returns 1 to be called
   * again, with is_new 0, in a later iteration. The loop does not wait for fds
   * before that. Multiples that are reached meanwhile cause no tick. */
  int (*tick)(void *owner, int is_new, uint64_t max_ns);
  /* Other code has closed a uv handle of the hub. The timer has stopped. */
  void (*cancel)(void *owner);
  /* Called when uvperf__interval_timer_close_owner has found the inner
   * handle. Closes the owner. */
  void (*close)(void *owner);
} uvperf__interval_timer_ops_t;

/* Makes an interval timer and registers its inner handle with the loop of the
 * owner's teardown, which joins the hub. Afterwards it must be closed before it
 * is freed. Returns 0 or UV_ENOMEM. */
int uvperf__interval_timer_new(uvperf__interval_timer_t **interval,
                               uvperf__teardown_t *teardown,
                               const uvperf__interval_timer_ops_t *ops,
                               void *owner);

/* Starts ticking. The first tick comes after one interval (above 0). Restarts a
 * timer that was started. Returns 0, or UV_EINVAL if others have closed
 * its inner handle or one of the hub. */
int uvperf__interval_timer_start(uvperf__interval_timer_t *interval,
                                 uint64_t interval_ms);

/* Stops. No tick comes or continues afterwards. */
void uvperf__interval_timer_stop(uvperf__interval_timer_t *interval);

/* Stops, and closes the inner handle as a part of the owner's teardown. Call it
 * once. */
void uvperf__interval_timer_close(uvperf__interval_timer_t *interval);

/* Frees an interval timer whose teardown is done. NULL is allowed. */
void uvperf__interval_timer_free(uvperf__interval_timer_t *interval);

/* If the handle is the inner handle of an interval timer, closes the owner
 * (unless it is closing already) and returns 1. Otherwise returns 0. */
int uvperf__interval_timer_close_owner(uv_handle_t *handle);

/* Sets whether the timer keeps the loop alive while it is started. By default
 * it does. */
void uvperf__interval_timer_set_ref(uvperf__interval_timer_t *interval,
                                    int ref);

/* Whether the timer is started. */
int uvperf__interval_timer_is_active(const uvperf__interval_timer_t *interval);

#endif
