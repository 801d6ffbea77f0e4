/* SPDX-License-Identifier: MIT */
/* The next flush and the drain that was asked for share a timer, which is armed
 * for whichever comes first. */
#include "loop/flush_timer.h"

static void on_timer(uv_timer_t *handle);

static void arm(uvperf__flush_timer_t *timer) {
  uint64_t at = timer->flush_at;
  uint64_t now;

  if (at == 0 || (timer->drain_at != 0 && timer->drain_at < at))
    at = timer->drain_at;
  /* Closed by others: the loop may no longer exist. */
  if (uv_is_closing((const uv_handle_t *)&timer->timer))
    return;
  now = uv_now(timer->timer.loop);
  if (at == 0)
    uv_timer_stop(&timer->timer);
  else
    uv_timer_start(&timer->timer, on_timer, at > now ? at - now : 0, 0);
}

static void on_timer(uv_timer_t *handle) {
  uvperf__flush_timer_t *timer = (uvperf__flush_timer_t *)handle;
  uint64_t now = uv_now(handle->loop);
  int flush = timer->flush_at != 0 && timer->flush_at <= now;
  int drain = timer->drain_at != 0 && timer->drain_at <= now;

  if (flush)
    timer->flush_at = now + timer->flush_ms;
  if (drain)
    timer->drain_at = 0;
  timer->cb(timer, flush, drain);
  arm(timer);
}

void uvperf__flush_timer_init(uvperf__flush_timer_t *timer, uv_loop_t *loop,
                              uvperf__flush_timer_cb cb, void *data) {
  uv_timer_init(loop, &timer->timer);
  timer->timer.data = data;
  timer->timer.timer_cb = on_timer;
  timer->cb = cb;
  uv_unref((uv_handle_t *)&timer->timer);
}

void uvperf__flush_timer_start(uvperf__flush_timer_t *timer,
                               uint64_t flush_ms) {
  timer->flush_ms = flush_ms;
  timer->flush_at = flush_ms > 0 ? uv_now(timer->timer.loop) + flush_ms : 0;
  arm(timer);
}

void uvperf__flush_timer_drain_in(uvperf__flush_timer_t *timer, uint64_t ms) {
  uint64_t at = uv_now(timer->timer.loop) + ms;

  if (timer->drain_at != 0 && timer->drain_at <= at)
    return;
  timer->drain_at = at;
  arm(timer);
}

void uvperf__flush_timer_stop(uvperf__flush_timer_t *timer) {
  timer->flush_at = 0;
  timer->drain_at = 0;
  arm(timer);
}

int uvperf__flush_timer_is(const uv_handle_t *handle) {
  return handle->type == UV_TIMER &&
         ((const uv_timer_t *)handle)->timer_cb == on_timer;
}
