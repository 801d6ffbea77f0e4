/* SPDX-License-Identifier: MIT */
/* The budget of one turn of the loop, so that a flood of records does
 * not starve the loop's other handles. */
#ifndef UVPERF_LIB_LOOP_SLICE_H
#define UVPERF_LIB_LOOP_SLICE_H

#include <stddef.h>
#include <stdint.h>

typedef struct uvperf__slice_s {
  /* The watch's session and the one that this slice belongs to: they differ
   * once a callback has stopped or closed the handle. */
  const uint64_t *session;
  uint64_t own_session;
  /* Delivered so far, and the bounds. */
  uint64_t records;
  uint64_t bytes;
  uint64_t max_records;
  uint64_t max_bytes;
  uint64_t start_ns; /* of uv_hrtime, 0 if the clock was not started */
  uint64_t max_ns;
  /* The count of records at which to look at the clock next. */
  uint64_t next_look;
  uint64_t iteration; /* uvperf__watch_s.iterations; 0 in a flush */
} uvperf__slice_t;

enum {
  /* The ring was drained up to the head that one look showed. */
  UVPERF__DRAINED = 0,
  /* The slice is over; there may be more. */
  UVPERF__CUT = 1,
  /* A callback stopped or closed the handle: touch nothing more. */
  UVPERF__STOPPED = 2
};

/* A slice without bounds. */
void uvperf__slice_unbounded(uvperf__slice_t *slice, const uint64_t *session);

/* A slice that ends with the first of its bounds. If its clock is not started
 * before the first record it ends with that one. */
void uvperf__slice_begin(uvperf__slice_t *slice, const uint64_t *session,
                         uint64_t max_records, uint64_t max_bytes,
                         uint64_t max_ns);

/* The time of the slice begins now. */
void uvperf__slice_start_clock(uvperf__slice_t *slice);

/* Looks at the clock, for uvperf__slice_check. 1 when the time is over. */
int uvperf__slice_time_over(uvperf__slice_t *slice);

/* Whether a callback has stopped or closed the handle. */
static inline int uvperf__slice_is_stopped(const uvperf__slice_t *slice) {
  return *slice->session != slice->own_session;
}

/* Records that may be delivered before uvperf__slice_check, at least 1; it is
 * called too once slice->max_bytes are reached. */
static inline uint64_t uvperf__slice_left(const uvperf__slice_t *slice) {
  uint64_t most = slice->max_records < slice->next_look ? slice->max_records
                                                        : slice->next_look;

  return most > slice->records ? most - slice->records : 1;
}

/* To be called when the callbacks of what was added to slice->records and
 * slice->bytes have returned. UVPERF__DRAINED to go on, UVPERF__CUT or
 * UVPERF__STOPPED to return at once. */
static inline int uvperf__slice_check(uvperf__slice_t *slice) {
  if (uvperf__slice_is_stopped(slice))
    return UVPERF__STOPPED;
  if (slice->records >= slice->max_records || slice->bytes >= slice->max_bytes)
    return UVPERF__CUT;
  if (slice->records >= slice->next_look && uvperf__slice_time_over(slice))
    return UVPERF__CUT;
  return UVPERF__DRAINED;
}

/* Accounts for a record whose callback has returned. As
 * uvperf__slice_check. */
static inline int uvperf__slice_take(uvperf__slice_t *slice, size_t size) {
  slice->records += 1;
  slice->bytes += size;
  return uvperf__slice_check(slice);
}

#endif
