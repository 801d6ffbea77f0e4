/* SPDX-License-Identifier: MIT */
/* The jobs of a loop, and which of them is next. */
#include "loop/job.h"

#include <assert.h>
#include <string.h>

#include "loop/threads.h"
#include "sys/fork.h"
#include "util/error.h"

#define STEPS_NS UINT64_C(1000000)
#define WAIT_MS  1 /* until the pool may exist */

static void jobs_push(uvperf__jobs_t *jobs, uvperf__job_t *job) {
  job->next = NULL;
  *jobs->queues[job->kind].end = job;
  jobs->queues[job->kind].end = &job->next;
}

/* Returns the place of the next job, or of the next one whose handle closes.
 * Returns NULL if there is none. */
static uvperf__job_t **jobs_find(uvperf__jobs_t *jobs, int closes) {
  uvperf__job_t **at;
  int kind;

  for (kind = 0; kind < UVPERF__JOB_KINDS; kind++)
    for (at = &jobs->queues[kind].first; *at != NULL; at = &(*at)->next)
      if (!closes || (*at)->closes)
        return at;
  return NULL;
}

static uvperf__job_t *jobs_take(uvperf__jobs_t *jobs, uvperf__job_t **at) {
  uvperf__job_t *job = *at;

  *at = job->next;
  if (job->next == NULL)
    jobs->queues[job->kind].end = at;
  return job;
}

/* -- one request ---------------------------------------------------------- */

/* Whether this is a forked child and the job belongs to the parent. The job
 * would close copies of the parent's fds, and mappings that the child does not
 * have. */
static int is_parents(const uvperf__job_t *job) {
  return job->process != uvperf__process();
}

static void job_make_steps(uvperf__job_t *job) {
  uint64_t end = uv_hrtime() + STEPS_NS;

  do
    job->is_done = !job->step(job);
  while (!job->is_done && uv_hrtime() < end);
}

static void job_work(uv_work_t *request) {
  uvperf__job_t *job = (uvperf__job_t *)request;

  if (!is_parents(job))
    job_make_steps(job);
}

static void on_worked(uv_work_t *request, int status);

static int job_run(uvperf__job_t *job, uv_loop_t *loop) {
  if (job->limit_ms != 0 && job->jobs != NULL)
    uvperf__flush_once(&job->jobs->limit, job->limit_ms);
  return uv_queue_work(loop, &job->work, job_work, on_worked);
}

static void jobs_run_next(uvperf__jobs_t *jobs, uv_loop_t *loop) {
  uvperf__job_t **first = jobs_find(jobs, 0);
  int rc = 0;

  jobs->running = first == NULL ? NULL : jobs_take(jobs, first);
  if (jobs->running != NULL)
    rc = job_run(jobs->running, loop);
  assert(rc == 0);
  (void)rc;
}

/* A job that runs again belongs to the pool, so this function does not touch it
 * afterwards. */
static void on_worked(uv_work_t *request, int status) {
  uvperf__job_t *job = (uvperf__job_t *)request;
  uvperf__jobs_t *jobs = job->jobs;
  int is_done = job->is_done;

  (void)status;
  if (is_parents(job))
    return;
  if (!is_done && jobs == NULL)
    job_run(job, request->loop);
  else if (!is_done)
    jobs_push(jobs, job);
  if (jobs != NULL)
    jobs_run_next(jobs, request->loop);
  if (is_done)
    job->done(job);
}

/* -- without a pool -------------------------------------------------------- */

static void jobs_wait(uvperf__jobs_t *jobs) {
  jobs->is_waiting = 1;
  jobs->process = uvperf__process();
  uv_ref((uv_handle_t *)&jobs->limit.timer->timer);
  uvperf__flush_once(&jobs->limit, WAIT_MS);
}

static void jobs_wait_end(uvperf__jobs_t *jobs) {
  jobs->is_waiting = 0;
  uv_unref((uv_handle_t *)&jobs->limit.timer->timer);
}

static void jobs_go_on(uvperf__jobs_t *jobs) {
  jobs_wait_end(jobs);
  jobs_run_next(jobs, jobs->limit.timer->timer.loop);
}

/* Makes steps of a job on this thread. */
static void jobs_make_steps(uvperf__jobs_t *jobs, uvperf__job_t **at) {
  uvperf__job_t *job = jobs_take(jobs, at);

  job_make_steps(job);
  if (job->is_done)
    job->done(job);
  else
    jobs_push(jobs, job);
}

/* The end of a job may run the loop, where they may stop waiting. */
static void jobs_check_pool(uvperf__jobs_t *jobs) {
  uvperf__job_t **first = jobs_find(jobs, 0);
  int rc = uvperf__threads_check();

  if (rc != 0)
    uvperf__flush_once(&jobs->limit, WAIT_MS);
  if (rc != 0 && rc != UV_EBUSY && first != NULL)
    jobs_make_steps(jobs, first);
  if (jobs->is_waiting && (rc == 0 || jobs_find(jobs, 0) == NULL))
    jobs_go_on(jobs);
}

/* Whether this is a forked child. */
static int jobs_are_parents(const uvperf__jobs_t *jobs) {
  return jobs->process != uvperf__process();
}

static int timer_is_closing(const uvperf__jobs_t *jobs) {
  return uv_is_closing((const uv_handle_t *)&jobs->limit.timer->timer);
}

/* The end of a job may close other handles. The outer call finds their jobs, so
 * that many of them take no more of the stack. */
void uvperf__jobs_settle(uvperf__jobs_t *jobs) {
  uvperf__job_t **at;
  int rc;

  if (!jobs->is_waiting || jobs->settling != 0 || jobs_are_parents(jobs))
    return;
  at = jobs_find(jobs, 1);
  if (at == NULL)
    return;
  rc = uvperf__threads_wait();
  if (rc == 0 && !timer_is_closing(jobs)) {
    jobs_go_on(jobs);
    return;
  }
  jobs->settling = rc != 0 ? rc : UV_ECANCELED;
  for (; at != NULL; at = jobs_find(jobs, 1))
    jobs_make_steps(jobs, at);
  jobs->settling = 0;
  if (jobs->is_waiting && jobs_find(jobs, 0) == NULL)
    jobs_wait_end(jobs);
}

/* -- the timer ------------------------------------------------------------- */

/* uvperf__jobs_check follows, when the timer has fired. */
static void on_limit(uvperf__flush_t *flush) {
  (void)flush;
}

void uvperf__jobs_init(uvperf__jobs_t *jobs, uvperf__flush_timer_t *timer) {
  int kind;

  memset(jobs, 0, sizeof(*jobs));
  for (kind = 0; kind < UVPERF__JOB_KINDS; kind++)
    jobs->queues[kind].end = &jobs->queues[kind].first;
  uvperf__flush_init(&jobs->limit, timer, on_limit);
}

/* If the pool is busy, the call begins late. */
static void job_check_limit(uvperf__job_t *job, uv_loop_t *loop) {
  uvperf__jobs_t *jobs = job->jobs;
  uint32_t left_ms;

  if (job->limit_ms == 0 || is_parents(job))
    return;
  left_ms = uvperf__calls_left(job->calls, job->limit_ms);
  if (left_ms != 0) {
    uvperf__flush_once(&jobs->limit, left_ms);
    return;
  }
  job->jobs = NULL;
  jobs_run_next(jobs, loop);
  job->late(job);
}

void uvperf__jobs_check(uvperf__jobs_t *jobs, uv_loop_t *loop) {
  if (jobs->running != NULL)
    job_check_limit(jobs->running, loop);
  else if (jobs->is_waiting && jobs_are_parents(jobs))
    jobs_wait_end(jobs);
  else if (jobs->is_waiting)
    jobs_check_pool(jobs);
}

/* -- beginning ------------------------------------------------------------- */

int uvperf__job_begin(uvperf__jobs_t *jobs, uv_loop_t *loop,
                      uvperf__job_t *job) {
  int can_wait = !timer_is_closing(jobs);
  int rc = jobs->settling;

  if (rc == 0)
    rc = can_wait ? uvperf__threads_begin() : uvperf__threads_wait();
  if (rc != 0 && rc != UV_EBUSY)
    return rc;
  job->jobs = jobs;
  job->process = uvperf__process();
  if (can_wait && rc == UV_EBUSY)
    jobs_wait(jobs);
  if (jobs->running != NULL || (can_wait && jobs->is_waiting)) {
    jobs_push(jobs, job);
    return 0;
  }
  rc = job_run(job, loop);
  if (rc != 0)
    return rc;
  jobs->is_waiting = 0;
  jobs->running = job;
  return 0;
}

int uvperf__job_begin_or(uvperf__jobs_t *jobs, uv_loop_t *loop,
                         uvperf__job_t *job, uvperf_error_t *error) {
  int rc = uvperf__job_begin(jobs, loop, job);

  return rc == 0
             ? 0
             : uvperf__error_set(error, rc, UVPERF_CAUSE_MEMORY,
                                 "libuv's thread pool cannot be used; leave "
                                 "the callback out, then no thread is "
                                 "needed");
}
