/* SPDX-License-Identifier: MIT */
/* The steps of a snapshot: begin, on the loop; copy, on the loop or on a thread
 * of the pool; install and deliver, on the loop. */
#include "loop/snapshot_job.h"

#include "sys/fork.h"
#include "util/alloc.h"
#include "util/error.h"

int uvperf__snapshot_check(const uvperf__snapshot_ask_t *ask,
                           uvperf_error_t *error) {
  if (ask->flags & ~UVPERF__SNAPSHOT_FLAGS)
    return uvperf__error_bits(error, "flags", ask->flags);
  if (ask->missing != NULL)
    return uvperf__error_set(error, UV_EINVAL, UVPERF_CAUSE_ARGUMENT,
                             "a snapshot needs an overwritable ring; %s",
                             ask->missing);
  if (!ask->is_started)
    return uvperf__error_set(error, UV_EINVAL, UVPERF_CAUSE_ARGUMENT,
                             "a snapshot is delivered to the callback of "
                             "start; start the handle with one first");
  if (ask->is_busy)
    return uvperf__error_set(error, UV_EBUSY, UVPERF_CAUSE_ARGUMENT,
                             "a callback of the handle is running, or a "
                             "snapshot is being taken; try again afterwards");
  return 0;
}

static uvperf__snapshot_job_t *of_extra(uvperf__watch_extra_t *extra) {
  return (uvperf__snapshot_job_t *)((char *)extra -
                                    offsetof(uvperf__snapshot_job_t, extra));
}

/* A callback may have flushed another handle, whose callback has run the loop
 * until this handle was closed. */
void uvperf__snapshot_job_free(uvperf__snapshot_job_t *self) {
  if (self->is_delivering) {
    self->is_over = 1;
    return;
  }
  uvperf__snapshots_free(self->snapshots, self->nr);
  uvperf__merge_free(self->merge);
  uvperf__free(self);
}

void uvperf__snapshot_job_fill(uvperf__snapshot_job_t *self,
                               const uvperf__cpu_rings_t *rings) {
  uvperf__cpu_ring_t *ring;
  size_t i;

  for (i = 0; i < self->nr; i++) {
    ring = uvperf__cpu_rings_at(rings, i);
    self->snapshots[i].ring = &ring->ring;
    self->snapshots[i].fd = ring->fd;
  }
}

/* -- on the pool ----------------------------------------------------------- */

static int snapshot_copy_step(uvperf__job_t *job) {
  uvperf__snapshot_job_t *self = (uvperf__snapshot_job_t *)job;

  self->code = uvperf__snapshots_copy(self->snapshots, self->nr, self->flags);
  return 0;
}

static void on_copied(uvperf__job_t *job) {
  uvperf__snapshot_job_t *self = (uvperf__snapshot_job_t *)job;

  self->is_in_pool = 0;
  if (self->teardown != NULL) {
    uvperf__teardown_closed(self->teardown);
    return;
  }
  uvperf__watch_deliver(self->watch, &self->extra);
}

/* -- on the loop ----------------------------------------------------------- */

/* The records of a snapshot count as taken when its delivery begins. If the
 * handle is stopped before that, the next snapshot has the same records. */
static int on_slice(uvperf__watch_extra_t *extra, uvperf__slice_t *slice) {
  uvperf__snapshot_job_t *self = of_extra(extra);
  int rc;

  if (self->code != 0)
    return UVPERF__DRAINED;
  if (!self->is_installed)
    uvperf__snapshots_install(self->snapshots, self->nr);
  self->is_installed = 1;
  self->is_delivering = 1;
  rc = self->ops->deliver(self->owner, self, slice);
  self->is_delivering = 0;
  if (self->is_over)
    uvperf__snapshot_job_free(self);
  return rc;
}

static int code_of(const uvperf__snapshot_job_t *self) {
  if (self->code != 0)
    return self->code;
  return uvperf__snapshots_resumed(self->snapshots, self->nr);
}

static void on_done(uvperf__watch_extra_t *extra, int status) {
  uvperf__snapshot_job_t *self = of_extra(extra);
  const uvperf__snapshot_ops_t *ops = self->ops;
  void *owner = self->owner;

  if (status == 0)
    status = code_of(self);
  uvperf__snapshot_job_free(self);
  ops->done(owner, status);
}

static int walk_ring(uvperf__snapshot_job_t *self,
                     const uvperf__snapshot_walk_t *walk,
                     uvperf__slice_t *slice) {
  uvperf__ring_t *image = &self->snapshots[self->at].image;
  const void *bytes;
  size_t size;
  int rc = UVPERF__DRAINED;

  uvperf__ring_begin(image);
  while (rc == UVPERF__DRAINED &&
         uvperf__ring_next(image, NULL, &bytes, &size) == 1) {
    walk->record(self->owner, self->at, bytes, size,
                 image->head - image->tail - size, slice);
    uvperf__ring_consume(image, size);
    rc = uvperf__slice_take(slice, size);
  }
  return rc;
}

int uvperf__snapshot_job_walk(uvperf__snapshot_job_t *self,
                              const uvperf__snapshot_walk_t *walk,
                              uvperf__slice_t *slice) {
  int rc = UVPERF__DRAINED;

  for (; rc == UVPERF__DRAINED && self->at < self->nr; self->at++) {
    rc = walk_ring(self, walk, slice);
    if (rc != UVPERF__DRAINED)
      return rc;
    uvperf__snapshots_free(&self->snapshots[self->at], 1);
    if (self->snapshots[self->at].code != 0)
      walk->skipped(self->owner, self->at);
    if (uvperf__slice_is_stopped(slice))
      rc = UVPERF__STOPPED;
  }
  return rc;
}

/* -- all of it ------------------------------------------------------------- */

int uvperf__snapshot_job_new(uvperf__snapshot_job_t **made,
                             uvperf__watch_t *watch,
                             const uvperf__snapshot_ops_t *ops, void *owner,
                             size_t nr, uint32_t flags, uvperf_error_t *error) {
  uvperf__snapshot_job_t *self =
      uvperf__calloc(1, sizeof(*self) + nr * sizeof(self->snapshots[0]));

  *made = self;
  if (self == NULL)
    return uvperf__error_shortage(error, UV_ENOMEM, "cannot copy the rings");
  self->watch = watch;
  self->ops = ops;
  self->owner = owner;
  self->nr = nr;
  self->flags = flags;
  self->extra.deliver = on_slice;
  self->extra.done = on_done;
  self->extra.session = *uvperf__watch_session(watch);
  self->job.kind = UVPERF__JOB_SOON;
  self->job.step = snapshot_copy_step;
  self->job.done = on_copied;
  return 0;
}

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

int uvperf__snapshot_job_run(uvperf__snapshot_job_t *self,
                             uvperf_error_t *error) {
  uvperf__slice_t slice;
  int rc;

  uvperf__snapshots_begin(self->snapshots, self->nr);
  snapshot_copy_step(&self->job);
  uvperf__slice_unbounded(&slice, uvperf__watch_session(self->watch));
  on_slice(&self->extra, &slice);
  rc = code_of(self);
  uvperf__snapshot_job_free(self);
  return rc == 0 ? 0 : snapshot_explain(error, rc);
}

int uvperf__snapshot_job_begin(uvperf__snapshot_job_t *self,
                               const uvperf__teardown_t *teardown,
                               uvperf_error_t *error) {
  int rc;

  uvperf__snapshots_begin(self->snapshots, self->nr);
  if (uvperf__watch_now(self->watch) != 0)
    rc =
        uvperf__job_begin_or(teardown->jobs, teardown->loop, &self->job, error);
  else
    rc = uvperf__watch_explain(error, UV_EINVAL);
  self->is_in_pool = rc == 0;
  if (rc != 0)
    uvperf__snapshot_job_free(self);
  return rc;
}

/* In a forked child the parent's request never ends. */
void uvperf__snapshot_job_close(uvperf__snapshot_job_t *self,
                                uvperf__teardown_t *teardown) {
  if (self == NULL || !self->is_in_pool ||
      self->job.process != uvperf__process())
    return;
  self->teardown = teardown;
  uvperf__teardown_expect(teardown);
}

/* If the request never ends, the job is not freed: libuv still has the
 * request. */
void uvperf__snapshot_job_closed(uvperf__snapshot_job_t *self) {
  const uvperf__snapshot_ops_t *ops;
  void *owner;

  if (self == NULL)
    return;
  ops = self->ops;
  owner = self->owner;
  if (!self->is_in_pool)
    uvperf__snapshot_job_free(self);
  ops->done(owner, UV_ECANCELED);
}
