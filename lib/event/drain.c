/* SPDX-License-Identifier: MIT */
/* Delivers the records of an event's ring to the user. The records go to
 * callbacks when the watch drains the ring, or uvperf_next returns them
 * one by one. Snapshots are in snapshot.c. */
#include "event/internal.h"

#include <poll.h>
#include <string.h>

#include "decode/decoder.h"
#include "loop/drain.h"
#include "loop/stats.h"
#include "sys/sys.h"
#include "util/alloc.h"

/* -- delivery ------------------------------------------------------------- */

void uvperf__event_free_old_decoders(event_t *impl) {
  uvperf_decoder_t *old;

  while ((old = impl->old_decoders) != NULL) {
    impl->old_decoders = old->older;
    uvperf_decoder_free(old);
  }
}

/* A callback may replace the decoder. The old decoder stays until the drain
 * ends. It fits the records of the run, which were written before the
 * change. */
static inline uvperf__reader_t *find_reader(const void *owner) {
  const event_t *impl = owner;

  return impl->base.decoder->only.reader;
}

__attribute__((always_inline)) static inline int
deliver_sample(void *owner, uvperf__reader_t *reader, unsigned int form,
               const uint8_t *bytes, uint64_t header, uint64_t behind) {
  event_t *impl = owner;
  const uvperf_record_t *record;

  (void)behind;
  record = form == UVPERF__FORM_OTHER
               ? uvperf__decode_sample(impl->base.decoder, bytes, header)
               : uvperf__decode_sample_of(reader, form,
                                          uvperf__form_front_size(form), bytes,
                                          header);
  if (record == NULL)
    return 0;
  impl->base.record_cb(impl->base.handle, 0, record);
  return 1;
}

static void deliver_record(void *owner, const void *bytes, size_t size,
                           uint64_t behind) {
  event_t *impl = owner;
  const uvperf_record_t *record;
  int status;

  (void)behind;
  status = uvperf__decode(impl->base.decoder, NULL, bytes, size, &record);
  uvperf__stats_count(&impl->stats, record, status);
  impl->base.record_cb(impl->base.handle, status, record);
}

static int has_no_ring(const void *owner) {
  return uvperf__handle_has_no_rings(owner);
}

static const uvperf__drain_ops_t drain_ops = {find_reader, deliver_sample,
                                              deliver_record, has_no_ring};

int uvperf__event_deliver(event_t *impl, uvperf__ring_t *ring,
                          uvperf__slice_t *slice) {
  int rc;

  impl->base.in_callback = 1;
  impl->drained = ring;
  rc = uvperf__drain(ring, slice, &impl->stats, &drain_ops, impl);
  impl->drained = NULL;
  impl->base.in_callback = 0;
  uvperf__event_free_old_decoders(impl);
  return rc;
}

/* Whether the event is pinned and got no counter, and no other event may still
 * write into its ring. poll(2) reports this by POLLERR, but only since Linux
 * 6.15. With size 0, read(2) returns 0 for such an event, and an error for any
 * other event (__perf_read in kernel/events/core.c). */
static int is_in_error(const event_t *impl) {
  return impl->attr->pinned && impl->nr_fds == 1 &&
         uvperf__sys_read(impl->fd, NULL, 0) == 0;
}

int uvperf__event_drain(void *owner, size_t ring_index,
                        uvperf__slice_t *slice) {
  event_t *impl = owner;
  uint64_t records = slice->records;
  int rc;

  (void)ring_index;
  rc = uvperf__event_deliver(impl, &impl->ring, slice);
  if (rc == UVPERF__DRAINED && slice->records == records &&
      impl->base.is_started && is_in_error(impl))
    return UV_EBADF;
  return rc;
}

/* The event's CPU is -1 if its ring is of no CPU. */
void uvperf__event_report(event_t *impl, int status) {
  uvperf__handle_report(&impl->base, status, impl->source.cpu);
}

void uvperf__event_ring_skipped(void *owner, size_t ring_index) {
  event_t *impl = owner;

  (void)ring_index;
  impl->stats.corrupt += 1;
  uvperf__event_report(impl, UV_EPROTO);
}

void uvperf__event_end(void *owner, size_t ring_index, int status) {
  event_t *impl = owner;

  (void)ring_index;
  if (status == UV_EPROTO)
    impl->stats.corrupt += 1;
  impl->base.is_started = 0;
  uvperf__event_report(impl, status);
}

/* -- next ----------------------------------------------------------------- */

/* Does the same as uvperf__ring_next, but reads the head when all records up to
 * the previous head were returned. */
static int next_bytes(event_t *impl, const void **bytes, size_t *size) {
  int rc = uvperf__ring_next(&impl->ring, impl->base.room, bytes, size);

  if (rc != 0)
    return rc;
  /* A record that another CPU was still writing when an overwritable ring was
   * paused is newer than all records returned since. It belongs to the next
   * snapshot. */
  if (impl->ring.overwrite && impl->snapped)
    return 0;
  impl->snapped = 1;
  uvperf__ring_end(&impl->ring);
  rc = uvperf__ring_begin(&impl->ring);
  return rc != 0 ? rc
                 : uvperf__ring_next(&impl->ring, impl->base.room, bytes, size);
}

/* Returns 0 if an event may still write into the ring. Otherwise returns
 * UV_EOF, UV_EBADF, or an error of poll(2). Consumes a pending wakeup. */
static int poll_writers(const event_t *impl) {
  int status = 0;
  int revents;
  size_t i;

  for (i = 0; i < impl->nr_fds; i++) {
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

int uvperf__event_has_record(const void *owner) {
  const event_t *impl = owner;

  return impl->ring.page != NULL && !uvperf__event_has_ended(impl) &&
         uvperf__ring_has_record(&impl->ring, impl->base.cursor.lent);
}

static int event_take(event_t *impl, const uvperf_record_t **record) {
  const void *bytes;
  size_t size;
  int rc = next_bytes(impl, &bytes, &size);

  if (rc == 0)
    return UV_EAGAIN;
  if (rc == UV_EPROTO) {
    impl->unsound = uvperf__ring_skip(&impl->ring) != 0;
    impl->stats.corrupt += 1;
    *record = uvperf__decode_none(impl->base.decoder, impl->source.cpu);
  }
  return rc < 0 ? rc
                : uvperf__next_lend(&impl->base.cursor, &impl->ring,
                                    &impl->stats, NULL, bytes, size, record);
}

int uvperf__event_next(void *owner, const uvperf_record_t **record) {
  event_t *impl = owner;

  if (impl->ring.page == NULL)
    return UV_EINVAL;
  if (impl->base.snapshot != NULL ||
      (impl->ring.overwrite ? !impl->paused : impl->base.is_started))
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
