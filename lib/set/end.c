/* SPDX-License-Identifier: MIT */
/* When the tasks that a set measures are gone: asks for it, has all that was
 * written until then delivered, and tells it. */
#include "set/internal.h"

/* Milliseconds between two questions, which are a poll(2) for each target that
 * lives; and until one after a task has exited: its record is written before
 * its events hang up (perf_event_exit_task_context in kernel/events/core.c). */
#define PROBE_MS 100
#define EXIT_MS  10

void uvperf__set_task_exited(set_t *impl) {
  uint64_t soon = uv_now(impl->handle->loop) + EXIT_MS;

  if (impl->probe_at > soon)
    impl->probe_at = soon;
}

/* -- have all records been delivered -------------------------------------- */

/* Without memory for it a ring is not merged yet. */
static size_t nr_read(const set_t *impl) {
  return impl->merge != NULL ? impl->nr_merged
                             : uvperf__watch_nr_rings(impl->watch);
}

/* Marks where in each ring the last record may be of those that are gone. */
static void mark_rings(set_t *impl) {
  size_t nr = nr_read(impl);
  uvperf__cpu_ring_t *ring;
  size_t i;

  for (i = 0; i < nr; i++) {
    ring = uvperf__set_ring_at(impl, i);
    ring->mark = uvperf__ring_head(&ring->ring);
  }
}

/* Not whether the rings are empty: others may write as fast as is read. */
static int are_read_to_marks(const set_t *impl) {
  size_t nr = nr_read(impl);
  const uvperf__cpu_ring_t *ring;
  size_t i;

  for (i = 0; i < nr; i++) {
    ring = uvperf__set_ring_at(impl, i);
    if (!uvperf__watch_has_ended(impl->watch, i) &&
        (int64_t)(ring->ring.tail - ring->mark) < 0)
      return 0;
  }
  return 1;
}

/* -- asking and reporting ------------------------------------------------ */

static void find_ends(set_t *impl) {
  uint64_t now = uv_now(impl->handle->loop);
  size_t found = 0;

  if (now >= impl->probe_at && uvperf__counters_can_end(impl->counters)) {
    impl->probe_at = now + PROBE_MS;
    found = uvperf__counters_probe(impl->counters);
    /* It has eaten wakeups. */
    uvperf__watch_drain_in(impl->watch, 0);
  }
  /* The last that lived can also have been removed. */
  if (found == 0 && !uvperf__counters_have_ended(impl->counters))
    return;
  impl->ends_found = 1;
  mark_rings(impl);
  uvperf__watch_drain_in(impl->watch, 0);
}

/* What a callback that stops or closes leaves is told after the next start. */
static void report_ends(set_t *impl) {
  uint64_t session = impl->session;
  uint32_t target;

  while (uvperf__counters_take_ended(impl->counters, &target)) {
    if (impl->end_cb == NULL)
      continue;
    impl->in_callback = 1;
    impl->end_cb(impl->handle, target);
    impl->in_callback = 0;
    if (impl->session != session)
      return;
  }
  impl->ends_found = 0;
  if (!uvperf__counters_have_ended(impl->counters))
    return;
  uvperf__set_end_delivery(impl);
  impl->eof_reported = 1;
  uvperf__set_report(impl, UV_EOF);
}

void uvperf__set_iteration_end(void *owner) {
  set_t *impl = owner;
  uint64_t session = impl->session;
  uint64_t now = uv_now(impl->handle->loop);

  /* A callback of a snapshot runs the loop: the user has a record, and more are
   * to come before any end. */
  if (impl->in_callback) {
    uvperf__watch_drain_in(impl->watch, PROBE_MS);
    return;
  }
  uvperf__counters_free_sources(impl->counters);
  if (!impl->ends_found)
    find_ends(impl);
  else if (are_read_to_marks(impl))
    report_ends(impl);
  /* Nothing is asked before those that were found are told: the turn in which
   * they are comes by itself (drain_all in drain.c, or what is left of a
   * slice). */
  if (impl->session != session || impl->ends_found ||
      !uvperf__counters_can_end(impl->counters))
    return;
  uvperf__watch_drain_in(impl->watch,
                         impl->probe_at > now ? impl->probe_at - now : 1);
}
