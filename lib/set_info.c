/* SPDX-License-Identifier: MIT */
/* What a set tells of its rings and records. */
#include "set.h"

#include <string.h>

#include "decoder.h"

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

static void get_stats(const set_t *impl, const uvperf__cpu_ring_t *ring,
                      uvperf_stats_t *stats) {
  *stats = ring->stats;
  stats->high_water_bytes = ring->ring.high_water;
  stats->wakeups = 0;
  if (impl->watch != NULL && ring->index < uvperf__watch_nr_rings(impl->watch))
    stats->wakeups = uvperf__watch_ring_wakeups(impl->watch, ring->index);
}

void uvperf_set_stats(const uvperf_set_t *set, uvperf_stats_t *stats) {
  const set_t *impl = uvperf__set_impl(set);
  size_t nr = uvperf_set_nr_rings(set);
  uvperf_stats_t one;
  size_t i;

  memset(stats, 0, sizeof(*stats));
  stats->cpus_gone = impl->cpus_gone;
  stats->cpus_come = impl->cpus_come;
  for (i = 0; i < nr; i++) {
    get_stats(impl, uvperf__cpu_rings_at(rings_of(set), i), &one);
    stats->records += one.records;
    stats->bytes += one.bytes;
    stats->wakeups += one.wakeups;
    stats->corrupt += one.corrupt;
    stats->lost_records += one.lost_records;
    stats->late_records += one.late_records;
    if (stats->high_water_bytes < one.high_water_bytes)
      stats->high_water_bytes = one.high_water_bytes;
  }
  if (impl->watch != NULL)
    stats->slices = uvperf__watch_slices(impl->watch);
}

/* A forked child has not got the mapping. */
int uvperf_set_ring(const uvperf_set_t *set, size_t index,
                    uvperf_ring_info_t *ring) {
  const set_t *impl = uvperf__set_impl(set);
  const uvperf__cpu_ring_t *own;

  if (index >= uvperf_set_nr_rings(set))
    return UV_EINVAL;
  own = uvperf__cpu_rings_at(rings_of(set), index);
  memset(ring, 0, sizeof(*ring));
  ring->cpu = own->cpu;
  ring->fd = own->fd;
  ring->bytes = own->ring.size;
  if (!uvperf__set_is_forked(impl))
    ring->waiting = uvperf__ring_waiting(&own->ring);
  ring->nr_events = own->nr_events;
  get_stats(impl, own, &ring->stats);
  return 0;
}
