/* SPDX-License-Identifier: MIT */
/* The loop over the records of one ring. A flood of records goes through it, so
 * it is a template without a .c file: each owner of rings includes it, and the
 * compiler puts what the owner does with a record into its copy.
 *
 * Samples that lie in place are delivered as a run (uvperf__run_t): between two
 * of them nothing is touched but locals and the next header. A run ends where
 * something must be checked (a bound of the slice, the clock) or done (the tail
 * must be published), when it has become long, and at a record that is not a
 * sound sample in place; that one is delivered by itself. */
#ifndef UVPERF_LIB_LOOP_DRAIN_H
#define UVPERF_LIB_LOOP_DRAIN_H

#include "uvperf/stream.h"

#include "loop/slice.h"
#include "ring/ring.h"
#include "util/bytes.h"

/* The most records of a run, also in a flush, which has no bounds: a callback
 * that asks for the statistics has the records of the run counted each time. */
#define UVPERF__DRAIN_RUN 1024

/* What the owner does. These should be constants and inline functions, so that
 * the user's callback is the only call through a pointer. */
typedef struct uvperf__drain_ops_s {
  /* Delivers a record whose header, already loaded, is sound, if it is a sample
   * that can be decoded, and returns 1; else 0. `remaining` bytes of the ring
   * follow it. Does not count it. */
  int (*sample)(void *owner, const uint8_t *bytes, uint64_t header,
                uint64_t remaining);
  /* Delivers any record whose header is sound, and counts it. */
  void (*record)(void *owner, const void *bytes, size_t size,
                 uint64_t remaining);
  /* Whether the callback has closed the handle and forked, in either order, and
   * this is the child: it has no ring whose tail could be moved. Called when
   * the slice is stopped. */
  int (*has_no_ring)(const void *owner);
} uvperf__drain_ops_t;

/* Delivers and counts the run at the tail. Returns its bytes, which are still
 * to be consumed. */
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

/* Delivers all records up to the head that it reads first. The stats count the
 * samples of a run when it has ended: see uvperf__stats_add_run. The scratch
 * has UVPERF__RING_SCRATCH_BYTES. Returns as uvperf__watch_ops_t.drain. */
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
