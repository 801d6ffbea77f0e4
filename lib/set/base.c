/* SPDX-License-Identifier: MIT */
/* Shared by the other files of the handle: checks of the handle, callbacks
 * without a record, the end of delivery, and closing. */
#include "set/internal.h"

#include <assert.h>

set_t *uvperf__set_impl(const uvperf_set_t *set) {
  set_t *impl = set->impl;

  assert(impl != NULL && !impl->closing);
  return impl;
}

uvperf__counters_t *uvperf__set_counters(const uvperf_set_t *set) {
  return uvperf__set_impl(set)->counters;
}

int uvperf__set_check(const set_t *impl) {
  return uvperf__counters_check(impl->counters, NULL);
}

int uvperf__set_is_forked(const set_t *impl) {
  return uvperf__set_check(impl) == UV_EPERM;
}

uvperf__cpu_ring_t *uvperf__set_ring_at(const set_t *impl, size_t index) {
  return uvperf__cpu_rings_at(uvperf__counters_rings(impl->counters), index);
}

void uvperf__set_free_sources(set_t *impl) {
  if (!impl->in_callback && impl->snapshot == NULL && impl->next.lent == 0)
    uvperf__counters_free_sources(impl->counters);
}

void uvperf__set_report(set_t *impl, int status) {
  impl->in_callback = 1;
  impl->record_cb(impl->handle, status, NULL);
  impl->in_callback = 0;
}

void uvperf__set_report_ring(set_t *impl, const uvperf__cpu_ring_t *ring,
                             int status) {
  impl->failed_ring = ring;
  uvperf__set_report(impl, status);
  impl->failed_ring = NULL;
}

void uvperf__set_leave_cpus(set_t *impl) {
  if (impl->hotplug != NULL && uvperf__hotplug_is_attached(impl->hotplug) &&
      !impl->is_started && impl->cb == NULL)
    uvperf__hotplug_stop(impl->hotplug);
}

void uvperf__set_end_delivery(set_t *impl) {
  impl->session += 1;
  impl->is_started = 0;
  /* The watch is stopped even if it is not started, because this may be inside
   * a flush. */
  if (impl->watch != NULL)
    uvperf__watch_stop(impl->watch);
  if (impl->enabled_by_start)
    uvperf__counters_disable(impl->counters, NULL);
  impl->enabled_by_start = 0;
  uvperf__set_leave_cpus(impl);
}

/* Cancelled openings end soon. The teardown waits for them, and for the fds
 * that the pool still has to close. */
static void wait_for_pool(set_t *impl) {
  set_opening_t *opening;
  size_t i;

  for (opening = impl->openings; opening != NULL; opening = opening->next) {
    atomic_store(&opening->is_cancelled, 1);
    uvperf__teardown_expect(&impl->teardown);
  }
  for (i = 0; i < impl->nr_closings; i++)
    uvperf__teardown_expect(&impl->teardown);
}

/* The fds may be closed later, but no BPF program may run from now on. So
 * programs are detached: a tracepoint runs its programs even if its events are
 * disabled. All events are disabled too. But if closing the events takes long,
 * the pool disables all of them before it closes the first. In a forked child
 * the counters do not touch the events, which belong to the parent. */
void uvperf__set_begin_close(void *owner) {
  set_t *impl = owner;

  impl->closing = 1;
  impl->session += 1;
  impl->is_started = 0;
  wait_for_pool(impl);
  if (!uvperf__counters_close_slowly(impl->counters,
                                     uvperf__counters_nr_open(impl->counters)))
    uvperf__counters_disable(impl->counters, NULL);
  uvperf__counters_detach(impl->counters);
  uvperf__counters_leave_maps(impl->counters);
  uvperf__interval_timer_close(impl->interval_timer, &impl->teardown);
  if (impl->watch != NULL)
    uvperf__watch_close(impl->watch, &impl->teardown);
  if (impl->hotplug != NULL && uvperf__hotplug_is_attached(impl->hotplug))
    uvperf__hotplug_close(impl->hotplug, &impl->teardown);
  uvperf__snapshot_job_close(impl->snapshot, &impl->teardown);
  uvperf__teardown_end(&impl->teardown);
}
