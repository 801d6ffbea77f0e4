/* SPDX-License-Identifier: MIT */
/* Rings on a libuv loop: the inner handles, from new to the last close
 * callback, and start, stop and flush. The handles of the layer above (event.c
 * and its like) open events and map rings, hand them to one watch each, and
 * drain when it says so. What happens in a turn is in watch_turn.c. */
#include "loop/watch_impl.h"

#include <assert.h>

#include "sys/fork.h"
#include "util/alloc.h"
#include "util/grow.h"

static void on_replaced(void *owner) {
  watched_ring_t *ring = owner;

  if (ring->watch->started)
    uvperf__watch_settle(ring->watch);
}

static int on_spare(void *owner, int status) {
  const watched_ring_t *ring = owner;
  const uvperf__watch_t *watch = ring->watch;

  return watch->ops->spare == NULL
             ? status
             : watch->ops->spare(watch->owner, ring->index);
}

/* Without the check handle nothing would be delivered. */
static int is_wanted(void *owner) {
  const watched_ring_t *ring = owner;

  return uvperf__watch_can_use(&ring->watch->check);
}

static void on_ring_closed(void *owner);

static const uvperf__ring_poll_ops_t ring_poll_ops = {
    on_spare, uvperf__watch_on_woken, is_wanted, on_replaced, on_ring_closed};

/* -- start, stop, flush --------------------------------------------------- */

int uvperf__watch_new(uvperf__watch_t **watch_out, uv_loop_t *loop,
                      const uvperf__watch_ops_t *ops, void *owner) {
  uvperf__watch_t *watch = uvperf__calloc(1, sizeof(*watch));

  if (watch == NULL)
    return UV_ENOMEM;
  watch->loop = loop;
  watch->ops = ops;
  watch->owner = owner;
  watch->process = uvperf__process();
  uv_idle_init(loop, &watch->idle);
  watch->idle.data = watch;
  watch->idle.idle_cb = uvperf__watch_on_idle;
  uv_check_init(loop, &watch->check);
  watch->check.data = watch;
  watch->check.check_cb = uvperf__watch_on_check;
  uv_timer_init(loop, &watch->timer);
  watch->timer.data = watch;
  watch->timer.timer_cb = uvperf__watch_on_timer;
  /* It never keeps the loop alive: the others do. */
  uv_unref((uv_handle_t *)&watch->timer);
  *watch_out = watch;
  return 0;
}

static int make_ring(uvperf__watch_t *watch, uvperf__ring_t *ring,
                     const int *fds, size_t nr_fds, watched_ring_t **made) {
  watched_ring_t *watched = uvperf__calloc(1, sizeof(*watched));
  int rc;

  if (watched == NULL)
    return UV_ENOMEM;
  watched->watch = watch;
  watched->ring = ring;
  watched->index = watch->nr_rings;
  watched->ring_poll.unref = watch->unref;
  rc = uvperf__ring_poll_init(&watched->ring_poll, watch->loop, fds, nr_fds,
                              &ring_poll_ops, watched);
  if (rc != 0)
    uvperf__free(watched);
  else
    *made = watched;
  return rc;
}

int uvperf__watch_add(uvperf__watch_t *watch, uvperf__ring_t *ring,
                      const int *fds, size_t nr_fds) {
  watched_ring_t **rings = watch->rings;
  watched_ring_t *made;
  int rc;

  assert(nr_fds > 0 && watch->teardown == NULL);
  rings = uvperf__grow(rings, watch->nr_rings, &watch->room_rings, 1,
                       sizeof(watch->rings[0]));
  if (rings == NULL)
    return UV_ENOMEM;
  watch->rings = rings;
  rc = make_ring(watch, ring, fds, nr_fds, &made);
  if (rc != 0)
    return rc;
  rings[watch->nr_rings++] = made;
  if (watch->started)
    rc = uvperf__ring_poll_start(&made->ring_poll);
  /* Its handle is with the loop: it is closed as the others are. */
  made->ended = rc;
  if (rc != 0)
    return rc;
  watch->nr_live += 1;
  if (watch->started)
    uvperf__watch_settle(watch);
  return 0;
}

void uvperf__watch_set_fds(uvperf__watch_t *watch, size_t ring_index,
                           const int *fds, size_t nr_fds) {
  uvperf__ring_poll_set_fds(&watch->rings[ring_index]->ring_poll, fds, nr_fds);
}

void uvperf__watch_set_flush(uvperf__watch_t *watch, uint64_t flush_ms) {
  watch->options.flush_ms = flush_ms;
  if (!watch->started)
    return;
  watch->flush_at = flush_ms > 0 ? uv_now(watch->loop) + flush_ms : 0;
  uvperf__watch_set_timer(watch);
}

/* Without one of them nothing, or not all that was asked for, would be
 * delivered. */
static int can_turn(const uvperf__watch_t *watch) {
  return uvperf__watch_can_use(&watch->idle) &&
         uvperf__watch_can_use(&watch->check) &&
         uvperf__watch_can_use(&watch->timer);
}

static int why_ended(const uvperf__watch_t *watch) {
  size_t i;

  for (i = 0; i < watch->nr_rings; i++)
    if (watch->rings[i]->ended == UV_EPROTO)
      return UV_EPROTO;
  return UV_EOF;
}

int uvperf__watch_start(uvperf__watch_t *watch,
                        const uvperf__watch_options_t *options) {
  watched_ring_t *ring;
  size_t i;
  int rc;

  if (watch->nr_rings > 0 && watch->nr_live == 0)
    return why_ended(watch);
  if (!can_turn(watch))
    return UV_EINVAL;
  watch->options = *options;
  for (i = 0; i < watch->nr_rings; i++) {
    ring = watch->rings[i];
    if (ring->ended)
      continue;
    rc = uvperf__ring_poll_start(&ring->ring_poll);
    if (rc != 0) {
      uvperf__watch_quiesce(watch);
      return rc;
    }
  }
  watch->started = 1;
  uvperf__watch_set_flush(watch, options->flush_ms);
  uvperf__watch_settle(watch);
  return 0;
}

void uvperf__watch_stop(uvperf__watch_t *watch) {
  uvperf__watch_quiesce(watch);
}

void uvperf__watch_look_in(uvperf__watch_t *watch, uint64_t ms) {
  uint64_t at;

  if (!watch->started)
    return;
  if (ms == 0) {
    uvperf__watch_enqueue_all(watch);
    uvperf__watch_schedule(watch);
    return;
  }
  at = uv_now(watch->loop) + ms;
  if (watch->look_at != 0 && watch->look_at <= at)
    return;
  watch->look_at = at;
  uvperf__watch_set_timer(watch);
}

static void flush_each(uvperf__watch_t *watch, uvperf__slice_t *slice) {
  size_t i;
  int rc;

  for (i = 0; i < watch->nr_rings; i++) {
    if (watch->rings[i]->ended)
      continue;
    rc = watch->ops->drain(watch->owner, i, slice);
    if (rc < 0)
      rc = uvperf__watch_ring_failed(watch, i, rc, NULL);
    if (rc == UVPERF__STOPPED)
      return;
  }
}

int uvperf__watch_flush(uvperf__watch_t *watch) {
  uvperf__slice_t slice;

  if (watch->delivering)
    return UV_EBUSY;
  uvperf__slice_unbounded(&slice, &watch->session);
  watch->delivering = 1;
  if (watch->ops->drain_all == NULL)
    flush_each(watch, &slice);
  else if (watch->nr_live > 0)
    watch->ops->drain_all(watch->owner, &slice);
  watch->delivering = 0;
  return 0;
}

const uint64_t *uvperf__watch_session(const uvperf__watch_t *watch) {
  return &watch->session;
}

/* -- close ---------------------------------------------------------------- */

static void on_ring_closed(void *owner) {
  watched_ring_t *ring = owner;

  uvperf__teardown_closed(ring->watch->teardown);
}

static void on_closed(uv_handle_t *handle) {
  uvperf__watch_t *watch = handle->data;

  uvperf__teardown_closed(watch->teardown);
}

void uvperf__watch_close(uvperf__watch_t *watch, uvperf__teardown_t *teardown) {
  size_t i;

  assert(watch->teardown == NULL);
  uvperf__watch_quiesce(watch);
  watch->teardown = teardown;
  for (i = 0; i < watch->nr_rings; i++)
    uvperf__ring_poll_close(&watch->rings[i]->ring_poll, teardown);
  uvperf__teardown_close(teardown, &watch->idle, on_closed);
  uvperf__teardown_close(teardown, &watch->check, on_closed);
  uvperf__teardown_close(teardown, &watch->timer, on_closed);
}

void uvperf__watch_free(uvperf__watch_t *watch) {
  size_t i;

  if (watch == NULL)
    return;
  for (i = 0; i < watch->nr_rings; i++)
    uvperf__free(watch->rings[i]);
  uvperf__free(watch->rings);
  uvperf__free(watch);
}

static int is_ours(const uv_handle_t *handle) {
  switch (handle->type) {
    case UV_IDLE:
      return ((const uv_idle_t *)handle)->idle_cb == uvperf__watch_on_idle;
    case UV_CHECK:
      return ((const uv_check_t *)handle)->check_cb == uvperf__watch_on_check;
    case UV_TIMER:
      return ((const uv_timer_t *)handle)->timer_cb == uvperf__watch_on_timer;
    default:
      return 0;
  }
}

/* Every handle on the loop may be asked about, so `data` is only read once the
 * type and our own callback say that the handle is ours. */
static uvperf__watch_t *watch_of(uv_handle_t *handle) {
  uvperf__ring_poll_t *ring_poll;

  ring_poll = uvperf__ring_poll_of(handle);
  if (ring_poll != NULL)
    return ((watched_ring_t *)ring_poll->owner)->watch;
  return is_ours(handle) ? handle->data : NULL;
}

int uvperf__watch_close_owner(uv_handle_t *handle) {
  uvperf__watch_t *watch = watch_of(handle);

  if (watch == NULL)
    return 0;
  if (watch->teardown == NULL)
    watch->ops->close(watch->owner);
  return 1;
}

typedef struct visit_s {
  const uvperf__watch_ops_t *ops;
  void (*visit)(void *owner, void *arg);
  void *arg;
} visit_t;

/* Each watch has one check handle. */
static void visit_watch(uv_handle_t *handle, void *arg) {
  const visit_t *visit = arg;
  const uvperf__watch_t *watch;

  if (handle->type != UV_CHECK || !is_ours(handle))
    return;
  watch = handle->data;
  if (watch->ops == visit->ops)
    visit->visit(watch->owner, visit->arg);
}

void uvperf__watch_each(uv_loop_t *loop, const uvperf__watch_ops_t *ops,
                        void (*visit)(void *owner, void *arg), void *arg) {
  visit_t each = {ops, visit, arg};

  uv_walk(loop, visit_watch, &each);
}

/* -- getters -------------------------------------------------------------- */

void uvperf__watch_set_ref(uvperf__watch_t *watch, int ref) {
  size_t i;

  watch->unref = !ref;
  for (i = 0; i < watch->nr_rings; i++)
    uvperf__ring_poll_set_ref(&watch->rings[i]->ring_poll, ref);
  if (ref) {
    uv_ref((uv_handle_t *)&watch->idle);
    uv_ref((uv_handle_t *)&watch->check);
  } else {
    uv_unref((uv_handle_t *)&watch->idle);
    uv_unref((uv_handle_t *)&watch->check);
  }
}

int uvperf__watch_has_ref(const uvperf__watch_t *watch) {
  return !watch->unref;
}

int uvperf__watch_is_started(const uvperf__watch_t *watch) {
  return watch->started;
}

int uvperf__watch_is_active(const uvperf__watch_t *watch) {
  return watch->started && watch->nr_live > 0;
}

uint64_t uvperf__watch_now(const uvperf__watch_t *watch) {
  return uvperf__watch_can_use(&watch->check) ? uv_now(watch->loop) : 0;
}

size_t uvperf__watch_nr_rings(const uvperf__watch_t *watch) {
  return watch->nr_rings;
}

int uvperf__watch_has_ended(const uvperf__watch_t *watch, size_t ring_index) {
  return watch->rings[ring_index]->ended != 0;
}

uint64_t uvperf__watch_wakeups(const uvperf__watch_t *watch) {
  return watch->wakeups;
}

uint64_t uvperf__watch_ring_wakeups(const uvperf__watch_t *watch,
                                    size_t ring_index) {
  return watch->rings[ring_index]->wakeups;
}

uint64_t uvperf__watch_slices(const uvperf__watch_t *watch) {
  return watch->slices;
}
