/* SPDX-License-Identifier: MIT */
/* A queue in front of libuv's thread pool. Does not depend on the kind of
 * work. */
#include "profile/symbols/jobs.h"

#include <stddef.h>
#include <string.h>

void symbols_jobs_init(symbols_jobs_t *jobs, uv_loop_t *loop) {
  memset(jobs, 0, sizeof(*jobs));
  jobs->loop = loop;
  jobs->work.data = jobs;
  symbols_worker_init(&jobs->worker);
}

static void on_work(uv_work_t *work) {
  symbols_jobs_t *jobs = work->data;

  jobs->running->run(jobs->running, &jobs->worker);
}

static void run_next(symbols_jobs_t *jobs);

static void on_done(uv_work_t *work, int status) {
  symbols_jobs_t *jobs = work->data;
  symbols_job_t *job = jobs->running;

  (void)status;
  /* `done` may add a job, which then waits for its turn. The `done` of the very
   * last job may free the queue. */
  jobs->running = NULL;
  run_next(jobs);
  job->done(job);
}

static void run_next(symbols_jobs_t *jobs) {
  symbols_job_t *job = jobs->first;

  if (job == NULL || jobs->running != NULL)
    return;
  jobs->first = job->next;
  jobs->running = job;
  uv_queue_work(jobs->loop, &jobs->work, on_work, on_done);
}

void symbols_jobs_add(symbols_jobs_t *jobs, symbols_job_t *job) {
  job->next = NULL;
  if (jobs->first == NULL)
    jobs->first = job;
  else
    jobs->last->next = job;
  jobs->last = job;
  run_next(jobs);
}

static void end_worker(symbols_job_t *job, symbols_worker_t *worker) {
  (void)job;
  symbols_worker_end(worker);
}

static void ended(symbols_job_t *job) {
  symbols_jobs_t *jobs =
      (symbols_jobs_t *)((char *)job - offsetof(symbols_jobs_t, end));

  jobs->end_cb(jobs->arg);
}

void symbols_jobs_end(symbols_jobs_t *jobs, void (*cb)(void *arg), void *arg) {
  atomic_store(&jobs->worker.is_stopped, 1);
  jobs->end_cb = cb;
  jobs->arg = arg;
  jobs->end.run = end_worker;
  jobs->end.done = ended;
  symbols_jobs_add(jobs, &jobs->end);
}
