/* SPDX-License-Identifier: MIT */
/* The common part of all handles, in the order of a handle's life: init, work
 * on the pool (such as opening), start and stop, close. */
#include "loop/handle.h"

#include <assert.h>
#include <string.h>

#include "loop/hub.h"
#include "loop/snapshot_job.h"
#include "loop/stats.h"
#include "loop/stream_options.h"
#include "ring/bpf_ring.h"
#include "sys/fork.h"
#include "util/error.h"

/* Lost records are counted at most once in this time, unless something has
 * ended meanwhile: stop, flush, close. */
#define LOST_NS (100 * UINT64_C(1000000))

#define DEFAULT_TIMEOUT_MS 5000

/* The handle whose close callback runs on this thread. Its struct has no impl
 * any more, because the callback may free it. The callback may close a handle
 * that calls back at once, so there is a list of them, the innermost first. */
static _Thread_local uvperf__handle_t *closed_now;

static void handle_closed(void *owner);

/* -- 1. init --------------------------------------------------------------- */

void uvperf__handle_init(uvperf__handle_t *self, uv_loop_t *loop,
                         const uvperf__handle_kind_t *kind) {
  self->kind = kind;
  self->process = uvperf__process();
  self->number = uvperf__process_number();
  uvperf__teardown_init(&self->teardown, loop, handle_closed, kind->release,
                        kind->give_up, self);
}

void uvperf__handle_publish(uvperf__handle_t *self, uvperf_handle_t *user) {
  user->loop = self->teardown.loop;
  user->type = self->kind->type;
  user->is_closed = 0;
  user->impl = self;
  user->close_cb = NULL;
  memset(user->reserved, 0, sizeof(user->reserved));
  self->handle = user;
}

void uvperf__handle_fail(uvperf__handle_t *self) {
  if (self->teardown.hub != NULL)
    uvperf__handle_begin_close(self);
  else
    self->kind->release(self);
}

void *uvperf__handle_impl(const uvperf_handle_t *user) {
  uvperf__handle_t *self = user->impl;

  if (self == NULL)
    for (self = closed_now; self != NULL && self->handle != user;)
      self = self->outer;
  assert(self != NULL);
  return self;
}

/* -- whether it can be used ------------------------------------------------ */

int uvperf__handle_has_no_rings(const uvperf__handle_t *self) {
  return self->closing && uvperf__handle_is_forked(self);
}

int uvperf__handle_check_as(const uvperf__handle_t *self, const char *noun,
                            uvperf_error_t *error) {
  if (uvperf__handle_is_forked(self))
    return uvperf__error_forked(error, noun);
  if (self->closing)
    return uvperf__error_closed(error, noun);
  if (self->code == UV_EBUSY)
    return uvperf__error_opening(error, noun);
  if (self->code != 0)
    return uvperf__error_not_opened(error, self->code, noun);
  return 0;
}

int uvperf__handle_check(const uvperf__handle_t *self, uvperf_error_t *error) {
  return uvperf__handle_check_as(self, self->kind->noun, error);
}

/* -- 2. opening and other work on the pool --------------------------------- */

/* A job begins, libuv's pool makes its steps, and on_done ends it. But if a
 * call of options.open hangs, on_late ends the job, and on_done frees it when
 * the call has returned. */

static void on_done(uvperf__job_t *base);

static void on_late(uvperf__job_t *base);

void uvperf__handle_limit_calls(uvperf__handle_t *self, uvperf_open_fn open,
                                uint32_t timeout_ms) {
  if (open != NULL)
    self->limit_ms = timeout_ms == 0 ? DEFAULT_TIMEOUT_MS : timeout_ms;
}

int uvperf__handle_job_begin(uvperf__handle_t *self, uvperf__handle_job_t *job,
                             uvperf__calls_t *calls, uvperf_error_t *error) {
  uvperf__teardown_t *teardown = &self->teardown;
  int rc;

  job->owner = self;
  job->opens = calls != NULL;
  if (job->opens) {
    job->job.kind = UVPERF__JOB_OPEN;
    job->job.limit_ms = self->limit_ms;
    job->job.calls = calls;
    job->job.late = on_late;
  }
  job->job.done = on_done;
  rc = uvperf__job_begin_or(teardown->jobs, teardown->loop, &job->job, error);
  if (rc != 0)
    return rc;
  if (job->open_cb != NULL)
    self->code = UV_EBUSY;
  job->next = self->jobs;
  self->jobs = job;
  if (self->closing)
    uvperf__teardown_expect(teardown);
  return 0;
}

int uvperf__handle_is_opening(const uvperf__handle_t *self) {
  const uvperf__handle_job_t *job = self->jobs;

  while (job != NULL && !job->opens)
    job = job->next;
  return job != NULL;
}

/* Whether the result of the job is not wanted: returns a code and the error, or
 * 0. */
static int job_check(const uvperf__handle_job_t *job, uvperf_error_t *error) {
  const uvperf__handle_t *self = job->owner;

  if (self->closing)
    return uvperf__error_cancelled(error, self->kind->noun);
  if (!job->is_late)
    return 0;
  return uvperf__error_set(error, UV_ETIMEDOUT, UVPERF_CAUSE_ARGUMENT,
                           "options.open has not returned for %u ms; make it "
                           "return earlier, or raise options.open_timeout_ms",
                           self->limit_ms);
}

/* A job that opens needs the timer of the hub. So a handle that closes
 * meanwhile leaves the hub only now, by uvperf__teardown_end. open_cb may begin
 * to close the handle: that call ends the teardown itself. */
static void handle_job_end(uvperf__handle_job_t *job) {
  uvperf__handle_t *self = job->owner;
  uvperf__handle_job_t **link = &self->jobs;
  int was_closing = self->closing;
  int opens = job->opens;
  uvperf_error_t error;
  int rc, done;

  while (*link != job)
    link = &(*link)->next;
  *link = job->next;
  rc = job_check(job, &error);
  done = job->done(job, rc, &error);
  if (job->open_cb != NULL) {
    self->code = done == 0 ? 0 : UV_EBADF;
    if (rc == 0)
      rc = done;
    job->open_cb(self->handle, rc, rc == 0 ? NULL : &error);
  }
  if (!job->is_late)
    job->free(job);
  if (!was_closing)
    return;
  if (opens && !uvperf__handle_is_opening(self) && !self->teardown.begins)
    uvperf__teardown_end(&self->teardown);
  uvperf__teardown_closed(&self->teardown);
}

static void on_done(uvperf__job_t *base) {
  uvperf__handle_job_t *job = (uvperf__handle_job_t *)base;

  if (job->is_late)
    job->free(job);
  else
    handle_job_end(job);
}

static void on_late(uvperf__job_t *base) {
  uvperf__handle_job_t *job = (uvperf__handle_job_t *)base;

  job->is_late = 1;
  atomic_store(&job->is_cancelled, 1);
  handle_job_end(job);
}

/* -- 3. start, delivery, stop ---------------------------------------------- */

void uvperf__handle_give_back(uvperf__handle_t *self) {
  if (self->room != NULL)
    uvperf__hub_give_back(self->teardown.hub, self->room);
  self->room = NULL;
}

void uvperf__handle_consume(uvperf__handle_t *self) {
  uvperf__cursor_t *cursor = &self->cursor;
  const uvperf__track_t *track;

  uvperf__cursor_stop(cursor);
  if (cursor->lent == 0)
    return;
  if (cursor->merge != NULL) {
    track = cursor->merge->top.track;
    if (track->has_time && track->time > cursor->merge->newest)
      cursor->merge->newest = track->time;
  }
  uvperf__ring_consume(cursor->ring, cursor->lent);
  cursor->lent = 0;
}

/* For other code that reads the rings. */
static void take_back(uvperf__handle_t *self) {
  uvperf__handle_consume(self);
  self->cursor.merge = NULL;
  uvperf__handle_give_back(self);
}

int uvperf_start(uvperf_handle_t *handle,
                 const uvperf_stream_options_t *options, uvperf_record_cb cb,
                 uvperf_error_t *error) {
  uvperf__handle_t *self = uvperf__handle_impl(handle);
  uvperf_stream_options_t own;
  int rc = uvperf__stream_options_copy(&own, options, error);
  int enables;

  if (rc == 0)
    rc = uvperf__handle_check(self, error);
  if (rc != 0)
    return rc;
  if (self->is_started)
    return uvperf__error_set(error, UV_EALREADY, UVPERF_CAUSE_ARGUMENT,
                             "the %s is already started", self->kind->noun);
  take_back(self);
  enables = !self->was_switched && !(own.flags & UVPERF_START_NO_ENABLE);
  rc = self->kind->start(self, &own, enables, cb, error);
  if (rc != 0)
    return rc;
  self->was_switched |= enables;
  self->is_started = 1;
  self->start_flags = own.flags;
  self->record_cb = cb;
  return 0;
}

/* This may be inside a record callback that has run the loop during a flush. */
void uvperf__handle_report(uvperf__handle_t *self, int status, int cpu) {
  int was_in_callback = self->in_callback;
  uvperf_record_t none;

  memset(&none, 0, sizeof(none));
  none.type = UVPERF_RECORD_NONE;
  none.cpu = (uint32_t)cpu;
  self->in_callback = 1;
  self->record_cb(self->handle, status, &none);
  self->in_callback = was_in_callback;
}

void uvperf__handle_slice_end(void *owner) {
  uvperf__handle_t *self = owner;

  if (self->start_flags & UVPERF_START_SLICE_END)
    uvperf__handle_report(self, 0, -1);
}

int uvperf__handle_stop(void *owner) {
  uvperf__handle_t *self = owner;

  self->is_started = 0;
  uvperf__watch_stop(self->watch);
  uvperf__hotplug_stop(self->hotplug);
  return 0;
}

int uvperf__handle_is_watching(const void *owner) {
  const uvperf__handle_t *self = owner;

  return uvperf__watch_is_active(self->watch);
}

int uvperf_stop(uvperf_handle_t *handle) {
  uvperf__handle_t *self = uvperf__handle_impl(handle);
  int rc = uvperf__handle_check(self, NULL);

  if (rc == UV_ECANCELED)
    return 0; /* nothing is delivered any more */
  self->lost_at = 0;
  return rc != 0 ? rc : self->kind->stop(self);
}

int uvperf_flush(uvperf_handle_t *handle) {
  uvperf__handle_t *self = uvperf__handle_impl(handle);
  int rc = uvperf__handle_check(self, NULL);

  self->lost_at = 0;
  if (rc == 0 && (self->record_cb == NULL || self->is_overwritable))
    rc = UV_EINVAL;
  if (rc == 0 && self->in_callback)
    rc = UV_EBUSY;
  if (rc != 0)
    return rc;
  take_back(self);
  uvperf__teardown_hold(&self->teardown);
  rc = self->kind->flush != NULL ? self->kind->flush(self)
                                 : uvperf__watch_flush(self->watch);
  uvperf__teardown_let_go(&self->teardown);
  return rc;
}

int uvperf_has_record(const uvperf_handle_t *handle) {
  const uvperf__handle_t *self = uvperf__handle_impl(handle);
  const uvperf__cpu_ring_t *ring;
  size_t lent, i;

  if (uvperf__handle_check(self, NULL) != 0 || self->in_callback)
    return 0;
  for (i = 0; i < uvperf__stats_nr_rings(self); i++) {
    ring = uvperf__handle_ring(self, i);
    lent = &ring->ring == self->cursor.ring ? self->cursor.lent : 0;
    if (ring->status == 0 && (ring->ring.is_bpf && !self->is_overwritable
                                  ? uvperf__bpf_ring_is_ready(&ring->ring, lent)
                                  : uvperf__ring_has_record(&ring->ring, lent)))
      return 1;
  }
  return 0;
}

/* -- snapshots ------------------------------------------------------------- */

static int check_snapshot(const uvperf__handle_t *self, uint32_t flags,
                          int is_busy, uvperf_error_t *error) {
  if (flags & ~UVPERF__SNAPSHOT_FLAGS)
    return uvperf__error_bits(error, "flags", flags);
  if (!self->is_overwritable)
    return uvperf__error_argument(
        error, "a snapshot needs an overwritable ring; set %s",
        self->kind->overwritable_by);
  if (self->record_cb == NULL)
    return uvperf__error_argument(error,
                                  "a snapshot is delivered to the callback of "
                                  "start; start the handle with one first");
  if (is_busy || self->snapshot != NULL)
    return uvperf__error_set(error, UV_EBUSY, UVPERF_CAUSE_ARGUMENT,
                             "a callback of the handle is running, or a "
                             "snapshot is being taken; try again afterwards");
  return 0;
}

int uvperf_snapshot(uvperf_handle_t *handle, uint32_t flags,
                    uvperf_snapshot_cb done_cb, uvperf_error_t *error) {
  uvperf__handle_t *self = uvperf__handle_impl(handle);
  uvperf__snapshot_job_t *job;
  int rc = uvperf__handle_check(self, error);

  if (rc == 0)
    rc = check_snapshot(self, flags,
                        done_cb == NULL ? self->in_callback : self->is_snapping,
                        error);
  if (rc == 0)
    rc = uvperf__snapshot_job_new(&job, self, flags, error);
  if (rc != 0)
    return rc;
  take_back(self);
  return done_cb == NULL ? uvperf__snapshot_job_run(job, error)
                         : uvperf__snapshot_job_begin(job, done_cb, error);
}

/* -- 4. close -------------------------------------------------------------- */

void uvperf_close(uvperf_handle_t *handle, uvperf_close_cb close_cb) {
  uvperf__handle_t *self = handle->impl;

  /* uvperf_walk_close has closed the handle, and the teardown is done. */
  if (self == NULL) {
    assert(!handle->is_closed);
    handle->is_closed = 1;
    if (close_cb != NULL)
      close_cb(handle);
    return;
  }
  assert(!self->closed_by_user);
  self->closed_by_user = 1;
  handle->close_cb = close_cb;
  if (!self->closing)
    uvperf__handle_begin_close(self);
}

/* The rest is closed later by the loop. The teardown waits for the jobs, which
 * end soon. */
void uvperf__handle_begin_close(void *owner) {
  uvperf__handle_t *self = owner;
  uvperf__handle_job_t *job;

  self->lost_at = 0;
  if (self->handle != NULL)
    uvperf_stats(self->handle, &self->last_stats);
  self->closing = 1;
  uvperf__cursor_stop(&self->cursor);
  for (job = self->jobs; job != NULL; job = job->next) {
    atomic_store(&job->is_cancelled, 1);
    job->job.closes = 1;
    uvperf__teardown_expect(&self->teardown);
  }
  uvperf__handle_give_back(self);
  self->kind->quit(self);
  if (self->watch != NULL)
    uvperf__watch_close(self->watch);
  uvperf__hotplug_stop(self->hotplug);
  uvperf__snapshot_job_close(self->snapshot);
  if (self->teardown.jobs != NULL) {
    self->teardown.begins = 1;
    uvperf__jobs_settle(self->teardown.jobs);
    self->teardown.begins = 0;
  }
  if (!uvperf__handle_is_opening(self))
    uvperf__teardown_end(&self->teardown);
}

static void call_close_cb(uvperf__handle_t *self, uvperf_handle_t *user) {
  user->impl = NULL;
  user->is_closed = self->closed_by_user;
  self->outer = closed_now;
  closed_now = self;
  if (user->close_cb != NULL)
    user->close_cb(user);
  closed_now = self->outer;
}

/* Called in the last inner close callback. The fds and rings must stay until
 * then for two reasons. First, a mapped ring keeps the file alive even if the
 * fd is closed, and epoll would keep reporting the file. Second, libuv 1.45 to
 * 1.48 may have an EPOLL_CTL_DEL of the fd queued to io_uring until then (libuv
 * #4323). */
static void handle_closed(void *owner) {
  uvperf__handle_t *self = owner;

  uvperf__snapshot_job_closed(self->snapshot);
  if (self->handle != NULL) /* else init failed: the struct is the caller's */
    call_close_cb(self, self->handle);
  uvperf__teardown_let_go(&self->teardown);
}

/* -- getters --------------------------------------------------------------- */

/* Reading the event of another CPU interrupts that CPU. */
static void handle_count_lost(uvperf__handle_t *self) {
  uint64_t now = uv_hrtime();

  if (uvperf__handle_check(self, NULL) != 0 ||
      (self->lost_at != 0 && now - self->lost_at < LOST_NS))
    return;
  self->lost_at = now;
  self->lost_is_read = self->kind->count_lost(self);
}

void uvperf_stats(const uvperf_handle_t *handle, uvperf_stats_t *stats) {
  uvperf__handle_t *self = uvperf__handle_impl(handle);

  if (self->closing) {
    *stats = self->last_stats;
    return;
  }
  handle_count_lost(self);
  uvperf__stats_of_rings(self, stats);
  stats->closing_fds = (uint32_t)self->closing_fds;
  stats->lost_is_read = (uint32_t)self->lost_is_read;
  stats->cpus_gone = self->cpus_gone;
  stats->cpus_come = self->cpus_come;
}

size_t uvperf_nr_rings(const uvperf_handle_t *handle) {
  const uvperf__handle_t *self = uvperf__handle_impl(handle);

  return self->closing ? 0 : uvperf__stats_nr_rings(self);
}

int uvperf_ring(const uvperf_handle_t *handle, size_t index,
                uvperf_ring_info_t *ring) {
  uvperf__handle_t *self = uvperf__handle_impl(handle);

  int rc = UV_ECANCELED;

  if (!self->closing) {
    handle_count_lost(self);
    rc = uvperf__stats_ring_info(self, index, ring);
  }
  if (rc == 0)
    ring->stats.lost_is_read = (uint32_t)self->lost_is_read;
  return rc;
}

int uvperf_on_cpu(uvperf_handle_t *handle, uvperf_cpu_cb cb) {
  uvperf__handle_t *self = uvperf__handle_impl(handle);

  if (uvperf__handle_is_forked(self))
    return UV_EPERM;
  if (self->closing)
    return UV_ECANCELED;
  if (cb != NULL && self->hotplug == NULL)
    return UV_EINVAL;
  self->cpu_cb = cb;
  return 0;
}

/* -- as any uv handle ------------------------------------------------------ */

/* These may also be called for a handle that is closing, or closed (impl NULL)
 * while its memory lives. */

static void set_ref(const uvperf_handle_t *handle, int ref) {
  uvperf__handle_t *self = handle->impl;

  if (self == NULL)
    return;
  self->is_unref = !ref;
  if (self->kind->set_ref != NULL)
    self->kind->set_ref(self, ref);
  if (self->watch != NULL)
    uvperf__watch_set_ref(self->watch, ref);
}

void uvperf_ref(uvperf_handle_t *handle) {
  set_ref(handle, 1);
}

void uvperf_unref(uvperf_handle_t *handle) {
  set_ref(handle, 0);
}

int uvperf_has_ref(const uvperf_handle_t *handle) {
  const uvperf__handle_t *self = handle->impl;

  return self != NULL && !self->is_unref;
}

int uvperf_is_active(const uvperf_handle_t *handle) {
  const uvperf__handle_t *self = handle->impl;

  return self != NULL && !self->closing &&
         (uvperf__handle_is_opening(self) || self->kind->is_active(self));
}

int uvperf_is_closing(const uvperf_handle_t *handle) {
  const uvperf__handle_t *self = handle->impl;

  return self == NULL || self->closing;
}

/* A handle has no members but the base. */
size_t uvperf_handle_size(int type) {
  return type >= UVPERF_HANDLE_EVENT && type <= UVPERF_HANDLE_BPF_READER
             ? sizeof(uvperf_handle_t)
             : (size_t)-1;
}
