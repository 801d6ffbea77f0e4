/* SPDX-License-Identifier: MIT */
/* What a watch does in a turn of the loop: which rings are looked at, how much
 * of them, and when there will never be more. */
#include "loop/watch_impl.h"

#include "sys/fork.h"

/* Wakeups in a row without a record after which we ask whether the target is
 * gone. One is normal: the records may have gone with an earlier drain. */
#define EMPTY_WAKEUPS_BEFORE_PROBE 2

static void check_start(uvperf__watch_t *watch) {
  watch->due = 1;
  if (uvperf__watch_can_use(&watch->check))
    uv_check_start(&watch->check, uvperf__watch_on_check);
}

/* Nothing is queued. The check handle alone keeps the loop alive, and lets it
 * sleep, where there is no ring yet. */
static void turning_stop(uvperf__watch_t *watch) {
  watch->due = 0;
  if (uvperf__watch_can_use(&watch->idle))
    uv_idle_stop(&watch->idle);
  if (uvperf__watch_can_use(&watch->check) &&
      !(watch->started && watch->nr_live == 0))
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

void uvperf__watch_enqueue_all(uvperf__watch_t *watch) {
  size_t i;

  for (i = 0; i < watch->nr_rings; i++)
    enqueue(watch->rings[i]);
}

void uvperf__watch_schedule(uvperf__watch_t *watch) {
  if (!uvperf__watch_can_use(&watch->check))
    return; /* closed by somebody else: the idle handle would only spin */
  check_start(watch);
  if (uvperf__watch_can_use(&watch->idle))
    uv_idle_start(&watch->idle, uvperf__watch_on_idle);
}

/* uv_poll_init adds the fd to epoll and removes it again, and uv_poll_start has
 * it added inside the next poll phase; each addition polls once and so swallows
 * a wakeup that came before. A ring that is full by then never wakes anybody
 * again. The idle callback tells the check callback that a poll phase lies
 * between the start and itself: a start inside the poll phase of this turn is
 * registered only in the next. */
void uvperf__watch_settle(uvperf__watch_t *watch) {
  watch->settling = 1;
  watch->settles += 1;
  watch->idled = 0;
  uvperf__watch_enqueue_all(watch);
  uvperf__watch_schedule(watch);
}

/* -- the end of a ring ---------------------------------------------------- */

void uvperf__watch_quiesce(uvperf__watch_t *watch) {
  size_t i;

  watch->session += 1;
  watch->started = 0;
  watch->settling = 0;
  while (dequeue(watch) != NULL)
    continue;
  turning_stop(watch);
  watch->flush_at = 0;
  watch->look_at = 0;
  uvperf__watch_set_timer(watch);
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
    uvperf__watch_quiesce(watch);
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
    uvperf__watch_enqueue_all(watch);
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
    uvperf__watch_enqueue_all(watch);
  if (watch->first != NULL || watch->settling || watch->due)
    uvperf__watch_schedule(watch);
  else
    turning_stop(watch);
}

/* A forked child has neither the mapping nor any right to the records. */
static int is_forked(const uvperf__watch_t *watch) {
  return uvperf__process() != watch->process;
}

void uvperf__watch_on_check(uv_check_t *check) {
  uvperf__watch_t *watch = check->data;

  if (!watch->due)
    return;
  if (is_forked(watch))
    uvperf__watch_quiesce(watch);
  else if (watch->delivering)
    /* A callback inside of a flush runs the loop: the record at the tail is in
     * its hands. */
    uvperf__watch_schedule(watch);
  else if (watch->started)
    turn(watch);
}

void uvperf__watch_on_idle(uv_idle_t *idle) {
  uvperf__watch_t *watch = idle->data;

  watch->idled = 1;
  if (!uvperf__watch_can_use(&watch->check))
    uv_idle_stop(idle);
}

void uvperf__watch_on_woken(void *owner) {
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

void uvperf__watch_set_timer(uvperf__watch_t *watch) {
  uint64_t at = earlier(watch->flush_at, watch->look_at);
  uint64_t now;

  /* Closed by others: the loop may no longer exist. */
  if (!uvperf__watch_can_use(&watch->timer))
    return;
  now = uv_now(watch->loop);
  if (at == 0)
    uv_timer_stop(&watch->timer);
  else
    uv_timer_start(&watch->timer, uvperf__watch_on_timer,
                   at > now ? at - now : 0, 0);
}

/* Records below the watermark wake nobody. */
static void flush(uvperf__watch_t *watch) {
  size_t i;

  for (i = 0; i < watch->nr_rings; i++)
    if (!watch->rings[i]->ended && uvperf__ring_has_data(watch->rings[i]->ring))
      enqueue(watch->rings[i]);
  if (watch->first != NULL)
    uvperf__watch_schedule(watch);
}

void uvperf__watch_on_timer(uv_timer_t *timer) {
  uvperf__watch_t *watch = timer->data;
  uint64_t now = uv_now(watch->loop);

  if (is_forked(watch)) {
    uvperf__watch_quiesce(watch);
    return;
  }
  if (watch->look_at != 0 && watch->look_at <= now) {
    watch->look_at = 0;
    uvperf__watch_enqueue_all(watch);
    uvperf__watch_schedule(watch);
  }
  if (watch->flush_at != 0 && watch->flush_at <= now) {
    watch->flush_at = now + watch->options.flush_ms;
    flush(watch);
  }
  uvperf__watch_set_timer(watch);
}
