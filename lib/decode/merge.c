/* SPDX-License-Identifier: MIT */
/* Several rings in time order. Within a ring records are nearly in order
 * already, so only the first records of the rings are compared. (If an NMI
 * comes after a record got its time and before it got its place in the ring,
 * the record comes after a younger record.) Each node of the tree keeps the
 * loser. When the winner's ring moves on, its new entry is compared only with
 * the entries that lost against it. */
#include "decode/merge.h"

#include "util/alloc.h"
#include "util/grow.h"

#define FIRST_RINGS 8

/* -- the loser tree -------------------------------------------------------- */

static uvperf__entry_t no_ring(uvperf__merge_t *merge) {
  uvperf__entry_t entry = {UINT64_MAX, &merge->none};

  return entry;
}

/* Entries with the same time have the order of their rings, so no two entries
 * are equal. */
static int is_before(const uvperf__entry_t *one, const uvperf__entry_t *other) {
  if (one->time == other->time)
    return one->track->index < other->track->index;
  return one->time < other->time;
}

/* The entries start at 0, in the order of their rings. First each node gets the
 * winner: the earlier of its two children. */
static void build_tree(uvperf__merge_t *merge) {
  uvperf__entry_t *nodes = merge->nodes;
  size_t nr = merge->nr_leaves;
  size_t i;

  for (i = nr; i > 0; i--) {
    nodes[nr + i - 1] = nodes[i - 1];
    nodes[nr + i - 1].track->leaf = nr + i - 1;
  }
  for (i = nr; i-- > 1;)
    nodes[i] =
        nodes[is_before(&nodes[2 * i], &nodes[2 * i + 1]) ? 2 * i : 2 * i + 1];
  merge->top = nr > 0 ? nodes[1] : no_ring(merge);
  merge->limit = 0;
  /* Then each node gets the loser instead. */
  for (i = 1; i < nr; i++)
    nodes[i] = nodes[nodes[2 * i].track == nodes[i].track ? 2 * i + 1 : 2 * i];
}

/* Removes a ring from the tree, whether it is the top or has lost. The entries
 * that lost against it compete for its place. */
static void merge_leave(uvperf__merge_t *merge, uvperf__track_t *track) {
  uvperf__entry_t entry = no_ring(merge);
  uvperf__entry_t loser;
  size_t at;

  if (track->leaf == 0)
    return;
  for (at = track->leaf / 2; at > 0; at /= 2) {
    loser = merge->nodes[at];
    if (loser.track == track)
      break;
    if (is_before(&loser, &entry)) {
      merge->nodes[at] = entry;
      entry = loser;
    }
  }
  if (at > 0)
    merge->nodes[at] = entry;
  else
    merge->top = entry;
  merge->limit = 0;
  track->leaf = 0;
}

/* Returns the earliest time of the entries that have lost against the top. */
static uint64_t limit_of(const uvperf__merge_t *merge) {
  uint64_t limit = UINT64_MAX;
  size_t at;

  for (at = merge->top.track->leaf / 2; at > 0; at /= 2)
    if (merge->nodes[at].time < limit)
      limit = merge->nodes[at].time;
  return limit;
}

/* -- the rings ------------------------------------------------------------- */

int uvperf__merge_new(uvperf__merge_t **merge,
                      const uvperf_decoder_t *decoder) {
  *merge = uvperf__calloc(1, sizeof(**merge));
  if (*merge == NULL)
    return -ENOMEM;
  (*merge)->decoder = decoder;
  (*merge)->none.index = SIZE_MAX;
  (*merge)->top = no_ring(*merge);
  (*merge)->latest = UINT64_MAX;
  return 0;
}

void uvperf__merge_free(uvperf__merge_t *merge) {
  size_t i;

  if (merge == NULL)
    return;
  for (i = 0; i < merge->nr_tracks; i++)
    uvperf__free(merge->tracks[i]);
  uvperf__free(merge->tracks);
  uvperf__free(merge->nodes);
  uvperf__free(merge);
}

/* Makes room in both arrays for one more ring. */
static int make_room(uvperf__merge_t *merge) {
  uvperf__track_t **tracks;
  uvperf__entry_t *nodes;

  tracks = uvperf__grow(merge->tracks, merge->nr_tracks, &merge->track_room,
                        FIRST_RINGS, sizeof(*tracks));
  if (tracks == NULL)
    return -ENOMEM;
  merge->tracks = tracks;
  nodes = uvperf__grow(merge->nodes, merge->nr_tracks, &merge->node_room,
                       FIRST_RINGS, 2 * sizeof(*nodes));
  if (nodes == NULL)
    return -ENOMEM;
  merge->nodes = nodes;
  return 0;
}

int uvperf__merge_add(uvperf__merge_t *merge, uvperf__ring_t *ring,
                      void *owner) {
  uvperf__track_t *track;

  if (make_room(merge) != 0)
    return -ENOMEM;
  track = uvperf__calloc(1, sizeof(*track));
  if (track == NULL)
    return -ENOMEM;
  track->ring = ring;
  track->index = merge->nr_tracks;
  track->owner = owner;
  merge->tracks[merge->nr_tracks++] = track;
  return 0;
}

void uvperf__merge_drop(uvperf__merge_t *merge, size_t ring) {
  if (ring >= merge->nr_tracks)
    return;
  merge->tracks[ring]->ring = NULL;
  merge_leave(merge, merge->tracks[ring]);
}

void uvperf__merge_forget(uvperf__merge_t *merge) {
  size_t i;

  for (i = 0; i < merge->nr_tracks; i++) {
    merge->tracks[i]->ring = NULL;
    merge->tracks[i]->leaf = 0;
  }
  merge->top = no_ring(merge);
  merge->is_pressed = 0;
}

void uvperf__merge_rewind(uvperf__merge_t *merge) {
  size_t i;

  for (i = 0; i < merge->nr_tracks; i++)
    merge->tracks[i]->time = 0;
  merge->newest = 0;
}

/* -- reading --------------------------------------------------------------- */

/* Finds the time of a record. If the record has no possible time, the track
 * keeps the time of the record before it. The first record of a ring gets the
 * earliest possible time. */
static void find_time(const uvperf__merge_t *merge, uvperf__track_t *track,
                      const void *bytes) {
  uint64_t time;

  track->has_time =
      uvperf__decoder_time(merge->decoder, bytes, track->header, &time);
  track->is_bad =
      track->has_time && (time < merge->earliest || time > merge->latest);
  if (track->is_bad)
    track->has_time = 0;
  if (track->has_time)
    track->time = time;
  else if (track->is_bad && track->time < merge->earliest)
    track->time = merge->earliest;
}

/* Reads the first record of a ring and leaves it there. Returns the same as
 * uvperf__ring_next. A record that wraps does not stay in the scratch, which
 * other rings need too. */
static int merge_peek(const uvperf__merge_t *merge, uvperf__track_t *track) {
  const void *bytes;
  size_t size, piece;
  int rc;

  track->bytes = NULL;
  rc = uvperf__ring_next(track->ring, merge->scratch, &bytes, &size);
  track->is_broken = rc < 0;
  if (rc != 1)
    return rc;
  track->header = uvperf__header_of_size(uvperf__u64(bytes), size);
  find_time(merge, track, bytes);
  if (bytes == merge->scratch || !track->has_time)
    return 1;
  piece = uvperf__ring_contiguous(track->ring, &track->bytes);
  track->stop = track->bytes + (piece > size ? piece : size);
  return 1;
}

static uint64_t order_of(const uvperf__track_t *track) {
  return track->is_broken ? 0 : track->time;
}

void uvperf__merge_heads(uvperf__merge_t *merge) {
  const uvperf__ring_t *ring;
  uvperf__track_t *track;
  size_t i;

  merge->is_pressed = 0;
  for (i = 0; i < merge->nr_tracks; i++) {
    track = merge->tracks[i];
    if (track->ring == NULL)
      continue;
    track->bytes = NULL;
    track->is_broken = uvperf__ring_begin(track->ring) != 0;
    ring = track->ring;
    if (!track->is_broken && ring->head - ring->tail > ring->size / 2)
      merge->is_pressed = 1;
  }
}

void uvperf__merge_begin(uvperf__merge_t *merge, uint64_t earliest,
                         uint64_t latest) {
  uvperf__track_t *track;
  uvperf__entry_t *entry;
  size_t i;

  merge->earliest = earliest;
  merge->latest = latest;
  merge->nr_leaves = 0;
  for (i = 0; i < merge->nr_tracks; i++) {
    track = merge->tracks[i];
    track->leaf = 0;
    if (track->ring == NULL)
      continue;
    if (track->is_broken || merge_peek(merge, track) != 0) {
      entry = &merge->nodes[merge->nr_leaves++];
      entry->time = order_of(track);
      entry->track = track;
    }
  }
  /* A tree has at least two leaves. */
  if (merge->nr_leaves == 1)
    merge->nodes[merge->nr_leaves++] = no_ring(merge);
  build_tree(merge);
}

void uvperf__merge_replay_and_limit(uvperf__merge_t *merge,
                                    uvperf__entry_t entry) {
  uvperf__merge_replay(merge, entry);
  /* A ring that was first twice may stay first for a long time. */
  merge->limit = merge->top.track == entry.track ? limit_of(merge) : 0;
}

void uvperf__merge_advance(uvperf__merge_t *merge, uvperf__track_t *track) {
  uvperf__entry_t entry = {0, track};

  uvperf__ring_consume(track->ring, 0);
  if (merge_peek(merge, track) == 0) {
    merge_leave(merge, track);
  } else {
    entry.time = order_of(track);
    uvperf__merge_replay_and_limit(merge, entry);
  }
}

/* -- record by record ------------------------------------------------------ */

/* Gets the top's record. Returns 0 if its ring makes no sense. */
static int merge_fetch(const uvperf__merge_t *merge,
                       const uvperf__track_t *track, uvperf__merged_t *merged) {
  merged->bytes = track->bytes;
  merged->size = uvperf__header_size(track->header);
  return track->bytes != NULL ||
         (!track->is_broken &&
          uvperf__ring_next(track->ring, merge->scratch, &merged->bytes,
                            &merged->size) == 1);
}

int uvperf__merge_next(uvperf__merge_t *merge, uint64_t horizon,
                       uvperf__merged_t *merged) {
  uvperf__track_t *track = merge->top.track;

  if (merge->top.time > horizon || track == &merge->none)
    return 0;
  merged->track = track;
  merged->ring = track->index;
  if (!merge_fetch(merge, track, merged)) {
    /* The owner drops the ring after it has reported the failure, and this
     * report may come only after another start. */
    merge_leave(merge, track);
    return -EPROTO;
  }
  merged->owner = track->owner;
  merged->has_time = track->has_time;
  merged->is_bad = track->is_bad;
  merged->time = track->time;
  return 1;
}

int uvperf__merge_consume(uvperf__merge_t *merge,
                          const uvperf__merged_t *merged) {
  int is_late = merged->has_time && merged->time < merge->newest;

  if (merged->has_time && !is_late)
    merge->newest = merged->time;
  if (merged->track->ring != NULL) {
    uvperf__ring_consume(merged->track->ring, merged->size);
    uvperf__merge_advance(merge, merged->track);
  }
  return is_late;
}

void uvperf__merge_end(uvperf__merge_t *merge) {
  size_t i;

  for (i = 0; i < merge->nr_tracks; i++)
    if (merge->tracks[i]->ring != NULL)
      uvperf__ring_end(merge->tracks[i]->ring);
}
