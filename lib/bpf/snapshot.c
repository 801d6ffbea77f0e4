/* SPDX-License-Identifier: MIT */
/* Snapshots of a BPF reader's overwritable rings, ring by ring. */
#include "bpf/internal.h"

static void deliver_record(void *owner, size_t ring_index, const void *bytes,
                           size_t size, uint64_t remaining,
                           const uvperf__slice_t *slice) {
  reader_t *impl = owner;

  uvperf__bpf_reader_deliver(impl,
                             uvperf__cpu_rings_at(impl->rings, ring_index),
                             bytes, size, remaining, slice);
}

static const uvperf__snapshot_walk_t by_ring = {deliver_record,
                                                uvperf__handle_ring_skipped};

int uvperf__bpf_reader_deliver_snapshot(void *owner,
                                        uvperf__snapshot_job_t *job,
                                        uvperf__slice_t *slice) {
  (void)owner;
  return uvperf__snapshot_job_walk(job, &by_ring, slice);
}

const char *uvperf__bpf_reader_no_snapshot(const void *owner) {
  return uvperf__bpf_reader_is_watched(owner)
             ? "set UVPERF_BPF_READER_OVERWRITE in options.flags"
             : NULL;
}

int uvperf__bpf_reader_prepare(void *owner, uvperf__snapshot_job_t *job,
                               uvperf_error_t *error) {
  const reader_t *impl = owner;

  (void)error;
  uvperf__snapshot_job_fill(job, impl->rings);
  return 0;
}
