/* SPDX-License-Identifier: MIT */
/* The records of an event's ring. loop/rings.c delivers them when the watch
 * drains the ring, and those of a snapshot. uvperf_next returns them one by
 * one. */
#include "event/internal.h"

#include <poll.h>

#include "decode/decoder.h"
#include "loop/rings.h"
#include "loop/snapshot_job.h"
#include "loop/stats.h"
#include "sys/sys.h"

/* -- delivery ------------------------------------------------------------- */

void uvperf__event_free_old_decoders(event_t *impl) {
  uvperf_decoder_t *old;

  while ((old = impl->old_decoders) != NULL) {
    impl->old_decoders = old->older;
    uvperf_decoder_free(old);
  }
}

/* Whether the event is pinned and got no counter, and no other event may still
 * write into its ring. poll(2) reports this by POLLERR, but only since Linux
 * 6.15. With size 0, read(2) returns 0 for such an event, and an error for any
 * other event (__perf_read in kernel/events/core.c). */
static int is_in_error(const event_t *impl) {
  return impl->attr->pinned && impl->own.nr_events == 1 &&
         uvperf__sys_read(impl->fd, NULL, 0) == 0;
}

int uvperf__event_drain(void *owner, size_t ring_index,
                        uvperf__slice_t *slice) {
  event_t *impl = owner;
  uint64_t records = slice->records;
  int rc;

  rc = uvperf__rings_drain(owner, ring_index, slice);
  uvperf__event_free_old_decoders(impl);
  if (rc == UVPERF__DRAINED && slice->records == records &&
      impl->base.is_started && is_in_error(impl))
    return UV_EBADF;
  return rc;
}

/* -- snapshots ------------------------------------------------------------- */

int uvperf__event_deliver_snapshot(void *owner, uvperf__snapshot_job_t *job,
                                   uvperf__slice_t *slice) {
  int rc = uvperf__rings_deliver_snapshot(owner, job, slice);

  uvperf__event_free_old_decoders(owner);
  return rc;
}

int uvperf__event_prepare(void *owner, uvperf__snapshot_job_t *job,
                          uvperf_error_t *error) {
  const event_t *impl = owner;

  (void)error;
  job->snapshots[0].is_paused = impl->paused;
  return 0;
}

/* -- next ----------------------------------------------------------------- */

/* Does the same as uvperf__ring_next, but reads the head when all records up to
 * the previous head were returned. */
static int next_bytes(event_t *impl, const void **bytes, size_t *size) {
  int rc = uvperf__ring_next(&impl->own.ring, impl->base.room, bytes, size);

  if (rc != 0)
    return rc;
  /* A record that another CPU was still writing when an overwritable ring was
   * paused is newer than all records returned since. It belongs to the next
   * snapshot. */
  if (impl->own.ring.overwrite && impl->snapped)
    return 0;
  impl->snapped = 1;
  uvperf__ring_end(&impl->own.ring);
  rc = uvperf__ring_begin(&impl->own.ring);
  return rc != 0
             ? rc
             : uvperf__ring_next(&impl->own.ring, impl->base.room, bytes, size);
}

/* Returns 0 if an event may still write into the ring. Otherwise returns
 * UV_EOF, UV_EBADF, or an error of poll(2). Consumes a pending wakeup. */
static int poll_writers(const event_t *impl) {
  int status = 0;
  int revents;
  size_t i;

  for (i = 0; i < impl->own.nr_events; i++) {
    revents = uvperf__sys_poll(impl->fds[i], POLLIN);
    if (revents < 0)
      return revents;
    if (!(revents & (POLLERR | POLLHUP | POLLNVAL)))
      return is_in_error(impl) ? UV_EBADF : 0;
    /* perf_poll(): a pinned event in error state */
    status = revents & POLLERR ? UV_EBADF : UV_EOF;
  }
  return status;
}

static int event_take(event_t *impl, const uvperf_record_t **record) {
  const void *bytes;
  size_t size;
  int rc = next_bytes(impl, &bytes, &size);

  if (rc == 0)
    return UV_EAGAIN;
  if (rc == UV_EPROTO) {
    uvperf__stats_ring_skip(&impl->own);
    *record = uvperf__decode_none(impl->base.decoder, impl->source.cpu);
  }
  return rc < 0
             ? rc
             : uvperf__next_lend(&impl->base.cursor, &impl->own.ring,
                                 &impl->own.stats, NULL, bytes, size, record);
}

int uvperf__event_next(void *owner, const uvperf_record_t **record) {
  event_t *impl = owner;

  if (impl->own.ring.page == NULL)
    return UV_EINVAL;
  if (impl->base.snapshot != NULL ||
      (impl->own.ring.overwrite ? !impl->paused : impl->base.is_started))
    return UV_EBUSY;
  if (uvperf__event_has_ended(impl))
    return UV_EOF;
  uvperf__event_free_old_decoders(impl);
  return event_take(impl, record);
}

/* A hang-up looks like endless wakeups without a record. The check consumes a
 * wakeup, so afterwards it looks again for the records of that wakeup. */
int uvperf__event_next_or_end(void *owner, const uvperf_record_t **record) {
  event_t *impl = owner;
  int status = poll_writers(impl);
  int rc;

  /* No event writes any more: return all remaining records before the end. */
  if (status != 0)
    impl->snapped = 0;
  rc = event_take(impl, record);
  return rc == UV_EAGAIN && status != 0 ? status : rc;
}
