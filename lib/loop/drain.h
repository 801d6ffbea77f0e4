/* SPDX-License-Identifier: MIT */
/* The loop over the records of one ring. A flood of records goes through it, so
 * it is a template without a .c file. Each owner of rings includes it, and the
 * compiler inlines the owner's functions into its copy.
 *
 * Samples that lie in place are delivered as a run (uvperf__run_t): between two
 * of them only locals and the next header are touched. A run ends when
 * something must be checked (a bound of the slice, the clock) or done (the tail
 * must be published), or when it has become long. It also ends at a record that
 * is not a sound sample in place. That record is delivered separately. */
#ifndef UVPERF_LIB_LOOP_DRAIN_H
#define UVPERF_LIB_LOOP_DRAIN_H

#include "uvperf/stream.h"

#include "decode/decoder.h"
#include "loop/slice.h"
#include "ring/ring.h"
#include "util/bytes.h"

/* The most records of a run. A flush needs this limit too, although a flush has
 * no bounds: each callback that reads the statistics counts the run's records
 * again. */
#define UVPERF__DRAIN_RUN 1024

/* How records lie in a ring. These should be constants and inline functions
 * too. */
typedef struct uvperf__framing_s {
  /* Reads the header of a record. */
  uint64_t (*header)(const uint8_t *at);
  /* Returns the bytes of a record with this header. */
  size_t (*size)(uint64_t header);
  /* Whether a run can begin at the tail. */
  int (*can_run)(const uvperf__ring_t *ring);
  /* Whether a header may be read where a run ends. Each record has a size above
   * 0, so none fits there. */
  int reads_end;
  /* Finds the record at the tail: see uvperf__ring_next. */
  int (*next)(uvperf__ring_t *ring, void *scratch, const void **bytes,
              size_t *size);
} uvperf__framing_t;

/* Operations of the owner. They should be constants and inline functions, so
 * that the user's callback is the only call through a pointer. */
typedef struct uvperf__drain_ops_s {
  const uvperf__framing_t *framing;
  /* Returns the reader for all samples of the run that begins now, or NULL. */
  uvperf__reader_t *(*reader)(const void *owner);
  /* Returns where `sample` stores the address of the data, 8 bytes after the
   * start of the sample. Or NULL: then the run notes where the sample is. */
  const void *const *(*data)(const void *owner);
  /* The record's header is already loaded. If the record is a sound sample that
   * can be decoded, delivers it and returns 1. Otherwise returns 0. There are
   * as many bytes as the header's size says. Nothing else was checked. `form`
   * is a constant: the reader's form or UVPERF__FORM_OTHER. With
   * UVPERF__FORM_OTHER the reader may be NULL. `remaining` bytes of the ring
   * follow the record. Does not count the record. */
  int (*sample)(void *owner, uvperf__reader_t *reader, unsigned int form,
                const uint8_t *bytes, uint64_t header, uint64_t remaining);
  /* Delivers any record whose header is sound, and counts it. Returns 1, or 0
   * if the user does not get it. */
  unsigned int (*record)(void *owner, const void *bytes, size_t size,
                         uint64_t remaining);
  /* Called when the slice is stopped. Returns 1 if the callback has forked and
   * closed the handle, in either order, and this process is the child. A child
   * has no ring, so it must not move the tail. */
  int (*has_no_ring)(const void *owner);
} uvperf__drain_ops_t;

static inline uint64_t uvperf__perf_header(const uint8_t *at) {
  return uvperf__u64(at);
}

static inline int uvperf__perf_can_run(const uvperf__ring_t *ring) {
  return uvperf__ring_starts_with(ring, PERF_RECORD_SAMPLE);
}

/* The rings of perf events. */
static const uvperf__framing_t uvperf__perf_framing = {
    uvperf__perf_header, uvperf__header_size, uvperf__perf_can_run, 0,
    uvperf__ring_next};

/* The same as uvperf__drain_run, with the run's reader and form as ops->sample
 * gets them. */
__attribute__((always_inline)) static inline size_t
uvperf__drain_run_of(uvperf__reader_t *reader, unsigned int form,
                     uvperf__ring_t *ring, uvperf__slice_t *slice,
                     uvperf_stats_t *stats, const uvperf__drain_ops_t *ops,
                     void *owner) {
  const uint64_t *session = slice->session;
  uint64_t own_session = slice->own_session;
  uint64_t bound = uvperf__slice_left(slice);
  uint64_t most = bound < UVPERF__DRAIN_RUN ? bound : UVPERF__DRAIN_RUN;
  uint64_t left = most;
  size_t room, size;
  uvperf__run_t run;
  const uint8_t *at;
  uintptr_t next, end, head;
  uint64_t header;

  room = uvperf__ring_contiguous(ring, &run.start);
  if (room > slice->max_bytes - slice->bytes)
    room = (size_t)(slice->max_bytes - slice->bytes);
  next = (uintptr_t)run.start;
  end = next + room;
  head = next + (uintptr_t)(ring->head - ring->tail);
  run.at = run.start;
  run.data = ops->data(owner);
  ring->run = &run;
  while (ops->framing->reads_end || next != end) {
    at = (const uint8_t *)next;
    if (ops->data(owner) == NULL)
      run.at = at;
    header = ops->framing->header(at);
    size = ops->framing->size(header);
    next += size;
    if (next > end || (sizeof(next) < sizeof(header) && next < (uintptr_t)at) ||
        !ops->sample(owner, reader, form, at, header, head - next)) {
      next = (uintptr_t)at;
      break;
    }
    left--;
    if (left == 0 || *session != own_session)
      break;
  }
  ring->run = NULL;
  size = (size_t)(next - (uintptr_t)run.start);
  slice->records += most - left;
  slice->bytes += size;
  stats->records += most - left;
  stats->bytes += size;
  return size;
}

/* Delivers and counts the run at the tail. Returns the number of its bytes,
 * which the caller must consume. */
__attribute__((always_inline)) static inline size_t
uvperf__drain_run(uvperf__ring_t *ring, uvperf__slice_t *slice,
                  uvperf_stats_t *stats, const uvperf__drain_ops_t *ops,
                  void *owner) {
/* The compiler makes a loop for each of these forms. */
#define RUN(form)                                                              \
  case form:                                                                   \
    return uvperf__drain_run_of(reader, form, ring, slice, stats, ops, owner);
  uvperf__reader_t *reader = ops->reader(owner);

  switch (reader != NULL ? reader->plan.form : UVPERF__FORM_OTHER) {
    UVPERF__FORMS_OF_ONE(RUN)
    default:
      return uvperf__drain_run_of(reader, UVPERF__FORM_OTHER, ring, slice,
                                  stats, ops, owner);
  }
#undef RUN
}

/* Reads the head, then delivers all records up to it. The stats count the
 * samples of a run when the run has ended: until then, ring->run has them.
 * Returns the same codes as uvperf__watch_ops_t.drain. */
__attribute__((always_inline)) static inline int
uvperf__drain(uvperf__ring_t *ring, uvperf__slice_t *slice,
              uvperf_stats_t *stats, const uvperf__drain_ops_t *ops,
              void *owner) {
  const void *bytes;
  size_t size;
  int rc;

  rc = uvperf__ring_begin(ring);
  while (rc == UVPERF__DRAINED) {
    size = 0;
    if (ops->framing->can_run(ring))
      size = uvperf__drain_run(ring, slice, stats, ops, owner);
    if (size == 0) {
      rc = ops->framing->next(ring, slice->scratch, &bytes, &size);
      if (rc <= 0)
        break;
      slice->records +=
          ops->record(owner, bytes, size, ring->head - ring->tail - size);
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
