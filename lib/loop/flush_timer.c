/* SPDX-License-Identifier: MIT */
/* The periodic flushes and a requested flush share a timer, which is armed for
 * the earlier flush. */
#include "loop/flush_timer.h"

#include "loop/multiple.h"

static void on_timer(uv_timer_t *handle);

static void arm(uvperf__flush_timer_t *timer) {
  uint64_t at = timer->flush_at;
  uint64_t now;

  if (at == 0 || (timer->once_at != 0 && timer->once_at < at))
    at = timer->once_at;
  /* If others have closed the timer, the loop may no longer exist. */
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

  if (timer->flush_at != 0 && timer->flush_at <= now)
    timer->flush_at = uvperf__next_multiple(now, timer->flush_ms);
  if (timer->once_at <= now)
    timer->once_at = 0;
  timer->cb(timer);
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
  timer->flush_at =
      flush_ms > 0 ? uvperf__next_multiple(uv_now(timer->timer.loop), flush_ms)
                   : 0;
  arm(timer);
}

void uvperf__flush_timer_once(uvperf__flush_timer_t *timer, uint64_t ms) {
  uint64_t at = uv_now(timer->timer.loop) + ms;

  if (timer->once_at != 0 && timer->once_at <= at)
    return;
  timer->once_at = at;
  arm(timer);
}

void uvperf__flush_timer_stop(uvperf__flush_timer_t *timer) {
  timer->flush_at = 0;
  timer->once_at = 0;
  arm(timer);
}

int uvperf__flush_timer_is(const uv_handle_t *handle) {
  return handle->type == UV_TIMER &&
         ((const uv_timer_t *)handle)->timer_cb == on_timer;
}
