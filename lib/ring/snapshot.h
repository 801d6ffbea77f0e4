/* SPDX-License-Identifier: MIT */
/* Snapshots: copies of overwritable rings, made while their output is paused. A
 * snapshot is read like a ring that is not overwritable. */
#ifndef UVPERF_LIB_RING_SNAPSHOT_H
#define UVPERF_LIB_RING_SNAPSHOT_H

#include <stddef.h>
#include <stdint.h>

#include "uvperf/stream.h"

#include "ring/ring.h"

/* All known flags. */
#define UVPERF__SNAPSHOT_FLAGS                                                 \
  (UVPERF_SNAPSHOT_OLDEST_FIRST | UVPERF_SNAPSHOT_ALL | UVPERF_SNAPSHOT_NO_WAIT)

typedef struct uvperf__snapshot_s {
  /* Set by the caller before the first step. */
  uvperf__ring_t *ring; /* overwritable; stays mapped until it is copied */
  int fd;               /* an event that writes into it; used to pause it */
  int is_paused;        /* its output was paused before; it stays so */
  /* Set by the second step, the copy. */
  uvperf__ring_t image; /* private memory with whole records, from offset 0 on.
                         * Read it with uvperf__ring_begin, _next, _consume and
                         * _end. No record wraps, so _next needs no scratch. */
  int code;             /* 0, or -EPROTO: records older than the image cannot be
                         * read */
  int resumed;          /* 0, or why its output stays paused */
  /* Private. */
  uvperf__ring_t own; /* a copy of *ring from the first step */
  void *memory;
  size_t copied;   /* bytes in it, newest first */
  uint64_t unseen; /* bytes written since the snapshot before */
  int is_limited;  /* older bytes could not be copied */
} uvperf__snapshot_t;

/* The first of three steps: begins snapshots of several rings that are copied
 * at one time. No other snapshot of these rings may begin until the third step
 * was done, or until it is certain that the third step will not be done. */
void uvperf__snapshots_begin(uvperf__snapshot_t *snapshots, size_t nr);

/* The second step, which any thread may do: it touches the snapshots, the
 * mappings and the fds, but not the rings. Pauses all rings, waits for CPUs
 * that are writing, copies, resumes the rings that were not paused before, and
 * finds the whole records. With the flags, UVPERF_SNAPSHOT_*, the wait can be
 * skipped, and the order of records in each image can be chosen. Returns 0. If
 * memory runs out or pausing fails, returns -ENOMEM or the code of pausing, and
 * there are no images. */
int uvperf__snapshots_copy(uvperf__snapshot_t *snapshots, size_t nr,
                           uint32_t flags);

/* The third step, after copying has returned 0. Updates the rings' `newest`,
 * `cut`, `skipped`, `unwaited` and `high_water`. Records that uvperf__ring_next
 * has not returned yet stay. Without this step later snapshots have the same
 * records again. */
void uvperf__snapshots_install(const uvperf__snapshot_t *snapshots, size_t nr);

/* Returns 0 if the output of all rings was resumed. Otherwise returns the code
 * of the first ring that stays paused. A later snapshot tries again. */
int uvperf__snapshots_resumed(const uvperf__snapshot_t *snapshots, size_t nr);

/* Frees the images of snapshots that were copied. Images that are freed already
 * are left alone. */
void uvperf__snapshots_free(uvperf__snapshot_t *snapshots, size_t nr);

#endif
