/* SPDX-License-Identifier: MIT */
/* Watches with the same interval are due at the same time, so their flushes are
 * in one list, which needs no order. Starting and stopping a flush takes the
 * same time however many there are. */
#include "loop/flush_timer.h"

#include <stddef.h>

#include "loop/multiple.h"

static void on_timer(uv_timer_t *handle);

static uvperf__flush_t *of_interval(uvperf__link_t *link) {
  return (uvperf__flush_t *)((char *)link -
                             offsetof(uvperf__flush_t, in_interval));
}

static uvperf__flush_t *of_singles(uvperf__link_t *link) {
  return (uvperf__flush_t *)((char *)link -
                             offsetof(uvperf__flush_t, in_singles));
}

/* The earlier of two times, of which 0 is none. */
static uint64_t flush_earlier(uint64_t a, uint64_t b) {
  return a == 0 || (b != 0 && b < a) ? b : a;
}

/* If others have closed the timer, the loop may no longer exist. */
static void flush_timer_arm(uvperf__flush_timer_t *timer) {
  uint64_t at = timer->single_at;
  uint64_t now;
  size_t i;

  if (uv_is_closing((const uv_handle_t *)&timer->timer))
    return;
  for (i = 0; i < UVPERF__FLUSH_INTERVALS; i++)
    if (timer->intervals[i].ms != 0)
      at = flush_earlier(at, timer->intervals[i].at);
  if (at == timer->armed_at)
    return;
  timer->armed_at = at;
  now = uv_now(timer->timer.loop);
  if (at == 0)
    uv_timer_stop(&timer->timer);
  else
    uv_timer_start(&timer->timer, on_timer, at > now ? at - now : 0, 0);
}

/* -- when it fires -------------------------------------------------------- */

static void fire_interval(uvperf__flush_interval_t *interval, uint64_t now) {
  uvperf__link_t *link, *next;
  uvperf__flush_t *flush;

  interval->at = uvperf__next_multiple(now, interval->ms);
  for (link = interval->flushes.next; link != &interval->flushes; link = next) {
    next = link->next;
    flush = of_interval(link);
    flush->cb(flush);
  }
}

/* Puts a flush into the list of singles, or takes it out. */
static void flush_place_single(uvperf__flush_t *flush) {
  uint64_t at = flush_earlier(flush->next_at, flush->once_at);

  if (at == 0) {
    uvperf__link_remove(&flush->in_singles);
    if (uvperf__link_is_alone(&flush->timer->singles))
      flush->timer->single_at = 0;
    return;
  }
  if (uvperf__link_is_alone(&flush->in_singles))
    uvperf__link_add(&flush->timer->singles, &flush->in_singles);
  flush->timer->single_at = flush_earlier(flush->timer->single_at, at);
}

static void fire_singles(uvperf__flush_timer_t *timer, uint64_t now) {
  uvperf__link_t *link, *next;
  uvperf__flush_t *flush;

  timer->single_at = 0;
  for (link = timer->singles.next; link != &timer->singles; link = next) {
    next = link->next;
    flush = of_singles(link);
    if (flush_earlier(flush->next_at, flush->once_at) > now) {
      flush_place_single(flush);
      continue;
    }
    if (flush->next_at != 0 && flush->next_at <= now)
      flush->next_at = uvperf__next_multiple(now, flush->interval);
    if (flush->once_at <= now)
      flush->once_at = 0;
    flush_place_single(flush);
    flush->cb(flush);
  }
}

static void on_timer(uv_timer_t *handle) {
  uvperf__flush_timer_t *timer = (uvperf__flush_timer_t *)handle;
  uint64_t now = uv_now(handle->loop);
  size_t i;

  timer->armed_at = 0;
  for (i = 0; i < UVPERF__FLUSH_INTERVALS; i++)
    if (timer->intervals[i].ms != 0 && timer->intervals[i].at <= now)
      fire_interval(&timer->intervals[i], now);
  if (timer->single_at != 0 && timer->single_at <= now)
    fire_singles(timer, now);
  flush_timer_arm(timer);
  timer->fired(timer);
}

void uvperf__flush_timer_init(uvperf__flush_timer_t *timer, uv_loop_t *loop,
                              void (*fired)(uvperf__flush_timer_t *timer)) {
  size_t i;

  uv_timer_init(loop, &timer->timer);
  timer->timer.timer_cb = on_timer;
  uv_unref((uv_handle_t *)&timer->timer);
  timer->fired = fired;
  for (i = 0; i < UVPERF__FLUSH_INTERVALS; i++) {
    uvperf__link_init(&timer->intervals[i].flushes);
    timer->intervals[i].ms = 0;
  }
  uvperf__link_init(&timer->singles);
  timer->single_at = 0;
  timer->armed_at = 0;
}

/* -- the flushes of a watch ----------------------------------------------- */

void uvperf__flush_init(uvperf__flush_t *flush, uvperf__flush_timer_t *timer,
                        void (*cb)(uvperf__flush_t *flush)) {
  flush->timer = timer;
  flush->cb = cb;
  uvperf__link_init(&flush->in_interval);
  uvperf__link_init(&flush->in_singles);
  flush->interval = flush->next_at = flush->once_at = 0;
}

/* Returns the interval of this length, a new one, or NULL if all are in use. */
static uvperf__flush_interval_t *find_interval(uvperf__flush_timer_t *timer,
                                               uint64_t ms, uint64_t now) {
  uvperf__flush_interval_t *unused = NULL;
  size_t i;

  for (i = 0; i < UVPERF__FLUSH_INTERVALS; i++) {
    if (timer->intervals[i].ms == ms)
      return &timer->intervals[i];
    if (timer->intervals[i].ms == 0)
      unused = &timer->intervals[i];
  }
  if (unused != NULL) {
    unused->ms = ms;
    unused->at = uvperf__next_multiple(now, ms);
  }
  return unused;
}

static void flush_leave_interval(uvperf__flush_t *flush) {
  uvperf__flush_timer_t *timer = flush->timer;
  size_t i;

  flush->interval = flush->next_at = 0;
  uvperf__link_remove(&flush->in_interval);
  for (i = 0; i < UVPERF__FLUSH_INTERVALS; i++)
    if (uvperf__link_is_alone(&timer->intervals[i].flushes))
      timer->intervals[i].ms = 0;
}

void uvperf__flush_start(uvperf__flush_t *flush, uint64_t flush_ms) {
  uint64_t now = uv_now(flush->timer->timer.loop);
  uvperf__flush_interval_t *interval;

  flush_leave_interval(flush);
  interval = flush_ms == 0 ? NULL : find_interval(flush->timer, flush_ms, now);
  if (interval != NULL) {
    uvperf__link_add(&interval->flushes, &flush->in_interval);
  } else if (flush_ms != 0) {
    flush->interval = flush_ms;
    flush->next_at = uvperf__next_multiple(now, flush_ms);
  }
  flush_place_single(flush);
  flush_timer_arm(flush->timer);
}

void uvperf__flush_once(uvperf__flush_t *flush, uint64_t ms) {
  uint64_t at;

  if (uv_is_closing((const uv_handle_t *)&flush->timer->timer))
    return;
  at = uv_now(flush->timer->timer.loop) + ms;
  if (flush->once_at != 0 && flush->once_at <= at)
    return;
  flush->once_at = at;
  flush_place_single(flush);
  flush_timer_arm(flush->timer);
}

void uvperf__flush_stop(uvperf__flush_t *flush) {
  flush_leave_interval(flush);
  flush->once_at = 0;
  flush_place_single(flush);
  flush_timer_arm(flush->timer);
}

int uvperf__flush_timer_is(const uv_handle_t *handle) {
  return handle->type == UV_TIMER &&
         ((const uv_timer_t *)handle)->timer_cb == on_timer;
}
