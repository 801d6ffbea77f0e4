/* SPDX-License-Identifier: MIT */
/* Copies of what overwritable rings hold, each made while the output
 * is paused, and to be read as a ring that is not overwritable. */
#ifndef UVPERF_LIB_RING_SNAPSHOT_H
#define UVPERF_LIB_RING_SNAPSHOT_H

#include <stddef.h>
#include <stdint.h>

#include "uvperf/stream.h"

#include "ring/ring.h"

/* The flags that there are. */
#define UVPERF__SNAPSHOT_FLAGS                                                 \
  (UVPERF_SNAPSHOT_OLDEST_FIRST | UVPERF_SNAPSHOT_ALL | UVPERF_SNAPSHOT_NO_WAIT)

typedef struct uvperf__snapshot_s {
  /* The caller's, before it is taken. */
  uvperf__ring_t *ring; /* overwritable; its `newest`, `cut`, `skipped` and
                         * `high_water` go on; what uvperf__ring_next has still
                         * to return of what begin saw stays */
  int fd;               /* of an event that writes into it: to pause it by */
  int is_paused;        /* its output is paused already, and stays so */
  /* Filled by taking it. */
  uvperf__ring_t image; /* private memory with whole records, from offset 0 on:
                         * for uvperf__ring_begin, _next, _consume, _end. None
                         * wraps, so that _next needs no scratch */
  int code;             /* 0, or -EPROTO: what is older than what the image has
                         * cannot be read */
  int resumed;          /* 0, or why its output stays paused */
  /* Private. */
  void *memory;
  size_t copied;   /* bytes of it that were copied, newest first */
  uint64_t unseen; /* bytes that were written since the snapshot before */
  int is_limited;  /* what is older than them is not to be had */
} uvperf__snapshot_t;

/* Takes snapshots of several rings at one time: pauses all, waits for those who
 * are writing (unless flags, UVPERF_SNAPSHOT_*, say otherwise), copies, and
 * lets all go on that were not paused before. The order in each image is that
 * of the flags. 0; or -ENOMEM, or what pausing gave, with nothing left
 * behind. */
int uvperf__snapshots_take(uvperf__snapshot_t *snapshots, size_t nr,
                           uint32_t flags);

/* Returns 0; or, if the output of some of them stays paused, the first reason.
 * A later snapshot tries again. */
int uvperf__snapshots_resumed(const uvperf__snapshot_t *snapshots, size_t nr);

/* Frees the images of snapshots that were taken. */
void uvperf__snapshots_free(uvperf__snapshot_t *snapshots, size_t nr);

#endif
