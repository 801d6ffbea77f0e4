/* SPDX-License-Identifier: MIT */
/* The timer of a watch. Records below the watermark cause no wakeup, so every
 * flush_ms the rings are checked. One more check can be requested, some
 * milliseconds from now. One uv_timer_t serves both. This timer never keeps the
 * loop alive. */
#ifndef UVPERF_LIB_LOOP_FLUSH_TIMER_H
#define UVPERF_LIB_LOOP_FLUSH_TIMER_H

#include <stdint.h>

#include <uv.h>

typedef struct uvperf__flush_timer_s uvperf__flush_timer_t;

/* A flush is due. When this returns, the timer is armed for the next flush, if
 * it was not stopped. */
typedef void (*uvperf__flush_timer_cb)(uvperf__flush_timer_t *timer);

/* The struct is a part of its owner. `timer.data` points to the owner. */
struct uvperf__flush_timer_s {
  uv_timer_t timer;
  uvperf__flush_timer_cb cb;
  /* Milliseconds, in the time of uv_now. */
  uint64_t flush_ms; /* 0: no periodic flushes */
  uint64_t flush_at; /* the next periodic flush; 0: none */
  uint64_t once_at;  /* the flush that was requested; 0: none */
};

/* Registers the handle with the loop. */
void uvperf__flush_timer_init(uvperf__flush_timer_t *timer, uv_loop_t *loop,
                              uvperf__flush_timer_cb cb, void *data);

/* Starts a flush at each multiple of flush_ms, so that the timers of one loop
 * fire together. The first flush comes after flush_ms at the latest. flush_ms 0
 * means no flushes. */
void uvperf__flush_timer_start(uvperf__flush_timer_t *timer, uint64_t flush_ms);

/* Requests one more flush in `ms` milliseconds (above 0), unless an earlier one
 * was requested. */
void uvperf__flush_timer_once(uvperf__flush_timer_t *timer, uint64_t ms);

/* No flush comes any more. */
void uvperf__flush_timer_stop(uvperf__flush_timer_t *timer);

/* Whether a handle belongs to a flush timer. */
int uvperf__flush_timer_is(const uv_handle_t *handle);

#endif
