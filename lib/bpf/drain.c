/* SPDX-License-Identifier: MIT */
/* Delivers the records of a BPF reader's rings, ring by ring in the order in
 * which the kernel wrote them. Records go to callbacks when the watch drains a
 * ring, or are returned one by one by uvperf_next. */
#include "bpf/internal.h"

#include <string.h>

#include "decode/decoder.h"
#include "loop/drain.h"
#include "loop/stats.h"

/* -- callbacks ------------------------------------------------------------- */

/* Decodes and counts a record of a ring. `remaining` bytes wait after it.
 * Returns the same as uvperf_decode. */
static int reader_decode(const reader_t *impl, uvperf__cpu_ring_t *ring,
                         const void *bytes, size_t size, uint64_t remaining,
                         const uvperf_record_t **record) {
  int status = uvperf__decode(impl->decoder, NULL, bytes, size, record);
  /* The record may be changed, because it belongs to our decoder. */
  uvperf_record_t *own = (uvperf_record_t *)(uintptr_t)*record;

  uvperf__stats_count(&ring->stats, own, status);
  own->cpu = (uint32_t)ring->cpu;
  own->remaining = remaining;
  return status;
}

void uvperf__bpf_reader_deliver(reader_t *impl, uvperf__cpu_ring_t *ring,
                                const void *bytes, size_t size,
                                uint64_t remaining,
                                const uvperf__slice_t *slice) {
  const uvperf_record_t *record;
  int status = reader_decode(impl, ring, bytes, size, remaining, &record);

  uvperf__stats_ring_slice(ring, slice);
  impl->base.in_callback = 1;
  impl->base.record_cb(impl->base.handle, status, record);
  impl->base.in_callback = 0;
}

/* -- called by the watch --------------------------------------------------- */

/* One drain of one ring. */
typedef struct drain_s {
  reader_t *impl;
  uvperf__cpu_ring_t *ring;
  const uvperf__slice_t *slice;
} drain_t;

static inline uvperf__reader_t *find_reader(const void *owner) {
  const drain_t *drain = owner;

  return drain->impl->decoder->only.reader;
}

__attribute__((always_inline)) static inline int
drain_sample(void *owner, uvperf__reader_t *reader, unsigned int form,
             const uint8_t *bytes, uint64_t header, uint64_t behind) {
  drain_t *drain = owner;
  const uvperf_record_t *record =
      form == UVPERF__FORM_OTHER
          ? uvperf__decode_sample(drain->impl->decoder, bytes, header)
          : uvperf__decode_sample_of(
                reader, form, uvperf__form_front_size(form), bytes, header);

  if (record == NULL)
    return 0;
  reader->sample.remaining = behind;
  drain->impl->base.record_cb(drain->impl->base.handle, 0, record);
  return 1;
}

static void drain_record(void *owner, const void *bytes, size_t size,
                         uint64_t behind) {
  const drain_t *drain = owner;

  uvperf__bpf_reader_deliver(drain->impl, drain->ring, bytes, size, behind,
                             drain->slice);
  drain->impl->base.in_callback = 1;
}

static int drain_has_no_ring(const void *owner) {
  const reader_t *impl = ((const drain_t *)owner)->impl;

  return impl->base.closing && uvperf__handle_is_forked(&impl->base);
}

static const uvperf__drain_ops_t drain_ops = {find_reader, drain_sample,
                                              drain_record, drain_has_no_ring};

int uvperf__bpf_reader_drain(void *owner, size_t ring_index,
                             uvperf__slice_t *slice) {
  reader_t *impl = owner;
  uvperf__cpu_ring_t *ring = uvperf__cpu_rings_at(impl->rings, ring_index);
  drain_t drain = {.impl = impl, .ring = ring, .slice = slice};
  uint64_t records = slice->records;
  int rc;

  /* If samples have a CPU of their own, it is the same. */
  find_reader(&drain)->sample.cpu = (uint32_t)ring->cpu;
  impl->base.in_callback = 1;
  rc = uvperf__drain(&ring->ring, slice, &ring->stats, &drain_ops, &drain);
  impl->base.in_callback = 0;
  if (slice->records != records)
    uvperf__stats_ring_slice(ring, slice);
  return rc;
}

int uvperf__bpf_reader_spare(void *owner, size_t ring_index) {
  const reader_t *impl = owner;

  return uvperf__cpu_rings_spare(impl->rings, ring_index);
}

void uvperf__bpf_reader_ring_skipped(void *owner, size_t ring_index) {
  reader_t *impl = owner;
  uvperf__cpu_ring_t *ring = uvperf__cpu_rings_at(impl->rings, ring_index);

  ring->stats.corrupt += 1;
  uvperf__handle_report(&impl->base, UV_EPROTO, ring->cpu);
}

void uvperf__bpf_reader_ring_end(void *owner, size_t ring_index, int status) {
  reader_t *impl = owner;
  uvperf__cpu_ring_t *ring = uvperf__cpu_rings_at(impl->rings, ring_index);

  uvperf__stats_ring_end(ring, status);
  uvperf__handle_report(&impl->base, status, ring->cpu);
}

/* -- next ------------------------------------------------------------------ */

void uvperf__bpf_reader_take_back(reader_t *impl) {
  if (impl->lent != 0)
    uvperf__ring_consume(&impl->lender->ring, impl->lent);
  impl->lent = 0;
}

int uvperf__bpf_reader_next(void *owner, const uvperf_record_t **record) {
  reader_t *impl = owner;
  uvperf__cpu_ring_t *ring;
  const void *bytes;
  size_t size;
  int rc;

  if (!uvperf__bpf_reader_is_watched(impl))
    return UV_EINVAL;
  if (impl->base.is_started || impl->base.in_callback)
    return UV_EBUSY;
  uvperf__bpf_reader_take_back(impl);
  rc = uvperf__cpu_rings_next(impl->rings, &impl->next_ring, impl->base.room,
                              &bytes, &size);
  if (rc == 0)
    return uvperf__cpu_rings_have_ended(impl->rings) ? UV_EOF : UV_EAGAIN;
  ring = uvperf__cpu_rings_at(impl->rings, impl->next_ring);
  if (rc < 0) {
    uvperf__stats_ring_skip(ring);
    *record = uvperf__decode_none(impl->decoder, ring->cpu);
    return rc;
  }
  impl->lender = ring;
  impl->lent = size;
  return reader_decode(impl, ring, bytes, size,
                       ring->ring.head - ring->ring.tail - size, record);
}

int uvperf__bpf_reader_has_record(const void *owner) {
  const reader_t *impl = owner;

  return uvperf__cpu_rings_have_record(impl->rings, impl->lender, impl->lent);
}
