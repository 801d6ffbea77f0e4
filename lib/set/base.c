/* SPDX-License-Identifier: MIT */
/* Shared by the other files of the handle: checks of the handle, callbacks
 * without a record, the end of delivery. */
#include "set/internal.h"

uvperf__evlist_t *uvperf__set_counters(const uvperf_set_t *set) {
  return ((const set_t *)uvperf__handle_impl(&set->handle))->evlist;
}

uvperf__cpu_ring_t *uvperf__set_ring_at(const set_t *impl, size_t index) {
  return uvperf__cpu_rings_at(impl->base.rings, index);
}

void uvperf__set_take_evlist(set_t *impl) {
  impl->opened_ns = uvperf__evlist_opened(impl->evlist);
  impl->clock_ns = impl->opened_ns;
  impl->base.rings = uvperf__evlist_rings(impl->evlist);
  impl->base.decoder = uvperf__evlist_decoder(impl->evlist);
}

void uvperf__set_free_sources(void *owner) {
  set_t *impl = owner;

  if (!impl->base.in_callback && impl->base.snapshot == NULL &&
      impl->base.cursor.lent == 0)
    uvperf__evlist_free_sources(impl->evlist);
}

void uvperf__set_leave_cpus(set_t *impl) {
  if (!impl->base.is_started && impl->read_cb == NULL)
    uvperf__hotplug_stop(impl->base.hotplug);
}

int uvperf__set_stop(void *owner) {
  set_t *impl = owner;

  impl->session += 1;
  impl->base.is_started = 0;
  /* The watch is stopped even if it is not started, because this may be inside
   * a flush. */
  if (impl->base.watch != NULL)
    uvperf__watch_stop(impl->base.watch);
  uvperf__set_leave_cpus(impl);
  return 0;
}
