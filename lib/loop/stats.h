/* SPDX-License-Identifier: MIT */
/* What was delivered of the rings of CPUs on a loop, counted, and told
 * by stats and ring infos; and why one could not be watched. The same for each
 * handle that has such rings. */
#ifndef UVPERF_LIB_LOOP_STATS_H
#define UVPERF_LIB_LOOP_STATS_H

#include <stddef.h>
#include <stdint.h>

#include "uvperf/error.h"
#include "uvperf/record.h"
#include "uvperf/stream.h"

#include "loop/slice.h"
#include "loop/stream_options.h"
#include "loop/watch.h"
#include "ring/cpu_rings.h"

/* What comes of a ring in a turn of the loop counts as a slice of it once; a
 * flush is no turn. */
static inline void uvperf__ring_report_slice(uvperf__cpu_ring_t *ring,
                                             const uvperf__slice_t *slice) {
  if (slice->iteration != ring->iteration && slice->iteration != 0) {
    ring->iteration = slice->iteration;
    ring->stats.slices += 1;
  }
}

/* Counts a record that is delivered with this status. */
static inline void uvperf__ring_report_record(uvperf__cpu_ring_t *ring,
                                              const uvperf_record_t *record,
                                              int status,
                                              const uvperf__slice_t *slice) {
  uvperf__stream_account(&ring->stats, record, status);
  uvperf__ring_report_slice(ring, slice);
}

/* Nothing more is read from a ring, whose end was this. */
void uvperf__ring_report_end(uvperf__cpu_ring_t *ring, int status);

/* The totals of all rings, NULL for none. `watch` has the first of them, in
 * their order; or is NULL. A forked child has not got the mappings: it is told
 * nothing of the run of samples in whose callback it was forked. */
void uvperf__ring_report_stats(const uvperf__cpu_rings_t *rings,
                               const uvperf__watch_t *watch, int is_forked,
                               uvperf_stats_t *stats);

/* The same of the index-th ring: 0 or -EINVAL. */
int uvperf__ring_report_info(const uvperf__cpu_rings_t *rings, size_t index,
                             const uvperf__watch_t *watch, int is_forked,
                             uvperf_ring_info_t *info);

/* Why rings could not be watched, or the watch not be started. Gives the
 * code. */
int uvperf__ring_report_refused(uvperf_error_t *error, int code);

/* Why the ring of a CPU that has come cannot be watched. Gives the code. */
int uvperf__ring_report_unwatched(uvperf_error_t *error, int code, int cpu);

#endif
