/* SPDX-License-Identifier: MIT */
/* Follows CPUs that go offline and come online while a BPF reader is
 * started. */
#include "bpf/internal.h"

#include "util/error.h"

/* The ring holds the last records of programs on that CPU. The ring is drained,
 * because fewer bytes than the watermark cause no wakeup. */
void uvperf__bpf_reader_cpu_gone(void *owner, int cpu) {
  reader_t *impl = owner;

  /* The user's previous callback may have forked. CPUs that the reader does not
   * use are not reported. */
  if (uvperf__handle_is_forked(&impl->base) ||
      uvperf__bpf_outputs_cpu_status(impl->outputs, cpu) == UV_ENOENT)
    return;
  impl->base.cpus_gone += 1;
  uvperf__bpf_outputs_cpu_gone(impl->outputs, cpu);
  uvperf__watch_drain(impl->base.watch);
  uvperf__handle_report_cpu(&impl->base, cpu, UV_ENODEV, NULL);
}

void uvperf__bpf_reader_cpu_come(void *owner, int cpu) {
  reader_t *impl = owner;
  uvperf_error_t error;
  int status, now;
  int rc;

  if (uvperf__handle_is_forked(&impl->base))
    return;
  status = uvperf__bpf_outputs_cpu_come(impl->outputs, cpu, &error);
  now = uvperf__bpf_outputs_cpu_status(impl->outputs, cpu);
  if (now == UV_ENOENT)
    return;
  impl->base.cpus_come += 1;
  if (now == UV_E2BIG)
    status = uvperf__error_set(
        &error, UV_E2BIG, UVPERF_CAUSE_ARGUMENT,
        "the map has no entry for CPU %d; create it with more max_entries",
        cpu);
  rc = uvperf__bpf_reader_watch_rings(impl);
  if (rc != 0 && status == 0)
    status = uvperf__watch_explain_ring(&error, rc, cpu);
  uvperf__handle_report_cpu(&impl->base, cpu, status,
                            status == 0 ? NULL : &error);
}
