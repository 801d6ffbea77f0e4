/* SPDX-License-Identifier: MIT */
/* Rings on a libuv loop: when which ring is drained and how much of it, when
 * there will never be more, and the inner handles from new to the last close
 * callback. The handles of the layer above (event/, set/, bpf/) open events and
 * map rings, hand them to one watch each, and drain when it says so. */
#include "loop/watch.h"

#include <assert.h>

#include "loop/ring_poll.h"
#include "sys/fork.h"
#include "util/alloc.h"
#include "util/grow.h"

/* Wakeups in a row without a record after which we ask whether the target is
 * gone. One is normal: the records may have gone with an earlier drain. */
#define EMPTY_WAKEUPS_BEFORE_PROBE 2

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
   * registered the fds; see settle(). */
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
static int can_use(const void *handle) {
  return !uv_is_closing(handle);
}

static void on_idle(uv_idle_t *idle);
static void on_check(uv_check_t *check);
static void on_timer(uv_timer_t *timer);

static void set_timer(uvperf__watch_t *watch);

static void check_start(uvperf__watch_t *watch) {
  watch->due = 1;
  if (can_use(&watch->check))
    uv_check_start(&watch->check, on_check);
}

/* Nothing is queued. The check handle alone keeps the loop alive, and lets it
 * sleep, where there is no ring yet. */
static void turning_stop(uvperf__watch_t *watch) {
  watch->due = 0;
  if (can_use(&watch->idle))
    uv_idle_stop(&watch->idle);
  if (can_use(&watch->check) && !(watch->started && watch->nr_live == 0))
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
    enqueue(watch->rings[i]);
}

static void schedule(uvperf__watch_t *watch) {
  if (!can_use(&watch->check))
    return; /* closed by somebody else: the idle handle would only spin */
  check_start(watch);
  if (can_use(&watch->idle))
    uv_idle_start(&watch->idle, on_idle);
}

/* uv_poll_init adds the fd to epoll and removes it again, and uv_poll_start has
 * it added inside the next poll phase; each addition polls once and so swallows
 * a wakeup that came before. A ring that is full by then never wakes anybody
 * again. The idle callback tells the check callback that a poll phase lies
 * between the start and itself: a start inside the poll phase of this turn is
 * registered only in the next. */
static void settle(uvperf__watch_t *watch) {
  watch->settling = 1;
  watch->settles += 1;
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
  watch->flush_at = 0;
  watch->look_at = 0;
  set_timer(watch);
  for (i = 0; i < watch->nr_rings; i++)
    uvperf__ring_poll_stop(&watch->rings[i]->ring_poll);
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

/* Takes a ring out of the queue, where it may be anywhere. */
static void remove_queued(watched_ring_t *ring) {
  uvperf__watch_t *watch = ring->watch;
  watched_ring_t *before = NULL;
  watched_ring_t *at;

  if (!ring->queued)
    return;
  for (at = watch->first; at != ring; at = at->next)
    before = at;
  if (before != NULL)
    before->next = ring->next;
  else
    watch->first = ring->next;
  if (watch->last == ring)
    watch->last = before;
  ring->queued = 0;
}

/* UVPERF__DRAINED to go on, UVPERF__STOPPED to return at once. */
static int end_ring(watched_ring_t *ring, int status,
                    const uvperf__slice_t *slice) {
  uvperf__watch_t *watch = ring->watch;
  uint64_t session = watch->session;

  if (ring->ended)
    return UVPERF__DRAINED;
  /* The records that came before the end are a slice too. Whoever stops there
   * is told the end after the next start. */
  if (slice != NULL && watch->nr_live == 1 &&
      tell_slice(watch, slice) == UVPERF__STOPPED)
    return UVPERF__STOPPED;
  ring->ended = status;
  remove_queued(ring);
  uvperf__ring_poll_stop(&ring->ring_poll);
  watch->nr_live -= 1;
  if (watch->nr_live == 0) {
    quiesce(watch);
    watch->ops->end(watch->owner, ring->index, status);
    return UVPERF__STOPPED;
  }
  if (watch->ops->ring_end != NULL)
    watch->ops->ring_end(watch->owner, ring->index, status);
  return watch->session == session ? UVPERF__DRAINED : UVPERF__STOPPED;
}

int uvperf__watch_ring_failed(uvperf__watch_t *watch, size_t ring_index,
                              int status, const uvperf__slice_t *slice) {
  watched_ring_t *ring = watch->rings[ring_index];
  uint64_t session = watch->session;

  if (status != UV_EPROTO || uvperf__ring_skip(ring->ring) != 0)
    return end_ring(ring, status, slice);
  watch->ops->ring_skipped(watch->owner, ring_index);
  return watch->session == session ? UVPERF__DRAINED : UVPERF__STOPPED;
}

/* -- a turn --------------------------------------------------------------- */

/* A drain of the ring is over, and gave no code: UVPERF__DRAINED, _STOPPED, or
 * _CUT where the turn is to be ended. `gone` is why it was known to be gone
 * when that drain took its look, 0 also if the drain has left anything. */
static int judge(watched_ring_t *ring, int gone, int has_news,
                 const uvperf__slice_t *slice) {
  uvperf__watch_t *watch = ring->watch;
  int woken = ring->woken;

  ring->woken = 0;
  if (has_news)
    ring->empty_wakeups = 0;
  /* So this was all, unless a callback had another event write into the
   * ring. */
  if (gone != 0 && ring->ring_poll.gone != 0) {
    /* The end of a slice is told first, where that can still happen: the next
     * turn ends the ring, if nothing has come by then. */
    if (slice->records > 0 && watch->nr_live == 1) {
      enqueue(ring);
      return UVPERF__CUT;
    }
    return end_ring(ring, gone, slice);
  }
  if (!woken || has_news || ++ring->empty_wakeups < EMPTY_WAKEUPS_BEFORE_PROBE)
    return UVPERF__DRAINED;
  /* It eats a pending wakeup, so the ring is queued to be drained once
   * more. */
  ring->empty_wakeups = 0;
  uvperf__ring_poll_probe(&ring->ring_poll);
  enqueue(ring);
  return UVPERF__DRAINED;
}

/* Whether a slice that was cut was the single record that it was for, and no
 * other has come since. */
static int was_all(const watched_ring_t *ring, const uvperf__slice_t *slice) {
  return slice->start_ns == 0 && !uvperf__ring_has_data(ring->ring);
}

static int visit(watched_ring_t *ring, uvperf__slice_t *slice) {
  uvperf__watch_t *watch = ring->watch;
  uint64_t records = slice->records;
  int gone = ring->ring_poll.gone;
  int rc;

  rc = watch->ops->drain(watch->owner, ring->index, slice);
  if (rc == UVPERF__STOPPED)
    return rc;
  if (rc < 0) {
    rc = uvperf__watch_ring_failed(watch, ring->index, rc, slice);
    return rc != UVPERF__DRAINED || ring->ended != 0
               ? rc
               : judge(ring, gone, 1, slice);
  }
  if (rc == UVPERF__CUT && !was_all(ring, slice)) {
    ring->woken = 0;
    if (slice->records != records)
      ring->empty_wakeups = 0;
    enqueue(ring);
    return rc;
  }
  return judge(ring, gone, slice->records != records, slice);
}

/* A single record is a slice without a clock, which costs more than the record;
 * so the clock is started only where more is there. 0 where something was
 * delivered without it: that was the slice then. */
static int keep_time(uvperf__watch_t *watch, uvperf__slice_t *slice) {
  if (slice->start_ns != 0)
    return 1;
  if (slice->records > 0)
    return 0;
  if (watch->first != watch->last ||
      uvperf__ring_has_several(watch->first->ring))
    uvperf__slice_start_clock(slice);
  return 1;
}

static void drain_queue(uvperf__watch_t *watch, uvperf__slice_t *slice) {
  while (watch->first != NULL && keep_time(watch, slice))
    if (visit(dequeue(watch), slice) != UVPERF__DRAINED)
      return;
}

/* Of rings that are read together: what judge() needs of those that were
 * queued, 1 if any was. The queue is empty then. */
static int take_queue(uvperf__watch_t *watch) {
  int any = watch->first != NULL;
  watched_ring_t *ring;
  size_t i;

  for (i = 0; i < watch->nr_rings; i++) {
    ring = watch->rings[i];
    ring->was_queued = ring->queued;
    ring->was_gone = ring->ring_poll.gone;
    ring->was_tail = ring->ring->tail;
    ring->was_head = ring->ring->head;
  }
  while (dequeue(watch) != NULL)
    continue;
  return any;
}

/* A ring in which something waits for its time has not come to its end; but its
 * fd may be one that is readable for ever all the same. */
static void drain_together(uvperf__watch_t *watch, uvperf__slice_t *slice) {
  watched_ring_t *ring;
  int has_news;
  int gone;
  size_t i;
  int rc;

  if (!take_queue(watch))
    return;
  uvperf__slice_start_clock(slice);
  rc = watch->ops->drain_all(watch->owner, slice);
  if (rc == UVPERF__STOPPED)
    return;
  if (rc == UVPERF__CUT) {
    enqueue_all(watch);
    return;
  }
  for (i = 0; i < watch->nr_rings; i++) {
    ring = watch->rings[i];
    if (ring->ended || !ring->was_queued)
      continue;
    ring->was_queued = 0;
    has_news = ring->ring->tail != ring->was_tail ||
               ring->ring->head != ring->was_head;
    gone = uvperf__ring_has_data(ring->ring) ? 0 : ring->was_gone;
    if (judge(ring, gone, has_news, slice) != UVPERF__DRAINED)
      return;
  }
}

static void turn(uvperf__watch_t *watch) {
  int registered = watch->idled;
  uint64_t settles = watch->settles;
  uvperf__slice_t slice;

  uvperf__slice_begin(&slice, &watch->session, watch->options.slice_records,
                      watch->options.slice_bytes, watch->options.slice_ns);
  watch->turns += 1;
  slice.turn = watch->turns;
  watch->due = 0;
  watch->delivering = 1;
  if (watch->ops->drain_all != NULL)
    drain_together(watch, &slice);
  else
    drain_queue(watch, &slice);
  if (slice.records > 0)
    watch->slices += 1;
  tell_slice(watch, &slice);
  watch->delivering = 0;
  if (watch->session == slice.own_session && watch->ops->turned != NULL)
    watch->ops->turned(watch->owner);
  if (watch->session != slice.own_session)
    return;

  if (watch->settling && registered && watch->settles == settles)
    watch->settling = 0;
  else if (watch->settling)
    enqueue_all(watch);
  if (watch->first != NULL || watch->settling || watch->due)
    schedule(watch);
  else
    turning_stop(watch);
}

/* A forked child has neither the mapping nor any right to the records. */
static int is_forked(const uvperf__watch_t *watch) {
  return uvperf__process() != watch->process;
}

static void on_check(uv_check_t *check) {
  uvperf__watch_t *watch = check->data;

  if (!watch->due)
    return;
  if (is_forked(watch))
    quiesce(watch);
  else if (watch->delivering)
    /* A callback inside of a flush runs the loop: the record at the tail is in
     * its hands. */
    schedule(watch);
  else if (watch->started)
    turn(watch);
}

static void on_idle(uv_idle_t *idle) {
  uvperf__watch_t *watch = idle->data;

  watch->idled = 1;
  if (!can_use(&watch->check))
    uv_idle_stop(idle);
}

static void on_woken(void *owner) {
  watched_ring_t *ring = owner;
  uvperf__watch_t *watch = ring->watch;

  watch->wakeups += 1;
  ring->wakeups += 1;
  ring->woken = 1;
  enqueue(ring);
  /* This is the poll phase; the check phase comes next. */
  check_start(watch);
}

/* -- the timer ------------------------------------------------------------- */

/* The earlier of two times, of which 0 is none. */
static uint64_t earlier(uint64_t one, uint64_t other) {
  if (one == 0 || other == 0)
    return one + other;
  return one < other ? one : other;
}

static void set_timer(uvperf__watch_t *watch) {
  uint64_t at = earlier(watch->flush_at, watch->look_at);
  uint64_t now;

  /* Closed by others: the loop may no longer exist. */
  if (!can_use(&watch->timer))
    return;
  now = uv_now(watch->loop);
  if (at == 0)
    uv_timer_stop(&watch->timer);
  else
    uv_timer_start(&watch->timer, on_timer, at > now ? at - now : 0, 0);
}

/* Records below the watermark wake nobody. */
static void flush(uvperf__watch_t *watch) {
  size_t i;

  for (i = 0; i < watch->nr_rings; i++)
    if (!watch->rings[i]->ended && uvperf__ring_has_data(watch->rings[i]->ring))
      enqueue(watch->rings[i]);
  if (watch->first != NULL)
    schedule(watch);
}

static void on_timer(uv_timer_t *timer) {
  uvperf__watch_t *watch = timer->data;
  uint64_t now = uv_now(watch->loop);

  if (is_forked(watch)) {
    quiesce(watch);
    return;
  }
  if (watch->look_at != 0 && watch->look_at <= now) {
    watch->look_at = 0;
    enqueue_all(watch);
    schedule(watch);
  }
  if (watch->flush_at != 0 && watch->flush_at <= now) {
    watch->flush_at = now + watch->options.flush_ms;
    flush(watch);
  }
  set_timer(watch);
}

/* -- what the fd of a ring reports ---------------------------------------- */

static void on_replaced(void *owner) {
  watched_ring_t *ring = owner;

  if (ring->watch->started)
    settle(ring->watch);
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

  return can_use(&ring->watch->check);
}

static void on_ring_closed(void *owner);

static const uvperf__ring_poll_ops_t ring_poll_ops = {
    on_spare, on_woken, is_wanted, on_replaced, on_ring_closed};

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
  watch->idle.idle_cb = on_idle;
  uv_check_init(loop, &watch->check);
  watch->check.data = watch;
  watch->check.check_cb = on_check;
  uv_timer_init(loop, &watch->timer);
  watch->timer.data = watch;
  watch->timer.timer_cb = on_timer;
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
    settle(watch);
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
  set_timer(watch);
}

/* Without one of them nothing, or not all that was asked for, would be
 * delivered. */
static int can_turn(const uvperf__watch_t *watch) {
  return can_use(&watch->idle) && can_use(&watch->check) &&
         can_use(&watch->timer);
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

void uvperf__watch_look_in(uvperf__watch_t *watch, uint64_t ms) {
  uint64_t at;

  if (!watch->started)
    return;
  if (ms == 0) {
    enqueue_all(watch);
    schedule(watch);
    return;
  }
  at = uv_now(watch->loop) + ms;
  if (watch->look_at != 0 && watch->look_at <= at)
    return;
  watch->look_at = at;
  set_timer(watch);
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
  quiesce(watch);
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
      return ((const uv_idle_t *)handle)->idle_cb == on_idle;
    case UV_CHECK:
      return ((const uv_check_t *)handle)->check_cb == on_check;
    case UV_TIMER:
      return ((const uv_timer_t *)handle)->timer_cb == on_timer;
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

typedef struct each_s {
  const uvperf__watch_ops_t *ops;
  void (*fn)(void *owner, void *arg);
  void *arg;
} each_t;

/* Each watch has one check handle. */
static void on_walk(uv_handle_t *handle, void *arg) {
  const each_t *each = arg;
  const uvperf__watch_t *watch;

  if (handle->type != UV_CHECK || !is_ours(handle))
    return;
  watch = handle->data;
  if (watch->ops == each->ops)
    each->fn(watch->owner, each->arg);
}

void uvperf__watch_each(uv_loop_t *loop, const uvperf__watch_ops_t *ops,
                        void (*fn)(void *owner, void *arg), void *arg) {
  each_t each = {ops, fn, arg};

  uv_walk(loop, on_walk, &each);
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
  return can_use(&watch->check) ? uv_now(watch->loop) : 0;
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
