/* SPDX-License-Identifier: MIT */
/* The timer of a watch. Records below the watermark cause no wakeup, so every
 * flush_ms the rings are looked at; and a drain can be asked for once, some
 * milliseconds from now. One uv_timer_t serves both. It never keeps the loop
 * alive. */
#ifndef UVPERF_LIB_LOOP_FLUSH_TIMER_H
#define UVPERF_LIB_LOOP_FLUSH_TIMER_H

#include <stdint.h>

#include <uv.h>

typedef struct uvperf__flush_timer_s uvperf__flush_timer_t;

/* The time of a flush, or of a drain, or of both, has come. The timer is armed
 * for the next flush when this returns, if it was not stopped. */
typedef void (*uvperf__flush_timer_cb)(uvperf__flush_timer_t *timer, int flush,
                                       int drain);

/* A part of its owner, whose handle the timer's is too: `timer.data`. */
struct uvperf__flush_timer_s {
  uv_timer_t timer;
  uvperf__flush_timer_cb cb;
  /* Milliseconds, in the time of uv_now. */
  uint64_t flush_ms; /* 0: no flushes */
  uint64_t flush_at; /* the next flush; 0: none */
  uint64_t drain_at; /* the drain that was asked for; 0: none */
};

/* Registers the handle with the loop. */
void uvperf__flush_timer_init(uvperf__flush_timer_t *timer, uv_loop_t *loop,
                              uvperf__flush_timer_cb cb, void *data);

/* A flush comes every flush_ms from now on; 0: none. */
void uvperf__flush_timer_start(uvperf__flush_timer_t *timer, uint64_t flush_ms);

/* A drain comes in `ms`, above 0, if none comes before. */
void uvperf__flush_timer_drain_in(uvperf__flush_timer_t *timer, uint64_t ms);

/* Neither comes any more. */
void uvperf__flush_timer_stop(uvperf__flush_timer_t *timer);

/* Whether a handle is that of a flush timer. */
int uvperf__flush_timer_is(const uv_handle_t *handle);

#endif
