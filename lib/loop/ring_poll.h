/* SPDX-License-Identifier: MIT */
/* The uv_poll_t of one ring. Exactly one of the perf events that write into the
 * ring is polled. When this event hangs up, another live event takes its place,
 * or a spare that the owner opens. This code never reads the ring. */
#ifndef UVPERF_LIB_LOOP_RING_POLL_H
#define UVPERF_LIB_LOOP_RING_POLL_H

#include <stddef.h>

#include <uv.h>

#include "loop/teardown.h"

typedef struct uvperf__ring_poll_ops_s {
  /* Called when all fds have hung up. Returns another fd to poll for the ring
   * (a spare). If there is no spare, returns the code that explains why there
   * will be no more wakeups: a specific code, or `status`. */
  int (*spare)(void *owner, int status);
  /* The kernel woke the ring's reader, or claims to. */
  void (*wakeup)(void *owner);
  /* Whether another fd should still be polled. After the program has closed all
   * handles of the loop, a new handle would keep the loop alive. */
  int (*is_wanted)(void *owner);
  /* Another fd is polled from now on, or polling it failed and `gone` is set.
   * Registering the fd can swallow a wakeup, like any registration. */
  void (*replaced)(void *owner);
} uvperf__ring_poll_ops_t;

typedef struct uvperf__ring_poll_s {
  uv_poll_t poll;
  const uvperf__ring_poll_ops_t *ops;
  void *owner;
  const int *fds;
  size_t nr_fds;
  int fd; /* the polled fd: from `fds`, or a spare */
  int started;
  int unref;
  int replacing; /* poll is being closed, to poll another fd */
  uvperf__teardown_t
      *teardown; /* of the owner, which closes; NULL: it does not */
  /* 0, or why there will be no more wakeups: UV_EOF, UV_EBADF… The ring may
   * still hold records. */
  int gone;
} uvperf__ring_poll_t;

/* Initializes ring_poll. The array `fds` belongs to the owner and must stay
 * valid. Returns 0, or the code of uv_poll_init. */
int uvperf__ring_poll_init(uvperf__ring_poll_t *ring_poll, uv_loop_t *loop,
                           const int *fds, size_t nr_fds,
                           const uvperf__ring_poll_ops_t *ops, void *owner);

/* Other events write into the ring from now on. `fds` is a new array, or the
 * old one with other fds. If the polled fd is not in it or has hung up, another
 * fd takes its place. */
void uvperf__ring_poll_set_fds(uvperf__ring_poll_t *ring_poll, const int *fds,
                               size_t nr_fds);

/* Starts polling. Returns 0, or the code of uv_poll_start. Does nothing if
 * `gone` is set. */
int uvperf__ring_poll_start(uvperf__ring_poll_t *ring_poll);

void uvperf__ring_poll_stop(uvperf__ring_poll_t *ring_poll);

/* Checks whether the polled event has hung up. If it has, elects another event
 * or sets `gone`. The check consumes a pending wakeup, so the caller must read
 * the ring once more. */
void uvperf__ring_poll_probe(uvperf__ring_poll_t *ring_poll);

void uvperf__ring_poll_set_ref(uvperf__ring_poll_t *ring_poll, int ref);

/* Closes the handle as a part of a teardown, unless others have closed it. */
void uvperf__ring_poll_close(uvperf__ring_poll_t *ring_poll,
                             uvperf__teardown_t *teardown);

/* Returns the ring_poll to which a uv handle belongs, or NULL. */
uvperf__ring_poll_t *uvperf__ring_poll_of(uv_handle_t *handle);

#endif
