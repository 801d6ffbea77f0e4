/* SPDX-License-Identifier: MIT */
/* Slow system calls of the handles of a loop, on libuv's thread pool. Of each
 * loop one request is in the pool at a time, for a millisecond or one system
 * call: the files and names of the program get their threads in between. */
#ifndef UVPERF_LIB_LOOP_JOB_H
#define UVPERF_LIB_LOOP_JOB_H

#include <stdint.h>

#include <uv.h>

#include "uvperf/error.h"

typedef struct uvperf__job_s {
  uv_work_t work;
  struct uvperf__job_s *next; /* of the loop's queue */
  struct job_queue_s *queue;
  uint32_t process; /* that began it */
  int is_done;
  /* On a thread of the pool: makes one system call or a few. Returns 0 when
   * nothing is left to do. */
  int (*step)(struct uvperf__job_s *job);
  /* On the loop, when step has returned 0; may free the job. */
  void (*done)(struct uvperf__job_s *job);
} uvperf__job_t;

/* Begins a job of which step and done are set, and nothing else. Returns 0, and
 * the loop is alive until done was called; or a code: the process may make no
 * threads (UV_EAGAIN), or has no memory.
 *
 * In a forked child the jobs of the parent never end: their requests are in the
 * child's copy of the loop, and may even be finished there. */
int uvperf__job_begin(uv_loop_t *loop, uvperf__job_t *job);

/* The same, and the error: that a function of this name does without it. */
int uvperf__job_begin_or(uv_loop_t *loop, uvperf__job_t *job,
                         const char *instead, uvperf_error_t *error);

#endif
