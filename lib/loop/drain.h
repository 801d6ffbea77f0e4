/* SPDX-License-Identifier: MIT */
/* Has delivered what one look at a ring shows, record by record.
 *
 * A flood of records goes through this loop, so it is a template: each owner of
 * rings has one of its own, into which the compiler puts what the owner does
 * with a record. Samples that lie in one piece are a run: between two of them
 * nothing is touched but locals and the next header. A run ends where something
 * has to be asked (a bound of the slice, the clock), something has to be done
 * (the tail to be published), it has become long, or a record is not a sample
 * that lies in place and is sound; that one is delivered by itself. */
#ifndef UVPERF_LIB_LOOP_DRAIN_H
#define UVPERF_LIB_LOOP_DRAIN_H

#include "uvperf/stream.h"

#include "loop/slice.h"
#include "ring/ring.h"
#include "util/bytes.h"

/* Records of a run at most, as who asks for the stats in its callbacks has them
 * counted each time: of a flush, which has no bounds, too. */
#define UVPERF__DRAIN_RUN 1024

/* What the owner does. To be constants of inline functions, so that there is no
 * call through a pointer but the user's. */
typedef struct uvperf__drain_ops_s {
  /* Delivers a record whose header, already loaded, is sound, if it is a sample
   * that can be decoded, and gives 1; else 0. `behind` bytes wait behind it.
   * Does not count it. */
  int (*sample)(void *owner, const uint8_t *bytes, uint64_t header,
                uint64_t behind);
  /* Delivers any record whose header is sound, and counts it. */
  void (*record)(void *owner, const void *bytes, size_t size, uint64_t behind);
  /* Whether the callback has closed the handle and forked, in whichever order,
   * and this is the child: it has no ring whose tail could be moved. Asked when
   * the slice is stopped. */
  int (*has_no_ring)(const void *owner);
} uvperf__drain_ops_t;

/* The samples from the tail on that are a run are delivered, counted and
 * consumed: how many bytes. */
static inline size_t uvperf__drain_run(uvperf__ring_t *ring,
                                       uvperf__slice_t *slice,
                                       uvperf_stats_t *stats,
                                       const uvperf__drain_ops_t *ops,
                                       void *owner) {
  const uint64_t *session = slice->session;
  uint64_t own_session = slice->own_session;
  uint64_t bound = uvperf__slice_left(slice);
  uint64_t most = bound < UVPERF__DRAIN_RUN ? bound : UVPERF__DRAIN_RUN;
  uint64_t waiting = ring->head - ring->tail;
  uint64_t left = most;
  size_t piece, size;
  uvperf__run_t run;
  const uint8_t *next;
  const uint8_t *end;
  uint64_t header;

  piece = uvperf__ring_contiguous(ring, &run.start);
  if (piece > slice->max_bytes - slice->bytes)
    piece = (size_t)(slice->max_bytes - slice->bytes);
  next = run.start;
  end = next + piece;
  ring->run = &run;
  while (left > 0 && (size_t)(end - next) >= sizeof(header)) {
    run.at = next;
    header = uvperf__u64(next);
    size = uvperf__header_size(header);
    if (size < sizeof(header) || size % sizeof(header) != 0 ||
        size > (size_t)(end - next))
      break;
    next += size;
    if (!ops->sample(owner, run.at, header,
                     waiting - (uint64_t)(next - run.start))) {
      next = run.at;
      break;
    }
    left--;
    if (*session != own_session)
      break;
  }
  ring->run = NULL;
  size = (size_t)(next - run.start);
  slice->records += most - left;
  slice->bytes += size;
  stats->records += most - left;
  stats->bytes += size;
  return size;
}

/* Delivers what one look at a ring shows. Its owner's stats count the samples
 * of a run only when that is over: see uvperf__ring_run_delivered. The scratch has
 * UVPERF__RING_SCRATCH_BYTES. As uvperf__watch_ops_t.drain. */
static inline int uvperf__drain(uvperf__ring_t *ring, void *scratch,
                                uvperf__slice_t *slice, uvperf_stats_t *stats,
                                const uvperf__drain_ops_t *ops, void *owner) {
  const void *bytes;
  size_t size;
  int rc;

  rc = uvperf__ring_begin(ring);
  while (rc == UVPERF__DRAINED) {
    size = 0;
    if (uvperf__ring_starts_with(ring, PERF_RECORD_SAMPLE))
      size = uvperf__drain_run(ring, slice, stats, ops, owner);
    if (size == 0) {
      rc = uvperf__ring_next(ring, scratch, &bytes, &size);
      if (rc <= 0)
        break;
      ops->record(owner, bytes, size, ring->head - ring->tail - size);
      slice->records += 1;
      slice->bytes += size;
    }
    if (uvperf__slice_is_stopped(slice) && ops->has_no_ring(owner))
      return UVPERF__STOPPED;
    uvperf__ring_consume(ring, size);
    rc = uvperf__slice_check(slice);
  }
  uvperf__ring_end(ring);
  return rc;
}

#endif
