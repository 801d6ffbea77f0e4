/* SPDX-License-Identifier: MIT */
/* The statistics of delivery: uvperf_stats_t of an event, uvperf_stats_t and
 * uvperf_ring_info_t of the rings of a set or a BPF reader. */
#ifndef UVPERF_LIB_LOOP_STATS_H
#define UVPERF_LIB_LOOP_STATS_H

#include <stddef.h>
#include <stdint.h>

#include "uvperf/record.h"
#include "uvperf/stream.h"

#include "loop/handle.h"
#include "loop/slice.h"
#include "ring/cpu_rings.h"

/* Counts a record that is delivered with this status. (loop/drain.h counts the
 * samples of a run together.) */
static inline void uvperf__stats_count(uvperf_stats_t *stats,
                                       const uvperf_record_t *record,
                                       int status) {
  stats->records += 1;
  stats->bytes += record->size;
  if (status != 0)
    stats->corrupt += 1;
  else if (record->type == PERF_RECORD_SAMPLE)
    stats->surplus_bytes += record->sample.surplus_bytes;
  else if (record->type == PERF_RECORD_LOST)
    stats->lost_records += record->lost.lost;
  else if (record->type == PERF_RECORD_LOST_SAMPLES)
    stats->lost_samples += record->lost_samples.lost;
}

/* -- the rings of CPUs ----------------------------------------------------- */

/* All records that a ring delivers in one loop iteration count as one slice. A
 * flush belongs to no iteration and does not count as a slice. */
static inline void uvperf__stats_ring_slice(uvperf__cpu_ring_t *ring,
                                            const uvperf__slice_t *slice) {
  if (slice->iteration != ring->iteration && slice->iteration != 0) {
    ring->iteration = slice->iteration;
    ring->stats.slices += 1;
  }
}

/* Notes that a ring has ended with this status. Nothing more is read from the
 * ring. */
void uvperf__stats_ring_end(uvperf__cpu_ring_t *ring, int status);

/* Call it when a ring makes no sense. Counts this, and skips the ring up to its
 * head. If that fails, the ring has ended. */
void uvperf__stats_ring_skip(uvperf__cpu_ring_t *ring);

/* The number of the rings, their statistics together, and one of them: see
 * uvperf/handle.h. A forked child does not have the mappings, so the samples of
 * a current run are not counted there, and `waiting` is 0. */
size_t uvperf__stats_nr_rings(const uvperf__handle_t *self);
void uvperf__stats_of_rings(const uvperf__handle_t *self,
                            uvperf_stats_t *stats);
int uvperf__stats_ring_info(const uvperf__handle_t *self, size_t index,
                            uvperf_ring_info_t *info);

#endif
