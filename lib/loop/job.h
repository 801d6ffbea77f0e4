/* SPDX-License-Identifier: MIT */
/* Makes slow system calls of the handles of a loop on libuv's thread pool. A
 * queue of jobs has at most one request in the pool, and each loop has one
 * queue. A request ends after a millisecond
 * or one system call. So the program's own file and DNS requests get threads in
 * between, and a job that cannot wait runs next.
 *
 * A step can call a function of the program, which may hang. If a call takes
 * longer than limit_ms, the job is late. Then the queue goes on with the next
 * job, on another thread of the pool.
 *
 * The first jobs of a process wait until it is known whether the pool can be
 * made (threads.h). If it cannot, the loop's thread makes the steps, for a
 * millisecond at a time. */
#ifndef UVPERF_LIB_LOOP_JOB_H
#define UVPERF_LIB_LOOP_JOB_H

#include <stdint.h>

#include <uv.h>

#include "uvperf/error.h"

#include "loop/flush_timer.h"
#include "sys/opener.h"

typedef struct uvperf__jobs_s uvperf__jobs_t;

/* Jobs of the first kind that is there run next, and take turns. */
enum {
  UVPERF__JOB_SOON = 0, /* disables events, or takes a snapshot */
  UVPERF__JOB_OPEN = 1,
  UVPERF__JOB_CLOSE = 2,
  UVPERF__JOB_KINDS
};

typedef struct uvperf__job_s {
  uv_work_t work;
  struct uvperf__job_s *next; /* the next job in the queue */
  uvperf__jobs_t *jobs;       /* NULL: it is late */
  int kind;                   /* UVPERF__JOB_*; a step may change it */
  int closes;                 /* its handle closes */
  /* The time for each of the calls that a step makes; 0: it makes no calls. */
  uint32_t limit_ms;
  uvperf__calls_t *calls;
  uint32_t process; /* the process that began it */
  int is_done;
  /* Called on a thread of the pool. Makes one system call or a few. Returns 0
   * when nothing is left to do. */
  int (*step)(struct uvperf__job_s *job);
  /* Called on the loop, when step has returned 0. May free the job. */
  void (*done)(struct uvperf__job_s *job);
  /* With limit_ms: called on the loop if the job is late, while its step still
   * runs. The remaining steps and `done` follow. */
  void (*late)(struct uvperf__job_s *job);
} uvperf__job_t;

/* The queue. Only the thread of the loop uses it. */
struct uvperf__jobs_s {
  uvperf__job_t *running; /* in the pool */
  int is_waiting;         /* for the pool, though there are jobs; it keeps the
                           * loop alive by the timer */
  uint32_t process;       /* in which they wait */
  int settling;           /* a code: no job can begin meanwhile; 0: they can */
  uvperf__flush_t limit;  /* due when the running job may be late, or when the
                           * pool may exist */
  struct {
    uvperf__job_t *first;
    uvperf__job_t **end; /* the place of the next one */
  } queues[UVPERF__JOB_KINDS];
};

void uvperf__jobs_init(uvperf__jobs_t *jobs, uvperf__flush_timer_t *timer);

/* Call it when the timer has fired. Calls `late` if the running job is late.
 * Runs the first job if the pool can be made, or makes steps if it cannot. */
void uvperf__jobs_check(uvperf__jobs_t *jobs, uv_loop_t *loop);

/* Call it when a handle closes, as the timer may be closed from now on. If jobs
 * of handles that close wait for the pool, this call waits for it. If it cannot
 * be made, or if other code has closed the timer (the loop may no longer
 * exist), this call makes all steps of these jobs, and calls `done`. */
void uvperf__jobs_settle(uvperf__jobs_t *jobs);

/* Begins a job. The caller has set kind, closes, limit_ms (with it calls and
 * late), step and done, and nothing else. Returns 0, and the loop stays alive
 * until done was called. Returns a code if the process cannot make a thread
 * (UV_EAGAIN, UV_EPERM), or is a child of a bare clone(2) (UV_ENOTSUP).
 *
 * In a forked child the jobs of the parent never end. The child's copy of the
 * loop has their requests. Even if libuv finishes them, done is not called. */
int uvperf__job_begin(uvperf__jobs_t *jobs, uv_loop_t *loop,
                      uvperf__job_t *job);

/* The same, but also fills the error. */
int uvperf__job_begin_or(uvperf__jobs_t *jobs, uv_loop_t *loop,
                         uvperf__job_t *job, uvperf_error_t *error);

#endif
