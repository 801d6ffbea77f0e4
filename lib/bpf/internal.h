/* SPDX-License-Identifier: MIT */
/* Shared by the files of the BPF reader's handle. */
#ifndef UVPERF_LIB_BPF_INTERNAL_H
#define UVPERF_LIB_BPF_INTERNAL_H

#include "uvperf/bpf.h"

#include "bpf/outputs.h"
#include "loop/handle.h"
#include "loop/slice.h"
#include "ring/cpu_rings.h"

/* uvperf_bpf_reader_t.impl points to this. It is freed in the last inner close
 * callback. If that callback runs inside a flush or a snapshot, it is freed
 * when the flush or snapshot returns. */
typedef struct reader_s {
  uvperf__handle_t base; /* its watch has no rings if they are overwritable */
  uvperf__bpf_outputs_t *outputs;
  uvperf__cpu_rings_t *rings; /* of the outputs; NULL until they are open */
  uvperf_decoder_t *decoder;  /* as rings */
  uint32_t flags;             /* UVPERF_BPF_READER_* */
  uint64_t default_flush_ms;

  int is_enabled; /* the events were published once */
} reader_t;

/* -- base.c -- */

/* Whether the watch drains its rings. Only snapshots read overwritable
 * rings. */
int uvperf__bpf_reader_is_watched(const reader_t *impl);

/* Adds new rings, if any, to the watch, unless they are overwritable. Returns
 * 0, or a code of uvperf__watch_add. */
int uvperf__bpf_reader_watch_rings(reader_t *impl);

/* Called when the outputs are open. */
void uvperf__bpf_reader_take_outputs(reader_t *impl);

/* -- reader.c -- */

/* Notes which CPUs are online, from sysfs. Call it before the events are
 * opened. Returns 0 or UV_ENOMEM. */
int uvperf__bpf_reader_make_hotplug(reader_t *impl);

/* -- opening.c -- */

/* Begins to open the events of the outputs. Returns 0, or a code and the
 * error. */
int uvperf__bpf_reader_begin_opening(reader_t *impl, uvperf_open_cb cb,
                                     uvperf_error_t *error);

/* -- drain.c: called by the watch -- */

int uvperf__bpf_reader_drain(void *owner, size_t ring_index,
                             uvperf__slice_t *slice);
void uvperf__bpf_reader_ring_end(void *owner, size_t ring_index, int status);

/* -- drain.c: one record -- */

/* Operations of the kind. */
int uvperf__bpf_reader_next(void *owner, const uvperf_record_t **record);

/* Delivers a record of a ring. `remaining` bytes wait in the ring after it. */
void uvperf__bpf_reader_deliver(reader_t *impl, uvperf__cpu_ring_t *ring,
                                const void *bytes, size_t size,
                                uint64_t remaining,
                                const uvperf__slice_t *slice);

/* -- snapshot.c: operations of the kind -- */

const char *uvperf__bpf_reader_no_snapshot(const void *owner);
int uvperf__bpf_reader_prepare(void *owner, uvperf__snapshot_job_t *job,
                               uvperf_error_t *error);
int uvperf__bpf_reader_deliver_snapshot(void *owner,
                                        uvperf__snapshot_job_t *job,
                                        uvperf__slice_t *slice);

/* -- hotplug.c -- */

/* Called by the hotplug. */
void uvperf__bpf_reader_cpu_come(void *owner, int cpu);
void uvperf__bpf_reader_cpu_gone(void *owner, int cpu);

#endif
