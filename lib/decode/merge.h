/* SPDX-License-Identifier: MIT */
/* The records of several rings in the order of their time, in place:
 * nothing is copied (but a record that wraps, into a scratch) and nothing is
 * sorted; a tournament of the first record of each ring tells whose is next.
 * Knows of a record where its time is (by uvperf__decoder_time), and no loop.
 *
 * A look at the rings is: heads, begin, then next and consume for each record,
 * or run for many of them, then end.
 *
 * Another process can stamp our records with a clock of its own. So begin takes
 * bounds: a time outside of them is impossible, and such a record takes the
 * time of the one before it in its ring. */
#ifndef UVPERF_LIB_DECODE_MERGE_H
#define UVPERF_LIB_DECODE_MERGE_H

#include <errno.h>
#include <stddef.h>
#include <stdint.h>

#include "uvperf/record.h"

#include "decode/decoder.h"
#include "ring/ring.h"
#include "util/bytes.h"

/* Among so many leaves playing costs less than to find out whether that can be
 * left out. */
#define UVPERF__MERGE_FEW 4

/* A ring and the first record in it that was not consumed. */
typedef struct uvperf__track_s {
  uvperf__ring_t *ring; /* NULL: dropped */
  size_t index;         /* the order in which rings were added */
  void *owner;
  /* NULL if it is not in place, or has no time: it is for next alone. */
  const uint8_t *bytes;
  /* That of the record as it was checked: a record of another process that is
   * longer than the kernel says is written over what is still to be read. */
  uint64_t header;
  /* Up to where records can follow in place without a look: what begin saw ends
   * there, or the ring does, or the tail is to be published. */
  const uint8_t *stop;
  /* Of the record; without one, or with an impossible one, of the record before
   * it in the ring. */
  uint64_t time;
  int has_time;  /* one that is possible */
  int is_bad;    /* it has an impossible one */
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
  uint64_t earliest;    /* the times that are possible: from here */
  uint64_t latest;      /* to here */
  int is_pressed;
} uvperf__merge_t;

/* A record that is next. */
typedef struct uvperf__merged_s {
  uvperf__track_t *track; /* merge.c's */
  size_t ring;            /* its index: the order in which rings were added */
  void *owner;            /* of the ring, as it was added */
  const void *bytes;
  size_t size;
  int has_time; /* one that is possible */
  int is_bad;   /* it has an impossible one */
  /* Without has_time, the time of the record before it in its ring. */
  uint64_t time;
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

/* Looks at the heads of all rings. Then, in begin or in next, a ring can be
 * found that cannot be right: see there. */
void uvperf__merge_heads(uvperf__merge_t *merge);

/* Looks at the first records of all rings, after heads. Times from `earliest`
 * to `latest` are possible: a clock that is read between the two calls is later
 * than all of them. The first bound never rises and the second never falls,
 * except after rewind. */
void uvperf__merge_begin(uvperf__merge_t *merge, uint64_t earliest,
                         uint64_t latest);

/* The clock was set back. Forgets all times, so that records from now on are
 * not late. Not between begin and end. */
void uvperf__merge_rewind(uvperf__merge_t *merge);

/* Whether a ring is more than half full, as heads found it. */
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

/* -- record by record ------------------------------------------------------ */

/* Gives the oldest record that is not younger than the horizon: 1 and *merged;
 * 0 if there is none; or -EPROTO and merged->ring: that ring cannot be right,
 * and the rest goes on; it is told again after the next begin, if it has not
 * been dropped by then. Records of one time come in the order of their rings. A
 * record without a possible time is as old as the one before it in its ring;
 * the first of a ring is older than all others. Must be followed by consume
 * (or by end) before the next. */
int uvperf__merge_next(uvperf__merge_t *merge, uint64_t horizon,
                       uvperf__merged_t *merged);

/* The record that next gave was delivered: its ring's tail moves on, as by
 * uvperf__ring_consume. Gives 1 if it was late: one with a later time was
 * consumed before it. (Never one without a possible time.) */
int uvperf__merge_consume(uvperf__merge_t *merge,
                          const uvperf__merged_t *merged);

/* -- a run ----------------------------------------------------------------- */

/* Delivers and counts a record of the ring that was added with this owner, if
 * it is a sample that can be decoded; its header, already loaded, is sound. 1
 * to go on, 0 to end the run behind it; or -1, and nothing is done. To be a
 * constant inline function, so that there is no call through a pointer but the
 * user's. */
typedef int uvperf__merge_sample_fn(void *user, void *owner,
                                    const uint8_t *bytes, uint64_t header);

/* Plays one game: the entry leaves as who is earlier, the node has the other.
 * Whose turn it is nobody can predict, a processor neither: it exchanges by
 * masks, without a branch. */
static inline void uvperf__merge_meet(uvperf__entry_t *node,
                                      uvperf__entry_t *entry) {
  uint64_t mask = 0 - (uint64_t)(node->time < entry->time);
  uint64_t time;
  uintptr_t track;

  if (__builtin_expect(node->time == entry->time, 0))
    mask = 0 - (uint64_t)(node->track->index < entry->track->index);
  time = (node->time ^ entry->time) & mask;
  track = ((uintptr_t)node->track ^ (uintptr_t)entry->track) & (uintptr_t)mask;
  node->time ^= time;
  entry->time ^= time;
  node->track = (uvperf__track_t *)((uintptr_t)node->track ^ track);
  entry->track = (uvperf__track_t *)((uintptr_t)entry->track ^ track);
}

/* Plays the tournament once more for the top, which has changed. */
static inline void uvperf__merge_play(uvperf__merge_t *merge,
                                      uvperf__entry_t entry) {
  size_t at = entry.track->leaf / 2;

  for (; at > 1; at /= 2)
    uvperf__merge_meet(&merge->nodes[at], &entry);
  uvperf__merge_meet(&merge->nodes[1], &entry);
  merge->top = entry;
}

/* The same, among many rings. */
void uvperf__merge_move(uvperf__merge_t *merge, uvperf__entry_t entry);

/* A ring goes on to what is at its tail now, wherever that is. */
void uvperf__merge_turn(uvperf__merge_t *merge, uvperf__track_t *track);

/* The top's ring goes on to the sample at `next`, and plays for it, if that
 * lies in place, is sound, has a possible time and will not be late: the new
 * top; else NULL, and all is as it was. */
static inline uvperf__track_t *uvperf__merge_step(uvperf__merge_t *merge,
                                                  uvperf__track_t *track,
                                                  const uint8_t *next) {
  size_t room = (size_t)(track->stop - next);
  uvperf__entry_t entry;
  uint64_t header;
  size_t size;

  if (room == 0)
    return NULL;
  header = uvperf__u64(next);
  size = uvperf__header_size(header);
  if (uvperf__header_type(header) != PERF_RECORD_SAMPLE ||
      size < merge->decoder->time_least || size % sizeof(header) != 0 ||
      size > room)
    return NULL;
  entry.time = uvperf__u64(next + merge->decoder->time_front);
  /* Earlier than the top, or later than is possible. */
  if (entry.time - merge->top.time > merge->latest - merge->top.time)
    return NULL;
  entry.track = track;
  track->bytes = next;
  track->header = header;
  track->time = entry.time;
  if (merge->nr_leaves <= UVPERF__MERGE_FEW)
    uvperf__merge_play(merge, entry);
  else if (entry.time < merge->limit)
    merge->top.time = entry.time;
  else
    uvperf__merge_move(merge, entry);
  return merge->top.track;
}

/* Gives and consumes the next records, as next and consume would, as long as
 * they are samples that lie in place and are not late: at most `most`, and none
 * behind one that makes them max_bytes (neither is 0). How many, and *bytes. It
 * may end before it must: where it gives none, next tells what is there. Here,
 * as a flood of records goes through it. */
static inline uint64_t uvperf__merge_run(uvperf__merge_t *merge,
                                         uint64_t horizon, uint64_t most,
                                         uint64_t max_bytes,
                                         uvperf__merge_sample_fn *sample,
                                         void *user, uint64_t *bytes) {
  uvperf__track_t *track = merge->top.track;
  uvperf__track_t *top;
  uint64_t left = most;
  uint64_t header;
  const uint8_t *at;
  size_t size;
  int rc;

  *bytes = 0;
  if (merge->top.time < merge->newest)
    return 0;
  /* The end of time is that of no ring. */
  if (horizon == UINT64_MAX)
    horizon = UINT64_MAX - 1;
  while (left > 0 && *bytes < max_bytes && merge->top.time <= horizon) {
    at = track->bytes;
    if (at == NULL)
      break;
    header = track->header;
    rc = sample(user, track->owner, at, header);
    if (rc < 0)
      break;
    size = uvperf__header_size(header);
    left--;
    *bytes += size;
    merge->newest = track->time;
    /* It was dropped in the callback. */
    if (track->ring == NULL)
      break;
    track->ring->tail += size;
    /* What comes next is not touched: only end may follow. */
    if (rc == 0)
      break;
    top = uvperf__merge_step(merge, track, at + size);
    if (top == NULL) {
      uvperf__merge_turn(merge, track);
      break;
    }
    track = top;
  }
  return most - left;
}

#endif
