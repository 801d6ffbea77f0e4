/* SPDX-License-Identifier: MIT */
/* The steps of a snapshot: new and begin, on the loop; copy, on the loop or on
 * a thread of the pool; install and deliver, on the loop; the end. Then follows
 * what happens if a step fails, or if the handle closes between two of them. */
#include "loop/snapshot_job.h"

#include "loop/stats.h"
#include "sys/fork.h"
#include "util/alloc.h"
#include "util/error.h"

static int job_copy(uvperf__job_t *job);
static void on_copied(uvperf__job_t *job);
static int on_slice(uvperf__watch_extra_t *extra, uvperf__slice_t *slice);
static void on_delivered(uvperf__watch_extra_t *extra, int status);
static int snapshot_explain(uvperf_error_t *error, int code);
static void job_free(uvperf__snapshot_job_t *self);

/* -- 1. new and begin ------------------------------------------------------ */

static int job_prepare(uvperf__snapshot_job_t *self, uvperf_error_t *error) {
  uvperf__handle_t *owner = self->owner;
  uvperf__cpu_ring_t *ring;
  size_t i;

  for (i = 0; i < self->nr; i++) {
    ring = uvperf__handle_ring(owner, i);
    self->snapshots[i].ring = &ring->ring;
    self->snapshots[i].fd = ring->fd;
  }
  return owner->kind->prepare == NULL
             ? 0
             : owner->kind->prepare(owner, self, error);
}

int uvperf__snapshot_job_new(uvperf__snapshot_job_t **made,
                             uvperf__handle_t *owner, uint32_t flags,
                             uvperf_error_t *error) {
  size_t nr = uvperf__stats_nr_rings(owner);
  uvperf__snapshot_job_t *self =
      uvperf__calloc(1, sizeof(*self) + nr * sizeof(self->snapshots[0]));
  int rc;

  *made = self;
  if (self == NULL)
    return uvperf__error_shortage(error, UV_ENOMEM, "cannot copy the rings");
  self->owner = owner;
  self->nr = nr;
  self->flags = flags;
  self->extra.deliver = on_slice;
  self->extra.done = on_delivered;
  self->extra.session = *uvperf__watch_session(owner->watch);
  self->job.kind = UVPERF__JOB_SOON;
  self->job.step = job_copy;
  self->job.done = on_copied;
  rc = job_prepare(self, error);
  if (rc != 0)
    job_free(self);
  return rc;
}

int uvperf__snapshot_job_begin(uvperf__snapshot_job_t *self,
                               uvperf_snapshot_cb cb, uvperf_error_t *error) {
  uvperf__handle_t *owner = self->owner;
  int rc;

  uvperf__snapshots_begin(self->snapshots, self->nr);
  if (uvperf__watch_now(owner->watch) != 0)
    rc = uvperf__job_begin_or(owner->teardown.jobs, owner->teardown.loop,
                              &self->job, error);
  else
    rc = uvperf__watch_explain(error, UV_EINVAL);
  if (rc != 0) {
    job_free(self);
    return rc;
  }
  self->is_in_pool = 1;
  self->cb = cb;
  owner->snapshot = self;
  return 0;
}

/* -- 2. copy --------------------------------------------------------------- */

static int job_copy(uvperf__job_t *job) {
  uvperf__snapshot_job_t *self = (uvperf__snapshot_job_t *)job;

  self->code = uvperf__snapshots_copy(self->snapshots, self->nr, self->flags);
  return 0;
}

static void on_copied(uvperf__job_t *job) {
  uvperf__snapshot_job_t *self = (uvperf__snapshot_job_t *)job;

  self->is_in_pool = 0;
  if (self->job.closes)
    uvperf__teardown_closed(&self->owner->teardown);
  else
    uvperf__watch_deliver(self->owner->watch, &self->extra);
}

/* -- 3. install and deliver ------------------------------------------------ */

static uvperf__snapshot_job_t *of_extra(uvperf__watch_extra_t *extra) {
  return (uvperf__snapshot_job_t *)((char *)extra -
                                    offsetof(uvperf__snapshot_job_t, extra));
}

/* The records of a snapshot count as taken when its delivery begins. If the
 * handle is stopped before that, the next snapshot has the same records. A
 * callback may flush another handle, whose callback runs the loop until this
 * handle is closed: then `is_over` is set. */
static int on_slice(uvperf__watch_extra_t *extra, uvperf__slice_t *slice) {
  uvperf__snapshot_job_t *self = of_extra(extra);
  int rc;

  if (self->code != 0)
    return UVPERF__DRAINED;
  if (!self->is_installed)
    uvperf__snapshots_install(self->snapshots, self->nr);
  self->is_installed = 1;
  self->is_delivering = 1;
  rc = self->owner->kind->deliver(self->owner, self, slice);
  self->is_delivering = 0;
  if (self->is_over)
    job_free(self);
  return rc;
}

/* -- 4. the end ------------------------------------------------------------ */

static int code_of(const uvperf__snapshot_job_t *self) {
  if (self->code != 0)
    return self->code;
  return uvperf__snapshots_resumed(self->snapshots, self->nr);
}

static void handle_snapped(uvperf__handle_t *owner) {
  if (!owner->closing && owner->kind->snapped != NULL)
    owner->kind->snapped(owner);
}

static void job_end(uvperf__handle_t *owner, uvperf_snapshot_cb cb,
                    int status) {
  owner->snapshot = NULL;
  handle_snapped(owner);
  cb(owner->handle, status);
}

static void on_delivered(uvperf__watch_extra_t *extra, int status) {
  uvperf__snapshot_job_t *self = of_extra(extra);
  uvperf__handle_t *owner = self->owner;
  uvperf_snapshot_cb cb = self->cb;

  if (status == 0)
    status = code_of(self);
  job_free(self);
  job_end(owner, cb, status);
}

/* -- all steps at once ----------------------------------------------------- */

int uvperf__snapshot_job_run(uvperf__snapshot_job_t *self,
                             uvperf_error_t *error) {
  uvperf__handle_t *owner = self->owner;
  uvperf__slice_t slice;
  int rc;

  uvperf__teardown_hold(&owner->teardown);
  owner->is_snapping = 1;
  uvperf__snapshots_begin(self->snapshots, self->nr);
  job_copy(&self->job);
  uvperf__slice_unbounded(&slice, uvperf__watch_session(owner->watch));
  on_slice(&self->extra, &slice);
  rc = code_of(self);
  job_free(self);
  owner->is_snapping = 0;
  handle_snapped(owner);
  uvperf__teardown_let_go(&owner->teardown);
  return rc == 0 ? 0 : snapshot_explain(error, rc);
}

/* -- a failure, or the handle closes --------------------------------------- */

static int snapshot_explain(uvperf_error_t *error, int code) {
  if (code == UV_ENOMEM)
    return uvperf__error_shortage(error, code, "cannot copy the rings");
  if (code == UV_EPERM || code == UV_EACCES)
    return uvperf__error_set(error, code, UVPERF_CAUSE_PERMISSION,
                             "cannot pause or resume a ring: a seccomp filter "
                             "or a security module forbids it");
  return uvperf__error_set(error, code, UVPERF_CAUSE_UNKNOWN,
                           "cannot pause or resume a ring: "
                           "PERF_EVENT_IOC_PAUSE_OUTPUT returned errno %d",
                           -code);
}

/* Not called while the job is in the pool. */
static void job_free(uvperf__snapshot_job_t *self) {
  if (self->is_delivering) {
    self->is_over = 1;
    return;
  }
  uvperf__snapshots_free(self->snapshots, self->nr);
  uvperf__merge_free(self->merge);
  uvperf__free(self);
}

/* In a forked child the parent's request never ends. */
void uvperf__snapshot_job_close(uvperf__snapshot_job_t *self) {
  if (self == NULL || !self->is_in_pool ||
      self->job.process != uvperf__process())
    return;
  self->job.closes = 1;
  uvperf__teardown_expect(&self->owner->teardown);
}

/* If the request never ends, the job is not freed: libuv still has the
 * request. */
void uvperf__snapshot_job_closed(uvperf__snapshot_job_t *self) {
  uvperf__handle_t *owner;
  uvperf_snapshot_cb cb;

  if (self == NULL)
    return;
  owner = self->owner;
  cb = self->cb;
  if (!self->is_in_pool)
    job_free(self);
  job_end(owner, cb, UV_ECANCELED);
}
