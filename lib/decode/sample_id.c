/* SPDX-License-Identifier: MIT */
/* The sample_id trailer. Its order is that of the kernel's
 * __perf_event__output_id_sample, which is not that of a sample: IDENTIFIER is
 * last here, so that it is found without knowing the rest. */
#include "decode/sample_id.h"

#include "util/bytes.h"

size_t uvperf__sample_id_size(uint64_t type) {
  return sizeof(uint64_t) * uvperf__bits(type & UVPERF__SAMPLE_ID_BITS);
}

static void clear(uvperf_record_t *record) {
  record->pid = 0;
  record->tid = 0;
  record->time = 0;
  record->id = 0;
  record->stream_id = 0;
  record->cpu = 0;
}

void uvperf__sample_id_decode(uint64_t type, const uint8_t *trailer,
                              uvperf_record_t *record) {
  const uint8_t *at = trailer;

  clear(record);
  record->present = type;
  if (type & PERF_SAMPLE_TID) {
    record->pid = uvperf__u32(at);
    record->tid = uvperf__u32(at + 4);
    at += 8;
  }
  if (type & PERF_SAMPLE_TIME) {
    record->time = uvperf__u64(at);
    at += 8;
  }
  if (type & PERF_SAMPLE_ID) {
    record->id = uvperf__u64(at);
    at += 8;
  }
  if (type & PERF_SAMPLE_STREAM_ID) {
    record->stream_id = uvperf__u64(at);
    at += 8;
  }
  if (type & PERF_SAMPLE_CPU) {
    record->cpu = uvperf__u32(at); /* a reserved u32 follows */
    at += 8;
  }
  if (type & PERF_SAMPLE_IDENTIFIER)
    record->id = uvperf__u64(at);
}
