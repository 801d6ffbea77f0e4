/* SPDX-License-Identifier: MIT */
/* Closes a handle. Closes its inner uv handles (another part of the program may
 * have closed some) and counts their close callbacks. Frees the memory when the
 * last callback has come and no hold is left.
 *
 * A call in which the user may close the handle and run the loop, such as a
 * flush, takes a hold. Until the hold is released, the owner's memory stays. */
#ifndef UVPERF_LIB_LOOP_TEARDOWN_H
#define UVPERF_LIB_LOOP_TEARDOWN_H

#include <uv.h>

#include "loop/job.h"
#include "ring/leftovers.h"

typedef struct uvperf__teardown_s uvperf__teardown_t;

struct uvperf__teardown_s {
  uv_loop_t *loop;
  void (*closed)(void *owner);
  void (*release)(void *owner);
  void (*give_up)(void *owner, uvperf__leftovers_t *leftovers);
  void *owner;
  /* The hub of the loop and its queue of jobs: see uvperf__hub_join. NULL: the
   * owner has not joined one. */
  struct uvperf__hub_s *hub;
  uvperf__jobs_t *jobs;
  /* The owner closes. The last one on the hub closes the hub's handles too, as
   * a part of this teardown. */
  void (*leave)(uvperf__teardown_t *teardown);
  /* All of that is closed. */
  void (*left)(uvperf__teardown_t *teardown);
  uvperf__leftovers_t leftovers; /* being closed by a thread of the pool */
  uvperf__job_t job;
  unsigned int uses;    /* holds, and one more until `closed` has let go */
  unsigned int pending; /* close callbacks still to come */
  int begins;           /* not all handles are closing yet, so it cannot end */
  int foreign; /* others have closed a handle; its callback is to come */
  int rounds;
  uv_idle_t closer; /* see on_closer_closed */
};

/* When all handles are closed, also those of the hub if no other handle of the
 * loop needs them, `closed` is called. It must call uvperf__teardown_let_go,
 * and may call the user's close callback before that. `release` frees the
 * owner, and this teardown with it.
 *
 * `give_up`, if it is not NULL, is called before `closed`, unless there is a
 * hold or the loop may no longer exist. It adds fds and mappings to the
 * leftovers, which are closed on libuv's thread pool if it has joined a hub.
 * `release` closes all other fds and mappings. */
void uvperf__teardown_init(
    uvperf__teardown_t *teardown, uv_loop_t *loop, void (*closed)(void *owner),
    void (*release)(void *owner),
    void (*give_up)(void *owner, uvperf__leftovers_t *leftovers), void *owner);

/* Takes a hold: the owner is not released before the matching let_go. */
void uvperf__teardown_hold(uvperf__teardown_t *teardown);

/* Gives up a hold. The last let_go releases the owner. */
void uvperf__teardown_let_go(uvperf__teardown_t *teardown);

/* Closes a uv handle, unless others have closed it. The callback must call
 * uvperf__teardown_closed. */
void uvperf__teardown_close(uvperf__teardown_t *teardown, void *handle,
                            uv_close_cb cb);

/* Call it when the owner has closed a uv handle itself. The owner must call
 * uvperf__teardown_closed later. */
void uvperf__teardown_expect(uvperf__teardown_t *teardown);

/* Call it when all handles are closing. If others have closed all handles, and
 * libuv has called their close callbacks, this calls `closed` and does not
 * touch the loop, which may no longer exist. */
void uvperf__teardown_end(uvperf__teardown_t *teardown);

/* Call it when a uv handle is closed. */
void uvperf__teardown_closed(uvperf__teardown_t *teardown);

#endif
