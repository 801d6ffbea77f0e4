/* SPDX-License-Identifier: MIT */
/* The snapshot of a BPF reader's overwritable rings. */
#include "bpf/internal.h"

#include "ring/snapshot.h"
#include "util/alloc.h"

static uvperf__snapshot_t *plan(const reader_t *impl, size_t nr) {
  uvperf__snapshot_t *snapshots = uvperf__calloc(nr, sizeof(*snapshots));
  uvperf__cpu_ring_t *ring;
  size_t i;

  for (i = 0; snapshots != NULL && i < nr; i++) {
    ring = uvperf__cpu_rings_at(impl->rings, i);
    snapshots[i].ring = &ring->ring;
    snapshots[i].fd = ring->fd;
  }
  return snapshots;
}

/* Whether to go on with the next: the callback has not stopped, closed or
 * started the handle. */
static int deliver(reader_t *impl, uvperf__cpu_ring_t *ring,
                   uvperf__snapshot_t *snapshot) {
  uvperf__ring_t *image = &snapshot->image;
  uvperf__slice_t slice;
  const void *bytes;
  size_t size;
  int rc;

  uvperf__slice_unbounded(&slice, uvperf__watch_session(impl->watch));
  rc = uvperf__ring_begin(image);
  while (rc == 0) {
    rc = uvperf__ring_next(image, impl->scratch, &bytes, &size);
    if (rc <= 0)
      break;
    uvperf__bpf_reader_deliver(impl, ring, bytes, size,
                               image->head - image->tail - size, &slice);
    uvperf__ring_consume(image, size);
    rc = uvperf__slice_take(&slice, size);
  }
  if (rc == UVPERF__STOPPED || snapshot->code == 0)
    return rc != UVPERF__STOPPED;
  uvperf__bpf_reader_ring_skipped(impl, ring->index);
  return !uvperf__slice_is_stopped(&slice);
}

int uvperf_bpf_reader_snapshot(uvperf_bpf_reader_t *reader, uint32_t flags) {
  reader_t *impl = uvperf__bpf_reader_impl(reader);
  size_t nr = uvperf__cpu_rings_nr(impl->rings);
  uvperf__snapshot_t *snapshots;
  size_t i = 0;
  int rc;

  if (uvperf__bpf_reader_is_forked(impl))
    return UV_EPERM;
  if (!(impl->flags & UVPERF_BPF_READER_OVERWRITE) || impl->cb == NULL ||
      (flags & ~UVPERF__SNAPSHOT_FLAGS))
    return UV_EINVAL;
  if (impl->in_callback)
    return UV_EBUSY;
  snapshots = plan(impl, nr);
  if (snapshots == NULL)
    return UV_ENOMEM;
  uvperf__teardown_hold(&impl->teardown);
  rc = uvperf__snapshots_take(snapshots, nr, flags);
  if (rc == 0) {
    while (i < nr &&
           deliver(impl, uvperf__cpu_rings_at(impl->rings, i), &snapshots[i]))
      i++;
    rc = uvperf__snapshots_resumed(snapshots, nr);
    uvperf__snapshots_free(snapshots, nr);
  }
  uvperf__free(snapshots);
  uvperf__teardown_let_go(&impl->teardown);
  return rc;
}
