/* SPDX-License-Identifier: MIT */
/* What is told of the rings of CPUs on a loop. */
#include "loop/stats.h"

#include <string.h>

#include "util/error.h"

/* -- the end of a ring ---------------------------------------------------- */

void uvperf__ring_report_end(uvperf__cpu_ring_t *ring, int status) {
  if (ring->status != 0)
    return;
  if (status == UV_EPROTO)
    ring->stats.corrupt += 1;
  ring->status = status;
}

/* -- statistics ----------------------------------------------------------- */

static void get_stats(const uvperf__cpu_ring_t *ring,
                      const uvperf__watch_t *watch, int is_forked,
                      uvperf_stats_t *stats) {
  *stats = ring->stats;
  if (!is_forked)
    uvperf__stream_add_given(stats, &ring->ring);
  stats->high_water_bytes = ring->ring.high_water;
  stats->cut_records = ring->ring.cut;
  stats->skipped_bytes = ring->ring.skipped;
  if (stats->lost_records < ring->lost)
    stats->lost_records = ring->lost;
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
  stats->cut_records += one->cut_records;
  stats->late_records += one->late_records;
  stats->skipped_bytes += one->skipped_bytes;
  stats->bad_times += one->bad_times;
  stats->surplus_bytes += one->surplus_bytes;
  if (stats->high_water_bytes < one->high_water_bytes)
    stats->high_water_bytes = one->high_water_bytes;
}

void uvperf__ring_report_stats(const uvperf__cpu_rings_t *rings,
                               const uvperf__watch_t *watch, int is_forked,
                               uvperf_stats_t *stats) {
  size_t nr = rings == NULL ? 0 : uvperf__cpu_rings_nr(rings);
  uvperf_stats_t one;
  size_t i;

  memset(stats, 0, sizeof(*stats));
  for (i = 0; i < nr; i++) {
    get_stats(uvperf__cpu_rings_at(rings, i), watch, is_forked, &one);
    add_stats(stats, &one);
  }
  if (watch != NULL)
    stats->slices = uvperf__watch_slices(watch);
}

int uvperf__ring_report_info(const uvperf__cpu_rings_t *rings, size_t index,
                             const uvperf__watch_t *watch, int is_forked,
                             uvperf_ring_info_t *info) {
  const uvperf__cpu_ring_t *ring;

  if (rings == NULL || index >= uvperf__cpu_rings_nr(rings))
    return UV_EINVAL;
  ring = uvperf__cpu_rings_at(rings, index);
  memset(info, 0, sizeof(*info));
  info->cpu = ring->cpu;
  info->fd = ring->spare >= 0 ? ring->spare : ring->fd;
  info->bytes = ring->ring.size;
  if (!is_forked)
    info->waiting = uvperf__ring_waiting(&ring->ring);
  info->nr_events = ring->nr_events;
  info->status = ring->status;
  get_stats(ring, watch, is_forked, &info->stats);
  return 0;
}

/* -- what could not be watched -------------------------------------------- */

int uvperf__ring_report_refused(uvperf_error_t *error, int code) {
  if (code == UV_ENOMEM)
    return uvperf__error_set(error, code, UVPERF_CAUSE_MEMORY,
                             "no memory to watch the rings");
  if (code == UV_EOF)
    return uvperf__error_set(error, code, UVPERF_CAUSE_LOOP,
                             "delivery has ended: no ring can be read");
  if (code == UV_EPROTO)
    return uvperf__error_set(error, code, UVPERF_CAUSE_UNKNOWN,
                             "the head of a ring is not a multiple of 8, so it "
                             "cannot be read again; make the handle again");
  if (code == UV_EINVAL)
    return uvperf__error_set(error, code, UVPERF_CAUSE_LOOP,
                             "somebody else has closed an inner handle");
  if (code == UV_EEXIST)
    return uvperf__error_set(
        error, code, UVPERF_CAUSE_LOOP,
        "the fd of a ring cannot be polled: another handle "
        "of the loop polls it");
  if (code == UV_ENOSPC)
    return uvperf__error_set(
        error, code, UVPERF_CAUSE_LOOP,
        "the fd of a ring cannot be polled: out of epoll "
        "watches; raise /proc/sys/fs/epoll/max_user_watches");
  return uvperf__error_set(error, code, UVPERF_CAUSE_LOOP,
                           "libuv refused to poll the fd of a ring");
}

int uvperf__ring_report_unwatched(uvperf_error_t *error, int code, int cpu) {
  return uvperf__error_set(
      error, code, code == UV_ENOMEM ? UVPERF_CAUSE_MEMORY : UVPERF_CAUSE_LOOP,
      "the ring of CPU %d cannot be watched", cpu);
}
