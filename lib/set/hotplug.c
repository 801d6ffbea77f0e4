/* SPDX-License-Identifier: MIT */
/* Follows CPU hotplug while a set is started or reads on its loop. */
#include "set/internal.h"

/* The ring already has all records of events that are bound to the CPU. Only
 * events of tasks will write there again, after the CPU is back. Drain now,
 * because fewer bytes than the watermark cause no wakeup. */
static void on_gone(void *owner, int cpu) {
  set_t *impl = owner;

  /* The callback before this one may have forked. */
  if (uvperf__handle_is_forked(&impl->base))
    return;
  impl->base.cpus_gone += 1;
  uvperf__evlist_cpu_gone(impl->evlist, cpu);
  if (impl->base.watch != NULL)
    uvperf__watch_drain(impl->base.watch);
  uvperf__handle_report_cpu(&impl->base, cpu, UV_ENODEV, NULL);
}

static void on_come(void *owner, int cpu) {
  set_t *impl = owner;
  set_closing_t *closing;
  uvperf_error_t error;
  int status;
  int rc;

  if (uvperf__handle_is_forked(&impl->base))
    return;
  impl->base.cpus_come += 1;
  closing = uvperf__set_begin_closing(impl);
  status = uvperf__evlist_cpu_come(impl->evlist, cpu, &error);
  uvperf__set_end_closing(closing);
  rc = uvperf__set_watch_rings(impl);
  if (rc != 0 && status == 0)
    status = uvperf__watch_explain_ring(&error, rc, cpu);
  uvperf__handle_report_cpu(&impl->base, cpu, status,
                            status == 0 ? NULL : &error);
}

int uvperf__set_make_hotplug(set_t *impl) {
  static const uvperf__hotplug_ops_t ops = {on_come, on_gone};

  return uvperf__hotplug_new(&impl->base.hotplug, &ops, impl);
}

/* An event that follows its task to every CPU does not depend on CPUs. If the
 * note fails, the start reports it. */
void uvperf__set_note_cpus(set_t *impl, const uvperf_target_t *targets,
                           size_t nr) {
  if (impl->base.hotplug != NULL && ((impl->flags & UVPERF_SET_RECORDS) ||
                                     uvperf__targets_are_on_cpus(targets, nr)))
    uvperf__hotplug_note(impl->base.hotplug);
}
