/* SPDX-License-Identifier: MIT */
/* Delivers the records of a BPF reader's rings, ring by ring in the order in
 * which the kernel wrote them. Records go to callbacks when the watch drains a
 * ring, or are returned one by one by uvperf_bpf_reader_next. */
#include "bpf/internal.h"

#include <string.h>

#include "decode/decoder.h"
#include "loop/drain.h"
#include "loop/stats.h"

/* -- callbacks ------------------------------------------------------------- */

/* Decodes and counts a record of a ring. `remaining` bytes wait after it.
 * Returns the same as uvperf_decode. */
static int make_sample(const reader_t *impl, uvperf__cpu_ring_t *ring,
                       const void *bytes, size_t size, uint64_t remaining,
                       uvperf_bpf_sample_t *sample) {
  const uvperf_record_t *record;
  int status = uvperf__decode(impl->decoder, NULL, bytes, size, &record);

  uvperf__stats_count(&ring->stats, record, status);
  memset(sample, 0, sizeof(*sample));
  sample->cpu = ring->cpu;
  sample->remaining = remaining;
  sample->record = record;
  if (status == 0 && record->type == PERF_RECORD_SAMPLE) {
    sample->data = record->sample.raw.data;
    sample->size = record->sample.raw.size;
  } else if (status == 0 && record->type == PERF_RECORD_LOST) {
    sample->lost = record->lost.lost;
  } else if (status == 0 && record->type == PERF_RECORD_LOST_SAMPLES) {
    sample->lost = record->lost_samples.lost;
  }
  return status;
}

void uvperf__bpf_reader_deliver(reader_t *impl, uvperf__cpu_ring_t *ring,
                                const void *bytes, size_t size,
                                uint64_t remaining,
                                const uvperf__slice_t *slice) {
  uvperf_bpf_sample_t sample;
  int status = make_sample(impl, ring, bytes, size, remaining, &sample);

  uvperf__stats_ring_slice(ring, slice);
  impl->in_callback = 1;
  impl->cb(impl->base.handle, status, &sample);
  impl->in_callback = 0;
}

/* Calls the callback without a record. */
static void report(reader_t *impl, int status) {
  impl->in_callback = 1;
  impl->cb(impl->base.handle, status, NULL);
  impl->in_callback = 0;
}

/* Reports a status of one ring: see uvperf_bpf_reader_failed_ring. */
static void report_ring(reader_t *impl, const uvperf__cpu_ring_t *ring,
                        int status) {
  impl->failed_ring = ring;
  report(impl, status);
  impl->failed_ring = NULL;
}

/* -- called by the watch --------------------------------------------------- */

/* One drain of one ring. */
typedef struct drain_s {
  reader_t *impl;
  uvperf__cpu_ring_t *ring;
  const uvperf__slice_t *slice;
  uvperf_bpf_sample_t sample; /* fields that all samples share are set */
} drain_t;

static inline uvperf__reader_t *find_reader(const void *owner) {
  const drain_t *drain = owner;

  return drain->impl->decoder->only.reader;
}

__attribute__((always_inline)) static inline int
drain_sample(void *owner, uvperf__reader_t *reader, unsigned int form,
             const uint8_t *bytes, uint64_t header, uint64_t behind) {
  drain_t *drain = owner;
  uvperf_bpf_sample_t *sample = &drain->sample;

  sample->record =
      form == UVPERF__FORM_OTHER
          ? uvperf__decode_sample(drain->impl->decoder, bytes, header)
          : uvperf__decode_sample_of(
                reader, form, uvperf__form_front_size(form), bytes, header);
  if (sample->record == NULL)
    return 0;
  sample->data = sample->record->sample.raw.data;
  sample->size = sample->record->sample.raw.size;
  sample->remaining = behind;
  drain->impl->cb(drain->impl->base.handle, 0, sample);
  return 1;
}

static void drain_record(void *owner, const void *bytes, size_t size,
                         uint64_t behind) {
  const drain_t *drain = owner;

  uvperf__bpf_reader_deliver(drain->impl, drain->ring, bytes, size, behind,
                             drain->slice);
  drain->impl->in_callback = 1;
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

  drain.sample.cpu = ring->cpu;
  impl->in_callback = 1;
  rc = uvperf__drain(&ring->ring, impl->scratch, slice, &ring->stats,
                     &drain_ops, &drain);
  impl->in_callback = 0;
  if (slice->records != records)
    uvperf__stats_ring_slice(ring, slice);
  return rc;
}

void uvperf__bpf_reader_slice_end(void *owner) {
  reader_t *impl = owner;

  if (impl->start_flags & UVPERF_START_SLICE_END)
    report(impl, 0);
}

int uvperf__bpf_reader_spare(void *owner, size_t ring_index) {
  const reader_t *impl = owner;

  return uvperf__cpu_rings_spare(impl->rings, ring_index);
}

void uvperf__bpf_reader_ring_skipped(void *owner, size_t ring_index) {
  reader_t *impl = owner;
  uvperf__cpu_ring_t *ring = uvperf__cpu_rings_at(impl->rings, ring_index);

  ring->stats.corrupt += 1;
  report_ring(impl, ring, UV_EPROTO);
}

void uvperf__bpf_reader_ring_end(void *owner, size_t ring_index, int status) {
  reader_t *impl = owner;
  uvperf__cpu_ring_t *ring = uvperf__cpu_rings_at(impl->rings, ring_index);

  uvperf__stats_ring_end(ring, status);
  report_ring(impl, ring, status);
}

/* -- next ------------------------------------------------------------------ */

void uvperf__bpf_reader_take_back(reader_t *impl) {
  if (impl->lent != 0)
    uvperf__ring_consume(&impl->lender->ring, impl->lent);
  impl->lent = 0;
  impl->failed_ring = NULL;
}

int uvperf_bpf_reader_next(uvperf_bpf_reader_t *reader,
                           const uvperf_bpf_sample_t **sample) {
  reader_t *impl = uvperf__handle_impl(&reader->handle);
  int rc = uvperf__handle_check(&impl->base, NULL);
  uvperf__cpu_ring_t *ring;
  const void *bytes;
  size_t size;

  if (sample == NULL)
    return UV_EINVAL;
  *sample = NULL;
  if (rc != 0)
    return rc;
  if (!uvperf__bpf_reader_is_watched(impl))
    return UV_EINVAL;
  if (impl->is_started || impl->in_callback)
    return UV_EBUSY;
  uvperf__bpf_reader_take_back(impl);
  rc = uvperf__cpu_rings_next(impl->rings, &impl->next_ring, impl->scratch,
                              &bytes, &size);
  if (rc == 0)
    return uvperf__cpu_rings_have_ended(impl->rings) ? UV_EOF : UV_EAGAIN;
  ring = uvperf__cpu_rings_at(impl->rings, impl->next_ring);
  if (rc < 0) {
    uvperf__stats_ring_skip(ring);
    impl->failed_ring = ring;
    return rc;
  }
  impl->lender = ring;
  impl->lent = size;
  *sample = &impl->sample;
  return make_sample(impl, ring, bytes, size,
                     ring->ring.head - ring->ring.tail - size, &impl->sample);
}

int uvperf__bpf_reader_has_record(const void *owner) {
  const reader_t *impl = owner;

  if (impl->in_callback)
    return UV_EBUSY;
  return uvperf__cpu_rings_have_record(impl->rings, impl->lender, impl->lent);
}
