/* SPDX-License-Identifier: MIT */
/* What a set tells of its rings and records. */
#include "set/internal.h"

#include "decode/decoder.h"
#include "loop/ring_report.h"

const uvperf_source_t *uvperf_set_source(const uvperf_set_t *set, uint64_t id) {
  const uvperf_decoder_t *decoder =
      uvperf__counters_decoder(uvperf__set_counters(set));

  return decoder == NULL ? NULL : uvperf__decoder_source(decoder, id);
}

static uvperf__cpu_rings_t *rings_of(const uvperf_set_t *set) {
  return uvperf__counters_rings(uvperf__set_counters(set));
}

size_t uvperf_set_nr_rings(const uvperf_set_t *set) {
  uvperf__cpu_rings_t *rings = rings_of(set);

  return rings == NULL ? 0 : uvperf__cpu_rings_nr(rings);
}

void uvperf_set_stats(const uvperf_set_t *set, uvperf_stats_t *stats) {
  const set_t *impl = uvperf__set_impl(set);

  uvperf__ring_report_stats(rings_of(set), impl->watch,
                            uvperf__set_is_forked(impl), stats);
  stats->cpus_gone = impl->cpus_gone;
  stats->cpus_come = impl->cpus_come;
}

int uvperf_set_ring(const uvperf_set_t *set, size_t index,
                    uvperf_ring_info_t *ring) {
  const set_t *impl = uvperf__set_impl(set);

  return uvperf__ring_report_info(rings_of(set), index, impl->watch,
                                  uvperf__set_is_forked(impl), ring);
}

int uvperf_set_failed_ring(const uvperf_set_t *set, uvperf_ring_info_t *ring) {
  const set_t *impl = uvperf__set_impl(set);

  if (impl->failed_ring == NULL)
    return UV_ENOENT;
  return uvperf_set_ring(set, impl->failed_ring->index, ring);
}
