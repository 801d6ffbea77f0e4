/* SPDX-License-Identifier: MIT */
/* A repeating uv_timer_t is not exact enough. uv_timer_again counts from the
 * loop iteration in which the timer fired, so delays add up. uv_timer_start
 * counts from the loop's cached time, which is old after long work, so it can
 * fire early. So the time of each tick is computed with uv_hrtime, and checked
 * when the timer fires. */
#include "loop/interval_timer.h"

#include <assert.h>

#include "util/alloc.h"

#define NS_PER_MS 1000000u
/* The time that a tick wants in an iteration. */
#define TICK_NS 1000000u

struct uvperf__interval_timer_s {
  uvperf__member_t member; /* first: a member of the hub is this */
  const uvperf__interval_timer_ops_t *ops;
  void *owner;
  uv_timer_t timer;
  uvperf__teardown_t *teardown; /* the owner's */
  int closing;
  int is_due; /* a tick has begun or is queued */
  int is_new; /* it has not begun */
  /* Nanoseconds of uv_hrtime. */
  uint64_t start_ns;
  uint64_t interval_ns;
  uint64_t due_ns; /* the time of the next tick */
};

static void on_timer(uv_timer_t *timer);

/* The delay is rounded up, so that the timer is not early if the loop's time is
 * up to date. The delay is never 0, because libuv would call back again in the
 * same iteration. */
static int interval_arm(uvperf__interval_timer_t *interval, uint64_t now_ns) {
  uint64_t ms = (interval->due_ns - now_ns) / NS_PER_MS + 1;

  return uv_timer_start(&interval->timer, on_timer, ms, 0);
}

static void on_timer(uv_timer_t *timer) {
  uvperf__interval_timer_t *interval = timer->data;
  uint64_t now_ns = uv_hrtime();
  uint64_t reached;

  /* A forked child does not tick. The timer does not repeat, so it has
   * stopped. */
  if (uvperf__hub_is_forked(interval->member.hub))
    return;
  if (now_ns < interval->due_ns) {
    interval_arm(interval, now_ns);
    return;
  }
  reached = (now_ns - interval->start_ns) / interval->interval_ns;
  interval->due_ns = interval->start_ns + (reached + 1) * interval->interval_ns;
  interval_arm(interval, now_ns);
  if (!uvperf__hub_check(interval->member.hub) || interval->is_due)
    return;
  interval->is_due = interval->is_new = 1;
  uvperf__hub_queue(&interval->member, 0);
}

/* -- as a member of the hub ------------------------------------------------ */

/* The tick may stop, restart or close the timer. Then it is not continued. */
static void interval_run(uvperf__member_t *member, uint64_t now_ns,
                         uint64_t max_ns) {
  uvperf__interval_timer_t *interval = (uvperf__interval_timer_t *)member;
  uvperf__teardown_t *teardown = interval->teardown;
  int is_new = interval->is_new;

  (void)now_ns;
  interval->is_due = interval->is_new = 0;
  if (uvperf__hub_is_forked(member->hub))
    return;
  uvperf__teardown_hold(teardown);
  if (interval->ops->tick(interval->owner, is_new, max_ns)) {
    interval->is_due = 1;
    uvperf__hub_queue(member, 1);
  }
  uvperf__teardown_let_go(teardown);
}

static void interval_cancel(uvperf__member_t *member) {
  uvperf__interval_timer_t *interval = (uvperf__interval_timer_t *)member;

  uvperf__interval_timer_stop(interval);
  interval->ops->cancel(interval->owner);
}

static const uvperf__member_ops_t member_ops = {.run = interval_run,
                                                .cancel = interval_cancel};

/* -- new, start, stop ------------------------------------------------------ */

int uvperf__interval_timer_new(uvperf__interval_timer_t **timer_out,
                               uvperf__teardown_t *teardown,
                               const uvperf__interval_timer_ops_t *ops,
                               void *owner) {
  uvperf__interval_timer_t *interval = uvperf__calloc(1, sizeof(*interval));

  if (interval == NULL)
    return UV_ENOMEM;
  if (uvperf__hub_join(teardown) != 0) {
    uvperf__free(interval);
    return UV_ENOMEM;
  }
  interval->ops = ops;
  interval->owner = owner;
  interval->teardown = teardown;
  interval->member.slice_ns = TICK_NS;
  uvperf__hub_add(teardown->hub, &interval->member, &member_ops);
  uv_timer_init(teardown->loop, &interval->timer);
  interval->timer.data = interval;
  interval->timer.timer_cb = on_timer;
  *timer_out = interval;
  return 0;
}

int uvperf__interval_timer_start(uvperf__interval_timer_t *interval,
                                 uint64_t interval_ms) {
  uint64_t most_ms = INT64_MAX / NS_PER_MS; /* 292 years */

  assert(interval_ms > 0);
  uvperf__interval_timer_stop(interval);
  if (!uvperf__hub_is_sound(interval->member.hub))
    return UV_EINVAL;
  interval->interval_ns =
      (interval_ms < most_ms ? interval_ms : most_ms) * NS_PER_MS;
  interval->start_ns = uv_hrtime();
  interval->due_ns = interval->start_ns + interval->interval_ns;
  /* uv_timer_start returns UV_EINVAL if others have closed the timer: libuv
   * #2416. */
  return interval_arm(interval, interval->start_ns);
}

void uvperf__interval_timer_stop(uvperf__interval_timer_t *interval) {
  interval->is_due = interval->is_new = 0;
  uvperf__hub_dequeue(&interval->member);
  if (!uv_is_closing((const uv_handle_t *)&interval->timer))
    uv_timer_stop(&interval->timer);
}

/* -- close ---------------------------------------------------------------- */

static void on_closed(uv_handle_t *handle) {
  uvperf__interval_timer_t *interval = handle->data;

  uvperf__teardown_closed(interval->teardown);
}

void uvperf__interval_timer_close(uvperf__interval_timer_t *interval) {
  assert(!interval->closing);
  interval->closing = 1;
  uvperf__interval_timer_stop(interval);
  uvperf__hub_remove(&interval->member);
  uvperf__teardown_close(interval->teardown, &interval->timer, on_closed);
}

void uvperf__interval_timer_free(uvperf__interval_timer_t *interval) {
  uvperf__free(interval);
}

/* Any handle of the loop may be passed here. So `data` is read only if the
 * handle's type and callback show that the handle is ours. */
int uvperf__interval_timer_close_owner(uv_handle_t *handle) {
  uvperf__interval_timer_t *interval;

  if (handle->type != UV_TIMER ||
      ((const uv_timer_t *)handle)->timer_cb != on_timer)
    return 0;
  interval = handle->data;
  if (!interval->closing)
    interval->ops->close(interval->owner);
  return 1;
}

/* -- getters -------------------------------------------------------------- */

void uvperf__interval_timer_set_ref(uvperf__interval_timer_t *interval,
                                    int ref) {
  if (ref)
    uv_ref((uv_handle_t *)&interval->timer);
  else
    uv_unref((uv_handle_t *)&interval->timer);
}

int uvperf__interval_timer_is_active(const uvperf__interval_timer_t *interval) {
  return uv_is_active((const uv_handle_t *)&interval->timer);
}
