/* SPDX-License-Identifier: MIT */
/* What a BPF reader tells of its CPUs, rings and records. */
#include "bpf/internal.h"

#include "loop/ring_report.h"

/* Once in a turn of the loop, as whoever asks in each callback would interrupt
 * all CPUs for each record. */
static void count_lost(reader_t *impl) {
  uint64_t now = uvperf__watch_now(impl->watch);

  if (uvperf__bpf_reader_is_forked(impl) || (now != 0 && impl->lost_at == now))
    return;
  impl->lost_at = now;
  uvperf__bpf_outputs_count_lost(impl->outputs);
}

int uvperf_bpf_reader_cpu_status(const uvperf_bpf_reader_t *reader, int cpu) {
  return uvperf__bpf_outputs_cpu_status(
      uvperf__bpf_reader_impl(reader)->outputs, cpu);
}

size_t uvperf_bpf_reader_nr_rings(const uvperf_bpf_reader_t *reader) {
  return uvperf__cpu_rings_nr(uvperf__bpf_reader_impl(reader)->rings);
}

int uvperf_bpf_reader_ring(const uvperf_bpf_reader_t *reader, size_t index,
                           uvperf_ring_info_t *ring) {
  reader_t *impl = uvperf__bpf_reader_impl(reader);

  count_lost(impl);
  return uvperf__ring_report_info(impl->rings, index, impl->watch,
                                  uvperf__bpf_reader_is_forked(impl), ring);
}

int uvperf_bpf_reader_failed_ring(const uvperf_bpf_reader_t *reader,
                                  uvperf_ring_info_t *ring) {
  const reader_t *impl = uvperf__bpf_reader_impl(reader);

  if (impl->failed_ring == NULL)
    return UV_ENOENT;
  return uvperf_bpf_reader_ring(reader, impl->failed_ring->index, ring);
}

void uvperf_bpf_reader_stats(const uvperf_bpf_reader_t *reader,
                             uvperf_stats_t *stats) {
  reader_t *impl = uvperf__bpf_reader_impl(reader);

  count_lost(impl);
  uvperf__ring_report_stats(impl->rings, impl->watch,
                            uvperf__bpf_reader_is_forked(impl), stats);
  stats->cpus_gone = impl->cpus_gone;
  stats->cpus_come = impl->cpus_come;
}

const struct perf_event_attr *
uvperf_bpf_reader_attr(const uvperf_bpf_reader_t *reader) {
  return uvperf__bpf_outputs_attr(uvperf__bpf_reader_impl(reader)->outputs);
}
