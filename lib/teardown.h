/* SPDX-License-Identifier: MIT */
/* Layer 4: closes several uv handles and tells when the last of them is gone,
 * also where somebody else has closed some. */
#ifndef UVPERF_LIB_TEARDOWN_H
#define UVPERF_LIB_TEARDOWN_H

#include <uv.h>

typedef struct uvperf__teardown_s {
  uv_loop_t *loop;
  void (*done)(void *owner);
  void *owner;
  unsigned int pending; /* close callbacks that are still to come */
  int foreign;          /* somebody else has closed a handle of ours */
  int rounds;
  uv_idle_t closer; /* see on_closer_closed */
} uvperf__teardown_t;

/* `done` is called once, when as many calls of uvperf__teardown_closed have
 * come as handles were closed: not before uvperf__teardown_end has returned. */
void uvperf__teardown_begin(uvperf__teardown_t *teardown, uv_loop_t *loop,
                            void (*done)(void *owner), void *owner);

/* Closes a handle, if somebody else has not. The callback must call
 * uvperf__teardown_closed. */
void uvperf__teardown_close(uvperf__teardown_t *teardown, void *handle,
                            uv_close_cb cb);

/* The same for a handle whose owner closed it (1), or found it to be closed by
 * somebody else (0). */
void uvperf__teardown_note(uvperf__teardown_t *teardown, int is_ours);

/* All handles are closing. */
void uvperf__teardown_end(uvperf__teardown_t *teardown);

/* One of them is closed. */
void uvperf__teardown_closed(uvperf__teardown_t *teardown);

#endif
