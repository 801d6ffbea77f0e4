/* SPDX-License-Identifier: MIT */
/* Shared by the other files of the handle: checks of the handle, callbacks
 * without a record, the end of delivery. */
#include "set/internal.h"

uvperf__counters_t *uvperf__set_counters(const uvperf_set_t *set) {
  return ((const set_t *)uvperf__handle_impl(&set->handle))->counters;
}

uvperf__cpu_ring_t *uvperf__set_ring_at(const set_t *impl, size_t index) {
  return uvperf__cpu_rings_at(uvperf__counters_rings(impl->counters), index);
}

void uvperf__set_note_opening(set_t *impl) {
  impl->opened_ns = uvperf__counters_opened(impl->counters);
  impl->clock_ns = impl->opened_ns;
}

void uvperf__set_free_sources(set_t *impl) {
  if (!impl->base.in_callback && impl->base.snapshot == NULL &&
      impl->base.cursor.lent == 0)
    uvperf__counters_free_sources(impl->counters);
}

void uvperf__set_report_ring(set_t *impl, const uvperf__cpu_ring_t *ring,
                             int status) {
  uvperf__handle_report(&impl->base, status, ring->cpu);
}

void uvperf__set_leave_cpus(set_t *impl) {
  if (!impl->base.is_started && impl->cb == NULL)
    uvperf__handle_leave_cpus(&impl->base);
}

void uvperf__set_end_delivery(set_t *impl) {
  impl->session += 1;
  impl->base.is_started = 0;
  /* The watch is stopped even if it is not started, because this may be inside
   * a flush. */
  if (impl->base.watch != NULL)
    uvperf__watch_stop(impl->base.watch);
  uvperf__set_leave_cpus(impl);
}
