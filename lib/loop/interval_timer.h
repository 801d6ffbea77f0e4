/* SPDX-License-Identifier: MIT */
/* One uv_timer that ticks at start + k * interval, by uv_hrtime. What
 * is to be done at a tick is the owner's. */
#ifndef UVPERF_LIB_LOOP_INTERVAL_TIMER_H
#define UVPERF_LIB_LOOP_INTERVAL_TIMER_H

#include <stdint.h>

#include <uv.h>

#include "loop/teardown.h"

typedef struct uvperf__ticker_s uvperf__ticker_t;

typedef struct uvperf__ticker_ops_s {
  /* start + k * interval has been reached, for the greatest k. Called at most
   * once for each k and never before its time: a loop that was late for several
   * intervals gets one tick for all of them, and the next at the next multiple.
   * The owner may start, stop and close in it. */
  void (*tick)(void *owner);
  /* The inner handle was found by uvperf__ticker_close_owner: close. */
  void (*close)(void *owner);
} uvperf__ticker_ops_t;

/* Makes a ticker and registers its inner handle with the loop: from here on it
 * must be closed before it is freed. 0 or UV_ENOMEM. */
int uvperf__ticker_new(uvperf__ticker_t **ticker, uv_loop_t *loop,
                       const uvperf__ticker_ops_t *ops, void *owner);

/* Ticks from now on, first when an interval (above 0) is over; also when it has
 * been started before. 0, or UV_EINVAL where somebody else has closed the inner
 * handle. */
int uvperf__ticker_start(uvperf__ticker_t *ticker, uint64_t interval_ms);

/* No tick comes after it. */
void uvperf__ticker_stop(uvperf__ticker_t *ticker);

/* Stops, and closes the inner handle as a part of the owner's teardown.
 * Once. */
void uvperf__ticker_close(uvperf__ticker_t *ticker,
                          uvperf__teardown_t *teardown);

/* Frees a ticker whose teardown is done. Nothing to do for NULL. */
void uvperf__ticker_free(uvperf__ticker_t *ticker);

/* If the handle is the inner one of any ticker: has its owner close, unless it
 * does already, and gives 1; else 0. */
int uvperf__ticker_close_owner(uv_handle_t *handle);

/* Whether it keeps the loop alive while it is started: so it does at first. */
void uvperf__ticker_set_ref(uvperf__ticker_t *ticker, int ref);
int uvperf__ticker_has_ref(const uvperf__ticker_t *ticker);

/* Whether it is started. */
int uvperf__ticker_is_active(const uvperf__ticker_t *ticker);

#endif
