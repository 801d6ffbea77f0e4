/* SPDX-License-Identifier: MIT */
/* Layer 3: the records of several rings in the order of their time, in place:
 * nothing is copied (but a record that wraps, into a scratch) and nothing is
 * sorted; a tournament of the first record of each ring tells whose is next.
 * Knows of a record where its time is (by uvperf__decoder_time), and no loop.
 *
 * A look at the rings is: begin, then next and consume for each record, then
 * end. */
#ifndef UVPERF_LIB_MERGE_H
#define UVPERF_LIB_MERGE_H

#include <errno.h>
#include <stddef.h>
#include <stdint.h>

#include "uvperf/record.h"

#include "bytes.h"
#include "decoder.h"
#include "ring.h"

/* Among so many rings playing costs less than to find out whether that can be
 * left out. */
#define UVPERF__MERGE_FEW 4

/* A ring and the first record in it that was not consumed. */
typedef struct uvperf__track_s {
  uvperf__ring_t *ring; /* NULL: dropped */
  size_t index;         /* the order in which rings were added */
  void *owner;
  const uint8_t *bytes; /* NULL: it is not in place */
  size_t size;
  /* Where the one behind it starts in place, and where what begin saw ends, or
   * the ring does; the same where there is none, or it must be looked for. */
  const uint8_t *next;
  const uint8_t *stop;
  /* Of the record; without one, of the record before it in the ring. */
  uint64_t time;
  int has_time;
  int is_broken; /* the ring cannot be right */
  size_t leaf;   /* 0: it takes no part */
} uvperf__track_t;

/* Who takes part in a tournament, in which the earlier wins. */
typedef struct uvperf__entry_s {
  uint64_t time; /* 0 of a broken ring, so that it is told soon */
  uvperf__track_t *track;
} uvperf__entry_t;

typedef struct uvperf__merge_s {
  const uvperf_decoder_t *decoder;
  void *scratch;
  /* All rings. Each track is allocated by itself, so that it never moves. */
  uvperf__track_t **tracks;
  size_t nr_tracks;
  size_t track_room;
  /* The rings in which begin found something have a leaf each, from nr_leaves
   * on; a node's parent is at half its index. Nodes from 1 on hold who lost
   * there, the winner of all is the top. */
  uvperf__entry_t *nodes;
  size_t nr_leaves;
  size_t node_room;
  uvperf__entry_t top;  /* whose record is next */
  uint64_t limit;       /* a top before it stays the top; 0: not known */
  uvperf__track_t none; /* of a ring that has no more: loses against any */
  uint64_t newest;      /* latest time that was consumed */
  int is_pressed;
} uvperf__merge_t;

/* A record that is next. */
typedef struct uvperf__merged_s {
  uvperf__track_t *track; /* merge.c's */
  size_t ring;            /* its index: the order in which rings were added */
  void *owner;            /* of the ring, as it was added */
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

/* Adds a ring, the caller's, with whatever it is to be known by; it takes part
 * from the next begin on. May be called between begin and end, in a record's
 * callback. 0 or -ENOMEM. */
int uvperf__merge_add(uvperf__merge_t *merge, uvperf__ring_t *ring,
                      void *owner);

/* Takes a ring out for good: nothing more of it is given, and it is not touched
 * again, so that it may be unmapped. May be called between begin and end, in a
 * record's callback. */
void uvperf__merge_drop(uvperf__merge_t *merge, size_t ring);

/* Looks at the heads of all rings. Then, or in next, a ring can be found that
 * cannot be right: see there. */
void uvperf__merge_begin(uvperf__merge_t *merge);

/* Whether a ring is more than half full, as begin found it. */
static inline int uvperf__merge_is_pressed(const uvperf__merge_t *merge) {
  return merge->is_pressed;
}

/* Whether something is left that begin saw, or a ring to be told of that cannot
 * be right. */
static inline int uvperf__merge_has_more(const uvperf__merge_t *merge) {
  return merge->top.track != &merge->none;
}

/* Publishes the tails of all rings that were read since begin. */
void uvperf__merge_end(uvperf__merge_t *merge);

/* A forked child: forgets all rings without touching them. What is called after
 * that finds none. */
void uvperf__merge_forget(uvperf__merge_t *merge);

/* -- for each record ------------------------------------------------------- */

/* The bytes of the top's record where they are not in place; or NULL where its
 * ring cannot be right, which takes no part any more then. */
const void *uvperf__merge_fetch(uvperf__merge_t *merge);

/* Gives the oldest record that is not younger than the horizon: 1 and *merged;
 * 0 if there is none; or -EPROTO and merged->ring: that ring cannot be right,
 * and the rest goes on; it is told again after the next begin, if it has not
 * been dropped by then. Records of one time come in the order of their rings. A
 * record without a time is as old as the one before it in its ring. Must be
 * followed by consume (or by end) before the next. */
static inline int uvperf__merge_next(uvperf__merge_t *merge, uint64_t horizon,
                                     uvperf__merged_t *merged) {
  uvperf__track_t *track = merge->top.track;

  if (merge->top.time > horizon || track == &merge->none)
    return 0;
  merged->track = track;
  merged->ring = track->index;
  merged->bytes = track->bytes;
  if (merged->bytes == NULL) {
    merged->bytes = uvperf__merge_fetch(merge);
    if (merged->bytes == NULL)
      return -EPROTO;
  }
  merged->owner = track->owner;
  merged->size = track->size;
  merged->has_time = track->has_time;
  merged->time = track->time;
  return 1;
}

/* Goes on to the next record of a ring if that lies in place behind the one
 * before, and is sound: 1; else 0, and all is as it was. */
static inline int uvperf__track_step(uvperf__track_t *track,
                                     const uvperf_decoder_t *decoder) {
  const uint8_t *bytes = track->next;
  size_t size;

  if (bytes == track->stop)
    return 0;
  size = uvperf__u16(bytes + offsetof(struct perf_event_header, size));
  if (size < sizeof(struct perf_event_header) || size % sizeof(uint64_t) != 0 ||
      size > (size_t)(track->stop - bytes))
    return 0;
  /* Where it has no time that of the one before it stays. */
  track->has_time = uvperf__decoder_time(decoder, bytes, size, &track->time);
  track->bytes = bytes;
  track->size = size;
  track->next = bytes + size;
  return 1;
}

/* No two are equal. */
static inline int uvperf__entry_is_before(const uvperf__entry_t *one,
                                          const uvperf__entry_t *other) {
  if (one->time == other->time)
    return one->track->index < other->track->index;
  return one->time < other->time;
}

/* Plays the tournament once more for a leaf that has changed, which was the top
 * before. Whose turn it is nobody can predict, a processor neither: it
 * exchanges by masks, without a branch. */
static inline void uvperf__merge_play(uvperf__merge_t *merge, size_t leaf,
                                      uvperf__entry_t entry) {
  uvperf__entry_t *node;
  uintptr_t track, other;
  uint64_t mask, time;
  size_t at;

  for (at = leaf / 2; at > 0; at /= 2) {
    node = &merge->nodes[at];
    mask = 0 - (uint64_t)uvperf__entry_is_before(node, &entry);
    time = (node->time ^ entry.time) & mask;
    node->time ^= time;
    entry.time ^= time;
    track = (uintptr_t)entry.track;
    other = (uintptr_t)node->track;
    node->track = (uvperf__track_t *)(other ^ ((track ^ other) & mask));
    entry.track = (uvperf__track_t *)(track ^ ((track ^ other) & mask));
  }
  merge->top = entry;
}

/* What consume does after a step among many rings; and where none was made. */
void uvperf__merge_move(uvperf__merge_t *merge, uvperf__track_t *track);
void uvperf__merge_turn(uvperf__merge_t *merge, uvperf__track_t *track);

/* The record that next gave was delivered: its ring's tail moves on, as by
 * uvperf__ring_consume. Gives 1 if it was late: one with a later time was
 * consumed before it. (Never one without a time.) */
static inline int uvperf__merge_consume(uvperf__merge_t *merge,
                                        const uvperf__merged_t *merged) {
  uvperf__track_t *track = merged->track;
  uvperf__entry_t entry;
  int is_late = 0;

  if (merged->time >= merge->newest)
    merge->newest = merged->time;
  else
    is_late = merged->has_time;
  if (track->ring == NULL)
    return is_late;
  uvperf__ring_consume(track->ring, merged->size);
  if (!uvperf__track_step(track, merge->decoder)) {
    uvperf__merge_turn(merge, track);
  } else if (merge->nr_leaves <= UVPERF__MERGE_FEW) {
    entry.time = track->time;
    entry.track = track;
    uvperf__merge_play(merge, track->leaf, entry);
  } else if (track->time < merge->limit) {
    merge->top.time = track->time;
  } else {
    uvperf__merge_move(merge, track);
  }
  return is_late;
}

#endif
