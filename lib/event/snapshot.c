/* SPDX-License-Identifier: MIT */
/* Snapshots of an event's overwritable ring, into its record callback. How a
 * snapshot is taken is in ring/snapshot.c, how records are delivered in
 * drain.c. */
#include "event/internal.h"

#include "ring/snapshot.h"

/* A callback may do with the handle what it likes: the copy is ours. Once it
 * has stopped or closed the handle nothing more of it is touched. No record
 * wraps in it. */
static void deliver(event_t *impl, uvperf__snapshot_t *snapshot) {
  uvperf__slice_t slice;

  uvperf__slice_unbounded(&slice, uvperf__watch_session(impl->watch));
  if (uvperf__event_deliver(impl, &snapshot->image, NULL, &slice) !=
          UVPERF__DRAINED ||
      snapshot->code == 0 || impl->cb == NULL)
    return;
  impl->stats.corrupt += 1;
  uvperf__event_report(impl, snapshot->code);
}

int uvperf_event_snapshot(uvperf_event_t *event, uint32_t flags) {
  event_t *impl = uvperf__event_impl(event);
  uvperf__snapshot_t snapshot = {0};
  int rc;

  if (uvperf__event_is_forked(impl))
    return UV_EPERM;
  if ((flags & ~UVPERF__SNAPSHOT_FLAGS) || !impl->ring.overwrite ||
      impl->cb == NULL)
    return UV_EINVAL;
  if (impl->delivering)
    return UV_EBUSY;
  uvperf__event_take_back(impl);
  snapshot.ring = &impl->ring;
  snapshot.fd = impl->fd;
  snapshot.is_paused = impl->paused;
  rc = uvperf__snapshots_take(&snapshot, 1, flags);
  if (rc != 0)
    return rc;
  uvperf__teardown_hold(&impl->teardown);
  deliver(impl, &snapshot);
  uvperf__snapshots_free(&snapshot, 1);
  uvperf__teardown_let_go(&impl->teardown);
  return snapshot.resumed;
}
