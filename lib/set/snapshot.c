/* SPDX-License-Identifier: MIT */
/* Snapshots of a set's overwritable rings. A snapshot is taken of all rings at
 * one time, and delivered ring by ring or in the order of time. */
#include "set/internal.h"

#include "util/error.h"

/* -- delivery -------------------------------------------------------------- */

static void deliver_record(void *owner, size_t ring_index, const void *bytes,
                           size_t size, uint64_t remaining,
                           const uvperf__slice_t *slice) {
  (void)remaining;
  uvperf__set_deliver(owner, uvperf__set_ring_at(owner, ring_index), bytes,
                      size, NULL, slice);
}

/* If a ring proves unsound, records that are older than the delivered records
 * cannot be read. */
static const uvperf__snapshot_walk_t by_ring = {deliver_record,
                                                uvperf__set_ring_skipped};

static int deliver_by_time(set_t *impl, uvperf__snapshot_job_t *job,
                           uvperf__slice_t *slice) {
  uvperf__cpu_ring_t *ring;
  uvperf__merged_t merged;
  int rc = UVPERF__DRAINED;

  uvperf__set_begin_merge(impl, job->merge);
  while (rc == UVPERF__DRAINED &&
         uvperf__merge_next(job->merge, UINT64_MAX, &merged) == 1) {
    ring = merged.owner;
    uvperf__set_deliver_merged(impl, &merged, slice);
    ring->stats.late_records +=
        (uint64_t)uvperf__merge_consume(job->merge, &merged);
    rc = uvperf__slice_take(slice, merged.size);
  }
  uvperf__merge_end(job->merge);
  for (; rc == UVPERF__DRAINED && job->at < job->nr; job->at++) {
    if (job->snapshots[job->at].code != 0)
      uvperf__set_ring_skipped(impl, job->at);
    if (uvperf__slice_is_stopped(slice))
      rc = UVPERF__STOPPED;
  }
  return rc;
}

/* The images are in the snapshot's own memory, so a callback may do anything.
 * It may also fork, and close the handle in the child. */
static int deliver(void *owner, uvperf__snapshot_job_t *job,
                   uvperf__slice_t *slice) {
  if (job->merge != NULL)
    return deliver_by_time(owner, job, slice);
  return uvperf__snapshot_job_walk(job, &by_ring, slice);
}

static void done(void *owner, int status) {
  set_t *impl = owner;

  impl->base.snapshot = NULL;
  if (!impl->base.closing)
    uvperf__set_free_sources(impl);
  uvperf__handle_snapshot_done(impl, status);
}

static const uvperf__snapshot_ops_t ops = {deliver, done};

/* -- preparation ----------------------------------------------------------- */

/* Each snapshot has its own merge. Otherwise, with UVPERF_SNAPSHOT_ALL, its
 * records would count as late after an earlier snapshot has delivered newer
 * records. */
static int add_merge(set_t *impl, uvperf__snapshot_job_t *job) {
  size_t i;
  int rc;

  rc = uvperf__merge_new(&job->merge, uvperf__counters_decoder(impl->counters),
                         impl->scratch);
  for (i = 0; rc == 0 && i < job->nr; i++)
    rc = uvperf__merge_add(job->merge, &job->snapshots[i].image,
                           uvperf__set_ring_at(impl, i));
  return rc;
}

static int check(const set_t *impl, uint32_t flags, int is_busy,
                 uvperf_error_t *error) {
  uvperf__snapshot_ask_t ask = {flags, NULL, impl->base.record_cb != NULL,
                                is_busy || impl->base.snapshot != NULL};
  int rc = uvperf__handle_check(&impl->base, error);

  if (!(impl->flags & UVPERF_SET_OVERWRITE))
    ask.missing = "set UVPERF_SET_OVERWRITE in options.flags";
  return rc != 0 ? rc : uvperf__snapshot_check(&ask, error);
}

/* Prepares everything before the images are taken, because later snapshots do
 * not contain records that were taken. */
static int prepare(set_t *impl, uint32_t flags, uvperf__snapshot_job_t **made,
                   uvperf_error_t *error) {
  uvperf__snapshot_job_t *job;
  uvperf__cpu_ring_t *ring;
  size_t i;
  int rc;

  rc = uvperf__snapshot_job_new(made, impl->base.watch, &ops, impl,
                                uvperf__counters_nr_rings(impl->counters),
                                flags, error);
  if (rc != 0)
    return rc;
  job = *made;
  for (i = 0; i < job->nr; i++) {
    ring = uvperf__set_ring_at(impl, i);
    job->snapshots[i].ring = &ring->ring;
    job->snapshots[i].fd = ring->fd;
  }
  if (!(impl->flags & UVPERF_SET_TIME_ORDER))
    return 0;
  job->flags |= UVPERF_SNAPSHOT_OLDEST_FIRST;
  rc = add_merge(impl, job);
  if (rc == 0)
    return 0;
  uvperf__snapshot_job_free(job);
  return uvperf__error_shortage(error, rc, "cannot copy the rings");
}

/* -- uvperf_set_snapshot and uvperf_set_snapshot_start --------------------- */

int uvperf_set_snapshot(uvperf_set_t *set, uint32_t flags,
                        uvperf_error_t *error) {
  set_t *impl = uvperf__handle_impl(&set->handle);
  uvperf__snapshot_job_t *job;
  int rc = check(impl, flags, impl->base.in_callback, error);

  if (rc == 0)
    rc = prepare(impl, flags, &job, error);
  if (rc != 0)
    return rc;
  uvperf__teardown_hold(&impl->base.teardown);
  rc = uvperf__handle_snapshot(&impl->base, job, error);
  if (!impl->base.closing)
    uvperf__set_free_sources(impl);
  uvperf__teardown_let_go(&impl->base.teardown);
  return rc;
}

int uvperf_set_snapshot_start(uvperf_set_t *set, uint32_t flags,
                              uvperf_set_snapshot_cb done_cb,
                              uvperf_error_t *error) {
  set_t *impl = uvperf__handle_impl(&set->handle);
  uvperf__snapshot_job_t *job;
  int rc;

  if (done_cb == NULL)
    return uvperf__error_set(error, UV_EINVAL, UVPERF_CAUSE_ARGUMENT,
                             "done_cb must not be NULL");
  rc = check(impl, flags, impl->base.is_snapping, error);
  if (rc == 0)
    rc = prepare(impl, flags, &job, error);
  return rc != 0 ? rc
                 : uvperf__handle_snapshot_start(
                       &impl->base, job, "uvperf_set_snapshot",
                       (uvperf__user_status_cb)done_cb, error);
}
