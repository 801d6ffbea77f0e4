/* SPDX-License-Identifier: MIT */
/* A timer that repeats by itself would not do: uv_timer_again counts from the
 * turn in which it was found to be due, so that each lateness adds up; and
 * uv_timer_start counts from the loop's cached time, which is old after long
 * work, so that a timer can be early. Here each tick is aimed at anew by
 * uv_hrtime, and asked for it when the timer fires. */
#include "loop/interval_timer.h"

#include <assert.h>

#include "sys/fork.h"
#include "util/alloc.h"

#define NS_PER_MS 1000000u

struct uvperf__ticker_s {
  const uvperf__ticker_ops_t *ops;
  void *owner;
  uint32_t process; /* that made it */
  uv_timer_t timer;
  uvperf__teardown_t *teardown; /* the owner's; NULL: not closing */
  int unref;
  /* Nanoseconds of uv_hrtime. */
  uint64_t start_ns;
  uint64_t interval_ns;
  uint64_t due_ns; /* the next tick */
};

static void on_timer(uv_timer_t *timer);

/* Rounded up, so that the timer is not early if the loop's time is fresh; never
 * 0, by which libuv would call again within the same turn. */
static int aim(uvperf__ticker_t *ticker, uint64_t now_ns) {
  uint64_t ms = (ticker->due_ns - now_ns) / NS_PER_MS + 1;

  return uv_timer_start(&ticker->timer, on_timer, ms, 0);
}

static void on_timer(uv_timer_t *timer) {
  uvperf__ticker_t *ticker = timer->data;
  uint64_t now_ns = uv_hrtime();
  uint64_t reached;

  /* A forked child has what it ticks for no more. The timer, which does not
   * repeat, has stopped. */
  if (uvperf__process() != ticker->process)
    return;
  if (now_ns < ticker->due_ns) {
    aim(ticker, now_ns);
    return;
  }
  reached = (now_ns - ticker->start_ns) / ticker->interval_ns;
  ticker->due_ns = ticker->start_ns + (reached + 1) * ticker->interval_ns;
  aim(ticker, now_ns);
  ticker->ops->tick(ticker->owner);
}

int uvperf__ticker_new(uvperf__ticker_t **ticker_out, uv_loop_t *loop,
                       const uvperf__ticker_ops_t *ops, void *owner) {
  uvperf__ticker_t *ticker = uvperf__calloc(1, sizeof(*ticker));

  if (ticker == NULL)
    return UV_ENOMEM;
  ticker->ops = ops;
  ticker->owner = owner;
  ticker->process = uvperf__process();
  uv_timer_init(loop, &ticker->timer);
  ticker->timer.data = ticker;
  ticker->timer.timer_cb = on_timer;
  *ticker_out = ticker;
  return 0;
}

int uvperf__ticker_start(uvperf__ticker_t *ticker, uint64_t interval_ms) {
  uint64_t most_ms = INT64_MAX / NS_PER_MS; /* 292 years */

  assert(interval_ms > 0);
  ticker->interval_ns =
      (interval_ms < most_ms ? interval_ms : most_ms) * NS_PER_MS;
  ticker->start_ns = uv_hrtime();
  ticker->due_ns = ticker->start_ns + ticker->interval_ns;
  /* UV_EINVAL for a timer that somebody else has closed: libuv #2416. */
  return aim(ticker, ticker->start_ns);
}

void uvperf__ticker_stop(uvperf__ticker_t *ticker) {
  if (!uv_is_closing((const uv_handle_t *)&ticker->timer))
    uv_timer_stop(&ticker->timer);
}

/* -- close ---------------------------------------------------------------- */

static void on_closed(uv_handle_t *handle) {
  uvperf__ticker_t *ticker = handle->data;

  uvperf__teardown_closed(ticker->teardown);
}

void uvperf__ticker_close(uvperf__ticker_t *ticker,
                          uvperf__teardown_t *teardown) {
  assert(ticker->teardown == NULL);
  uvperf__ticker_stop(ticker);
  ticker->teardown = teardown;
  uvperf__teardown_close(teardown, &ticker->timer, on_closed);
}

void uvperf__ticker_free(uvperf__ticker_t *ticker) {
  if (ticker != NULL)
    uvperf__free(ticker);
}

/* Every handle on the loop may be asked about, so `data` is only read once the
 * type and our own callback say that the handle is ours. */
int uvperf__ticker_close_owner(uv_handle_t *handle) {
  uvperf__ticker_t *ticker;

  if (handle->type != UV_TIMER || ((uv_timer_t *)handle)->timer_cb != on_timer)
    return 0;
  ticker = handle->data;
  if (ticker->teardown == NULL)
    ticker->ops->close(ticker->owner);
  return 1;
}

/* -- getters -------------------------------------------------------------- */

void uvperf__ticker_set_ref(uvperf__ticker_t *ticker, int ref) {
  ticker->unref = !ref;
  if (ref)
    uv_ref((uv_handle_t *)&ticker->timer);
  else
    uv_unref((uv_handle_t *)&ticker->timer);
}

int uvperf__ticker_has_ref(const uvperf__ticker_t *ticker) {
  return !ticker->unref;
}

int uvperf__ticker_is_active(const uvperf__ticker_t *ticker) {
  return uv_is_active((const uv_handle_t *)&ticker->timer);
}
