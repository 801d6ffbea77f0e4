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
#include "loop/handle.h"
#include "loop/job.h"
#include "loop/watch.h"
#include "ring/snapshot.h"

struct uvperf__snapshot_job_s {
  uvperf__job_t job;
  uvperf__watch_extra_t extra;
  uvperf__handle_t *owner;
  uvperf_snapshot_cb cb;  /* NULL: it is taken and delivered at once */
  uvperf__merge_t *merge; /* made by the owner's kind; NULL: ring by ring */
  uint32_t flags;         /* UVPERF_SNAPSHOT_* */
  int is_in_pool;
  int is_installed;
  int is_delivering;
  int is_over; /* to be freed when it does not deliver any more */
  int code;    /* the result of copying */
  size_t at;   /* the snapshot that is being delivered */
  size_t nr;
  uvperf__snapshot_t snapshots[]; /* one for each ring, by its index */
};

/* Makes a job and prepares it (kind->prepare), before the images are taken.
 * Returns 0, or a code and the error. */
int uvperf__snapshot_job_new(uvperf__snapshot_job_t **job,
                             uvperf__handle_t *owner, uint32_t flags,
                             uvperf_error_t *error);

/* Takes the snapshot, delivers it without bounds, and frees the job. Returns 0.
 * On failure fills the error, and returns -ENOMEM or the code of pausing or
 * resuming a ring. */
int uvperf__snapshot_job_run(uvperf__snapshot_job_t *job,
                             uvperf_error_t *error);

/* Begins the job, which is owner->snapshot until it ends. `cb` reports the end,
 * with status 0, UV_ECANCELED, -ENOMEM, or the code of pausing or resuming a
 * ring. Returns 0. On failure frees the job, fills the error, and returns
 * UV_EINVAL if others have closed the inner handles, or the code of
 * uv_queue_work. */
int uvperf__snapshot_job_begin(uvperf__snapshot_job_t *job,
                               uvperf_snapshot_cb cb, uvperf_error_t *error);

/* Called when the owner closes. Its teardown then waits for the thread. NULL is
 * allowed. */
void uvperf__snapshot_job_close(uvperf__snapshot_job_t *job);

/* Called when the owner is closed. Frees the job, and calls `cb` with
 * UV_ECANCELED. NULL is allowed. */
void uvperf__snapshot_job_closed(uvperf__snapshot_job_t *job);

#endif
