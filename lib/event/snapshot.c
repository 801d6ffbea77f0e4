/* SPDX-License-Identifier: MIT */
/* Delivers snapshots of an event's overwritable ring to its record callback.
 * ring/snapshot.c and loop/snapshot_job.c take the snapshot. drain.c delivers
 * its records. */
#include "event/internal.h"

#include "util/error.h"

/* A callback may do anything with the handle, because the copy belongs to the
 * snapshot. If the callback stops or closes the handle, this function does not
 * use the handle any more. No record wraps in the copy. */
static int deliver(void *owner, uvperf__snapshot_job_t *job,
                   uvperf__slice_t *slice) {
  uvperf__snapshot_t *snapshot = &job->snapshots[0];
  event_t *impl = owner;
  int rc;

  rc = uvperf__event_deliver(impl, &snapshot->image, NULL, slice);
  if (rc != UVPERF__DRAINED || snapshot->code == 0 ||
      impl->base.record_cb == NULL)
    return rc;
  impl->stats.corrupt += 1;
  uvperf__event_report(impl, snapshot->code);
  return uvperf__slice_is_stopped(slice) ? UVPERF__STOPPED : UVPERF__DRAINED;
}

static const uvperf__snapshot_ops_t ops = {deliver,
                                           uvperf__handle_snapshot_done};

static int prepare(event_t *impl, uint32_t flags, uvperf__snapshot_job_t **job,
                   uvperf_error_t *error) {
  uvperf__snapshot_ask_t ask = {flags, NULL, impl->base.record_cb != NULL,
                                impl->base.in_callback ||
                                    impl->base.snapshot != NULL};
  int rc = uvperf__handle_check(&impl->base, error);

  if (!impl->ring.overwrite)
    ask.missing = "set attr.write_backward";
  if (rc == 0)
    rc = uvperf__snapshot_check(&ask, error);
  if (rc == 0)
    rc = uvperf__snapshot_job_new(job, impl->base.watch, &ops, impl, 1, flags,
                                  error);
  if (rc != 0)
    return rc;
  uvperf__event_take_back(impl);
  (*job)->snapshots[0].ring = &impl->ring;
  (*job)->snapshots[0].fd = impl->fd;
  (*job)->snapshots[0].is_paused = impl->paused;
  return 0;
}

int uvperf_event_snapshot(uvperf_event_t *event, uint32_t flags,
                          uvperf_error_t *error) {
  event_t *impl = uvperf__handle_impl(&event->handle);
  uvperf__snapshot_job_t *job;
  int rc = prepare(impl, flags, &job, error);

  return rc != 0 ? rc : uvperf__handle_snapshot(&impl->base, job, error);
}

int uvperf_event_snapshot_start(uvperf_event_t *event, uint32_t flags,
                                uvperf_event_snapshot_cb done_cb,
                                uvperf_error_t *error) {
  event_t *impl = uvperf__handle_impl(&event->handle);
  uvperf__snapshot_job_t *job;
  int rc;

  if (done_cb == NULL)
    return uvperf__error_set(error, UV_EINVAL, UVPERF_CAUSE_ARGUMENT,
                             "done_cb must not be NULL");
  rc = prepare(impl, flags, &job, error);
  return rc != 0 ? rc
                 : uvperf__handle_snapshot_start(
                       &impl->base, job, "uvperf_event_snapshot",
                       (uvperf__user_status_cb)done_cb, error);
}
