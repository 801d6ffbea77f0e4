/* SPDX-License-Identifier: MIT */
/* The timer for the flushes of all watches of a loop. Records below the
 * watermark cause no wakeup, so every flush_ms the rings of a watch are
 * checked. A watch can also request one more check, some milliseconds from now.
 * This timer never keeps the loop alive. */
#ifndef UVPERF_LIB_LOOP_FLUSH_TIMER_H
#define UVPERF_LIB_LOOP_FLUSH_TIMER_H

#include <stdint.h>

#include <uv.h>

#include "loop/link.h"

typedef struct uvperf__flush_s uvperf__flush_t;
typedef struct uvperf__flush_timer_s uvperf__flush_timer_t;

struct uvperf__flush_timer_s {
  uv_timer_t timer;
  /* Called when all flushes that are due were reported. */
  void (*fired)(uvperf__flush_timer_t *timer);
  uvperf__link_t flushes;
  uint64_t armed_at; /* none of them is due before; 0: not armed */
};

/* The flushes of one watch. All times are in milliseconds of uv_now. */
struct uvperf__flush_s {
  uvperf__link_t in_timer; /* first: a link of the list is a flush */
  uvperf__flush_timer_t *timer;
  /* A flush is due. The function may use this flush, but no other. */
  void (*cb)(uvperf__flush_t *flush);
  uint64_t interval; /* of the periodic flushes; 0: there are none */
  uint64_t next_at;  /* the next of these; 0: none */
  uint64_t once_at;  /* the flush that was requested; 0: none */
};

/* Registers the handle with the loop. */
void uvperf__flush_timer_init(uvperf__flush_timer_t *timer, uv_loop_t *loop,
                              void (*fired)(uvperf__flush_timer_t *timer));

void uvperf__flush_init(uvperf__flush_t *flush, uvperf__flush_timer_t *timer,
                        void (*cb)(uvperf__flush_t *flush));

/* Starts a flush at each multiple of flush_ms, so that the watches of a loop
 * are flushed together. The first flush comes after flush_ms at the latest.
 * flush_ms 0 means no flushes. */
void uvperf__flush_start(uvperf__flush_t *flush, uint64_t flush_ms);

/* Requests one more flush in `ms` milliseconds (above 0), unless an earlier one
 * was requested. */
void uvperf__flush_once(uvperf__flush_t *flush, uint64_t ms);

/* No flush comes any more. */
void uvperf__flush_stop(uvperf__flush_t *flush);

/* Returns the first multiple of an interval (above 0) that is later than `now`.
 * Timers that are due at multiples of their interval, in the time of uv_now,
 * fire in the same iteration of the loop, no matter when they were started. */
static inline uint64_t uvperf__next_multiple(uint64_t now, uint64_t interval) {
  return now - now % interval + interval;
}

/* Whether a handle belongs to a flush timer. */
int uvperf__flush_timer_is(const uv_handle_t *handle);

#endif
