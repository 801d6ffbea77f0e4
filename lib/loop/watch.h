/* SPDX-License-Identifier: MIT */
/* The watch: any number of rings on a libuv loop. It decides which ring is
 * drained, when, and how much of it. The watch notices when no more records
 * will ever come. The owner drains the rings, so the watch does not know the
 * meaning of records.
 *
 * Every drain happens when the hub runs the watch, at most once in each loop
 * iteration, right after the poll phase. Poll callbacks, flushes and slices
 * that were cut only queue rings for it, so that there is one slice in an
 * iteration. */
#ifndef UVPERF_LIB_LOOP_WATCH_H
#define UVPERF_LIB_LOOP_WATCH_H

#include <stddef.h>
#include <stdint.h>

#include <uv.h>

#include "uvperf/error.h"

#include "loop/slice.h"
#include "loop/teardown.h"
#include "ring/ring.h"

/* CMake does not know the version of every libuv that it uses. */
#if UV_VERSION_HEX < 0x012c00
#error "uvperf needs libuv >= 1.44"
#endif

typedef struct uvperf__watch_s uvperf__watch_t;

typedef struct uvperf__watch_ops_s {
  /* Reads the ring's head, then delivers the records up to it, or until
   * uvperf__slice_check ends the slice. Returns UVPERF__DRAINED, _CUT,
   * _STOPPED, _BLOCKED, or a negative code: see uvperf__watch_ring_failed. */
  int (*drain)(void *owner, size_t ring_index, uvperf__slice_t *slice);
  /* NULL if rings are read one by one. Otherwise called instead of drain: once
   * for all rings, in an iteration in which any ring is queued. If a ring
   * fails, this function calls uvperf__watch_ring_failed. Records that must
   * wait for their time are left to uvperf__watch_flush_in or the flush timer.
   * Returns UVPERF__DRAINED, _CUT (it is called again in the next iteration) or
   * _STOPPED. */
  int (*drain_all)(void *owner, uvperf__slice_t *slice);
  /* A slice that delivered something has ended. May be NULL. */
  void (*slice_end)(void *owner);
  /* The watch has done its work in this iteration, and is still started. May be
   * NULL. */
  void (*iteration_end)(void *owner);
  /* A flush is due. The rings are checked afterwards, so this may read their
   * heads and consume wakeups of their fds. Must not call a callback of the
   * user. Returns 1 to drain all rings and to call iteration_end, even if no
   * ring has records; else 0. May be NULL. */
  int (*flush_due)(void *owner);
  /* Every fd of a ring has hung up. Returns a spare, which is another fd to
   * poll for the ring, or a code with which the ring ends. The spare must stay
   * open until the teardown is done, or until the second call after this one.
   * If this function is NULL, the ring ends. */
  int (*spare)(void *owner, size_t ring_index);
  /* A ring made no sense and was skipped up to its head. Delivery goes on. */
  void (*ring_skipped)(void *owner, size_t ring_index);
  /* A ring has ended with UV_EOF or another code, but other rings have not
   * ended. May be NULL. */
  void (*ring_end)(void *owner, size_t ring_index, int status);
  /* This ring was the last one and has ended. The watch is stopped. */
  void (*end)(void *owner, size_t ring_index, int status);
  /* Called when uvperf__watch_close_owner has found an inner handle. Closes the
   * owner. */
  void (*close)(void *owner);
} uvperf__watch_ops_t;

/* The records of a snapshot, for a watch without rings. Each check phase
 * delivers a slice of them, even while the watch is not started. */
typedef struct uvperf__watch_extra_s {
  /* The same as `drain` of the operations, but never returns a negative
   * code. */
  int (*deliver)(struct uvperf__watch_extra_s *extra, uvperf__slice_t *slice);
  /* All records were delivered (0), or the watch was stopped in that session
   * (UV_ECANCELED). Not called if the watch is closing. */
  void (*done)(struct uvperf__watch_extra_s *extra, int status);
  uint64_t session; /* see uvperf__watch_session */
} uvperf__watch_extra_t;

typedef struct uvperf__watch_options_s {
  uint64_t slice_records;
  uint64_t slice_bytes;
  uint64_t slice_ns;
  uint64_t flush_ms; /* 0: no timer */
  int flush_all;     /* a flush drains rings without records too */
  int wakes_each;    /* each record causes a wakeup */
  int is_idle; /* waits for snapshots only: does not keep the loop alive */
} uvperf__watch_options_t;

/* Makes a watch without rings and registers its inner handles with the loop of
 * the owner's teardown, which joins the hub. Afterwards the watch must be
 * closed before it is freed. Returns 0 or UV_ENOMEM. */
int uvperf__watch_new(uvperf__watch_t **watch, uvperf__teardown_t *teardown,
                      const uvperf__watch_ops_t *ops, void *owner);

/* Adds a ring, with the fds of all events that write into it. The fd of the
 * ring's own event is the first. The ring's index is the number of rings that
 * were added before. The ring and the array belong to the owner and must stay
 * valid until the teardown is done. Exactly one of the fds is polled; when it
 * hangs up, another live fd takes its place. May be called at any time, also in
 * a callback. A started watch polls the ring at once. Returns 0. If nothing was
 * added, returns UV_ENOMEM or the code of uv_poll_init. If the ring was added
 * but has ended, returns the code of uv_poll_start. */
int uvperf__watch_add(uvperf__watch_t *watch, uvperf__ring_t *ring,
                      const int *fds, size_t nr_fds);

/* Other events write into a ring from now on. `fds` is a new array, or the old
 * one with other fds. Does nothing for a ring that has ended. */
void uvperf__watch_set_fds(uvperf__watch_t *watch, size_t ring_index,
                           const int *fds, size_t nr_fds);

/* Sets the bounds of slices, for a watch that is not started. */
void uvperf__watch_set_options(uvperf__watch_t *watch,
                               const uvperf__watch_options_t *options);

/* Delivers the records of `extra`, which belongs to the caller, from the next
 * check phase on. Only one extra can be delivered at a time. The loop stays
 * alive until it is done, even if the watch is unref'd. */
void uvperf__watch_deliver(uvperf__watch_t *watch,
                           uvperf__watch_extra_t *extra);

/* Changes options.flush_ms while the watch is started. */
void uvperf__watch_set_flush(uvperf__watch_t *watch, uint64_t flush_ms);

/* Returns the code with which a ring has ended, or 0. Nothing will be drained
 * from it any more. */
int uvperf__watch_has_ended(const uvperf__watch_t *watch, size_t ring_index);

/* Handles the failure of a ring: the watch calls it for a negative code of
 * drain, and drain_all calls it for each ring that fails. With UV_EPROTO the
 * ring is skipped up to its head. With any other code, or if it cannot be
 * skipped, the ring has ended. The function calls the operations that report
 * this. `slice` is NULL in a flush. Returns UVPERF__DRAINED to go on, or
 * UVPERF__STOPPED if the caller must return at once. */
int uvperf__watch_ring_failed(uvperf__watch_t *watch, size_t ring_index,
                              int status, const uvperf__slice_t *slice);

/* uv_now of the loop. 0 if others have closed the inner handles, because the
 * loop may no longer exist. */
uint64_t uvperf__watch_now(const uvperf__watch_t *watch);

size_t uvperf__watch_nr_rings(const uvperf__watch_t *watch);

/* Starts polling. Returns 0 or a code. If every ring has ended, the code is
 * UV_EOF, or UV_EPROTO if some ring cannot be read any more. If the program has
 * closed an inner handle with uv_close, it is UV_EINVAL. If uv_poll_start
 * fails, it is that code, and nothing is polled. A started watch without a ring
 * keeps the loop alive. */
int uvperf__watch_start(uvperf__watch_t *watch,
                        const uvperf__watch_options_t *options);

/* Stops polling. Nothing is delivered afterwards. */
void uvperf__watch_stop(uvperf__watch_t *watch);

/* Drains all rings, and calls iteration_end, in the next check phase. Does
 * nothing while the watch is stopped. */
void uvperf__watch_drain(uvperf__watch_t *watch);

/* Requests one more flush in `ms` milliseconds, above 0, unless an earlier one
 * was requested. The flush drains the rings that have records. Does nothing
 * while the watch is stopped. */
void uvperf__watch_flush_in(uvperf__watch_t *watch, uint64_t ms);

/* Delivers all records that the rings hold now, without bounds. Returns 0,
 * UV_EBUSY inside a callback of this watch, or UV_ENOMEM, which is possible
 * only inside a callback of another handle. */
int uvperf__watch_flush(uvperf__watch_t *watch);

/* Returns a pointer to a number that changes when the watch is stopped or
 * closed. The owner needs it for its own slices. */
const uint64_t *uvperf__watch_session(const uvperf__watch_t *watch);

/* Closes every inner handle as a part of the owner's teardown. Call it once. */
void uvperf__watch_close(uvperf__watch_t *watch);

/* Frees a watch whose teardown is done. NULL is allowed. */
void uvperf__watch_free(uvperf__watch_t *watch);

/* If the handle is an inner handle of a watch, closes the owner (unless it is
 * closing already) and returns 1. Returns 1 for a handle of a hub too, which
 * stays open. Otherwise returns 0. */
int uvperf__watch_close_owner(uv_handle_t *handle);

/* Notes the id of the watch's event: see uvperf__hub_has_event. */
void uvperf__watch_note_event(uvperf__watch_t *watch, uint64_t id);

void uvperf__watch_set_ref(uvperf__watch_t *watch, int ref);

/* Whether the watch is started and keeps the loop alive. In a forked child the
 * watch stops when the loop first runs it. */
int uvperf__watch_is_busy(const uvperf__watch_t *watch);

/* Whether the watch is started and some ring has not ended. */
int uvperf__watch_is_active(const uvperf__watch_t *watch);

/* Returns the number of poll callbacks of a ring. */
uint64_t uvperf__watch_ring_wakeups(const uvperf__watch_t *watch,
                                    size_t ring_index);
/* Returns the number of iterations in which something was delivered. */
uint64_t uvperf__watch_slices(const uvperf__watch_t *watch);

/* The first function explains why uvperf__watch_add or uvperf__watch_start
 * failed. The second explains why the ring of a new CPU cannot be watched. Both
 * return the code. */
int uvperf__watch_explain(uvperf_error_t *error, int code);
int uvperf__watch_explain_ring(uvperf_error_t *error, int code, int cpu);

#endif
