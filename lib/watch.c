/* SPDX-License-Identifier: MIT */
/* Rings on a libuv loop: wake, drain in slices, flush, end, counted close. The
 * handles (event.c and its like) open events and map rings, hand them to one
 * watch each, and drain when it says so. */
#include "watch.h"

#include <assert.h>
#include <sys/types.h>

#include "alloc.h"
#include "ring_poll.h"
#include "sys.h"
#include "teardown.h"

/* Wakeups in a row without a record after which we ask whether the target is
 * gone. One is normal: the records may have gone with an earlier drain. */
#define EMPTY_WAKEUPS_BEFORE_PROBE 2

typedef struct watched_ring_s {
  uvperf__ring_poll_t ring_poll;
  uvperf__watch_t *watch;
  uvperf__ring_t *ring;
  size_t index;
  struct watched_ring_s *next; /* in the queue */
  int queued;
  int woken;         /* since the last drain */
  int empty_wakeups; /* in a row */
  int ended;
} watched_ring_t;

struct uvperf__watch_s {
  uv_loop_t *loop;
  const uvperf__watch_ops_t *ops;
  void *owner;
  uvperf__watch_options_t options;
  pid_t pid;
  uv_idle_t idle;
  uv_check_t check;
  uv_timer_t timer;
  uvperf__teardown_t teardown;
  int closing;
  int started;
  int unref;
  int delivering; /* inside a turn or a flush */
  /* From a start until a drain has happened after the poll phase that really
   * registered the fds; see settle(). */
  int settling;
  int idled;
  uint64_t session; /* one more with each stop, end and close */
  uint64_t wakeups;
  uint64_t slices;
  watched_ring_t *first; /* the queue of rings to be drained */
  watched_ring_t *last;
  size_t nr_live;
  size_t nr_rings;
  size_t max_rings;
  watched_ring_t rings[];
};

static void on_idle(uv_idle_t *idle);
static void on_check(uv_check_t *check);
static void on_timer(uv_timer_t *timer);

/* -- inner handles -------------------------------------------------------- */

/* Daemons tear down by uv_walk and uv_close of every handle, so that an inner
 * handle may be closing behind our back; starting or stopping it then aborts or
 * corrupts the loop's queues. */
static int usable(const void *handle) {
  return !uv_is_closing(handle);
}

static void check_start(uvperf__watch_t *watch) {
  if (usable(&watch->check))
    uv_check_start(&watch->check, on_check);
}

static void turning_stop(uvperf__watch_t *watch) {
  if (usable(&watch->idle))
    uv_idle_stop(&watch->idle);
  if (usable(&watch->check))
    uv_check_stop(&watch->check);
}

/* -- the queue ------------------------------------------------------------ */

/* First in, first out: a ring whose slice was cut goes to the end, so that
 * rings take turns. */
static void enqueue(watched_ring_t *ring) {
  uvperf__watch_t *watch = ring->watch;

  if (ring->queued || ring->ended)
    return;
  ring->queued = 1;
  ring->next = NULL;
  if (watch->last != NULL)
    watch->last->next = ring;
  else
    watch->first = ring;
  watch->last = ring;
}

static watched_ring_t *dequeue(uvperf__watch_t *watch) {
  watched_ring_t *ring = watch->first;

  if (ring == NULL)
    return NULL;
  watch->first = ring->next;
  if (watch->first == NULL)
    watch->last = NULL;
  ring->queued = 0;
  return ring;
}

static void enqueue_all(uvperf__watch_t *watch) {
  size_t i;

  for (i = 0; i < watch->nr_rings; i++)
    enqueue(&watch->rings[i]);
}

/* Has the queue looked at in the check phase of this turn or the next, without
 * waiting for fds before. */
static void schedule(uvperf__watch_t *watch) {
  if (!usable(&watch->check))
    return; /* closed by somebody else: the idle handle would only spin */
  check_start(watch);
  if (usable(&watch->idle))
    uv_idle_start(&watch->idle, on_idle);
}

/* Drains every ring until that has happened after the registration.
 * uv_poll_init adds the fd to epoll and removes it again, and uv_poll_start has
 * it added inside the next poll phase; each addition polls once and so swallows
 * a wakeup that came before. A ring that is full by then never wakes anybody
 * again. The idle callback tells the check callback that a poll phase lies
 * between the start and itself: a start inside the poll phase of this turn is
 * registered only in the next. */
static void settle(uvperf__watch_t *watch) {
  watch->settling = 1;
  watch->idled = 0;
  enqueue_all(watch);
  schedule(watch);
}

/* -- the end of a ring ---------------------------------------------------- */

static void quiesce(uvperf__watch_t *watch) {
  size_t i;

  watch->session += 1;
  watch->started = 0;
  watch->settling = 0;
  while (dequeue(watch) != NULL)
    continue;
  turning_stop(watch);
  if (usable(&watch->timer))
    uv_timer_stop(&watch->timer);
  for (i = 0; i < watch->nr_rings; i++)
    uvperf__ring_poll_stop(&watch->rings[i].ring_poll);
}

/* Tells the end of a slice that delivered something. UVPERF__DRAINED to go
 * on. */
static int tell_slice(uvperf__watch_t *watch, const uvperf__slice_t *slice) {
  if (slice->records > 0 && watch->session == slice->own_session &&
      watch->ops->slice_end != NULL)
    watch->ops->slice_end(watch->owner);
  return watch->session == slice->own_session ? UVPERF__DRAINED
                                              : UVPERF__STOPPED;
}

static int end_ring(watched_ring_t *ring, int status,
                    const uvperf__slice_t *slice) {
  uvperf__watch_t *watch = ring->watch;

  /* The records that came before the end are a slice too. Whoever stops there
   * is told the end after the next start. */
  if (slice != NULL && watch->nr_live == 1 &&
      tell_slice(watch, slice) == UVPERF__STOPPED)
    return UVPERF__STOPPED;
  ring->ended = 1;
  uvperf__ring_poll_stop(&ring->ring_poll);
  watch->nr_live -= 1;
  if (watch->nr_live > 0)
    return UVPERF__DRAINED;
  quiesce(watch);
  watch->ops->end(watch->owner, status);
  return UVPERF__STOPPED;
}

/* It eats a pending wakeup, so the ring is queued to be drained once more. */
static void probe(watched_ring_t *ring) {
  ring->empty_wakeups = 0;
  uvperf__ring_poll_probe(&ring->ring_poll);
  enqueue(ring);
}

/* -- a turn --------------------------------------------------------------- */

static int visit(watched_ring_t *ring, uvperf__slice_t *slice) {
  uvperf__watch_t *watch = ring->watch;
  uint64_t records = slice->records;
  int gone = ring->ring_poll.gone;
  int woken = ring->woken;
  int rc;

  ring->woken = 0;
  rc = watch->ops->drain(watch->owner, ring->index, slice);
  if (rc == UVPERF__STOPPED)
    return rc;
  if (rc < 0)
    return end_ring(ring, rc, slice);
  if (slice->records != records)
    ring->empty_wakeups = 0;
  if (rc == UVPERF__CUT) {
    enqueue(ring);
    return rc;
  }
  /* It was already gone when this drain took its look, so this was all, unless
   * a callback had another event write into the ring. */
  if (gone != 0 && ring->ring_poll.gone != 0) {
    /* The end of a slice is told first, where that can still happen: the next
     * turn ends the ring, if nothing has come by then. */
    if (slice->records > 0 && watch->nr_live == 1) {
      enqueue(ring);
      return UVPERF__CUT;
    }
    return end_ring(ring, gone, slice);
  }
  if (woken && slice->records == records &&
      ++ring->empty_wakeups >= EMPTY_WAKEUPS_BEFORE_PROBE)
    probe(ring);
  return UVPERF__DRAINED;
}

static void drain_queue(uvperf__watch_t *watch, uvperf__slice_t *slice) {
  watched_ring_t *ring;

  while ((ring = dequeue(watch)) != NULL)
    if (visit(ring, slice) != UVPERF__DRAINED)
      return;
}

static void turn(uvperf__watch_t *watch) {
  int registered = watch->idled;
  uvperf__slice_t slice;

  uvperf__slice_begin(&slice, &watch->session, watch->options.slice_records,
                      watch->options.slice_bytes, watch->options.slice_ns);
  watch->delivering = 1;
  drain_queue(watch, &slice);
  if (slice.records > 0)
    watch->slices += 1;
  tell_slice(watch, &slice);
  watch->delivering = 0;
  if (watch->session != slice.own_session)
    return;

  if (watch->settling && registered)
    watch->settling = 0;
  else if (watch->settling)
    enqueue_all(watch);
  if (watch->first != NULL)
    schedule(watch);
  else
    turning_stop(watch);
}

/* A forked child has neither the mapping nor any right to the records. */
static int is_forked(const uvperf__watch_t *watch) {
  return uvperf__sys_getpid() != watch->pid;
}

static void on_check(uv_check_t *check) {
  uvperf__watch_t *watch = check->data;

  if (is_forked(watch))
    quiesce(watch);
  else if (watch->started)
    turn(watch);
}

static void on_idle(uv_idle_t *idle) {
  uvperf__watch_t *watch = idle->data;

  watch->idled = 1;
  if (!usable(&watch->check))
    uv_idle_stop(idle);
}

static void on_woken(void *owner) {
  watched_ring_t *ring = owner;
  uvperf__watch_t *watch = ring->watch;

  watch->wakeups += 1;
  ring->woken = 1;
  enqueue(ring);
  /* This is the poll phase; the check phase comes next. */
  check_start(watch);
}

/* Records below the watermark wake nobody. */
static void on_timer(uv_timer_t *timer) {
  uvperf__watch_t *watch = timer->data;
  size_t i;

  if (is_forked(watch)) {
    quiesce(watch);
    return;
  }
  for (i = 0; i < watch->nr_rings; i++)
    if (!watch->rings[i].ended && uvperf__ring_has_data(watch->rings[i].ring))
      enqueue(&watch->rings[i]);
  if (watch->first != NULL)
    schedule(watch);
}

static void on_replaced(void *owner) {
  watched_ring_t *ring = owner;

  if (ring->watch->started)
    settle(ring->watch);
}

static void on_ring_closed(void *owner);

static const uvperf__ring_poll_ops_t ring_poll_ops = {on_woken, on_replaced,
                                                      on_ring_closed};

/* -- start, stop, flush --------------------------------------------------- */

int uvperf__watch_new(uvperf__watch_t **watch_out, uv_loop_t *loop,
                      size_t nr_rings, const uvperf__watch_ops_t *ops,
                      void *owner) {
  uvperf__watch_t *watch;

  if (nr_rings > (SIZE_MAX - sizeof(*watch)) / sizeof(watch->rings[0]))
    return UV_ENOMEM;
  watch =
      uvperf__calloc(1, sizeof(*watch) + nr_rings * sizeof(watch->rings[0]));
  if (watch == NULL)
    return UV_ENOMEM;
  watch->loop = loop;
  watch->ops = ops;
  watch->owner = owner;
  watch->max_rings = nr_rings;
  watch->pid = uvperf__sys_getpid();
  uv_idle_init(loop, &watch->idle);
  watch->idle.data = watch;
  watch->idle.idle_cb = on_idle;
  uv_check_init(loop, &watch->check);
  watch->check.data = watch;
  watch->check.check_cb = on_check;
  uv_timer_init(loop, &watch->timer);
  watch->timer.data = watch;
  watch->timer.timer_cb = on_timer;
  /* These two never keep the loop alive: poll and idle do. */
  uv_unref((uv_handle_t *)&watch->check);
  uv_unref((uv_handle_t *)&watch->timer);
  *watch_out = watch;
  return 0;
}

int uvperf__watch_add(uvperf__watch_t *watch, uvperf__ring_t *ring,
                      const int *fds, size_t nr_fds) {
  watched_ring_t *watched = &watch->rings[watch->nr_rings];
  int rc;

  assert(watch->nr_rings < watch->max_rings && nr_fds > 0);
  watched->watch = watch;
  watched->ring = ring;
  watched->index = watch->nr_rings;
  rc = uvperf__ring_poll_init(&watched->ring_poll, watch->loop, fds, nr_fds,
                              &ring_poll_ops, watched);
  if (rc != 0)
    return rc;
  watch->nr_rings += 1;
  watch->nr_live += 1;
  return 0;
}

void uvperf__watch_set_fds(uvperf__watch_t *watch, size_t ring_index,
                           const int *fds, size_t nr_fds) {
  uvperf__ring_poll_set_fds(&watch->rings[ring_index].ring_poll, fds, nr_fds);
}

void uvperf__watch_set_flush(uvperf__watch_t *watch, uint64_t flush_ms) {
  watch->options.flush_ms = flush_ms;
  if (!watch->started || !usable(&watch->timer))
    return;
  if (flush_ms > 0)
    uv_timer_start(&watch->timer, on_timer, flush_ms, flush_ms);
  else
    uv_timer_stop(&watch->timer);
}

int uvperf__watch_start(uvperf__watch_t *watch,
                        const uvperf__watch_options_t *options) {
  watched_ring_t *ring;
  size_t i;
  int rc;

  if (watch->nr_rings == 0)
    return 0;
  if (watch->nr_live == 0)
    return UV_EOF;
  watch->options = *options;
  for (i = 0; i < watch->nr_rings; i++) {
    ring = &watch->rings[i];
    if (ring->ended)
      continue;
    rc = uvperf__ring_poll_start(&ring->ring_poll);
    if (rc != 0) {
      quiesce(watch);
      return rc;
    }
  }
  watch->started = 1;
  uvperf__watch_set_flush(watch, options->flush_ms);
  settle(watch);
  return 0;
}

void uvperf__watch_stop(uvperf__watch_t *watch) {
  quiesce(watch);
}

int uvperf__watch_flush(uvperf__watch_t *watch) {
  uvperf__slice_t slice;
  size_t i;
  int rc;

  if (watch->delivering)
    return UV_EBUSY;
  uvperf__slice_unbounded(&slice, &watch->session);
  watch->delivering = 1;
  for (i = 0; i < watch->nr_rings; i++) {
    if (watch->rings[i].ended)
      continue;
    rc = watch->ops->drain(watch->owner, i, &slice);
    if (rc < 0)
      rc = end_ring(&watch->rings[i], rc, NULL);
    if (rc == UVPERF__STOPPED)
      break;
  }
  watch->delivering = 0;
  return 0;
}

/* -- close ---------------------------------------------------------------- */

static void all_closed(void *owner) {
  uvperf__watch_t *watch = owner;
  const uvperf__watch_ops_t *ops = watch->ops;
  void *user = watch->owner;

  uvperf__free(watch);
  ops->closed(user);
}

static void on_ring_closed(void *owner) {
  watched_ring_t *ring = owner;

  uvperf__teardown_closed(&ring->watch->teardown);
}

static void on_closed(uv_handle_t *handle) {
  uvperf__watch_t *watch = handle->data;

  uvperf__teardown_closed(&watch->teardown);
}

void uvperf__watch_close(uvperf__watch_t *watch) {
  uvperf__teardown_t *teardown = &watch->teardown;
  size_t i;

  assert(!watch->closing);
  quiesce(watch);
  watch->closing = 1;
  uvperf__teardown_begin(teardown, watch->loop, all_closed, watch);
  for (i = 0; i < watch->nr_rings; i++)
    uvperf__teardown_note(teardown,
                          uvperf__ring_poll_close(&watch->rings[i].ring_poll));
  uvperf__teardown_close(teardown, &watch->idle, on_closed);
  uvperf__teardown_close(teardown, &watch->check, on_closed);
  uvperf__teardown_close(teardown, &watch->timer, on_closed);
  uvperf__teardown_end(teardown);
}

/* Every handle on the loop may be asked about, so `data` is only read once the
 * type and our own callback say that the handle is ours. */
static uvperf__watch_t *watch_of(uv_handle_t *handle) {
  uvperf__ring_poll_t *ring_poll;

  ring_poll = uvperf__ring_poll_of(handle);
  if (ring_poll != NULL)
    return ((watched_ring_t *)ring_poll->owner)->watch;
  if ((handle->type == UV_IDLE && ((uv_idle_t *)handle)->idle_cb == on_idle) ||
      (handle->type == UV_CHECK &&
       ((uv_check_t *)handle)->check_cb == on_check) ||
      (handle->type == UV_TIMER &&
       ((uv_timer_t *)handle)->timer_cb == on_timer))
    return handle->data;
  return NULL;
}

int uvperf__watch_close_owner(uv_handle_t *handle) {
  uvperf__watch_t *watch = watch_of(handle);

  if (watch == NULL)
    return 0;
  if (!watch->closing)
    watch->ops->close(watch->owner);
  return 1;
}

/* -- getters -------------------------------------------------------------- */

void uvperf__watch_set_ref(uvperf__watch_t *watch, int ref) {
  size_t i;

  watch->unref = !ref;
  for (i = 0; i < watch->nr_rings; i++)
    uvperf__ring_poll_set_ref(&watch->rings[i].ring_poll, ref);
  if (ref)
    uv_ref((uv_handle_t *)&watch->idle);
  else
    uv_unref((uv_handle_t *)&watch->idle);
}

int uvperf__watch_has_ref(const uvperf__watch_t *watch) {
  return !watch->unref;
}

int uvperf__watch_is_active(const uvperf__watch_t *watch) {
  return watch->started && watch->nr_live > 0;
}

int uvperf__watch_has_ended(const uvperf__watch_t *watch, size_t ring_index) {
  return watch->rings[ring_index].ended;
}

uint64_t uvperf__watch_wakeups(const uvperf__watch_t *watch) {
  return watch->wakeups;
}

uint64_t uvperf__watch_slices(const uvperf__watch_t *watch) {
  return watch->slices;
}
