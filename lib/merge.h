/* SPDX-License-Identifier: MIT */
/* Layer 3: the records of several rings in the order of their time, in place:
 * nothing is copied (but a record that wraps, into a scratch) and nothing is
 * sorted; a heap of one entry for each ring tells whose record is next. Knows
 * of a record where its time is (by uvperf__decoder_time), and no loop.
 *
 * A look at the rings is: begin, then next and consume for each record, then
 * end. */
#ifndef UVPERF_LIB_MERGE_H
#define UVPERF_LIB_MERGE_H

#include <stddef.h>
#include <stdint.h>

#include "uvperf/record.h"

#include "ring.h"

typedef struct uvperf__merge_s uvperf__merge_t;

/* A record that is next. */
typedef struct uvperf__merged_s {
  size_t ring; /* its index: the order in which rings were added */
  const void *bytes;
  size_t size;
  int has_time;
  uint64_t time; /* without one, that of the record before it in its ring */
} uvperf__merged_t;

/* The decoder tells times; it is the caller's, as is the scratch of
 * UVPERF__RING_SCRATCH_BYTES. 0 or -ENOMEM. */
int uvperf__merge_new(uvperf__merge_t **merge, const uvperf_decoder_t *decoder,
                      void *scratch);

/* Touches no ring. NULL is allowed. */
void uvperf__merge_free(uvperf__merge_t *merge);

/* Adds a ring, the caller's; it takes part from the next begin on. May be
 * called between begin and end, in a record's callback. 0 or -ENOMEM. */
int uvperf__merge_add(uvperf__merge_t *merge, uvperf__ring_t *ring);

/* Takes a ring out for good: nothing more of it is given, and it is not touched
 * again, so that it may be unmapped. May be called between begin and end, in a
 * record's callback. */
void uvperf__merge_drop(uvperf__merge_t *merge, size_t ring);

/* Looks at the heads of all rings. Then, or in next, a ring can be found that
 * cannot be right: see there. */
void uvperf__merge_begin(uvperf__merge_t *merge);

/* Whether a ring is more than half full, as begin found it. */
int uvperf__merge_is_pressed(const uvperf__merge_t *merge);

/* Gives the oldest record that is not younger than the horizon: 1 and *merged;
 * 0 if there is none; or -EPROTO and merged->ring: that ring cannot be right,
 * and the rest goes on; it is told again after the next begin, if it has not
 * been dropped by then. Records of one time come in the order of their rings. A
 * record without a time is as old as the one before it in its ring. Must be
 * followed by consume (or by end) before the next. */
int uvperf__merge_next(uvperf__merge_t *merge, uint64_t horizon,
                       uvperf__merged_t *merged);

/* The record that next gave was delivered: its ring's tail moves on, as by
 * uvperf__ring_consume. Gives 1 if it was late: one with a later time was
 * consumed before it. (Never one without a time.) */
int uvperf__merge_consume(uvperf__merge_t *merge);

/* Whether something is left that begin saw, or a ring to be told of that cannot
 * be right. */
int uvperf__merge_has_more(const uvperf__merge_t *merge);

/* Publishes the tails of all rings that were read since begin. */
void uvperf__merge_end(uvperf__merge_t *merge);

/* A forked child: forgets all rings without touching them. What is called after
 * that finds none. */
void uvperf__merge_forget(uvperf__merge_t *merge);

#endif
