/* SPDX-License-Identifier: MIT */
/* The watch. The file begins with the road of a ring on which nothing fails:
 *
 *   1. The watch gets its rings, and starts polling their fds (ring_poll.c).
 *   2. A wakeup puts its ring into the queue, and the watch into the hub's.
 *   3. Right after the poll phase, the hub runs the watch for one slice.
 *   4. The owner drains the queued rings. Rings that the end of the slice has
 *      cut are queued again, and the watch runs in the next iteration too.
 *
 * Then come the other ways: rings that need to be drained without a wakeup,
 * rings that fail or end, a stop, handles that other code has closed, a flush
 * by the user, and the records of a snapshot. */
#include "loop/watch.h"

#include <assert.h>

#include "loop/hub.h"
#include "loop/ring_poll.h"
#include "util/alloc.h"
#include "util/error.h"
#include "util/grow.h"

/* After this number of wakeups in a row without a record the polled event is
 * probed, because its target may be gone. One such wakeup is normal: an earlier
 * drain may have delivered the records. */
#define EMPTY_WAKEUPS_BEFORE_PROBE 2

/* A record that a BPF program is writing is usually finished within this number
 * of wakeups. After them its ring is not polled for this time, because its fd
 * would wake the loop again and again. */
#define EMPTY_WAKEUPS_BEFORE_WAIT 16
#define WAIT_MS                   1

/* Allocated one by one, because libuv's handles must not move. */
typedef struct watched_ring_s {
  uvperf__link_t in_queue; /* first: a link of the queue is a ring */
  uvperf__ring_poll_t ring_poll;
  uvperf__watch_t *watch;
  uvperf__ring_t *ring;
  size_t index;
  int had_wakeup;    /* the fd had a wakeup since the last drain */
  int empty_wakeups; /* in a row, up to now */
  int is_waiting;    /* not polled until the next flush: see await_record */
  int ended;         /* 0, or the negative code with which it has ended */
  uint64_t wakeups;
  /* With ops->drain_all: the ring's state when the current drain began. */
  int was_queued;
  int was_gone;
  uint64_t was_tail;
  uint64_t was_head; /* the head that the previous drain read */
} watched_ring_t;

struct uvperf__watch_s {
  uvperf__member_t member; /* first: a member of the hub is a watch */
  const uvperf__watch_ops_t *ops;
  void *owner;
  uvperf__watch_options_t options;
  uv_timer_t keep;              /* keeps the loop alive; it never fires */
  uvperf__teardown_t *teardown; /* the owner's */
  int closing;
  int started;
  int unref;
  int delivering; /* in one iteration, or inside a flush */
  /* Set by await_registration: after a start, a new ring, or a replaced fd.
   * Cleared by a stop, or when the rings were drained after the poll phase that
   * really registered the fds with epoll. */
  int registering;
  uint64_t polls;         /* uvperf__hub_polls at that time */
  uint64_t registrations; /* number of calls of await_registration */
  uint64_t session;       /* incremented by each stop, end and close */
  uint64_t iterations;    /* loop iterations that had something to do */
  uint64_t slices;
  uvperf__watch_extra_t *extra; /* records being delivered; NULL: none */
  int extra_has_ended;
  /* The rings to be drained. First in, first out: a ring whose slice was cut
   * goes to the end, so that each ring gets its share. */
  uvperf__link_t queue;
  size_t nr_live; /* rings that have not ended */
  watched_ring_t **rings;
  size_t nr_rings;
  size_t room_rings;
  size_t looked; /* how many rings were looked at */
};

static const uvperf__member_ops_t member_ops;
static const uvperf__ring_poll_ops_t ring_poll_ops;

static void on_keep(uv_timer_t *timer);
static void keep_or_let_go(uvperf__watch_t *watch);
static void await_registration(uvperf__watch_t *watch);
static void watch_process(uvperf__watch_t *watch, uint64_t now_ns,
                          uint64_t max_ns);
static void drain_queued(uvperf__watch_t *watch, uvperf__slice_t *slice);
static int drain_ring(watched_ring_t *ring, uvperf__slice_t *slice);
static void drain_together(uvperf__watch_t *watch, uvperf__slice_t *slice);
static int is_sound(const uvperf__watch_t *watch);
static int end_status(const uvperf__watch_t *watch);
static int after_drain(watched_ring_t *ring, int gone, int has_news,
                       const uvperf__slice_t *slice);
static void await_record(watched_ring_t *ring);
static int end_ring(watched_ring_t *ring, int status,
                    const uvperf__slice_t *slice);
static int report_slice_end(uvperf__watch_t *watch,
                            const uvperf__slice_t *slice);
static void set_extra(uvperf__watch_t *watch, uvperf__watch_extra_t *extra);
static void deliver_extra(uvperf__watch_t *watch, uvperf__slice_t *slice);
static void end_extra(uvperf__watch_t *watch);

/* -- 1. the watch gets rings and starts ------------------------------------ */

int uvperf__watch_new(uvperf__watch_t **watch_out, uvperf__teardown_t *teardown,
                      const uvperf__watch_ops_t *ops, void *owner) {
  uvperf__watch_t *watch = uvperf__calloc(1, sizeof(*watch));

  if (watch == NULL)
    return UV_ENOMEM;
  if (uvperf__hub_join(teardown) != 0) {
    uvperf__free(watch);
    return UV_ENOMEM;
  }
  watch->teardown = teardown;
  watch->ops = ops;
  watch->owner = owner;
  uvperf__link_init(&watch->queue);
  uv_timer_init(teardown->loop, &watch->keep);
  watch->keep.data = watch;
  watch->keep.timer_cb = on_keep;
  uvperf__hub_add(teardown->hub, &watch->member, &member_ops);
  *watch_out = watch;
  return 0;
}

int uvperf__watch_add(uvperf__watch_t *watch, uvperf__ring_t *ring,
                      const int *fds, size_t nr_fds) {
  watched_ring_t **rings = watch->rings;
  watched_ring_t *made;
  int rc;

  assert(nr_fds > 0 && !watch->closing);
  rings = uvperf__grow(rings, watch->nr_rings, &watch->room_rings, 1,
                       sizeof(watch->rings[0]));
  if (rings == NULL)
    return UV_ENOMEM;
  watch->rings = rings;
  made = uvperf__calloc(1, sizeof(*made));
  if (made == NULL || uvperf__hub_reserve(watch->member.hub) != 0) {
    uvperf__free(made);
    return UV_ENOMEM;
  }
  uvperf__link_init(&made->in_queue);
  made->watch = watch;
  made->ring = ring;
  made->index = watch->nr_rings;
  made->ring_poll.unref = watch->unref;
  rc = uvperf__ring_poll_init(&made->ring_poll, watch->teardown->loop, fds,
                              nr_fds, &ring_poll_ops, made);
  if (rc != 0) {
    uvperf__free(made);
    return rc;
  }
  rings[watch->nr_rings++] = made;
  if (watch->started)
    rc = uvperf__ring_poll_start(&made->ring_poll);
  /* The ring is added even if polling failed: its handle is registered and must
   * be closed. */
  made->ended = rc;
  if (rc != 0)
    return rc;
  watch->nr_live += 1;
  if (!watch->started)
    return 0;
  uvperf__hub_look(&watch->member, watch->nr_rings);
  await_registration(watch);
  return 0;
}

int uvperf__watch_start(uvperf__watch_t *watch,
                        const uvperf__watch_options_t *options) {
  watched_ring_t *ring;
  size_t i;
  int rc;

  if (!is_sound(watch))
    return UV_EINVAL;
  if (watch->nr_rings > 0 && watch->nr_live == 0)
    return end_status(watch);
  uvperf__watch_set_options(watch, options);
  for (i = 0; i < watch->nr_rings; i++) {
    ring = watch->rings[i];
    if (ring->ended)
      continue;
    rc = uvperf__ring_poll_start(&ring->ring_poll);
    if (rc != 0) {
      uvperf__watch_stop(watch);
      return rc;
    }
  }
  watch->started = 1;
  uvperf__hub_look(&watch->member, watch->nr_rings);
  keep_or_let_go(watch);
  uvperf__watch_set_flush(watch, options->flush_ms);
  await_registration(watch);
  return 0;
}

void uvperf__watch_set_options(uvperf__watch_t *watch,
                               const uvperf__watch_options_t *options) {
  watch->options = *options;
  watch->member.slice_ns = options->slice_ns;
}

static void on_keep(uv_timer_t *timer) {
  (void)timer;
}

/* A started watch keeps the loop alive, unless it is idle or unref'd, and so
 * does `extra`. */
static void keep_or_let_go(uvperf__watch_t *watch) {
  if (uv_is_closing((const uv_handle_t *)&watch->keep))
    return;
  if (!uvperf__watch_is_busy(watch) && watch->extra == NULL)
    uv_timer_stop(&watch->keep);
  else if (!uv_is_active((const uv_handle_t *)&watch->keep))
    uv_timer_start(&watch->keep, on_keep, UINT64_MAX, 0);
  if (watch->unref && watch->extra == NULL)
    uv_unref((uv_handle_t *)&watch->keep);
  else
    uv_ref((uv_handle_t *)&watch->keep);
}

/* -- 2. a wakeup queues its ring ------------------------------------------- */

static int has_queued(const uvperf__watch_t *watch) {
  return !uvperf__link_is_alone(&watch->queue);
}

static void watch_enqueue(watched_ring_t *ring) {
  if (uvperf__link_is_alone(&ring->in_queue) && !ring->ended)
    uvperf__link_add(&ring->watch->queue, &ring->in_queue);
}

static void enqueue_all(uvperf__watch_t *watch) {
  size_t i;

  for (i = 0; i < watch->nr_rings; i++)
    watch_enqueue(watch->rings[i]);
}

static void dequeue_all(uvperf__watch_t *watch) {
  while (has_queued(watch))
    uvperf__link_remove(watch->queue.next);
}

static void on_wakeup(void *owner) {
  watched_ring_t *ring = owner;
  uvperf__watch_t *watch = ring->watch;

  ring->wakeups += 1;
  ring->had_wakeup = 1;
  watch_enqueue(ring);
  uvperf__hub_queue(&watch->member, 0);
  /* The check phase comes next, unless other code has closed the hub's handles.
   * Then this cancels the watch. */
  uvperf__hub_check(watch->member.hub);
}

/* -- 3. the hub runs the watch: one iteration ------------------------------ */

/* The hold: a callback may flush another handle, and a callback of that flush
 * may close this one and run the loop. */
static void watch_run(uvperf__member_t *member, uint64_t now_ns,
                      uint64_t max_ns) {
  uvperf__watch_t *watch = (uvperf__watch_t *)member;
  uvperf__teardown_t *teardown = watch->teardown;

  uvperf__teardown_hold(teardown);
  if (uvperf__hub_is_forked(watch->member.hub)) {
    watch->extra = NULL;
    uvperf__watch_stop(watch);
  } else if (watch->delivering) {
    /* Here a callback of a flush runs the loop, and the user still has the
     * record at the tail. */
    uvperf__hub_queue(&watch->member, 0);
  } else if (watch->started || watch->extra != NULL) {
    watch_process(watch, now_ns, max_ns);
    end_extra(watch);
  }
  uvperf__teardown_let_go(teardown);
}

/* Runs one slice for all queued rings. If rings are left, queues the watch for
 * the next iteration. Once a poll phase has come since await_registration, the
 * rings that were drained now have been drained after their registration. */
static void watch_process(uvperf__watch_t *watch, uint64_t now_ns,
                          uint64_t max_ns) {
  int has_polled = watch->polls != uvperf__hub_polls(watch->member.hub);
  uint64_t registrations = watch->registrations;
  int has_rings = has_queued(watch);
  void *scratch = has_rings ? uvperf__hub_lend(watch->member.hub) : NULL;
  uvperf__slice_t slice;

  /* Out of memory. This happens only if a callback inside a flush has run the
   * loop. The next iteration then drains the rings. */
  if (has_rings && scratch == NULL) {
    uvperf__hub_queue(&watch->member, 1);
    return;
  }
  uvperf__slice_begin(&slice, &watch->session, watch->options.slice_records,
                      watch->options.slice_bytes, max_ns);
  slice.start_ns = now_ns;
  slice.scratch = scratch;
  watch->iterations += 1;
  slice.iteration = watch->iterations;
  watch->delivering = 1;
  if (watch->extra != NULL)
    deliver_extra(watch, &slice);
  else if (watch->ops->drain_all == NULL)
    drain_queued(watch, &slice);
  else if (has_rings)
    drain_together(watch, &slice);
  if (has_rings)
    uvperf__hub_give_back(watch->member.hub, scratch);
  if (slice.records > 0)
    watch->slices += 1;
  report_slice_end(watch, &slice);
  watch->delivering = 0;
  if (watch->session == slice.own_session && watch->started &&
      watch->ops->iteration_end != NULL)
    watch->ops->iteration_end(watch->owner);
  if (watch->session != slice.own_session)
    return;
  if (watch->registering && has_polled && watch->registrations == registrations)
    watch->registering = 0;
  else if (watch->registering)
    enqueue_all(watch);
  if (has_queued(watch) || watch->registering ||
      (watch->extra != NULL && !watch->extra_has_ended))
    uvperf__hub_queue(&watch->member, !watch->registering);
}

/* -- 4. draining ----------------------------------------------------------- */

/* Drains ring by ring. Reading the clock takes longer than a record, so a slice
 * of a single record has no clock: the clock is started only if there are more
 * records. */
static void drain_queued(uvperf__watch_t *watch, uvperf__slice_t *slice) {
  watched_ring_t *ring;

  while (has_queued(watch)) {
    ring = (watched_ring_t *)watch->queue.next;
    if (slice->start_ns == 0 && slice->records > 0)
      return; /* the slice was only that record */
    if (slice->start_ns == 0 && (watch->queue.next != watch->queue.prev ||
                                 uvperf__ring_has_several(ring->ring)))
      uvperf__slice_start_clock(slice);
    uvperf__link_remove(&ring->in_queue);
    if (drain_ring(ring, slice) != UVPERF__DRAINED)
      return;
  }
}

static int drain_ring(watched_ring_t *ring, uvperf__slice_t *slice) {
  uvperf__watch_t *watch = ring->watch;
  uint64_t bytes = slice->bytes;
  int gone = ring->ring_poll.gone;
  int has_news;
  int rc;

  rc = watch->ops->drain(watch->owner, ring->index, slice);
  if (rc == UVPERF__STOPPED)
    return rc;
  has_news = rc < 0 || slice->bytes != bytes;
  if (rc < 0) {
    rc = uvperf__watch_ring_failed(watch, ring->index, rc, slice);
    if (rc != UVPERF__DRAINED || ring->ended != 0)
      return rc;
  }
  /* A slice without a clock is for a single record. If the ring had only this
   * record, the ring is drained. */
  if (rc == UVPERF__CUT &&
      (slice->start_ns != 0 || uvperf__ring_has_data(ring->ring))) {
    ring->had_wakeup = 0;
    if (has_news)
      ring->empty_wakeups = 0;
    watch_enqueue(ring);
    return rc;
  }
  if (rc != UVPERF__BLOCKED)
    return after_drain(ring, gone, has_news, slice);
  ring->empty_wakeups = has_news ? 0 : ring->empty_wakeups + ring->had_wakeup;
  ring->had_wakeup = 0;
  if (ring->empty_wakeups >= EMPTY_WAKEUPS_BEFORE_WAIT)
    await_record(ring);
  return UVPERF__DRAINED;
}

/* Drains all rings together, whether they are queued or not. The queued rings
 * have had a wakeup or a flush, so they may have ended: what was true before
 * the drain shows whether they had news. A ring in which records wait for their
 * time has not ended, but its fd may be readable for ever. */
static void drain_together(uvperf__watch_t *watch, uvperf__slice_t *slice) {
  watched_ring_t *ring;
  int has_news;
  int gone;
  size_t i;
  int rc;

  for (i = 0; i < watch->nr_rings; i++) {
    ring = watch->rings[i];
    ring->was_queued = !uvperf__link_is_alone(&ring->in_queue);
    ring->was_gone = ring->ring_poll.gone;
    ring->was_tail = ring->ring->tail;
    ring->was_head = ring->ring->head;
  }
  dequeue_all(watch);
  if (slice->start_ns == 0)
    uvperf__slice_start_clock(slice);
  rc = watch->ops->drain_all(watch->owner, slice);
  if (rc == UVPERF__CUT)
    enqueue_all(watch);
  if (rc != UVPERF__DRAINED)
    return;
  for (i = 0; i < watch->nr_rings; i++) {
    ring = watch->rings[i];
    if (ring->ended || !ring->was_queued)
      continue;
    ring->was_queued = 0;
    has_news = ring->ring->tail != ring->was_tail ||
               ring->ring->head != ring->was_head;
    gone = uvperf__ring_has_data(ring->ring) ? 0 : ring->was_gone;
    if (after_drain(ring, gone, has_news, slice) != UVPERF__DRAINED)
      return;
  }
}

/* -- rings that have had no wakeup ----------------------------------------- */

/* Drains every ring again and again, until it was drained after its fd was
 * registered. uv_poll_init adds the fd to epoll and removes it again. After
 * uv_poll_start the fd is added inside the next poll phase. Each time, epoll
 * polls the fd once and so swallows an earlier wakeup. A ring that is full by
 * then never causes a wakeup again. The hub counts poll phases before they
 * begin, so the count shows that a poll phase has come since the start. After a
 * start inside a poll phase, the fd is registered only in the next poll
 * phase. */
static void await_registration(uvperf__watch_t *watch) {
  watch->registering = 1;
  watch->registrations += 1;
  watch->polls = uvperf__hub_polls(watch->member.hub);
  enqueue_all(watch);
  uvperf__hub_queue(&watch->member, 0);
}

/* The ring is not polled for a while. */
static void await_record(watched_ring_t *ring) {
  ring->empty_wakeups = 0;
  ring->is_waiting = 1;
  uvperf__ring_poll_stop(&ring->ring_poll);
  uvperf__watch_flush_in(ring->watch, WAIT_MS);
}

static void poll_again(watched_ring_t *ring) {
  if (!ring->is_waiting || ring->ended)
    return;
  ring->is_waiting = 0;
  uvperf__ring_poll_start(&ring->ring_poll);
}

/* If all events of a ring are gone and its last records wait for their time, a
 * flush reads these records and then ends the ring. */
static int needs_flush(const watched_ring_t *ring) {
  return !ring->ended &&
         (ring->watch->options.flush_all || ring->ring_poll.gone != 0 ||
          uvperf__ring_has_data(ring->ring));
}

static void on_flush(uvperf__member_t *member) {
  uvperf__watch_t *watch = (uvperf__watch_t *)member;
  int all = 0;
  size_t i;

  if (uvperf__hub_is_forked(watch->member.hub)) {
    uvperf__watch_stop(watch);
    return;
  }
  if (watch->ops->flush_due != NULL)
    all = watch->ops->flush_due(watch->owner);
  for (i = 0; i < watch->nr_rings; i++) {
    poll_again(watch->rings[i]);
    if (all || needs_flush(watch->rings[i]))
      watch_enqueue(watch->rings[i]);
  }
  if (all || has_queued(watch))
    uvperf__hub_queue(&watch->member, 0);
}

/* Records below a watermark wait for it, which is at most a quarter of the ring
 * here. */
static size_t watch_look(uvperf__member_t *member, size_t most) {
  uvperf__watch_t *watch = (uvperf__watch_t *)member;
  watched_ring_t *ring;
  uint64_t bytes;
  size_t nr;

  for (nr = 0; nr < most && nr < watch->nr_rings; nr++) {
    ring = watch->rings[watch->looked++ % watch->nr_rings];
    bytes = watch->options.wakes_each ? 1 : ring->ring->size / 4;
    if (ring->ended || !uvperf__ring_has_grown(ring->ring, bytes))
      continue;
    watch_enqueue(ring);
    uvperf__hub_queue(member, 0);
  }
  return nr;
}

void uvperf__watch_drain(uvperf__watch_t *watch) {
  if (!watch->started)
    return;
  enqueue_all(watch);
  uvperf__hub_queue(&watch->member, 0);
}

void uvperf__watch_flush_in(uvperf__watch_t *watch, uint64_t ms) {
  if (watch->started)
    uvperf__flush_once(&watch->member.flush, ms);
}

void uvperf__watch_set_flush(uvperf__watch_t *watch, uint64_t flush_ms) {
  if (watch->started)
    uvperf__flush_start(&watch->member.flush, flush_ms);
}

/* -- a ring fails or ends -------------------------------------------------- */

/* Called after a drain: finds out whether the ring has ended. `gone` is the
 * code of an event that was gone when the drain began; it is 0 if the drain has
 * left records. `has_news` is whether the drain found records. Returns
 * UVPERF__DRAINED, _STOPPED, or _CUT to end this iteration. */
static int after_drain(watched_ring_t *ring, int gone, int has_news,
                       const uvperf__slice_t *slice) {
  uvperf__watch_t *watch = ring->watch;
  int had_wakeup = ring->had_wakeup;

  ring->had_wakeup = 0;
  if (has_news)
    ring->empty_wakeups = 0;
  /* Nothing more will come, unless a callback made another event write into the
   * ring. */
  if (gone != 0 && ring->ring_poll.gone != 0) {
    /* The end of a slice is reported first, if this is still possible. The next
     * iteration then ends the ring, if no record has come by then. */
    if (slice->records > 0 && watch->nr_live == 1) {
      watch_enqueue(ring);
      return UVPERF__CUT;
    }
    return end_ring(ring, gone, slice);
  }
  if (!had_wakeup || has_news ||
      ++ring->empty_wakeups < EMPTY_WAKEUPS_BEFORE_PROBE)
    return UVPERF__DRAINED;
  /* The probe consumes a pending wakeup, so the ring is drained once more. */
  ring->empty_wakeups = 0;
  uvperf__ring_poll_probe(&ring->ring_poll);
  watch_enqueue(ring);
  return UVPERF__DRAINED;
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

/* Ends a ring. Returns UVPERF__DRAINED to go on, or UVPERF__STOPPED to return
 * at once. */
static int end_ring(watched_ring_t *ring, int status,
                    const uvperf__slice_t *slice) {
  uvperf__watch_t *watch = ring->watch;
  uint64_t session = watch->session;

  if (ring->ended)
    return UVPERF__DRAINED;
  /* The records before the end are a slice too. If the callback of that slice
   * stops the watch, the end is reported after the next start. */
  if (slice != NULL && watch->nr_live == 1 &&
      report_slice_end(watch, slice) == UVPERF__STOPPED)
    return UVPERF__STOPPED;
  ring->ended = status;
  uvperf__link_remove(&ring->in_queue);
  uvperf__ring_poll_stop(&ring->ring_poll);
  watch->nr_live -= 1;
  if (watch->nr_live == 0) {
    uvperf__watch_stop(watch);
    watch->ops->end(watch->owner, ring->index, status);
    return UVPERF__STOPPED;
  }
  if (watch->ops->ring_end != NULL)
    watch->ops->ring_end(watch->owner, ring->index, status);
  return watch->session == session ? UVPERF__DRAINED : UVPERF__STOPPED;
}

/* Reports the end of a slice that delivered something. Returns UVPERF__DRAINED
 * to go on, or UVPERF__STOPPED if the callback has stopped or closed the
 * watch. */
static int report_slice_end(uvperf__watch_t *watch,
                            const uvperf__slice_t *slice) {
  if (slice->records > 0 && watch->session == slice->own_session &&
      watch->ops->slice_end != NULL)
    watch->ops->slice_end(watch->owner);
  return watch->session == slice->own_session ? UVPERF__DRAINED
                                              : UVPERF__STOPPED;
}

/* Returns the code of uvperf__watch_start for the case that every ring has
 * ended. */
static int end_status(const uvperf__watch_t *watch) {
  size_t i;

  for (i = 0; i < watch->nr_rings; i++)
    if (watch->rings[i]->ended == UV_EPROTO)
      return UV_EPROTO;
  return UV_EOF;
}

void uvperf__watch_set_fds(uvperf__watch_t *watch, size_t ring_index,
                           const int *fds, size_t nr_fds) {
  uvperf__ring_poll_set_fds(&watch->rings[ring_index]->ring_poll, fds, nr_fds);
}

/* -- what ring_poll.c asks ------------------------------------------------- */

static int on_spare(void *owner, int status) {
  const watched_ring_t *ring = owner;
  const uvperf__watch_t *watch = ring->watch;

  return watch->ops->spare == NULL
             ? status
             : watch->ops->spare(watch->owner, ring->index);
}

static void on_replaced(void *owner) {
  watched_ring_t *ring = owner;

  if (ring->watch->started)
    await_registration(ring->watch);
}

static int is_wanted(void *owner) {
  const watched_ring_t *ring = owner;

  return is_sound(ring->watch);
}

static const uvperf__ring_poll_ops_t ring_poll_ops = {on_spare, on_wakeup,
                                                      is_wanted, on_replaced};

/* -- stop, and a hub without handles --------------------------------------- */

/* The new session ends all functions that are delivering: they compare it after
 * each callback. */
void uvperf__watch_stop(uvperf__watch_t *watch) {
  size_t i;

  watch->session += 1;
  watch->started = 0;
  watch->registering = 0;
  dequeue_all(watch);
  if (watch->extra != NULL)
    uvperf__hub_queue(&watch->member, 0); /* to end `extra` */
  else
    uvperf__hub_dequeue(&watch->member);
  uvperf__flush_stop(&watch->member.flush);
  uvperf__hub_look(&watch->member, 0);
  keep_or_let_go(watch);
  for (i = 0; i < watch->nr_rings; i++) {
    watch->rings[i]->is_waiting = 0;
    uvperf__ring_poll_stop(&watch->rings[i]->ring_poll);
  }
}

/* Whether no other code has closed the handles that let the watch run. Daemons
 * tear down with uv_walk and uv_close of every handle. Starting or stopping a
 * closed handle aborts, or corrupts the loop's queues. */
static int is_sound(const uvperf__watch_t *watch) {
  return !uv_is_closing((const uv_handle_t *)&watch->keep) &&
         uvperf__hub_is_sound(watch->member.hub);
}

/* Without the hub nothing is delivered any more. A watch without rings has no
 * end otherwise. The callback may close the owner, which is freed at once if
 * others have closed all its inner handles. */
static void watch_cancel(uvperf__member_t *member) {
  uvperf__watch_t *watch = (uvperf__watch_t *)member;
  uvperf__watch_extra_t *extra = watch->extra;
  uvperf__teardown_t *teardown = watch->teardown;
  int was_busy = uvperf__watch_is_busy(watch);
  size_t last = 0;
  size_t i;

  for (i = 0; i < watch->nr_rings; i++)
    if (!watch->rings[i]->ended) {
      watch->rings[i]->ended = UV_ECANCELED;
      last = i;
    }
  watch->nr_live = 0;
  watch->extra = NULL;
  uvperf__watch_stop(watch);
  uvperf__teardown_hold(teardown);
  if (was_busy)
    watch->ops->end(watch->owner, last, UV_ECANCELED);
  else if (extra != NULL)
    extra->done(extra, UV_ECANCELED);
  uvperf__teardown_let_go(teardown);
}

static const uvperf__member_ops_t member_ops = {.run = watch_run,
                                                .look = watch_look,
                                                .flush = on_flush,
                                                .cancel = watch_cancel};

/* -- a flush by the user --------------------------------------------------- */

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
  slice.scratch = uvperf__hub_lend(watch->member.hub);
  if (slice.scratch == NULL)
    return UV_ENOMEM;
  watch->delivering = 1;
  if (watch->ops->drain_all == NULL)
    flush_each(watch, &slice);
  else if (watch->nr_live > 0)
    watch->ops->drain_all(watch->owner, &slice);
  watch->delivering = 0;
  uvperf__hub_give_back(watch->member.hub, slice.scratch);
  return 0;
}

/* -- records of a snapshot ------------------------------------------------- */

void uvperf__watch_deliver(uvperf__watch_t *watch,
                           uvperf__watch_extra_t *extra) {
  assert(watch->extra == NULL && watch->nr_rings == 0);
  if (!is_sound(watch)) {
    extra->done(extra, UV_ECANCELED);
    return;
  }
  set_extra(watch, extra);
  uvperf__hub_queue(&watch->member, 0);
}

static void set_extra(uvperf__watch_t *watch, uvperf__watch_extra_t *extra) {
  watch->extra = extra;
  watch->extra_has_ended = 0;
  keep_or_let_go(watch);
}

static void deliver_extra(uvperf__watch_t *watch, uvperf__slice_t *slice) {
  uvperf__watch_extra_t *extra = watch->extra;

  if (extra->session != watch->session) {
    watch->extra_has_ended = 1;
    return;
  }
  if (slice->start_ns == 0)
    uvperf__slice_start_clock(slice);
  watch->extra_has_ended = extra->deliver(extra, slice) == UVPERF__DRAINED;
}

/* The callback may do anything, so the watch is not touched after it. */
static void end_extra(uvperf__watch_t *watch) {
  uvperf__watch_extra_t *extra = watch->extra;

  if (extra == NULL || !watch->extra_has_ended)
    return;
  set_extra(watch, NULL);
  extra->done(extra, extra->session == watch->session ? 0 : UV_ECANCELED);
}

/* -- close ----------------------------------------------------------------- */

static void on_closed(uv_handle_t *handle) {
  uvperf__watch_t *watch = handle->data;

  uvperf__teardown_closed(watch->teardown);
}

void uvperf__watch_close(uvperf__watch_t *watch) {
  size_t i;

  assert(!watch->closing);
  watch->extra = NULL; /* its owner ends it */
  uvperf__watch_stop(watch);
  uvperf__hub_remove(&watch->member);
  watch->closing = 1;
  for (i = 0; i < watch->nr_rings; i++)
    uvperf__ring_poll_close(&watch->rings[i]->ring_poll, watch->teardown);
  uvperf__teardown_close(watch->teardown, &watch->keep, on_closed);
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

/* Any handle of the loop may be passed here. So `data` is read only if the
 * handle's type and callback show that the handle is ours. A handle of the hub
 * is left to the hub, which closes it after the last watch. */
int uvperf__watch_close_owner(uv_handle_t *handle) {
  uvperf__ring_poll_t *ring_poll = uvperf__ring_poll_of(handle);
  uvperf__watch_t *watch;

  if (ring_poll != NULL)
    watch = ((watched_ring_t *)ring_poll->owner)->watch;
  else if (handle->type == UV_TIMER &&
           ((const uv_timer_t *)handle)->timer_cb == on_keep)
    watch = handle->data;
  else
    return uvperf__hub_is(handle);
  if (!watch->closing)
    watch->ops->close(watch->owner);
  return 1;
}

/* -- getters --------------------------------------------------------------- */

const uint64_t *uvperf__watch_session(const uvperf__watch_t *watch) {
  return &watch->session;
}

void uvperf__watch_note_event(uvperf__watch_t *watch, uint64_t id) {
  uvperf__hub_note_event(&watch->member, id);
}

void uvperf__watch_set_ref(uvperf__watch_t *watch, int ref) {
  size_t i;

  watch->unref = !ref;
  for (i = 0; i < watch->nr_rings; i++)
    uvperf__ring_poll_set_ref(&watch->rings[i]->ring_poll, ref);
  keep_or_let_go(watch);
}

int uvperf__watch_is_busy(const uvperf__watch_t *watch) {
  return watch->started && !watch->options.is_idle;
}

int uvperf__watch_is_active(const uvperf__watch_t *watch) {
  return watch->started && watch->nr_live > 0;
}

uint64_t uvperf__watch_now(const uvperf__watch_t *watch) {
  return is_sound(watch) ? uv_now(watch->teardown->loop) : 0;
}

size_t uvperf__watch_nr_rings(const uvperf__watch_t *watch) {
  return watch->nr_rings;
}

int uvperf__watch_has_ended(const uvperf__watch_t *watch, size_t ring_index) {
  return watch->rings[ring_index]->ended;
}

uint64_t uvperf__watch_ring_wakeups(const uvperf__watch_t *watch,
                                    size_t ring_index) {
  return watch->rings[ring_index]->wakeups;
}

uint64_t uvperf__watch_slices(const uvperf__watch_t *watch) {
  return watch->slices;
}

/* -- why it failed --------------------------------------------------------- */

int uvperf__watch_explain(uvperf_error_t *error, int code) {
  if (code == UV_ENOMEM)
    return uvperf__error_shortage(error, code, "cannot watch the rings");
  if (code == UV_EOF)
    return uvperf__error_set(error, code, UVPERF_CAUSE_LOOP,
                             "delivery has ended, as no ring can be read");
  if (code == UV_EPROTO)
    return uvperf__error_set(
        error, code, UVPERF_CAUSE_UNKNOWN,
        "the head of a ring is not a multiple of 8, so it cannot be read "
        "again; close the handle and open another");
  if (code == UV_EINVAL)
    return uvperf__error_set(error, code, UVPERF_CAUSE_LOOP,
                             "other code has closed an inner uv handle");
  if (code == UV_EEXIST)
    return uvperf__error_set(
        error, code, UVPERF_CAUSE_LOOP,
        "cannot poll the fd of a ring: another handle of the loop polls it");
  if (code == UV_ENOSPC)
    return uvperf__error_set(
        error, code, UVPERF_CAUSE_LOOP,
        "cannot poll the fd of a ring: out of epoll watches; raise "
        "/proc/sys/fs/epoll/max_user_watches");
  return uvperf__error_set(error, code, UVPERF_CAUSE_LOOP,
                           "cannot poll the fd of a ring: libuv refused it");
}

int uvperf__watch_explain_ring(uvperf_error_t *error, int code, int cpu) {
  return uvperf__error_set(
      error, code, code == UV_ENOMEM ? UVPERF_CAUSE_MEMORY : UVPERF_CAUSE_LOOP,
      "cannot watch the ring of CPU %d", cpu);
}
