/* SPDX-License-Identifier: MIT */
/* When the timer fires, it calls each flush that is due, and is armed for the
 * first of the others. All flushes are in one list without an order: most of
 * them have the same interval and are due together, and to look at one that is
 * not due takes a few nanoseconds. Starting and stopping a flush takes the same
 * time however many there are. */
#include "loop/flush_timer.h"

/* The earlier of two times, of which 0 is none. */
static uint64_t flush_earlier(uint64_t a, uint64_t b) {
  return a == 0 || (b != 0 && b < a) ? b : a;
}

static uint64_t flush_due_at(const uvperf__flush_t *flush) {
  return flush_earlier(flush->next_at, flush->once_at);
}

/* -- when it fires --------------------------------------------------------- */

static void on_timer(uv_timer_t *handle);

/* Makes the timer fire at `at` or before; 0 is never. If others have closed the
 * timer, the loop may no longer exist. */
static void flush_timer_arm(uvperf__flush_timer_t *timer, uint64_t at) {
  uint64_t now;

  if (uv_is_closing((const uv_handle_t *)&timer->timer))
    return;
  if (uvperf__link_is_alone(&timer->flushes)) {
    timer->armed_at = 0;
    uv_timer_stop(&timer->timer);
  } else if (at != 0 && (timer->armed_at == 0 || at < timer->armed_at)) {
    timer->armed_at = at;
    now = uv_now(timer->timer.loop);
    uv_timer_start(&timer->timer, on_timer, at > now ? at - now : 0, 0);
  }
}

/* The callback may start and stop this flush. */
static void flush_fire(uvperf__flush_t *flush, uint64_t now) {
  if (flush->next_at != 0 && flush->next_at <= now)
    flush->next_at = uvperf__next_multiple(now, flush->interval);
  if (flush->once_at <= now)
    flush->once_at = 0;
  if (flush_due_at(flush) == 0)
    uvperf__link_remove(&flush->in_timer);
  flush->cb(flush);
}

static void on_timer(uv_timer_t *handle) {
  uvperf__flush_timer_t *timer = (uvperf__flush_timer_t *)handle;
  uint64_t now = uv_now(handle->loop);
  uvperf__link_t *link, *next;
  uvperf__flush_t *flush;
  uint64_t first = 0;

  timer->armed_at = 0;
  for (link = timer->flushes.next; link != &timer->flushes; link = next) {
    next = link->next;
    flush = (uvperf__flush_t *)link;
    if (flush_due_at(flush) <= now)
      flush_fire(flush, now);
    first = flush_earlier(first, flush_due_at(flush));
  }
  flush_timer_arm(timer, first);
  timer->fired(timer);
}

void uvperf__flush_timer_init(uvperf__flush_timer_t *timer, uv_loop_t *loop,
                              void (*fired)(uvperf__flush_timer_t *timer)) {
  uv_timer_init(loop, &timer->timer);
  timer->timer.timer_cb = on_timer;
  uv_unref((uv_handle_t *)&timer->timer);
  timer->fired = fired;
  uvperf__link_init(&timer->flushes);
  timer->armed_at = 0;
}

int uvperf__flush_timer_is(const uv_handle_t *handle) {
  return handle->type == UV_TIMER &&
         ((const uv_timer_t *)handle)->timer_cb == on_timer;
}

/* -- the flushes of a watch ------------------------------------------------ */

void uvperf__flush_init(uvperf__flush_t *flush, uvperf__flush_timer_t *timer,
                        void (*cb)(uvperf__flush_t *flush)) {
  flush->timer = timer;
  flush->cb = cb;
  uvperf__link_init(&flush->in_timer);
  flush->interval = flush->next_at = flush->once_at = 0;
}

/* Puts a flush into the list, or takes it out. */
static void flush_place(uvperf__flush_t *flush) {
  uint64_t at = flush_due_at(flush);

  if (at == 0)
    uvperf__link_remove(&flush->in_timer);
  else if (uvperf__link_is_alone(&flush->in_timer))
    uvperf__link_add(&flush->timer->flushes, &flush->in_timer);
  flush_timer_arm(flush->timer, at);
}

void uvperf__flush_start(uvperf__flush_t *flush, uint64_t flush_ms) {
  uint64_t now = uv_now(flush->timer->timer.loop);

  flush->interval = flush_ms;
  flush->next_at = flush_ms == 0 ? 0 : uvperf__next_multiple(now, flush_ms);
  flush_place(flush);
}

void uvperf__flush_once(uvperf__flush_t *flush, uint64_t ms) {
  if (uv_is_closing((const uv_handle_t *)&flush->timer->timer))
    return;
  flush->once_at =
      flush_earlier(flush->once_at, uv_now(flush->timer->timer.loop) + ms);
  flush_place(flush);
}

void uvperf__flush_stop(uvperf__flush_t *flush) {
  flush->next_at = flush->once_at = 0;
  flush_place(flush);
}
