/* SPDX-License-Identifier: MIT */
/* Used by all files of the reader: outputs, and their rings on the watch. */
#include "bpf/internal.h"

int uvperf__bpf_reader_is_watched(const reader_t *impl) {
  return !(impl->flags & UVPERF_BPF_READER_OVERWRITE);
}

/* The watch has the same rings in the same order. */
int uvperf__bpf_reader_watch_rings(reader_t *impl) {
  uvperf__cpu_ring_t *ring;
  size_t i;
  int rc;

  if (!uvperf__bpf_reader_is_watched(impl))
    return 0;
  for (i = uvperf__watch_nr_rings(impl->base.watch);
       i < uvperf__cpu_rings_nr(impl->rings); i++) {
    ring = uvperf__cpu_rings_at(impl->rings, i);
    rc = uvperf__watch_add(impl->base.watch, &ring->ring, &ring->fd, 1);
    if (rc != 0)
      return rc;
  }
  return 0;
}

void uvperf__bpf_reader_take_outputs(reader_t *impl) {
  impl->rings = uvperf__bpf_outputs_rings(impl->outputs);
  impl->decoder = uvperf__bpf_outputs_decoder(impl->outputs);
}
