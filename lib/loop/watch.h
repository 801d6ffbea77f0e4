/* SPDX-License-Identifier: MIT */
/* Any number of rings on a libuv loop. Decides when which ring is
 * drained and how much of it, and notices when there will never be more. Does
 * not know what a record means: draining is the owner's.
 *
 * Every drain happens in the watch's uv_check callback, which runs once in a
 * turn of the loop, right after the poll phase. Poll callbacks, the flush timer
 * and leftovers only queue their ring for it, so that there is one slice in a
 * turn, whoever asked for it. While rings are queued uv_idle keeps the loop
 * from waiting. */
#ifndef UVPERF_LIB_LOOP_WATCH_H
#define UVPERF_LIB_LOOP_WATCH_H

#include <stddef.h>
#include <stdint.h>

#include <uv.h>

#include "uvperf/error.h"

#include "loop/slice.h"
#include "loop/teardown.h"
#include "ring/ring.h"

typedef struct uvperf__watch_s uvperf__watch_t;

typedef struct uvperf__watch_ops_s {
  /* Delivers what the ring holds until one look's head is reached or
   * uvperf__slice_take says otherwise. UVPERF__DRAINED, _CUT, _STOPPED; or a
   * negative code: see uvperf__watch_ring_failed. */
  int (*drain)(void *owner, size_t ring_index, uvperf__slice_t *slice);
  /* NULL, or instead of drain, for rings that are read together: the same for
   * all rings, once in a turn in which any is queued. A ring that fails is
   * reported by uvperf__watch_ring_failed; what is left for later (for its time
   * to come) waits for uvperf__watch_drain_in, or the flush timer.
   * UVPERF__DRAINED, _CUT (it is called again in the next turn) or _STOPPED. */
  int (*drain_all)(void *owner, uvperf__slice_t *slice);
  /* A turn that delivered something is over. May be NULL. */
  void (*slice_end)(void *owner);
  /* A turn is over, and the watch still started. May be NULL. */
  void (*iteration_end)(void *owner);
  /* Every fd of a ring has hung up. Returns another fd to poll for the ring,
   * which must stay open until the teardown is done or until the second call
   * after this one; or a code, with which the ring ends. If this is NULL the
   * ring ends. */
  int (*spare)(void *owner, size_t ring_index);
  /* A ring made no sense and was skipped up to its head. Reading goes on. */
  void (*ring_skipped)(void *owner, size_t ring_index);
  /* A ring has ended, with UV_EOF or what ended it, and others have not. May be
   * NULL. */
  void (*ring_end)(void *owner, size_t ring_index, int status);
  /* The last ring, this one, has ended, and the watch is stopped. */
  void (*end)(void *owner, size_t ring_index, int status);
  /* An inner handle was found by uvperf__watch_close_owner: close. */
  void (*close)(void *owner);
} uvperf__watch_ops_t;

typedef struct uvperf__watch_options_s {
  uint64_t slice_records;
  uint64_t slice_bytes;
  uint64_t slice_ns;
  uint64_t flush_ms; /* 0: no timer */
} uvperf__watch_options_t;

/* Makes a watch without rings and registers its inner handles with the loop:
 * from here on it must be closed before it is freed. 0 or UV_ENOMEM. */
int uvperf__watch_new(uvperf__watch_t **watch, uv_loop_t *loop,
                      const uvperf__watch_ops_t *ops, void *owner);

/* Adds a ring, with the fds of all events that write into it, its own first:
 * its index is how many there were before. The ring and the array are the
 * owner's and stay until the teardown is done. Exactly one of the fds is
 * polled; when that one hangs up another that lives takes its place. May be
 * called at any time, inside a callback too; a started watch polls it at once.
 * 0, UV_ENOMEM, what uv_poll_init gives (nothing is added then), or what
 * uv_poll_start gives (it is added, and has ended). */
int uvperf__watch_add(uvperf__watch_t *watch, uvperf__ring_t *ring,
                      const int *fds, size_t nr_fds);

/* Other events write into a ring from now on: a new array, or the old one
 * changed. Nothing to do for a ring that has ended. */
void uvperf__watch_set_fds(uvperf__watch_t *watch, size_t ring_index,
                           const int *fds, size_t nr_fds);

/* Changes options.flush_ms while it is started. */
void uvperf__watch_set_flush(uvperf__watch_t *watch, uint64_t flush_ms);

/* Whether a ring has ended: nothing will ever be drained from it. */
int uvperf__watch_has_ended(const uvperf__watch_t *watch, size_t ring_index);

/* Handles the failure of a ring, as after a negative code of drain; drain_all
 * calls it for each ring that fails. With UV_EPROTO the ring is skipped up to
 * its head. If it cannot be read any more, and with any other code, the ring
 * has ended. Calls the callbacks for that. The slice is NULL in a flush.
 * Returns UVPERF__DRAINED to go on, or UVPERF__STOPPED if the caller must
 * return at once. */
int uvperf__watch_ring_failed(uvperf__watch_t *watch, size_t ring_index,
                              int status, const uvperf__slice_t *slice);

/* uv_now of the loop; 0 if somebody else has closed the inner handles: the loop
 * may no longer exist. */
uint64_t uvperf__watch_now(const uvperf__watch_t *watch);

size_t uvperf__watch_nr_rings(const uvperf__watch_t *watch);

/* Starts polling. 0; if every ring has ended, UV_EOF, or UV_EPROTO if one of
 * them cannot be read any more; UV_EINVAL if the program has closed an inner
 * handle by uv_close; or the code of uv_poll_start (nothing is polled then).
 * Without a ring it keeps the loop alive. */
int uvperf__watch_start(uvperf__watch_t *watch,
                        const uvperf__watch_options_t *options);

/* Stops to poll; nothing is delivered after it. */
void uvperf__watch_stop(uvperf__watch_t *watch);

/* Has all rings looked at, and a turn taken: in the next check phase with ms 0,
 * else once so many milliseconds are over, if no earlier look is waited for.
 * Nothing while it is stopped. */
void uvperf__watch_drain_in(uvperf__watch_t *watch, uint64_t ms);

/* Delivers what every ring holds at one look, unsliced. 0, or UV_EBUSY inside a
 * callback of this watch. */
int uvperf__watch_flush(uvperf__watch_t *watch);

/* For slices outside of turns and flushes: what changes when the watch is
 * stopped or closed. */
const uint64_t *uvperf__watch_session(const uvperf__watch_t *watch);

/* Closes every inner handle, as a part of the owner's teardown. Once. */
void uvperf__watch_close(uvperf__watch_t *watch, uvperf__teardown_t *teardown);

/* Frees a watch whose teardown is done. Nothing to do for NULL. */
void uvperf__watch_free(uvperf__watch_t *watch);

/* If the handle is an inner one of any watch: has its owner close, unless it
 * does already, and gives 1; else 0. */
int uvperf__watch_close_owner(uv_handle_t *handle);

/* Calls `fn` with the owner of each watch on a loop that has these ops and
 * is not freed yet, so that handles of one kind find each other. Inside of a
 * uv_walk of somebody's it may miss some. */
void uvperf__watch_each(uv_loop_t *loop, const uvperf__watch_ops_t *ops,
                        void (*fn)(void *owner, void *arg), void *arg);

void uvperf__watch_set_ref(uvperf__watch_t *watch, int ref);
int uvperf__watch_has_ref(const uvperf__watch_t *watch);

/* Whether it is started: also a forked child's is not, once its loop has found
 * out. */
int uvperf__watch_is_started(const uvperf__watch_t *watch);

/* Whether it is started and some ring has not ended. */
int uvperf__watch_is_active(const uvperf__watch_t *watch);

/* Poll callbacks, of all rings or of one. */
uint64_t uvperf__watch_wakeups(const uvperf__watch_t *watch);
uint64_t uvperf__watch_ring_wakeups(const uvperf__watch_t *watch,
                                    size_t ring_index);
/* Turns in which something was delivered. */
uint64_t uvperf__watch_slices(const uvperf__watch_t *watch);

/* Explains why uvperf__watch_add or uvperf__watch_start failed, or why the ring
 * of a new CPU cannot be watched. Return the code. */
int uvperf__watch_explain(uvperf_error_t *error, int code);
int uvperf__watch_explain_ring(uvperf_error_t *error, int code, int cpu);

#endif
