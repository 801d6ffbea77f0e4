/* SPDX-License-Identifier: MIT */
/* What changes in a set when a CPU comes online or goes offline, while the set
 * is started or reads on its loop. */
#include "set/internal.h"

/* Only events of tasks will write into the CPU's ring again, after the CPU is
 * back. */
void uvperf__set_cpu_gone(void *owner, int cpu) {
  set_t *impl = owner;

  uvperf__evlist_cpu_gone(impl->evlist, cpu);
}

int uvperf__set_cpu_come(void *owner, int cpu, uvperf_error_t *error) {
  set_t *impl = owner;
  set_closing_t *closing = uvperf__set_begin_closing(impl);
  int rc = uvperf__evlist_cpu_come(impl->evlist, cpu, error);

  uvperf__set_end_closing(closing);
  return rc;
}

/* An event that follows its task to every CPU does not depend on CPUs. If the
 * note fails, the start reports it. */
void uvperf__set_note_cpus(set_t *impl, const uvperf_target_t *targets,
                           size_t nr) {
  if (impl->base.hotplug != NULL && ((impl->flags & UVPERF_SET_RECORDS) ||
                                     uvperf__targets_are_on_cpus(targets, nr)))
    uvperf__hotplug_note(impl->base.hotplug);
}
