/* SPDX-License-Identifier: MIT */
/* Delivers the records of a BPF reader's rings, ring by ring in the order in
 * which the kernel wrote them. Records go to callbacks when the watch drains a
 * ring, or are returned one by one by uvperf_next. */
#include "bpf/internal.h"

#include <string.h>

#include "decode/decoder.h"
#include "loop/drain.h"
#include "loop/stats.h"

/* The record may be changed, because it belongs to our decoder. */
static uvperf_record_t *own_record(const uvperf_record_t *record) {
  return (uvperf_record_t *)(uintptr_t)record;
}

/* -- callbacks ------------------------------------------------------------- */

void uvperf__bpf_reader_deliver(reader_t *impl, uvperf__cpu_ring_t *ring,
                                const void *bytes, size_t size,
                                uint64_t remaining,
                                const uvperf__slice_t *slice) {
  const uvperf_record_t *record;
  int status = uvperf__decode(impl->decoder, NULL, bytes, size, &record);
  uvperf_record_t *own = own_record(record);

  uvperf__stats_count(&ring->stats, record, status);
  own->cpu = (uint32_t)ring->cpu;
  own->remaining = remaining;
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

void uvperf__bpf_reader_ring_end(void *owner, size_t ring_index, int status) {
  reader_t *impl = owner;
  uvperf__cpu_ring_t *ring = uvperf__cpu_rings_at(impl->rings, ring_index);

  uvperf__stats_ring_end(ring, status);
  uvperf__handle_report(&impl->base, status, ring->cpu);
}

/* -- next ------------------------------------------------------------------ */

int uvperf__bpf_reader_next(void *owner, const uvperf_record_t **record) {
  reader_t *impl = owner;
  uvperf__cursor_t *cursor = &impl->base.cursor;
  const uvperf__cpu_ring_t *ring;
  int rc;

  if (!uvperf__bpf_reader_is_watched(impl))
    return UV_EINVAL;
  if (impl->base.is_started)
    return UV_EBUSY;
  cursor->decoder = impl->decoder;
  rc = uvperf__next_of_rings(&impl->base, record);
  if (cursor->lent == 0)
    return rc;
  ring = uvperf__cpu_rings_at(impl->rings, cursor->index);
  cursor->waiting = ring->ring.head - ring->ring.tail - cursor->lent;
  own_record(*record)->remaining = cursor->waiting;
  own_record(*record)->cpu = (uint32_t)ring->cpu;
  impl->decoder->only.reader->sample.cpu = (uint32_t)ring->cpu;
  return rc;
}
