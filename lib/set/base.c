/* SPDX-License-Identifier: MIT */
/* Shared by the other files of the handle: what it knows of its evlist, and the
 * end of delivery. */
#include "set/internal.h"

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
