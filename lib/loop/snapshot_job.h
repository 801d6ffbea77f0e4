/* SPDX-License-Identifier: MIT */
/* A snapshot of all rings of a handle: taken and delivered at once, or taken by
 * a thread of libuv's pool and delivered in slices.
 *
 * The thread works on memory of the job, on mappings and on fds. So nothing of
 * the rings may be unmapped or closed meanwhile: a handle that closes waits, by
 * uvperf__snapshot_job_close. */
#ifndef UVPERF_LIB_LOOP_SNAPSHOT_JOB_H
#define UVPERF_LIB_LOOP_SNAPSHOT_JOB_H

#include <stddef.h>
#include <stdint.h>

#include "decode/merge.h"
#include "loop/job.h"
#include "loop/teardown.h"
#include "loop/watch.h"
#include "ring/snapshot.h"

typedef struct uvperf__snapshot_job_s uvperf__snapshot_job_t;

typedef struct uvperf__snapshot_ops_s {
  /* Delivers from job->at on: as `drain` of the watch's operations, and never a
   * negative code. */
  int (*deliver)(void *owner, uvperf__snapshot_job_t *job,
                 uvperf__slice_t *slice);
  /* One that was begun has ended, and is freed. The status is 0, UV_ECANCELED,
   * -ENOMEM, or the code of pausing or resuming a ring. */
  void (*done)(void *owner, int status);
} uvperf__snapshot_ops_t;

struct uvperf__snapshot_job_s {
  uvperf__job_t job;
  uvperf__watch_extra_t extra;
  const uvperf__snapshot_ops_t *ops;
  void *owner;
  uvperf__watch_t *watch;
  uvperf__teardown_t *teardown; /* waits for the thread */
  uvperf__merge_t *merge;       /* the owner's to make; NULL: ring by ring */
  uint32_t flags;               /* UVPERF_SNAPSHOT_* */
  int is_in_pool;
  int is_installed;
  int code;  /* of copying */
  size_t at; /* the snapshot that is being delivered */
  size_t nr;
  uvperf__snapshot_t snapshots[]; /* one for each ring, by its index */
};

/* What a handle knows of a snapshot that it is asked for. */
typedef struct uvperf__snapshot_ask_s {
  uint32_t flags;      /* UVPERF_SNAPSHOT_*, or others */
  const char *missing; /* what makes rings overwritable; NULL: they are */
  int is_started;      /* ever, with a callback */
  int is_busy;
} uvperf__snapshot_ask_t;

/* 0; or UV_EINVAL or UV_EBUSY and the error. */
int uvperf__snapshot_check(const uvperf__snapshot_ask_t *ask,
                           uvperf_error_t *error);

/* Makes one of which the owner fills ring, fd and is_paused of all snapshots.
 * Returns 0, or -ENOMEM and the error. */
int uvperf__snapshot_job_new(uvperf__snapshot_job_t **job,
                             uvperf__watch_t *watch,
                             const uvperf__snapshot_ops_t *ops, void *owner,
                             size_t nr, uint32_t flags, uvperf_error_t *error);

/* Takes it, delivers it without bounds, and frees it. Returns 0, or -ENOMEM or
 * the code of pausing or resuming a ring, and the error. */
int uvperf__snapshot_job_run(uvperf__snapshot_job_t *job,
                             uvperf_error_t *error);

/* Begins it: ends by `done`. Returns 0; or UV_EINVAL if others have closed the
 * inner handles, or the code of uv_queue_work, and the error, and it is freed.
 * `instead` is the function that does without the pool. */
int uvperf__snapshot_job_begin(uvperf__snapshot_job_t *job, uv_loop_t *loop,
                               const char *instead, uvperf_error_t *error);

/* The handle is closing: the teardown waits for the thread. NULL is allowed. */
void uvperf__snapshot_job_close(uvperf__snapshot_job_t *job,
                                uvperf__teardown_t *teardown);

/* The handle is closed: frees it, and calls `done` with UV_ECANCELED. NULL is
 * allowed. */
void uvperf__snapshot_job_closed(uvperf__snapshot_job_t *job);

/* Frees one that was not begun. */
void uvperf__snapshot_job_free(uvperf__snapshot_job_t *job);

/* For `deliver`: ring by ring. `record` delivers a record of a ring, behind
 * which so many bytes of it are left; `skipped` says that older ones cannot be
 * read. */
typedef struct uvperf__snapshot_walk_s {
  void (*record)(void *owner, size_t ring_index, const void *bytes, size_t size,
                 uint64_t remaining, const uvperf__slice_t *slice);
  void (*skipped)(void *owner, size_t ring_index);
} uvperf__snapshot_walk_t;

int uvperf__snapshot_job_walk(uvperf__snapshot_job_t *job,
                              const uvperf__snapshot_walk_t *walk,
                              uvperf__slice_t *slice);

#endif
