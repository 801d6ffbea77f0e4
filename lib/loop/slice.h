/* SPDX-License-Identifier: MIT */
/* A slice: what a handle may deliver in one iteration of the loop, so that a
 * flood of records does not starve the loop's other handles. */
#ifndef UVPERF_LIB_LOOP_SLICE_H
#define UVPERF_LIB_LOOP_SLICE_H

#include <stddef.h>
#include <stdint.h>

typedef struct uvperf__slice_s {
  /* The watch's current session, and the session to which this slice belongs.
   * The two differ after a callback has stopped or closed the handle. */
  const uint64_t *session;
  uint64_t own_session;
  /* Delivered so far, and the bounds. */
  uint64_t records;
  uint64_t bytes;
  uint64_t max_records;
  uint64_t max_bytes;
  uint64_t start_ns; /* by uv_hrtime; 0: the clock was not started */
  uint64_t max_ns;
  /* The number of records after which the clock is read again. */
  uint64_t next_clock_read;
  uint64_t iteration; /* uvperf__watch_s.iterations; 0 in a flush */
  void *scratch;      /* for records that wrap; NULL if none can */
} uvperf__slice_t;

enum {
  /* The ring was drained up to the head that was read when the drain began. */
  UVPERF__DRAINED = 0,
  /* The slice has ended. There may be more records. */
  UVPERF__CUT = 1,
  /* A callback has stopped or closed the handle. Touch nothing more. */
  UVPERF__STOPPED = 2,
  /* The ring was drained up to a record that is still being written. Its fd
   * stays readable meanwhile. */
  UVPERF__BLOCKED = 3
};

/* Begins a slice without bounds. */
void uvperf__slice_unbounded(uvperf__slice_t *slice, const uint64_t *session);

/* Begins a slice that ends when its first bound is reached. If its clock was
 * not started before the first record, the slice ends after that record. */
void uvperf__slice_begin(uvperf__slice_t *slice, const uint64_t *session,
                         uint64_t max_records, uint64_t max_bytes,
                         uint64_t max_ns);

/* Starts the clock: the time of the slice begins now. */
void uvperf__slice_start_clock(uvperf__slice_t *slice);

/* Reads the clock, for uvperf__slice_check. Returns 1 if the time is up. */
int uvperf__slice_time_over(uvperf__slice_t *slice);

/* Whether a callback has stopped or closed the handle. */
static inline int uvperf__slice_is_stopped(const uvperf__slice_t *slice) {
  return *slice->session != slice->own_session;
}

/* Returns how many records may be delivered before the next
 * uvperf__slice_check, at least 1. (That function must also be called when
 * slice->max_bytes are reached.) */
static inline uint64_t uvperf__slice_left(const uvperf__slice_t *slice) {
  uint64_t most = slice->max_records < slice->next_clock_read
                      ? slice->max_records
                      : slice->next_clock_read;

  return most > slice->records ? most - slice->records : 1;
}

/* Call it when the callbacks of all records in slice->records and slice->bytes
 * have returned. Returns UVPERF__DRAINED if the caller may go on. Returns
 * UVPERF__CUT or UVPERF__STOPPED if the caller must return at once. */
static inline int uvperf__slice_check(uvperf__slice_t *slice) {
  if (uvperf__slice_is_stopped(slice))
    return UVPERF__STOPPED;
  if (slice->records >= slice->max_records || slice->bytes >= slice->max_bytes)
    return UVPERF__CUT;
  if (slice->records >= slice->next_clock_read &&
      uvperf__slice_time_over(slice))
    return UVPERF__CUT;
  return UVPERF__DRAINED;
}

/* Counts a record whose callback has returned. Returns the same codes as
 * uvperf__slice_check. */
static inline int uvperf__slice_take(uvperf__slice_t *slice, size_t size) {
  slice->records += 1;
  slice->bytes += size;
  return uvperf__slice_check(slice);
}

#endif
