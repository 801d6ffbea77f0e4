/* SPDX-License-Identifier: MIT */
/* Delivers the records of several rings in time order. Records stay in place;
 * only a record that wraps is copied, into a scratch. Nothing is sorted: the
 * first records of all rings are the leaves of a loser tree (Knuth, The Art of
 * Computer Programming, 5.4.1), whose top is the oldest record. The merge reads
 * only the time of a record (uvperf__decoder_time).
 *
 * One pass over the rings calls heads and begin, then next and consume for each
 * record (or run for many records), then end. A run is a sequence of samples
 * that lie in place and in order. uvperf__merge_run delivers it in one call.
 *
 * Another process can stamp our records with a clock of its own. So begin has
 * bounds as parameters. A time outside the bounds is impossible, and a record
 * with such a time gets the time of the record before it in its ring. */
#ifndef UVPERF_LIB_DECODE_MERGE_H
#define UVPERF_LIB_DECODE_MERGE_H

#include <errno.h>
#include <stddef.h>
#include <stdint.h>

#include "uvperf/record.h"

#include "decode/decoder.h"
#include "ring/ring.h"
#include "util/bytes.h"

/* Up to this number of leaves, a replay takes less time than a check whether
 * the replay is needed. */
#define UVPERF__MERGE_FEW 4

/* A ring and the first record in it that was not consumed. */
typedef struct uvperf__track_s {
  uvperf__ring_t *ring; /* NULL: dropped */
  size_t index;         /* the order in which rings were added */
  void *owner;
  /* NULL if the record is not in place or has no time. Only next delivers such
   * a record. */
  const uint8_t *bytes;
  /* The record's header as it was checked. Afterwards another process's record
   * can be written over it, if that record is longer than the kernel says. */
  uint64_t header;
  /* Up to here, records follow each other in place. `stop` is where the records
   * that begin saw end, or where the ring ends, or where the tail must be
   * published. */
  const uint8_t *stop;
  /* The record's time. If the record has no time or an impossible one, this is
   * the time of the record before it in the ring. */
  uint64_t time;
  int has_time;  /* one that is possible */
  int is_bad;    /* it has an impossible one */
  int is_broken; /* the ring cannot be right */
  size_t leaf;   /* 0: not in the tree */
} uvperf__track_t;

/* An entry of the tree. The earlier of two entries wins. */
typedef struct uvperf__entry_s {
  uint64_t time; /* 0 for a broken ring, so that it is reported soon */
  uvperf__track_t *track;
} uvperf__entry_t;

typedef struct uvperf__merge_s {
  const uvperf_decoder_t *decoder;
  /* UVPERF__RING_SCRATCH_BYTES of the caller, for records that wrap. The caller
   * sets this before it calls begin, next, consume or run. */
  void *scratch;
  /* All rings. Each track is allocated separately, so that it never moves. */
  uvperf__track_t **tracks;
  size_t nr_tracks;
  size_t track_room;
  /* Each ring in which begin found something has a leaf, from nr_leaves on. A
   * node's parent is at half its index. Each node from 1 on holds the loser of
   * the two entries that met there. The entry that won against all others is
   * the top. */
  uvperf__entry_t *nodes;
  size_t nr_leaves;
  size_t node_room;
  uvperf__entry_t top;  /* whose record is next */
  uint64_t limit;       /* an earlier entry stays the top; 0: not known */
  uvperf__track_t none; /* stands for no ring: loses against every ring */
  uint64_t newest;      /* latest time that was consumed */
  uint64_t earliest;    /* possible times: from here */
  uint64_t latest;      /* to here */
  int is_pressed;       /* see uvperf__merge_is_pressed */
} uvperf__merge_t;

/* A record that is next. */
typedef struct uvperf__merged_s {
  uvperf__track_t *track; /* for merge.c */
  size_t ring;            /* its index, in the order of adding */
  void *owner;            /* of the ring, as it was added */
  const void *bytes;
  size_t size;
  int has_time; /* one that is possible */
  int is_bad;   /* it has an impossible one */
  /* If has_time is 0, this is the time of the record before it in its ring. */
  uint64_t time;
} uvperf__merged_t;

/* Makes a merge. The decoder, which finds the times, belongs to the caller.
 * Returns 0 or -ENOMEM. */
int uvperf__merge_new(uvperf__merge_t **merge, const uvperf_decoder_t *decoder);

/* Frees the merge. Does not touch the rings. NULL is allowed. */
void uvperf__merge_free(uvperf__merge_t *merge);

/* Adds a ring, which belongs to the caller. `owner` is passed back with the
 * ring's records, which are delivered from the next begin on. May be called
 * between begin and end, in a record's callback. Returns 0 or -ENOMEM. */
int uvperf__merge_add(uvperf__merge_t *merge, uvperf__ring_t *ring,
                      void *owner);

/* Removes a ring. No more records of the ring are delivered. The merge does not
 * touch the ring again, so it may be unmapped. May be called between begin and
 * end, in a record's callback. */
void uvperf__merge_drop(uvperf__merge_t *merge, size_t ring);

/* Reads the heads of all rings. A ring that makes no sense is reported by
 * next. */
void uvperf__merge_heads(uvperf__merge_t *merge);

/* Reads the first record of each ring, after heads. Times from `earliest` to
 * `latest` are possible. For `latest`, read the clock between the calls of
 * heads and begin: it is later than the times of all records up to the heads.
 * `earliest` never rises and `latest` never falls, except after rewind. */
void uvperf__merge_begin(uvperf__merge_t *merge, uint64_t earliest,
                         uint64_t latest);

/* Call it when the clock was set back. Forgets all times, so that records from
 * now on are not late. Must not be called between begin and end. */
void uvperf__merge_rewind(uvperf__merge_t *merge);

/* Whether a ring was more than half full when heads read it. */
static inline int uvperf__merge_is_pressed(const uvperf__merge_t *merge) {
  return merge->is_pressed;
}

/* Whether there is still a record that begin saw, or a ring that must be
 * reported. */
static inline int uvperf__merge_has_more(const uvperf__merge_t *merge) {
  return merge->top.track != &merge->none;
}

/* Publishes the tails of all rings that were read since begin. */
void uvperf__merge_end(uvperf__merge_t *merge);

/* For a forked child: forgets all rings without touching them. Later calls find
 * no rings. */
void uvperf__merge_forget(uvperf__merge_t *merge);

/* -- record by record ------------------------------------------------------ */

/* Finds the oldest record that is not younger than the horizon. Returns 1 and
 * *merged, or 0 if no such record is left. Returns -EPROTO and merged->ring if
 * that ring makes no sense. The other rings are still delivered. The bad ring
 * is reported again after the next begin, unless it is dropped. Records with
 * the same time come in the order of their rings. A record without a possible
 * time counts as old as the record before it in its ring. If such a record is
 * the first of its ring, it is older than all others. Call consume (or end)
 * before the next call. */
int uvperf__merge_next(uvperf__merge_t *merge, uint64_t horizon,
                       uvperf__merged_t *merged);

/* Call it when the record that uvperf__merge_next found was delivered. Moves
 * its ring's tail, as uvperf__ring_consume does. Returns 1 if the record was
 * late: a record with a later time was consumed before it. (A record without a
 * possible time is never late.) */
int uvperf__merge_consume(uvperf__merge_t *merge,
                          const uvperf__merged_t *merged);

/* -- a run ----------------------------------------------------------------- */

/* Delivers and counts a record if it is a sample that can be decoded. The
 * record's ring was added with this owner. The record's header is already
 * loaded and is sound. Returns 1 to go on, 0 to end the run after this record,
 * or -1 if it did nothing. Pass a constant inline function, so that the user's
 * callback is the only call through a pointer. */
typedef int uvperf__merge_sample_fn(void *user, void *owner,
                                    const uint8_t *bytes, uint64_t header);

/* Puts the earlier of the two entries into `entry`, and the other into the
 * node. A branch predictor cannot know which entry is earlier, so the exchange
 * uses masks and no branch. */
static inline void uvperf__merge_compare_swap(uvperf__entry_t *node,
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

/* Call it when the top has changed. Compares its new entry with the entries
 * that lost against the old one, from the leaf up. */
static inline void uvperf__merge_replay(uvperf__merge_t *merge,
                                        uvperf__entry_t entry) {
  size_t at = entry.track->leaf / 2;

  for (; at > 1; at /= 2)
    uvperf__merge_compare_swap(&merge->nodes[at], &entry);
  uvperf__merge_compare_swap(&merge->nodes[1], &entry);
  merge->top = entry;
}

/* Does the same for many rings, and also finds `limit`, up to which the next
 * records of the top's ring need no replay. */
void uvperf__merge_replay_and_limit(uvperf__merge_t *merge,
                                    uvperf__entry_t entry);

/* Moves a ring on to the record at its tail, even if that record wraps or has
 * no time. */
void uvperf__merge_advance(uvperf__merge_t *merge, uvperf__track_t *track);

/* Moves the top's ring on to the sample at `next`, if that sample lies in
 * place, is sound, has a possible time and will not be late. Returns the new
 * top's track. Otherwise returns NULL and changes nothing. */
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
  /* The sample is earlier than the top, or later than possible. */
  if (entry.time - merge->top.time > merge->latest - merge->top.time)
    return NULL;
  entry.track = track;
  track->bytes = next;
  track->header = header;
  track->time = entry.time;
  if (merge->nr_leaves <= UVPERF__MERGE_FEW)
    uvperf__merge_replay(merge, entry);
  else if (entry.time < merge->limit)
    merge->top.time = entry.time;
  else
    uvperf__merge_replay_and_limit(merge, entry);
  return merge->top.track;
}

/* Delivers and consumes the next records, as next and consume would, as long as
 * they are samples that lie in place and are not late. Delivers at most `most`
 * records, and stops when they have max_bytes or more (neither limit is 0).
 * Returns how many records were delivered, and their *bytes. The run may end
 * early. If it returns 0, call next. The function is inline, because all
 * records in time order pass through it. */
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
  /* UINT64_MAX is the time of `none`. */
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
    /* The ring was dropped in the callback. */
    if (track->ring == NULL)
      break;
    track->ring->tail += size;
    /* The next record is not touched. The caller may only call end now. */
    if (rc == 0)
      break;
    top = uvperf__merge_step(merge, track, at + size);
    if (top == NULL) {
      uvperf__merge_advance(merge, track);
      break;
    }
    track = top;
  }
  return most - left;
}

#endif
