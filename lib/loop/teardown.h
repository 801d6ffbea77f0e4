/* SPDX-License-Identifier: MIT */
/* The end of a handle. Closes its inner uv handles, also where another
 * part of the program has closed some, and has the memory freed when the last
 * of them is closed and no call of the library uses it any more. */
#ifndef UVPERF_LIB_LOOP_TEARDOWN_H
#define UVPERF_LIB_LOOP_TEARDOWN_H

#include <uv.h>

typedef struct uvperf__teardown_s {
  uv_loop_t *loop;
  void (*closed)(void *owner);
  void (*release)(void *owner);
  void *owner;
  unsigned int uses;    /* holds, and one until `closed` has returned */
  unsigned int pending; /* close callbacks that are still to come */
  int foreign;          /* libuv has still to close what others have closed */
  int rounds;
  uv_idle_t closer; /* see on_closer_closed */
} uvperf__teardown_t;

/* When all is closed, `closed` is called: it must call
 * uvperf__teardown_let_go, and may call the user's close callback after it.
 * `release` frees the owner, this teardown with it. */
void uvperf__teardown_init(uvperf__teardown_t *teardown, uv_loop_t *loop,
                           void (*closed)(void *owner),
                           void (*release)(void *owner), void *owner);

/* For a call in which the user may close the handle and run the loop: from here
 * to the matching let_go the owner is not released. */
void uvperf__teardown_hold(uvperf__teardown_t *teardown);

/* Releases the owner if nothing else uses it. */
void uvperf__teardown_let_go(uvperf__teardown_t *teardown);

/* Closes a uv handle, if others have not. The callback must call
 * uvperf__teardown_closed. */
void uvperf__teardown_close(uvperf__teardown_t *teardown, void *handle,
                            uv_close_cb cb);

/* A uv handle was closed by its owner: uvperf__teardown_closed will come. */
void uvperf__teardown_expect(uvperf__teardown_t *teardown);

/* All handles are closing. If others have closed all of them, and libuv is done
 * with each, `closed` is called in here and the loop is not touched: it may no
 * longer exist. */
void uvperf__teardown_end(uvperf__teardown_t *teardown);

/* One of them is closed. */
void uvperf__teardown_closed(uvperf__teardown_t *teardown);

#endif
