/* SPDX-License-Identifier: MIT */
/* What the files of the watch share. For them alone; the others
 * include watch.h. */
#ifndef UVPERF_LIB_LOOP_WATCH_IMPL_H
#define UVPERF_LIB_LOOP_WATCH_IMPL_H

#include "loop/ring_poll.h"
#include "loop/watch.h"

/* Allocated one by one, as libuv's handles must not move. */
typedef struct watched_ring_s {
  uvperf__ring_poll_t ring_poll;
  uvperf__watch_t *watch;
  uvperf__ring_t *ring;
  size_t index;
  struct watched_ring_s *next; /* in the queue */
  int queued;
  int woken;         /* since the last drain */
  int empty_wakeups; /* in a row */
  int ended;         /* the negative code; 0: it has not */
  uint64_t wakeups;
  /* When the drain that is going on began: of rings that are read together. */
  int was_queued;
  int was_gone;
  uint64_t was_tail;
  uint64_t was_head; /* as the look before saw it */
} watched_ring_t;

struct uvperf__watch_s {
  uv_loop_t *loop;
  const uvperf__watch_ops_t *ops;
  void *owner;
  uvperf__watch_options_t options;
  uint32_t process; /* that made it */
  uv_idle_t idle;
  uv_check_t check;
  uv_timer_t timer;  /* for the earlier of these */
  uint64_t flush_at; /* uv_now of the next flush, 0: none; options.flush_ms */
  uint64_t look_at;  /* that of uvperf__watch_look_in */
  uvperf__teardown_t *teardown; /* the owner's; NULL: not closing */
  int started;
  int unref;
  int delivering; /* inside a turn or a flush */
  int due;        /* a turn is to be taken in the next check phase */
  /* From a start until a drain has happened after the poll phase that really
   * registered the fds; see uvperf__watch_settle(). */
  int settling;
  int idled;
  uint64_t settles; /* how often that began */
  uint64_t session; /* one more with each stop, end and close */
  uint64_t wakeups;
  uint64_t turns;
  uint64_t slices;
  watched_ring_t *first; /* the queue of rings to be drained */
  watched_ring_t *last;
  size_t nr_live;
  watched_ring_t **rings;
  size_t nr_rings;
  size_t room_rings;
};

/* Daemons tear down by uv_walk and uv_close of every handle, so that an inner
 * handle may be closing behind our back; starting or stopping it then aborts or
 * corrupts the loop's queues. */
static inline int uvperf__watch_can_use(const void *handle) {
  return !uv_is_closing(handle);
}

/* -- watch_turn.c -- */

void uvperf__watch_on_idle(uv_idle_t *idle);
void uvperf__watch_on_check(uv_check_t *check);
void uvperf__watch_on_timer(uv_timer_t *timer);
/* The kernel woke the reader of a ring: the watched_ring_t. */
void uvperf__watch_on_woken(void *ring);

/* Queues every ring. */
void uvperf__watch_enqueue_all(uvperf__watch_t *watch);

/* Has the timer wait for flush_at or look_at, whichever comes first. */
void uvperf__watch_set_timer(uvperf__watch_t *watch);

/* Has the queue looked at in the check phase of this turn or the next, without
 * waiting for fds before. */
void uvperf__watch_schedule(uvperf__watch_t *watch);

/* Has every ring drained until that has happened after the registration. */
void uvperf__watch_settle(uvperf__watch_t *watch);

/* Polls and delivers no more. */
void uvperf__watch_quiesce(uvperf__watch_t *watch);

#endif
