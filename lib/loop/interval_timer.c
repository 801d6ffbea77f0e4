/* SPDX-License-Identifier: MIT */
/* A repeating uv_timer_t is not exact enough. uv_timer_again counts from the
 * loop iteration in which the timer fired, so delays add up. uv_timer_start
 * counts from the loop's cached time, which is old after long work, so it can
 * fire early. So the time of each tick is computed with uv_hrtime, and checked
 * when the timer fires. */
#include "loop/interval_timer.h"

#include <assert.h>

#include "sys/fork.h"
#include "util/alloc.h"

#define NS_PER_MS 1000000u

struct uvperf__interval_timer_s {
  const uvperf__interval_timer_ops_t *ops;
  void *owner;
  uint32_t process; /* the process that made it */
  uv_timer_t timer;
  uv_idle_t idle;               /* active while a tick continues */
  int is_same_iteration;        /* no poll phase has come since the tick */
  uvperf__teardown_t *teardown; /* the owner's; NULL: not closing */
  int unref;
  /* Nanoseconds of uv_hrtime. */
  uint64_t start_ns;
  uint64_t interval_ns;
  uint64_t due_ns; /* the time of the next tick */
};

static void on_timer(uv_timer_t *timer);
static void on_idle(uv_idle_t *idle);

static int can_use(const void *handle) {
  return !uv_is_closing(handle);
}

/* The delay is rounded up, so that the timer is not early if the loop's time is
 * up to date. The delay is never 0, because libuv would call back again in the
 * same iteration. */
static int arm(uvperf__interval_timer_t *interval, uint64_t now_ns) {
  uint64_t ms = (interval->due_ns - now_ns) / NS_PER_MS + 1;

  return uv_timer_start(&interval->timer, on_timer, ms, 0);
}

/* An active idle handle keeps the poll phase from waiting. */
static void tick(uvperf__interval_timer_t *interval, int is_new) {
  interval->is_same_iteration = is_new;
  if (interval->ops->tick(interval->owner, is_new) && can_use(&interval->idle))
    uv_idle_start(&interval->idle, on_idle);
}

/* The idle phase comes between the timers and the poll phase. The first idle
 * phase after a tick is too early to continue. */
static void on_idle(uv_idle_t *idle) {
  uvperf__interval_timer_t *interval = idle->data;

  if (interval->is_same_iteration) {
    interval->is_same_iteration = 0;
    return;
  }
  uv_idle_stop(idle);
  if (uvperf__process() == interval->process)
    tick(interval, 0);
}

static void on_timer(uv_timer_t *timer) {
  uvperf__interval_timer_t *interval = timer->data;
  uint64_t now_ns = uv_hrtime();
  uint64_t reached;

  /* A forked child does not tick. The timer does not repeat, so it has
   * stopped. */
  if (uvperf__process() != interval->process)
    return;
  if (now_ns < interval->due_ns) {
    arm(interval, now_ns);
    return;
  }
  reached = (now_ns - interval->start_ns) / interval->interval_ns;
  interval->due_ns = interval->start_ns + (reached + 1) * interval->interval_ns;
  arm(interval, now_ns);
  if (!uv_is_active((const uv_handle_t *)&interval->idle))
    tick(interval, 1);
}

int uvperf__interval_timer_new(uvperf__interval_timer_t **timer_out,
                               uv_loop_t *loop,
                               const uvperf__interval_timer_ops_t *ops,
                               void *owner) {
  uvperf__interval_timer_t *interval = uvperf__calloc(1, sizeof(*interval));

  if (interval == NULL)
    return UV_ENOMEM;
  interval->ops = ops;
  interval->owner = owner;
  interval->process = uvperf__process();
  uv_timer_init(loop, &interval->timer);
  interval->timer.data = interval;
  interval->timer.timer_cb = on_timer;
  uv_idle_init(loop, &interval->idle);
  interval->idle.data = interval;
  interval->idle.idle_cb = on_idle;
  *timer_out = interval;
  return 0;
}

int uvperf__interval_timer_start(uvperf__interval_timer_t *interval,
                                 uint64_t interval_ms) {
  uint64_t most_ms = INT64_MAX / NS_PER_MS; /* 292 years */

  assert(interval_ms > 0);
  if (!can_use(&interval->idle))
    return UV_EINVAL;
  uv_idle_stop(&interval->idle);
  interval->interval_ns =
      (interval_ms < most_ms ? interval_ms : most_ms) * NS_PER_MS;
  interval->start_ns = uv_hrtime();
  interval->due_ns = interval->start_ns + interval->interval_ns;
  /* uv_timer_start returns UV_EINVAL if others have closed the timer: libuv
   * #2416. */
  return arm(interval, interval->start_ns);
}

void uvperf__interval_timer_stop(uvperf__interval_timer_t *interval) {
  if (can_use(&interval->timer))
    uv_timer_stop(&interval->timer);
  if (can_use(&interval->idle))
    uv_idle_stop(&interval->idle);
}

/* -- close ---------------------------------------------------------------- */

static void on_closed(uv_handle_t *handle) {
  uvperf__interval_timer_t *interval = handle->data;

  uvperf__teardown_closed(interval->teardown);
}

void uvperf__interval_timer_close(uvperf__interval_timer_t *interval,
                                  uvperf__teardown_t *teardown) {
  assert(interval->teardown == NULL);
  uvperf__interval_timer_stop(interval);
  interval->teardown = teardown;
  uvperf__teardown_close(teardown, &interval->timer, on_closed);
  uvperf__teardown_close(teardown, &interval->idle, on_closed);
}

void uvperf__interval_timer_free(uvperf__interval_timer_t *interval) {
  uvperf__free(interval);
}

static int is_ours(const uv_handle_t *handle) {
  if (handle->type == UV_IDLE)
    return ((const uv_idle_t *)handle)->idle_cb == on_idle;
  return handle->type == UV_TIMER &&
         ((const uv_timer_t *)handle)->timer_cb == on_timer;
}

/* Any handle of the loop may be passed here. So `data` is read only if the
 * handle's type and callback show that the handle is ours. */
int uvperf__interval_timer_close_owner(uv_handle_t *handle) {
  uvperf__interval_timer_t *interval;

  if (!is_ours(handle))
    return 0;
  interval = handle->data;
  if (interval->teardown == NULL)
    interval->ops->close(interval->owner);
  return 1;
}

/* -- getters -------------------------------------------------------------- */

void uvperf__interval_timer_set_ref(uvperf__interval_timer_t *interval,
                                    int ref) {
  interval->unref = !ref;
  if (ref) {
    uv_ref((uv_handle_t *)&interval->timer);
    uv_ref((uv_handle_t *)&interval->idle);
  } else {
    uv_unref((uv_handle_t *)&interval->timer);
    uv_unref((uv_handle_t *)&interval->idle);
  }
}

int uvperf__interval_timer_has_ref(const uvperf__interval_timer_t *interval) {
  return !interval->unref;
}

int uvperf__interval_timer_is_active(const uvperf__interval_timer_t *interval) {
  return uv_is_active((const uv_handle_t *)&interval->timer);
}
