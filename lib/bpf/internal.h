/* SPDX-License-Identifier: MIT */
/* What the files of the BPF reader's handle share. */
#ifndef UVPERF_LIB_BPF_INTERNAL_H
#define UVPERF_LIB_BPF_INTERNAL_H

#include "uvperf/bpf.h"

#include "bpf/outputs.h"
#include "loop/hotplug.h"
#include "loop/slice.h"
#include "loop/snapshot_job.h"
#include "loop/watch.h"
#include "ring/cpu_rings.h"

typedef struct reader_opening_s reader_opening_t;

/* What uvperf_bpf_reader_t.impl points to; freed in the last inner close
 * callback, or later, when the flush or snapshot in which that ran returns. */
typedef struct reader_s {
  uvperf_bpf_reader_t *handle; /* NULL until init or open has succeeded */
  uvperf__bpf_outputs_t *outputs;
  reader_opening_t *opening;  /* on libuv's pool; NULL: it is not */
  int has_failed;             /* that has: there are no outputs */
  uvperf__cpu_rings_t *rings; /* the outputs', once they are open */
  uvperf_decoder_t *decoder;  /* the same */
  uint32_t process;           /* that opened it */
  uvperf__teardown_t teardown;
  uvperf__watch_t *watch; /* has no ring of overwritable ones */
  /* NULL with UVPERF_BPF_READER_FIXED_CPUS; with the loop from the first start
   * on. */
  uvperf__hotplug_t *hotplug;
  void *scratch;  /* for a record that wraps: of all rings */
  uint32_t flags; /* UVPERF_BPF_READER_* */
  uint64_t default_flush_ms;

  uvperf_bpf_reader_sample_cb cb; /* of the last start; NULL: never started */
  uvperf_bpf_reader_cpu_cb cpu_cb;
  uint64_t cpus_gone;
  uint64_t cpus_come;
  uint64_t lost_at; /* uv_now when lost samples were asked for last */
  uint32_t start_flags;
  int is_started;
  int in_callback; /* any of the handle */
  /* The ring that the callback is about; NULL outside of one without a
   * record. */
  const uvperf__cpu_ring_t *failed_ring;

  /* Of uvperf_bpf_reader_next: the ring whose look is being read; the record
   * that is in the user's hands, 0 bytes for none, and its ring. */
  size_t next_ring;
  size_t lent;
  uvperf__cpu_ring_t *lender;
  uvperf_bpf_sample_t sample;

  /* That was begun, until its callback; or NULL. */
  uvperf__snapshot_job_t *snapshot;
  uvperf_bpf_reader_snapshot_cb snapshot_cb;
  int is_snapping; /* inside uvperf_bpf_reader_snapshot */

  /* Who wants the events to be enabled and in the map: see reader.c. */
  int is_wanted_by_start;
  int is_wanted_by_resume;
  int is_paused;

  int closing;
  int closed_by_user;
} reader_t;

/* -- base.c -- */

/* The impl of a handle that must not be closing: anything else is a programming
 * error, as with libuv's handles. */
reader_t *uvperf__bpf_reader_impl(const uvperf_bpf_reader_t *reader);

/* Whether this process is a forked child of the one that made the reader. */
int uvperf__bpf_reader_is_forked(const reader_t *impl);

/* 0; or UV_EPERM in a forked child, UV_EBUSY while it is being opened, UV_EBADF
 * if that has failed, and the error. */
int uvperf__bpf_reader_check(const reader_t *impl, uvperf_error_t *error);

/* Whether the watch drains its rings: overwritable ones are read in snapshots
 * alone. */
int uvperf__bpf_reader_is_watched(const reader_t *impl);

/* Rings may be new: has them watched, if they are to be. 0, UV_ENOMEM, or what
 * uvperf__watch_add gives. */
int uvperf__bpf_reader_watch_rings(reader_t *impl);

/* The outputs are open / programs find none of their events from now on. */
void uvperf__bpf_reader_take_outputs(reader_t *impl);
void uvperf__bpf_reader_leave_outputs(reader_t *impl);

/* -- reader.c -- */

/* uvperf_bpf_reader_init, or, with a callback, uvperf_bpf_reader_open, with
 * /proc and /sys under a root, which must last. */
int uvperf__bpf_reader_make(uv_loop_t *loop, uvperf_bpf_reader_t *reader,
                            int map_fd, const char *root,
                            const uvperf_bpf_reader_options_t *options,
                            uvperf_bpf_reader_open_cb cb,
                            uvperf_error_t *error);

/* Notes the CPUs that are online, by sysfs under a root, which must last:
 * before the events are opened. 0 or UV_ENOMEM. */
int uvperf__bpf_reader_make_hotplug(reader_t *impl, const char *root);

/* -- opening.c -- */

/* Has the outputs' events opened. 0, or a code and the error. */
int uvperf__bpf_reader_begin_opening(reader_t *impl, uv_loop_t *loop,
                                     uvperf_bpf_reader_open_cb cb,
                                     uvperf_error_t *error);

/* The handle is closing: that ends soon, and the teardown waits for it. */
void uvperf__bpf_reader_cancel_opening(reader_t *impl);

/* -- drain.c: what the watch calls -- */

int uvperf__bpf_reader_drain(void *owner, size_t ring_index,
                             uvperf__slice_t *slice);
void uvperf__bpf_reader_slice_end(void *owner);
int uvperf__bpf_reader_spare(void *owner, size_t ring_index);
void uvperf__bpf_reader_ring_end(void *owner, size_t ring_index, int status);

/* Bytes of a ring, or of its snapshot, could not be read: counts and reports
 * this. */
void uvperf__bpf_reader_ring_skipped(void *owner, size_t ring_index);

/* -- drain.c: one record -- */

/* Takes back the record that uvperf_bpf_reader_next has lent, as others are
 * going to read the rings. */
void uvperf__bpf_reader_take_back(reader_t *impl);

/* Has a record of a ring delivered, behind which so many bytes wait. */
void uvperf__bpf_reader_deliver(reader_t *impl, uvperf__cpu_ring_t *ring,
                                const void *bytes, size_t size,
                                uint64_t remaining,
                                const uvperf__slice_t *slice);

/* -- hotplug.c -- */

/* What the hotplug calls. */
void uvperf__bpf_reader_cpu_come(void *owner, int cpu);
void uvperf__bpf_reader_cpu_gone(void *owner, int cpu);

/* Follows CPUs from now on, if that is to be. 0, or a code and the error. */
int uvperf__bpf_reader_follow_cpus(reader_t *impl, uvperf_error_t *error);

/* Does so no more. */
void uvperf__bpf_reader_leave_cpus(reader_t *impl);

#endif
