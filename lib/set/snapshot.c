/* SPDX-License-Identifier: MIT */
/* Snapshots of a set's overwritable rings. A snapshot is taken of all rings at
 * one time, and delivered ring by ring or in the order of time. */
#include "set/internal.h"

#include "loop/rings.h"
#include "loop/snapshot_job.h"
#include "util/error.h"

/* -- delivery -------------------------------------------------------------- */

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
      uvperf__rings_skipped(impl, job->at);
    if (uvperf__slice_is_stopped(slice))
      rc = UVPERF__STOPPED;
  }
  return rc;
}

int uvperf__set_deliver_snapshot(void *owner, uvperf__snapshot_job_t *job,
                                 uvperf__slice_t *slice) {
  return job->merge != NULL ? deliver_by_time(owner, job, slice)
                            : uvperf__rings_deliver_snapshot(owner, job, slice);
}

/* -- preparation ----------------------------------------------------------- */

/* Prepares everything before the images are taken, because later snapshots do
 * not contain records that were taken. Each snapshot has its own merge.
 * Otherwise, with UVPERF_SNAPSHOT_ALL, its records would count as late after an
 * earlier snapshot has delivered newer records. */
int uvperf__set_prepare(void *owner, uvperf__snapshot_job_t *job,
                        uvperf_error_t *error) {
  set_t *impl = owner;
  size_t i;
  int rc;

  if (!(impl->flags & UVPERF_SET_TIME_ORDER))
    return 0;
  job->flags |= UVPERF_SNAPSHOT_OLDEST_FIRST;
  rc = uvperf__merge_new(&job->merge, impl->base.decoder);
  for (i = 0; rc == 0 && i < job->nr; i++)
    rc = uvperf__merge_add(job->merge, &job->snapshots[i].image,
                           uvperf__set_ring_at(impl, i));
  return rc == 0 ? 0
                 : uvperf__error_shortage(error, rc, "cannot copy the rings");
}
