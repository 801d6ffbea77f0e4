/* SPDX-License-Identifier: MIT */
/* Delivers snapshots of an event's overwritable ring to its record callback.
 * ring/snapshot.c and loop/snapshot_job.c take the snapshot. drain.c delivers
 * its records. */
#include "event/internal.h"

#include "loop/snapshot_job.h"

/* A callback may do anything with the handle, because the copy belongs to the
 * snapshot. If the callback stops or closes the handle, this function does not
 * use the handle any more. No record wraps in the copy. */
int uvperf__event_deliver_snapshot(void *owner, uvperf__snapshot_job_t *job,
                                   uvperf__slice_t *slice) {
  uvperf__snapshot_t *snapshot = &job->snapshots[0];
  event_t *impl = owner;
  int rc;

  rc = uvperf__event_deliver(impl, &snapshot->image, slice);
  if (rc != UVPERF__DRAINED || snapshot->code == 0 ||
      impl->base.record_cb == NULL)
    return rc;
  impl->stats.corrupt += 1;
  uvperf__event_report(impl, snapshot->code);
  return uvperf__slice_is_stopped(slice) ? UVPERF__STOPPED : UVPERF__DRAINED;
}

int uvperf__event_prepare(void *owner, uvperf__snapshot_job_t *job,
                          uvperf_error_t *error) {
  event_t *impl = owner;

  (void)error;
  job->snapshots[0].ring = &impl->ring;
  job->snapshots[0].fd = impl->fd;
  job->snapshots[0].is_paused = impl->paused;
  return 0;
}
