/* SPDX-License-Identifier: MIT */
/* Snapshots of a set's overwritable rings: taken of all at one time, and
 * delivered ring by ring or in the order of time. */
#include "set/internal.h"

#include "ring/snapshot.h"
#include "util/alloc.h"

/* What one call has of its own: callbacks may have rings added, and the handle
 * closed. */
typedef struct job_s {
  set_t *impl;
  uint32_t flags;
  uvperf__slice_t slice;  /* of no turn */
  uvperf__merge_t *merge; /* NULL: ring by ring */
  size_t nr;
  uvperf__snapshot_t *snapshots; /* one for each ring, by its index */
} job_t;

/* A merge of its own: what an earlier snapshot gave makes nothing late in one
 * of all that there is. */
static int begin_merge(job_t *job) {
  size_t i;
  int rc;

  rc = uvperf__merge_new(&job->merge,
                         uvperf__counters_decoder(job->impl->counters),
                         job->impl->scratch);
  for (i = 0; rc == 0 && i < job->nr; i++)
    rc = uvperf__merge_add(job->merge, &job->snapshots[i].image,
                           uvperf__set_ring_at(job->impl, i));
  return rc;
}

/* All that is needed but the images, before these are taken: what was taken is
 * in no later snapshot. */
static int begin(job_t *job) {
  uvperf__cpu_ring_t *ring;
  size_t i;

  uvperf__slice_unbounded(&job->slice, uvperf__watch_session(job->impl->watch));
  job->snapshots = uvperf__calloc(job->nr, sizeof(*job->snapshots));
  if (job->snapshots == NULL)
    return UV_ENOMEM;
  for (i = 0; i < job->nr; i++) {
    ring = uvperf__set_ring_at(job->impl, i);
    job->snapshots[i].ring = &ring->ring;
    job->snapshots[i].fd = ring->fd;
  }
  if (!(job->impl->flags & UVPERF_SET_TIME_ORDER))
    return 0;
  job->flags |= UVPERF_SNAPSHOT_OLDEST_FIRST;
  return begin_merge(job);
}

static void deliver_ring(const job_t *job, size_t index) {
  set_t *impl = job->impl;
  uvperf__snapshot_t *snapshot = &job->snapshots[index];
  uvperf__ring_t *image = &snapshot->image;
  uvperf__cpu_ring_t *ring = uvperf__set_ring_at(impl, index);
  const void *bytes;
  size_t size;

  uvperf__ring_begin(image);
  while (!uvperf__slice_is_stopped(&job->slice) &&
         uvperf__ring_next(image, impl->scratch, &bytes, &size) == 1) {
    uvperf__set_deliver(impl, ring, bytes, size, NULL, &job->slice);
    uvperf__ring_consume(image, size);
  }
  /* What is older in this ring than what came of it cannot be read. */
  if (!uvperf__slice_is_stopped(&job->slice) && snapshot->code != 0)
    uvperf__set_ring_skipped(impl, index);
}

static void deliver_by_time(const job_t *job) {
  set_t *impl = job->impl;
  uvperf__cpu_ring_t *ring;
  uvperf__merged_t merged;
  size_t i;

  uvperf__set_begin_merge(impl, job->merge);
  while (!uvperf__slice_is_stopped(&job->slice) &&
         uvperf__merge_next(job->merge, UINT64_MAX, &merged) == 1) {
    ring = merged.owner;
    uvperf__set_deliver_merged(impl, &merged, &job->slice);
    ring->stats.late_records +=
        (uint64_t)uvperf__merge_consume(job->merge, &merged);
  }
  for (i = 0; !uvperf__slice_is_stopped(&job->slice) && i < job->nr; i++)
    if (job->snapshots[i].code != 0)
      uvperf__set_ring_skipped(impl, i);
}

/* The images are memory of this call's, so that a callback may do what it
 * likes; also fork, and close in the child. */
static void deliver(const job_t *job) {
  size_t i;

  if (job->merge != NULL) {
    deliver_by_time(job);
    return;
  }
  for (i = 0; !uvperf__slice_is_stopped(&job->slice) && i < job->nr; i++)
    deliver_ring(job, i);
}

int uvperf_set_snapshot(uvperf_set_t *set, uint32_t flags) {
  set_t *impl = uvperf__set_impl(set);
  job_t job = {.impl = impl,
               .flags = flags,
               .nr = uvperf__counters_nr_rings(impl->counters)};
  int rc;

  if (uvperf__set_is_forked(impl))
    return UV_EPERM;
  if (impl->record_cb == NULL || !(impl->flags & UVPERF_SET_OVERWRITE) ||
      (flags & ~UVPERF__SNAPSHOT_FLAGS))
    return UV_EINVAL;
  if (impl->in_callback)
    return UV_EBUSY;
  if (job.nr == 0)
    return 0;
  uvperf__teardown_hold(&impl->teardown);
  rc = begin(&job);
  if (rc == 0)
    rc = uvperf__snapshots_take(job.snapshots, job.nr, job.flags);
  if (rc == 0) {
    deliver(&job);
    rc = uvperf__snapshots_resumed(job.snapshots, job.nr);
    uvperf__snapshots_free(job.snapshots, job.nr);
  }
  uvperf__merge_free(job.merge);
  uvperf__free(job.snapshots);
  if (!impl->closing)
    uvperf__counters_free_sources(impl->counters);
  uvperf__teardown_let_go(&impl->teardown);
  return rc;
}
