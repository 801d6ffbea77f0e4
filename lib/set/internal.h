/* SPDX-License-Identifier: MIT */
/* What the files of the set's handle share. Their face is uvperf/set.h and
 * uvperf/set.h. */
#ifndef UVPERF_LIB_SET_INTERNAL_H
#define UVPERF_LIB_SET_INTERNAL_H

#include <stdatomic.h>

#include "uvperf/set.h"

#include "decode/merge.h"
#include "loop/hotplug.h"
#include "loop/interval_timer.h"
#include "loop/snapshot_job.h"
#include "loop/watch.h"
#include "ring/cpu_rings.h"
#include "set/counters.h"

/* The set, or a target, while a thread of libuv's pool opens it. */
typedef struct set_opening_s {
  uvperf__job_t job;
  struct set_opening_s *next; /* of the handle's */
  atomic_int is_cancelled;
} set_opening_t;
typedef struct set_closing_s set_closing_t;

/* What uvperf_set_next has done. */
typedef struct set_next_s {
  size_t index; /* the ring whose look is being read, without a merge */
  /* NULL without UVPERF_SET_TIME_ORDER. Not that of the watch, which has only
   * rings that are watched. */
  uvperf__merge_t *merge;
  size_t nr_merged;
  int has_look; /* the merge has one, which nothing else has read from */
  /* The record that is in the user's hands: its bytes, 0 for none; its ring;
   * of a merge what it is there. */
  size_t lent;
  uvperf__cpu_ring_t *lender;
  uvperf__merged_t merged;
  int was_empty; /* the last call found nothing */
} set_next_t;

/* What uvperf_set_t.impl points to; freed in the last inner close callback, or
 * later, when the flush or snapshot in which that ran returns. */
typedef struct set_s {
  uvperf_set_t *handle;
  /* A stand-in while the set is being opened. */
  uvperf__counters_t *counters;
  set_opening_t *openings; /* on libuv's pool: the set, or targets */
  size_t nr_closings;      /* there, and how many fds they have to close */
  size_t nr_put_aside;
  uvperf__teardown_t teardown;
  uvperf__interval_timer_t *interval_timer;
  uvperf__watch_t *watch; /* NULL before the first uvperf_set_start */
  /* NULL without UVPERF_SET_FOLLOW_CPUS; with the loop from the first start or
   * read_start on. */
  uvperf__hotplug_t *hotplug;

  /* Of uvperf_set_read_start; the readings live on for the next. */
  uvperf_set_read_cb cb; /* NULL: not started */
  uvperf_reading_t *readings[2];
  uvperf_reading_t *delta;
  int last; /* which of the two the next delta begins at */
  int lent; /* which is in the user's hands, -1 for none */

  /* Of uvperf_set_start. */
  uvperf_set_record_cb record_cb; /* of the last; NULL: never started */
  uvperf_set_end_cb end_cb;
  uvperf_set_cpu_cb cpu_cb;
  uint64_t cpus_gone;
  uint64_t cpus_come;
  uint32_t start_flags;
  int is_started;
  int enabled_by_start;
  uint64_t session;  /* one more with each start, stop, end and close */
  uint64_t flush_ms; /* of the last start */
  uint64_t default_flush_ms;
  uint64_t slack_ns;
  /* The clock of the records: when the rings were last merged, and before any
   * event was open. The second is 0 once the clock was set back. */
  uint64_t clock_ns;
  uint64_t opened_ns;
  int in_callback; /* any of the handle */
  /* The ring that the record callback is about; NULL outside of one without a
   * record. */
  const uvperf__cpu_ring_t *failed_ring;
  int is_flushing;
  void *scratch;          /* for a record that wraps: of all rings */
  uvperf__merge_t *merge; /* NULL without UVPERF_SET_TIME_ORDER, and where
                           * the rings are overwritable */
  size_t nr_merged;
  set_next_t next;

  /* That was begun, until its callback; or NULL. */
  uvperf__snapshot_job_t *snapshot;
  uvperf_set_snapshot_cb snapshot_cb;
  int is_snapping; /* inside uvperf_set_snapshot */

  /* The end of targets: end.c. */
  int ends_found;   /* and every ring's mark set; not all are reported yet */
  int eof_reported; /* since the last start */
  int is_put_off;   /* iteration_end was called before all is delivered */
  /* Probes, in milliseconds of uv_now: when the next one is due at the latest,
   * the interval before that one, and in which PROBE_MS the last one was. */
  uint64_t probe_at;
  uint64_t probe_ms;
  uint64_t probed_in;

  uint32_t flags; /* UVPERF_SET_* */
  int closing;
  int closed_by_user;
} set_t;

/* -- base.c -- */

/* The impl of a handle that must not be closing: anything else is a programming
 * error, as with libuv's handles. */
set_t *uvperf__set_impl(const uvperf_set_t *set);

/* The same, for what is measured without the loop. */
uvperf__counters_t *uvperf__set_counters(const uvperf_set_t *set);

/* 0; UV_EPERM in a forked child; UV_EBUSY while the set is being opened, or
 * UV_EBADF if that has failed. */
int uvperf__set_check(const set_t *impl);

/* Whether this process is a forked child of the one that made the set. */
int uvperf__set_is_forked(const set_t *impl);

/* A ring by its index. */
uvperf__cpu_ring_t *uvperf__set_ring_at(const set_t *impl, size_t index);

/* Frees the sources of closed events, unless a callback still has a record or a
 * snapshot has some to deliver. */
void uvperf__set_free_sources(set_t *impl);

/* A record callback without a record. */
void uvperf__set_report(set_t *impl, int status);

/* The same about one ring: uvperf_set_failed_ring. */
void uvperf__set_report_ring(set_t *impl, const uvperf__cpu_ring_t *ring,
                             int status);

/* Follows CPUs no more, if the handle is neither started nor reading. */
void uvperf__set_leave_cpus(set_t *impl);

/* Stops delivery, and disables what start enabled. */
void uvperf__set_end_delivery(set_t *impl);

/* Closes the handle; also what an inner handle calls that is closed by a
 * walk. */
void uvperf__set_begin_close(void *owner);

/* -- open.c: on libuv's pool -- */

/* Checks what can be wrong with the options on any machine, and prepares to
 * open the set: 0, or a code and the error. */
int uvperf__set_new_opening(set_t *impl, const uvperf_set_options_t *options,
                            uvperf_set_open_cb cb, uvperf_error_t *error);

/* Begins it. 0, or a code and the error. */
int uvperf__set_begin_opening(set_t *impl, uv_loop_t *loop,
                              uvperf_error_t *error);

/* Frees what was prepared and never begun. */
void uvperf__set_free_opening(set_t *impl);

/* -- closing.c: on libuv's pool -- */

/* Has events that are closed from now on put aside, until
 * uvperf__set_end_closing, which has them closed: at once, unless that takes
 * long. NULL: no memory, and they are closed as ever. */
set_closing_t *uvperf__set_begin_closing(set_t *impl);
/* Meanwhile: frees counters that are not the set's. */
void uvperf__set_free_aside(set_closing_t *closing,
                            uvperf__counters_t *counters);
void uvperf__set_end_closing(set_closing_t *closing);

/* -- drain.c: records -- */

/* For a record that wraps. 0 or UV_ENOMEM. */
int uvperf__set_make_scratch(set_t *impl);

/* Makes the watch, if there is none yet. 0 or a code. */
int uvperf__set_make_watch(set_t *impl);

/* Rings may be new: has them watched, if the watch is there, and they are not
 * overwritable. 0, UV_ENOMEM, or what uvperf__watch_add gives. */
int uvperf__set_watch_rings(set_t *impl);

/* Decodes and counts a record of a ring: as uvperf_decode. `time` is NULL, or
 * what an impossible one becomes. */
int uvperf__set_decode(const set_t *impl, uvperf__cpu_ring_t *ring,
                       const void *bytes, size_t size, const uint64_t *time,
                       const uvperf_record_t **record);

/* Counts a record of a ring, in this slice, and gives it to the user, who may
 * close the handle: impl and ring are still there then. `time` is NULL, or what
 * an impossible one becomes. */
void uvperf__set_deliver(set_t *impl, uvperf__cpu_ring_t *ring,
                         const void *bytes, size_t size, const uint64_t *time,
                         const uvperf__slice_t *slice);

/* The same for a record of a merge. One with an impossible time is counted, and
 * delivered with the time that the merge chose. */
void uvperf__set_deliver_merged(set_t *impl, const uvperf__merged_t *merged,
                                const uvperf__slice_t *slice);

/* Looks at the rings of a merge, and says which times are possible. */
void uvperf__set_begin_merge(set_t *impl, uvperf__merge_t *merge);

/* What could not be read of a ring was skipped. */
void uvperf__set_ring_skipped(void *owner, size_t ring_index);

/* -- end.c: the end of targets -- */

/* With the targets of now delivery may have an end that it had not, or be at
 * it. */
void uvperf__set_check_ends(set_t *impl);

/* The set was started: targets may have ended before. */
void uvperf__set_start_probes(set_t *impl);

/* A record reported that a task has exited: targets may be gone soon. */
void uvperf__set_task_exited(set_t *impl);

/* Operations of the watch. A flush is due: looks for ends, at most once in
 * PROBE_MS. An iteration has ended: reports ends whose records were all
 * delivered. */
int uvperf__set_flush_due(void *owner);
void uvperf__set_iteration_end(void *owner);

/* Without a loop: whether targets have ended, noted; ends are reported, if all
 * records were delivered. The second returns UV_EOF if every target has ended,
 * UV_ECANCELED if the handle was closed meanwhile, else UV_EAGAIN. */
void uvperf__set_find_ends(set_t *impl);
int uvperf__set_take_ends(set_t *impl);

/* -- next.c: records one by one -- */

/* Takes back the record that uvperf_set_next has lent, as others are going to
 * read the rings. */
void uvperf__set_take_back(set_t *impl);

/* -- hotplug.c: CPUs that go and come -- */

/* Notes the CPUs that are online, by sysfs under a root, which must last:
 * before the events are opened. 0 or UV_ENOMEM. */
int uvperf__set_make_hotplug(set_t *impl, const char *root);

/* Follows CPUs from now on, if that was asked for. 0, or a code and the
 * error. */
int uvperf__set_follow_cpus(set_t *impl, uvperf_error_t *error);

/* -- read_interval.c -- */

/* The interval timer ticks, or a tick goes on: reads, and calls back when all
 * was read. 1 if there is more. */
int uvperf__set_tick(void *owner, int is_new);

#endif
