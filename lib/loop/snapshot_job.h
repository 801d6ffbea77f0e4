/* SPDX-License-Identifier: MIT */
/* A snapshot of all rings of a handle. The snapshot is taken and delivered at
 * once, or taken by a thread of libuv's pool and delivered in slices.
 *
 * The thread uses the job's memory and the rings' mappings and fds. So no ring
 * may be unmapped or closed meanwhile. A handle that closes waits for the
 * thread with uvperf__snapshot_job_close. */
#ifndef UVPERF_LIB_LOOP_SNAPSHOT_JOB_H
#define UVPERF_LIB_LOOP_SNAPSHOT_JOB_H

#include <stddef.h>
#include <stdint.h>

#include "decode/merge.h"
#include "loop/job.h"
#include "loop/teardown.h"
#include "loop/watch.h"
#include "ring/cpu_rings.h"
#include "ring/snapshot.h"

typedef struct uvperf__snapshot_job_s uvperf__snapshot_job_t;

typedef struct uvperf__snapshot_ops_s {
  /* Delivers the snapshots from job->at on. Returns the same codes as `drain`
   * of the watch's operations, but never a negative code. */
  int (*deliver)(void *owner, uvperf__snapshot_job_t *job,
                 uvperf__slice_t *slice);
  /* A job that was begun has ended and is freed. The status is 0, UV_ECANCELED,
   * -ENOMEM, or the code of pausing or resuming a ring. */
  void (*done)(void *owner, int status);
} uvperf__snapshot_ops_t;

struct uvperf__snapshot_job_s {
  uvperf__job_t job;
  uvperf__watch_extra_t extra;
  const uvperf__snapshot_ops_t *ops;
  void *owner;
  uvperf__watch_t *watch;
  uvperf__teardown_t *teardown; /* it waits for the thread; or NULL */
  uvperf__merge_t *merge;       /* made by the owner; NULL: ring by ring */
  uint32_t flags;               /* UVPERF_SNAPSHOT_* */
  int is_in_pool;
  int is_installed;
  int is_delivering;
  int is_over; /* to be freed when it does not deliver any more */
  int code;    /* the result of copying */
  size_t at;   /* the snapshot that is being delivered */
  size_t nr;
  uvperf__snapshot_t snapshots[]; /* one for each ring, by its index */
};

/* A request for a snapshot, for uvperf__snapshot_check. */
typedef struct uvperf__snapshot_ask_s {
  uint32_t flags;      /* UVPERF_SNAPSHOT_*, or others */
  const char *missing; /* advice if rings are not overwritable; else NULL */
  int is_started;      /* the handle was ever started with a callback */
  int is_busy;
} uvperf__snapshot_ask_t;

/* Checks a request. Returns 0, or fills the error and returns UV_EINVAL
 * or UV_EBUSY. */
int uvperf__snapshot_check(const uvperf__snapshot_ask_t *ask,
                           uvperf_error_t *error);

/* Makes a job. The owner then fills ring, fd and is_paused of all snapshots.
 * Returns 0, or fills the error and returns -ENOMEM. */
int uvperf__snapshot_job_new(uvperf__snapshot_job_t **job,
                             uvperf__watch_t *watch,
                             const uvperf__snapshot_ops_t *ops, void *owner,
                             size_t nr, uint32_t flags, uvperf_error_t *error);

/* Fills the snapshots of a job that has one for each of these rings. */
void uvperf__snapshot_job_fill(uvperf__snapshot_job_t *job,
                               const uvperf__cpu_rings_t *rings);

/* Takes the snapshot, delivers it without bounds, and frees the job. Returns 0.
 * On failure fills the error, and returns -ENOMEM or the code of pausing or
 * resuming a ring. */
int uvperf__snapshot_job_run(uvperf__snapshot_job_t *job,
                             uvperf_error_t *error);

/* Begins the job, on the teardown's hub. `done` reports its end. Returns 0. On
 * failure frees the job, fills the error, and returns UV_EINVAL if others have
 * closed the inner handles, or the code of uv_queue_work. */
int uvperf__snapshot_job_begin(uvperf__snapshot_job_t *job,
                               const uvperf__teardown_t *teardown,
                               uvperf_error_t *error);

/* Called when the handle closes. The teardown then waits for the thread. NULL
 * is allowed. */
void uvperf__snapshot_job_close(uvperf__snapshot_job_t *job,
                                uvperf__teardown_t *teardown);

/* Called when the handle is closed. Frees the job, and calls `done` with
 * UV_ECANCELED. NULL is allowed. */
void uvperf__snapshot_job_closed(uvperf__snapshot_job_t *job);

/* Frees a job that is not in the pool. */
void uvperf__snapshot_job_free(uvperf__snapshot_job_t *job);

/* Functions for a `deliver` that goes ring by ring. `record` delivers a record;
 * `remaining` bytes of the ring follow it. `skipped` reports that older records
 * of the ring cannot be read. */
typedef struct uvperf__snapshot_walk_s {
  void (*record)(void *owner, size_t ring_index, const void *bytes, size_t size,
                 uint64_t remaining, const uvperf__slice_t *slice);
  void (*skipped)(void *owner, size_t ring_index);
} uvperf__snapshot_walk_t;

int uvperf__snapshot_job_walk(uvperf__snapshot_job_t *job,
                              const uvperf__snapshot_walk_t *walk,
                              uvperf__slice_t *slice);

#endif
