/* SPDX-License-Identifier: MIT */
/* Snapshots of a BPF reader's overwritable rings, ring by ring. */
#include "bpf/internal.h"

#include "util/error.h"

static void deliver_record(void *owner, size_t ring_index, const void *bytes,
                           size_t size, uint64_t remaining,
                           const uvperf__slice_t *slice) {
  reader_t *impl = owner;

  uvperf__bpf_reader_deliver(impl,
                             uvperf__cpu_rings_at(impl->rings, ring_index),
                             bytes, size, remaining, slice);
}

static const uvperf__snapshot_walk_t by_ring = {
    deliver_record, uvperf__bpf_reader_ring_skipped};

static int deliver(void *owner, uvperf__snapshot_job_t *job,
                   uvperf__slice_t *slice) {
  (void)owner;
  return uvperf__snapshot_job_walk(job, &by_ring, slice);
}

static const uvperf__snapshot_ops_t ops = {deliver,
                                           uvperf__handle_snapshot_done};

static int prepare(reader_t *impl, uint32_t flags, int is_busy,
                   uvperf__snapshot_job_t **job, uvperf_error_t *error) {
  uvperf__snapshot_ask_t ask = {flags, NULL, impl->base.record_cb != NULL,
                                is_busy || impl->base.snapshot != NULL};
  int rc = uvperf__handle_check(&impl->base, error);
  uvperf__cpu_ring_t *ring;
  size_t nr, i;

  if (!(impl->flags & UVPERF_BPF_READER_OVERWRITE))
    ask.missing = "set UVPERF_BPF_READER_OVERWRITE in options.flags";
  if (rc == 0)
    rc = uvperf__snapshot_check(&ask, error);
  if (rc != 0)
    return rc;
  nr = uvperf__cpu_rings_nr(impl->rings);
  rc = uvperf__snapshot_job_new(job, impl->base.watch, &ops, impl, nr, flags,
                                error);
  for (i = 0; rc == 0 && i < nr; i++) {
    ring = uvperf__cpu_rings_at(impl->rings, i);
    (*job)->snapshots[i].ring = &ring->ring;
    (*job)->snapshots[i].fd = ring->fd;
  }
  return rc;
}

int uvperf_bpf_reader_snapshot(uvperf_bpf_reader_t *reader, uint32_t flags,
                               uvperf_error_t *error) {
  reader_t *impl = uvperf__handle_impl(&reader->handle);
  uvperf__snapshot_job_t *job;
  int rc = prepare(impl, flags, impl->base.in_callback, &job, error);

  return rc != 0 ? rc : uvperf__handle_snapshot(&impl->base, job, error);
}

int uvperf_bpf_reader_snapshot_start(uvperf_bpf_reader_t *reader,
                                     uint32_t flags,
                                     uvperf_bpf_reader_snapshot_cb done_cb,
                                     uvperf_error_t *error) {
  reader_t *impl = uvperf__handle_impl(&reader->handle);
  uvperf__snapshot_job_t *job;
  int rc;

  if (done_cb == NULL)
    return uvperf__error_set(error, UV_EINVAL, UVPERF_CAUSE_ARGUMENT,
                             "done_cb must not be NULL");
  rc = prepare(impl, flags, impl->base.is_snapping, &job, error);
  return rc != 0 ? rc
                 : uvperf__handle_snapshot_start(
                       &impl->base, job, "uvperf_bpf_reader_snapshot",
                       (uvperf__user_status_cb)done_cb, error);
}
