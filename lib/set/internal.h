/* SPDX-License-Identifier: MIT */
/* Shared by the files of the set's handle. The public header is
 * uvperf/set.h. */
#ifndef UVPERF_LIB_SET_INTERNAL_H
#define UVPERF_LIB_SET_INTERNAL_H

#include "uvperf/set.h"

#include "decode/merge.h"
#include "loop/handle.h"
#include "loop/interval_timer.h"
#include "ring/cpu_rings.h"
#include "evlist/evlist.h"

typedef struct set_closing_s set_closing_t;

/* uvperf_set_t.impl points to this struct. The struct is freed in the last
 * inner close callback. If that callback runs inside a flush or a snapshot, the
 * struct is freed when the flush or snapshot returns. */
typedef struct set_s {
  /* The watch is NULL before the first uvperf_start, and the hotplug
   * with UVPERF_SET_FIXED_CPUS. */
  uvperf__handle_t base;
  /* A placeholder while the set is being opened. */
  uvperf__evlist_t *evlist;
  uvperf__interval_timer_t *interval_timer;

  /* For uvperf_set_read_start. The readings are kept for the next call. */
  uvperf_set_read_cb read_cb; /* NULL: not started */
  uvperf_reading_t *readings[2];
  uvperf_reading_t *delta;
  int last_reading; /* the next delta begins with it */
  int lent_reading; /* the user has it; -1: none */

  /* For uvperf_start. */
  uvperf_set_end_cb end_cb;
  uint64_t session;  /* incremented by each start, stop, end and close */
  uint64_t flush_ms; /* of the last start */
  uint64_t default_flush_ms;
  uint64_t slack_ns;
  /* The time of the records' clock at the last merge, and before any event was
   * open. The second time is 0 after the clock was set back. */
  uint64_t clock_ns;
  uint64_t opened_ns;
  int is_flushing;
  uvperf__merge_t *merge; /* NULL without UVPERF_SET_TIME_ORDER, and if the
                           * rings are overwritable */
  /* The merge of uvperf_next, which also has rings that are not watched. */
  uvperf__merge_t *next_merge;

  /* The end of targets: target_end.c. */
  int ends_found;   /* ends were found and rings are marked; some ends are not
                     * reported yet */
  int eof_reported; /* UV_EOF was reported since the last start */
  int is_put_off;   /* iteration_end could not report ends yet */
  /* Probes, in milliseconds of uv_now: the latest time of the next probe, the
   * interval before it, and the PROBE_MS period of the last probe. */
  uint64_t probe_at;
  uint64_t probe_ms;
  uint64_t probed_in;

  uint32_t flags; /* UVPERF_SET_* */
} set_t;

/* -- base.c -- */

/* Notes the rings, the decoder and the time of opening of the set's evlist. */
void uvperf__set_take_evlist(set_t *impl);

/* Frees the sources of closed events, unless a callback still has a record or a
 * snapshot is not delivered yet. */
void uvperf__set_free_sources(void *owner);

/* Stops following CPUs if the handle is neither started nor reading. */
void uvperf__set_leave_cpus(set_t *impl);

/* Operation of the kind: stops delivery. The events stay as they are. Returns
 * 0. */
int uvperf__set_stop(void *owner);

/* -- open.c: on libuv's pool -- */

typedef struct set_opening_s set_opening_t;

/* Checks the options as far as possible on any machine, and prepares to open
 * the set. Returns 0, or a code and the error. */
int uvperf__set_new_opening(set_opening_t **opening, set_t *impl,
                            const uvperf_set_options_t *options,
                            uvperf_error_t *error);

/* Begins to open the set. Returns 0, or a code and the error. */
int uvperf__set_begin_opening(set_t *impl, set_opening_t *opening,
                              uvperf_error_t *error);

/* Begins to add a target. *index, if not NULL, receives its index. Returns 0,
 * or a code and the error. */
int uvperf__set_begin_adding(set_t *impl, const uvperf_target_t *target,
                             uvperf_set_target_cb cb, uint32_t *index,
                             uvperf_error_t *error);

/* The first function returns the opening that adds the target with this index,
 * or NULL. The second cancels it: it is not found any more, and calls back
 * later. */
set_opening_t *uvperf__set_find_adding(const set_t *impl, uint32_t index);
void uvperf__set_cancel_adding(set_opening_t *opening);

/* Frees an opening that was prepared but not begun. */
void uvperf__set_free_opening(set_opening_t *opening);

/* -- closing.c: on libuv's pool -- */

/* From now until uvperf__set_end_closing, closed events are put aside.
 * uvperf__set_end_closing then closes them: at once, or on the pool if this
 * takes long. If out of memory, returns NULL, and events are closed at once. */
set_closing_t *uvperf__set_begin_closing(set_t *impl);
/* Frees a list that does not belong to the set. Call it between
 * uvperf__set_begin_closing and uvperf__set_end_closing. */
void uvperf__set_free_aside(set_closing_t *closing, uvperf__evlist_t *evlist);
void uvperf__set_end_closing(set_closing_t *closing);

/* -- drain.c: records -- */

/* Makes the watch if it does not exist yet. Returns 0 or a code. */
int uvperf__set_make_watch(set_t *impl);

/* Operation of the kind: adds new rings to the merge, if there is one. A ring
 * is added only after the watch has it, so that the merge reads only watched
 * rings. Records of a ring that could not be polled are not delivered. Returns
 * 0 or UV_ENOMEM. */
int uvperf__set_rings_watched(void *owner);

/* Starts a pass over the rings of a merge, with the range of possible times. */
void uvperf__set_begin_merge(set_t *impl, uvperf__merge_t *merge);

/* Operations of the kind, for snapshots. */
int uvperf__set_prepare(void *owner, uvperf__snapshot_job_t *job,
                        uvperf_error_t *error);
int uvperf__set_deliver_snapshot(void *owner, uvperf__snapshot_job_t *job,
                                 uvperf__slice_t *slice);

/* -- target_end.c: the end of targets -- */

/* Called when targets have changed. Delivery may now be able to end, or may
 * have ended. */
void uvperf__set_check_ends(set_t *impl);

/* Called when the set was started. Targets may have ended before. */
void uvperf__set_start_probes(set_t *impl);

/* Operation of the kind: a record reported that a task has exited. Targets may
 * be gone soon. */
void uvperf__set_task_exited(void *owner);

/* Operations of the watch. The first is called when a flush is due. It checks
 * for ends, at most once in PROBE_MS. The second is called when an iteration
 * has ended. It reports ends whose records were all delivered. */
int uvperf__set_flush_due(void *owner);
void uvperf__set_iteration_end(void *owner);

/* For use without a loop. The first function notes which targets have ended.
 * The second reports ends if all records were delivered. It returns UV_EOF if
 * every target has ended, UV_ECANCELED if the handle was closed meanwhile, else
 * UV_EAGAIN. */
void uvperf__set_find_ends(set_t *impl);
int uvperf__set_take_ends(set_t *impl);

/* -- next.c: records one by one -- */

/* Operations of the kind. */
int uvperf__set_next(void *owner, const uvperf_record_t **record);
int uvperf__set_next_or_end(void *owner, const uvperf_record_t **record);

/* -- read_interval.c -- */

/* Called when the interval timer has expired (`is_new`), or when the last tick
 * continues. Reads some of the events for about max_ns, and calls back when all
 * were read. Returns 1 if there is more to read. */
int uvperf__set_tick(void *owner, int is_new, uint64_t max_ns);

/* Called when no tick can come any more. Calls back. */
void uvperf__set_cancel_reads(void *owner);

#endif
