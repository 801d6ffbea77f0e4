/* SPDX-License-Identifier: MIT */
/* Used by all files of the reader. Checks whether the reader is closing and
 * whether this process opened it, and adds its rings to the watch. */
#include "bpf/internal.h"

#include <assert.h>

#include "sys/fork.h"
#include "util/error.h"

reader_t *uvperf__bpf_reader_impl(const uvperf_bpf_reader_t *reader) {
  reader_t *impl = reader->impl;

  assert(impl != NULL && !impl->closing);
  return impl;
}

int uvperf__bpf_reader_is_forked(const reader_t *impl) {
  return uvperf__process() != impl->process;
}

int uvperf__bpf_reader_check(const reader_t *impl, uvperf_error_t *error) {
  if (uvperf__bpf_reader_is_forked(impl))
    return uvperf__error_forked(error, "reader");
  if (impl->opening != NULL)
    return uvperf__error_opening(error, "reader");
  if (impl->has_failed)
    return uvperf__error_not_opened(error, UV_EBADF, "reader");
  return 0;
}

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
  for (i = uvperf__watch_nr_rings(impl->watch);
       i < uvperf__cpu_rings_nr(impl->rings); i++) {
    ring = uvperf__cpu_rings_at(impl->rings, i);
    rc = uvperf__watch_add(impl->watch, &ring->ring, &ring->fd, 1);
    if (rc != 0)
      return rc;
  }
  return 0;
}

void uvperf__bpf_reader_take_outputs(reader_t *impl) {
  impl->rings = uvperf__bpf_outputs_rings(impl->outputs);
  impl->decoder = uvperf__bpf_outputs_decoder(impl->outputs);
}

void uvperf__bpf_reader_leave_outputs(reader_t *impl) {
  if (impl->outputs == NULL)
    return;
  uvperf__bpf_outputs_leave_map(impl->outputs);
  uvperf__bpf_outputs_disable(impl->outputs);
}
