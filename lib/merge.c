/* SPDX-License-Identifier: MIT */
/* Several rings in the order of time. Within a ring records are nearly in that
 * order already (an NMI between the stamp of a record and its place in the ring
 * puts it behind a younger one), so that only the first record of each ring is
 * looked at: a heap holds the time of each. The records of one ring that come
 * in a row cost a comparison with the runner-up each, and the heap is left
 * alone. */
#include "merge.h"

#include <errno.h>

#include "alloc.h"
#include "decoder.h"
#include "grow.h"

#define FIRST_RINGS 8

/* A ring and the first record in it that was not consumed. */
typedef struct track_s {
  uvperf__ring_t *ring; /* NULL: dropped */
  const void *bytes;
  size_t size;
  /* Of the record; without one, of the record before it in the ring. */
  uint64_t time;
  int has_time;
  int is_broken; /* the ring cannot be right */
} track_t;

typedef struct entry_s {
  uint64_t time; /* 0 of a broken ring, so that it is told soon */
  size_t ring;
} entry_t;

struct uvperf__merge_s {
  const uvperf_decoder_t *decoder;
  void *scratch;
  track_t *tracks;
  size_t nr_tracks;
  size_t track_room;
  /* The rings that have a record, or are broken: each comes before its
   * children, which are at 2 * i + 1 and 2 * i + 2. */
  entry_t *heap;
  size_t nr_heap;
  size_t heap_room;
  /* What comes next after the ring at the top. */
  entry_t runner_up;
  /* The record of the top was given and not yet consumed. */
  int is_given;
  size_t given;
  uint64_t newest; /* latest time that was consumed */
  int is_pressed;
};

/* -- the heap -------------------------------------------------------------- */

/* No two are equal. */
static int is_before(const entry_t *one, const entry_t *other) {
  if (one->time != other->time)
    return one->time < other->time;
  return one->ring < other->ring;
}

static size_t first_child(const uvperf__merge_t *merge, size_t at) {
  size_t child = 2 * at + 1;

  if (child + 1 < merge->nr_heap &&
      is_before(&merge->heap[child + 1], &merge->heap[child]))
    child++;
  return child;
}

static void sift_down(uvperf__merge_t *merge, size_t at) {
  entry_t entry = merge->heap[at];
  size_t child;

  while (2 * at + 1 < merge->nr_heap) {
    child = first_child(merge, at);
    if (is_before(&entry, &merge->heap[child]))
      break;
    merge->heap[at] = merge->heap[child];
    at = child;
  }
  merge->heap[at] = entry;
}

static void sift_up(uvperf__merge_t *merge, size_t at) {
  entry_t entry = merge->heap[at];

  while (at > 0 && is_before(&entry, &merge->heap[(at - 1) / 2])) {
    merge->heap[at] = merge->heap[(at - 1) / 2];
    at = (at - 1) / 2;
  }
  merge->heap[at] = entry;
}

/* To be called when anything but the top's own time has changed. */
static void find_runner_up(uvperf__merge_t *merge) {
  if (merge->nr_heap > 1) {
    merge->runner_up = merge->heap[first_child(merge, 0)];
  } else {
    merge->runner_up.time = UINT64_MAX;
    merge->runner_up.ring = SIZE_MAX;
  }
}

static void take_out(uvperf__merge_t *merge, size_t at) {
  merge->nr_heap -= 1;
  if (at < merge->nr_heap) {
    merge->heap[at] = merge->heap[merge->nr_heap];
    sift_down(merge, at);
    sift_up(merge, at);
  }
  find_runner_up(merge);
}

static void make_heap(uvperf__merge_t *merge) {
  size_t at;

  for (at = merge->nr_heap / 2; at > 0; at--)
    sift_down(merge, at - 1);
  find_runner_up(merge);
}

/* -- the rings ------------------------------------------------------------- */

int uvperf__merge_new(uvperf__merge_t **merge, const uvperf_decoder_t *decoder,
                      void *scratch) {
  *merge = uvperf__calloc(1, sizeof(**merge));
  if (*merge == NULL)
    return -ENOMEM;
  (*merge)->decoder = decoder;
  (*merge)->scratch = scratch;
  return 0;
}

void uvperf__merge_free(uvperf__merge_t *merge) {
  if (merge == NULL)
    return;
  uvperf__free(merge->tracks);
  uvperf__free(merge->heap);
  uvperf__free(merge);
}

int uvperf__merge_add(uvperf__merge_t *merge, uvperf__ring_t *ring) {
  track_t *tracks;
  entry_t *heap;

  tracks = uvperf__grow(merge->tracks, merge->nr_tracks, &merge->track_room,
                        FIRST_RINGS, sizeof(*tracks));
  if (tracks == NULL)
    return -ENOMEM;
  merge->tracks = tracks;
  heap = uvperf__grow(merge->heap, merge->nr_tracks, &merge->heap_room,
                      FIRST_RINGS, sizeof(*heap));
  if (heap == NULL)
    return -ENOMEM;
  merge->heap = heap;
  tracks[merge->nr_tracks].ring = ring;
  merge->nr_tracks += 1;
  return 0;
}

void uvperf__merge_drop(uvperf__merge_t *merge, size_t ring) {
  size_t at;

  if (ring >= merge->nr_tracks)
    return;
  merge->tracks[ring].ring = NULL;
  for (at = 0; at < merge->nr_heap; at++) {
    if (merge->heap[at].ring == ring) {
      take_out(merge, at);
      return;
    }
  }
}

void uvperf__merge_forget(uvperf__merge_t *merge) {
  merge->nr_tracks = 0;
  merge->nr_heap = 0;
  merge->is_given = 0;
  merge->is_pressed = 0;
}

/* -- reading --------------------------------------------------------------- */

/* Looks at the first record of a ring: 1, also where the ring turns out to be
 * broken; 0 if there is none. */
static int look(const uvperf__merge_t *merge, track_t *track) {
  int rc;

  rc = uvperf__ring_next(track->ring, merge->scratch, &track->bytes,
                         &track->size);
  if (rc <= 0) {
    track->is_broken = rc < 0;
    return track->is_broken;
  }
  /* Where there is none the one before it stays. */
  track->has_time = uvperf__decoder_time(merge->decoder, track->bytes,
                                         track->size, &track->time);
  return 1;
}

static uint64_t order_of(const track_t *track) {
  return track->is_broken ? 0 : track->time;
}

static int is_half_full(const uvperf__ring_t *ring) {
  return ring->head - ring->tail > ring->size / 2;
}

void uvperf__merge_begin(uvperf__merge_t *merge) {
  track_t *track;
  entry_t *entry;
  size_t i;

  merge->is_given = 0;
  merge->is_pressed = 0;
  merge->nr_heap = 0;
  for (i = 0; i < merge->nr_tracks; i++) {
    track = &merge->tracks[i];
    if (track->ring == NULL)
      continue;
    track->is_broken = uvperf__ring_begin(track->ring) != 0;
    if (!track->is_broken && is_half_full(track->ring))
      merge->is_pressed = 1;
    if (track->is_broken || look(merge, track)) {
      entry = &merge->heap[merge->nr_heap++];
      entry->time = order_of(track);
      entry->ring = i;
    }
  }
  make_heap(merge);
}

int uvperf__merge_is_pressed(const uvperf__merge_t *merge) {
  return merge->is_pressed;
}

int uvperf__merge_has_more(const uvperf__merge_t *merge) {
  return merge->nr_heap > 0;
}

/* Of the ring at the top. Its owner drops it once that is told, which may be
 * after another start only. */
static int give_up(uvperf__merge_t *merge) {
  take_out(merge, 0);
  return -EPROTO;
}

int uvperf__merge_next(uvperf__merge_t *merge, uint64_t horizon,
                       uvperf__merged_t *merged) {
  track_t *track;

  merge->is_given = 0;
  if (merge->nr_heap == 0 || merge->heap[0].time > horizon)
    return 0;
  merged->ring = merge->heap[0].ring;
  track = &merge->tracks[merged->ring];
  if (track->is_broken)
    return give_up(merge);
  /* Another ring's record may be in the scratch by now. */
  if (track->bytes == merge->scratch &&
      uvperf__ring_next(track->ring, merge->scratch, &track->bytes,
                        &track->size) != 1)
    return give_up(merge);
  merged->bytes = track->bytes;
  merged->size = track->size;
  merged->has_time = track->has_time;
  merged->time = track->time;
  merge->is_given = 1;
  merge->given = merged->ring;
  return 1;
}

/* The ring at the top goes on to its next record. */
static void advance(uvperf__merge_t *merge, track_t *track) {
  uvperf__ring_consume(track->ring, track->size);
  if (!look(merge, track)) {
    take_out(merge, 0);
    return;
  }
  merge->heap[0].time = order_of(track);
  if (is_before(&merge->heap[0], &merge->runner_up))
    return;
  sift_down(merge, 0);
  find_runner_up(merge);
}

int uvperf__merge_consume(uvperf__merge_t *merge) {
  track_t *track;
  int is_late = 0;

  if (!merge->is_given)
    return 0;
  merge->is_given = 0;
  track = &merge->tracks[merge->given];
  if (track->has_time && track->time < merge->newest)
    is_late = 1;
  else if (track->has_time)
    merge->newest = track->time;
  if (track->ring != NULL)
    advance(merge, track);
  return is_late;
}

void uvperf__merge_end(uvperf__merge_t *merge) {
  size_t i;

  merge->is_given = 0;
  for (i = 0; i < merge->nr_tracks; i++)
    if (merge->tracks[i].ring != NULL)
      uvperf__ring_end(merge->tracks[i].ring);
}
