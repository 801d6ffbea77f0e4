/* SPDX-License-Identifier: MIT */
/* Handles the end of the tasks that a set measures: probes for the end,
 * delivers all records that were written until then, and reports the end.
 *
 * A probe happens in a flush. Periodic flushes wake the loop anyway, so each
 * periodic flush may probe, but at most once in PROBE_MS. There are also
 * flushes only for probes. The first such flush comes within PROBE_MS after the
 * set was active, or EXIT_MS after a task has exited. After each such flush the
 * interval doubles, up to IDLE_MS, so that an idle set without periodic flushes
 * hardly wakes the loop. Flushes for probes happen at multiples of their
 * interval, except after an exit: see uvperf__next_multiple. */
#include "set/internal.h"

#include "loop/flush_timer.h"

#define PROBE_MS 100
#define IDLE_MS  1000
/* The EXIT record is written before the task's events hang up. On a busy
 * machine the time in between can be long: perf_event_exit_task_context in
 * kernel/events/core.c. */
#define EXIT_MS 10
/* For how long ends are reported in one iteration. */
#define REPORT_NS 1000000

static uint64_t now_of(const set_t *impl) {
  return uv_now(impl->base.teardown.loop);
}

/* Makes a probe happen at `at` or before. In a stopped set, the next start does
 * this. */
static void probe_by(set_t *impl, uint64_t at) {
  uint64_t now = now_of(impl);

  if (impl->probe_at > at)
    impl->probe_at = at;
  uvperf__watch_flush_in(impl->base.watch,
                         impl->probe_at > now ? impl->probe_at - now : 1);
}

void uvperf__set_start_probes(set_t *impl) {
  impl->probed_in = UINT64_MAX;
  impl->probe_ms = PROBE_MS;
  probe_by(impl, 0);
}

void uvperf__set_task_exited(void *owner) {
  set_t *impl = owner;

  impl->probe_ms = EXIT_MS;
  probe_by(impl, now_of(impl) + EXIT_MS);
}

/* -- delivered records ----------------------------------------------------- */

/* Whether each ring was read up to its mark. Does not wait until rings are
 * empty, because other tasks may write as fast as the set reads. A ring is not
 * merged yet if there was no memory for it, and is not read then. */
static int rings_are_read(const set_t *impl) {
  size_t nr = impl->merge != NULL ? impl->merge->nr_tracks
                                  : uvperf__watch_nr_rings(impl->base.watch);
  const uvperf__cpu_ring_t *ring;
  size_t i;

  for (i = 0; i < nr; i++) {
    ring = uvperf__handle_ring(&impl->base, i);
    if (!uvperf__watch_has_ended(impl->base.watch, i) &&
        (int64_t)(ring->ring.tail - ring->mark) < 0)
      return 0;
  }
  return 1;
}

/* Marks a position in each ring. Records of the ended targets cannot lie after
 * this mark. */
static void ends_found(set_t *impl) {
  size_t nr = uvperf__evlist_nr_rings(impl->evlist);
  uvperf__cpu_ring_t *ring;
  size_t i;

  impl->ends_found = 1;
  for (i = 0; i < nr; i++) {
    ring = uvperf__handle_ring(&impl->base, i);
    ring->mark = uvperf__ring_head(&ring->ring);
  }
}

/* -- probing and reporting ------------------------------------------------ */

static void ends_probe(set_t *impl, uint64_t now) {
  uint64_t longer = 2 * impl->probe_ms;

  impl->probed_in = now / PROBE_MS;
  /* The probe after an EXIT record may be due later than this flush. */
  if (now >= impl->probe_at) {
    impl->probe_ms = longer < IDLE_MS ? longer : IDLE_MS;
    impl->probe_at = uvperf__next_multiple(now, impl->probe_ms);
  }
  if (uvperf__evlist_probe(impl->evlist) != 0)
    ends_found(impl);
}

/* A probe consumes wakeups of the rings, which are checked afterwards. */
int uvperf__set_flush_due(void *owner) {
  set_t *impl = owner;
  uint64_t now = now_of(impl);

  if (impl->base.in_callback) { /* see uvperf__set_iteration_end */
    uvperf__watch_flush_in(impl->base.watch, PROBE_MS);
    return 0;
  }
  if (!impl->ends_found && uvperf__evlist_can_end(impl->evlist)) {
    if (now >= impl->probe_at || now / PROBE_MS != impl->probed_in)
      ends_probe(impl, now);
    if (!impl->ends_found)
      probe_by(impl, impl->probe_at);
  }
  return impl->ends_found || impl->is_put_off;
}

/* Reports ends for a while. Returns 1 when all are reported. Returns 0 if there
 * are more, or if a callback has stopped or closed the handle. The other ends
 * are then reported after the next start. */
static int ends_report_some(set_t *impl) {
  uint64_t until = uv_hrtime() + REPORT_NS;
  uint64_t session = impl->session;
  uint32_t target;

  while (uvperf__evlist_take_ended(impl->evlist, &target)) {
    if (impl->end_cb == NULL)
      continue;
    impl->base.in_callback = 1;
    impl->end_cb(impl->base.handle, target);
    impl->base.in_callback = 0;
    if (impl->session != session || uv_hrtime() >= until)
      return 0;
  }
  impl->ends_found = 0;
  return 1;
}

static void ends_report(set_t *impl) {
  uint64_t session = impl->session;

  if (!ends_report_some(impl)) {
    if (impl->session == session)
      uvperf__watch_drain(impl->base.watch); /* for the other ends */
    return;
  }
  if (!uvperf__evlist_have_ended(impl->evlist))
    return;
  uvperf__set_stop(impl);
  impl->eof_reported = 1;
  uvperf__handle_report(&impl->base, UV_EOF, -1);
}

void uvperf__set_iteration_end(void *owner) {
  set_t *impl = owner;
  uint64_t session = impl->session;

  /* Ends must wait for records: a snapshot was begun, or the user has a record
   * in a callback that runs the loop. */
  impl->is_put_off = impl->base.in_callback || impl->base.snapshot != NULL;
  if (impl->is_put_off) {
    uvperf__watch_flush_in(impl->base.watch, PROBE_MS);
    return;
  }
  uvperf__evlist_free_sources(impl->evlist);
  if (impl->ends_found) {
    if (rings_are_read(impl))
      ends_report(impl);
  } else if (uvperf__evlist_have_ended(impl->evlist)) {
    /* The last live target was removed. */
    ends_found(impl);
    uvperf__watch_drain(impl->base.watch);
  }
  /* The ends that were found are reported before the next probe. The iteration
   * that reports them comes by itself (drain_all in drain.c, or the rest of a
   * slice). */
  if (impl->session != session || impl->ends_found ||
      !uvperf__evlist_can_end(impl->evlist))
    return;
  if (impl->probe_ms > PROBE_MS)
    impl->probe_ms = PROBE_MS;
  probe_by(impl, uvperf__next_multiple(now_of(impl), PROBE_MS));
}

/* -- without a loop -------------------------------------------------------- */

void uvperf__set_find_ends(set_t *impl) {
  if (!impl->ends_found && uvperf__evlist_probe(impl->evlist) != 0)
    ends_found(impl);
}

/* Also returns UV_EOF for a set whose last live target was removed. */
int uvperf__set_take_ends(set_t *impl) {
  int rc = UV_EAGAIN;
  int is_done;

  is_done = ends_report_some(impl);
  if (impl->base.closing)
    rc = UV_ECANCELED;
  else if (is_done && uvperf__evlist_have_ended(impl->evlist))
    rc = UV_EOF;
  if (rc == UV_EOF)
    impl->eof_reported = 1;
  return rc;
}

void uvperf__set_check_ends(set_t *impl) {
  if (impl->base.is_started)
    uvperf__watch_drain(impl->base.watch);
}
