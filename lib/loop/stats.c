/* SPDX-License-Identifier: MIT */
/* The statistics of delivery. */
#include "loop/stats.h"

#include <string.h>

void uvperf__stats_ring_end(uvperf__cpu_ring_t *ring, int status) {
  if (ring->status != 0)
    return;
  if (status == UV_EPROTO)
    ring->stats.corrupt += 1;
  ring->status = status;
}

void uvperf__stats_ring_skip(uvperf__cpu_ring_t *ring) {
  if (uvperf__ring_skip(&ring->ring) == 0)
    ring->stats.corrupt += 1;
  else
    uvperf__stats_ring_end(ring, UV_EPROTO);
}

/* The watch has the first rings, in the same order. */
static void get_stats(const uvperf__handle_t *self,
                      const uvperf__cpu_ring_t *ring, uvperf_stats_t *stats) {
  const uvperf__watch_t *watch = self->watch;
  uint64_t bytes;

  *stats = ring->stats;
  if (self->drained_of == ring && !uvperf__handle_is_forked(self)) {
    stats->records += uvperf__ring_run_delivered(self->drained, &bytes);
    stats->bytes += bytes;
  }
  stats->high_water_bytes = ring->ring.high_water;
  stats->cut_records = ring->ring.cut;
  stats->unwaited_snapshots = ring->ring.unwaited;
  stats->skipped_bytes = ring->ring.skipped;
  /* The stats have what LOST records report, and the ring what the kernel has
   * lost as far as it was asked. */
  if (stats->lost_records < ring->lost)
    stats->lost_records = ring->lost;
  stats->lost_records += stats->lost_samples;
  stats->wakeups = 0;
  if (watch != NULL && ring->index < uvperf__watch_nr_rings(watch))
    stats->wakeups = uvperf__watch_ring_wakeups(watch, ring->index);
}

static void add_stats(uvperf_stats_t *stats, const uvperf_stats_t *one) {
  stats->records += one->records;
  stats->bytes += one->bytes;
  stats->wakeups += one->wakeups;
  stats->corrupt += one->corrupt;
  stats->lost_records += one->lost_records;
  stats->lost_samples += one->lost_samples;
  stats->cut_records += one->cut_records;
  stats->unwaited_snapshots += one->unwaited_snapshots;
  stats->late_records += one->late_records;
  stats->skipped_bytes += one->skipped_bytes;
  stats->bad_times += one->bad_times;
  stats->surplus_bytes += one->surplus_bytes;
  if (stats->high_water_bytes < one->high_water_bytes)
    stats->high_water_bytes = one->high_water_bytes;
}

size_t uvperf__stats_nr_rings(const uvperf__handle_t *self) {
  return self->rings == NULL ? self->ring != NULL
                             : uvperf__cpu_rings_nr(self->rings);
}

void uvperf__stats_of_rings(const uvperf__handle_t *self,
                            uvperf_stats_t *stats) {
  size_t nr = uvperf__stats_nr_rings(self);
  uvperf_stats_t one;
  size_t i;

  memset(stats, 0, sizeof(*stats));
  for (i = 0; i < nr; i++) {
    get_stats(self, uvperf__handle_ring(self, i), &one);
    add_stats(stats, &one);
  }
  if (self->watch != NULL)
    stats->slices = uvperf__watch_slices(self->watch);
}

int uvperf__stats_ring_info(const uvperf__handle_t *self, size_t index,
                            uvperf_ring_info_t *info) {
  const uvperf__cpu_ring_t *ring;

  if (index >= uvperf__stats_nr_rings(self))
    return UV_EINVAL;
  ring = uvperf__handle_ring(self, index);
  memset(info, 0, sizeof(*info));
  info->cpu = ring->cpu;
  info->fd = ring->spare >= 0 ? ring->spare : ring->fd;
  info->bytes = ring->ring.size;
  if (!uvperf__handle_is_forked(self))
    info->waiting = uvperf__ring_waiting(&ring->ring);
  info->nr_events = ring->nr_events;
  info->status = ring->status;
  get_stats(self, ring, &info->stats);
  return 0;
}
