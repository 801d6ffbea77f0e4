/* SPDX-License-Identifier: MIT */
/* The options of delivery, and the statistics of what was delivered,
 * of an event's ring and a set's rings alike. */
#ifndef UVPERF_LIB_LOOP_STREAM_OPTIONS_H
#define UVPERF_LIB_LOOP_STREAM_OPTIONS_H

#include "uvperf/error.h"
#include "uvperf/record.h"
#include "uvperf/stream.h"

#include "loop/watch.h"

/* Copies the caller's options over the defaults. 0, or a code and the error:
 * -E2BIG, -EINVAL. */
int uvperf__stream_copy(uvperf_stream_options_t *own,
                        const uvperf_stream_options_t *options,
                        uvperf_error_t *error);

/* What they mean to a watch; default_flush_ms is for flush_ms -1. */
void uvperf__stream_choose(const uvperf_stream_options_t *options,
                           uint64_t default_flush_ms,
                           uvperf__watch_options_t *chosen);

/* Adds the samples of a ring that were given by now and that its owner's stats
 * have not got yet. Not for a forked child: see uvperf__ring_run_delivered. */
void uvperf__stream_add_given(uvperf_stats_t *stats,
                              const uvperf__ring_t *ring);

/* Counts a record that is delivered with this status. */
static inline void uvperf__stream_account(uvperf_stats_t *stats,
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
    stats->lost_records += record->lost_samples.lost;
}

#endif
