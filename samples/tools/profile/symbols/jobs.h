/* SPDX-License-Identifier: MIT */
/* Work that would block the loop. It runs on libuv's pool, one job at a time,
 * in the order in which jobs were added, and can use the worker process. */
#ifndef SYMBOLS_JOBS_H
#define SYMBOLS_JOBS_H

#include <uv.h>

#include "profile/symbols/worker.h"

/* Must be the first member of a struct of its owner. */
typedef struct symbols_job_s {
  void (*run)(struct symbols_job_s *job, symbols_worker_t *worker);
  void (*done)(struct symbols_job_s *job); /* on the loop; may free it */
  struct symbols_job_s *next;
} symbols_job_t;

typedef struct symbols_jobs_s {
  symbols_worker_t worker;
  /* private */
  uv_loop_t *loop;
  uv_work_t work;
  symbols_job_t *running;
  symbols_job_t *first, *last; /* waiting */
  symbols_job_t end;           /* the last one of all */
  void (*end_cb)(void *arg);
  void *arg;
} symbols_jobs_t;

void symbols_jobs_init(symbols_jobs_t *jobs, uv_loop_t *loop);

void symbols_jobs_add(symbols_jobs_t *jobs, symbols_job_t *job);

/* Ends the workers. Waiting jobs still run, but their questions to a worker
 * fail at once. Calls back on the loop after the last job, never inside this
 * call. Do not add jobs afterwards. */
void symbols_jobs_end(symbols_jobs_t *jobs, void (*cb)(void *arg), void *arg);

/* Returns the queue that symbols.h uses. Other work can use the same worker
 * through it. */
struct symbols_s;
symbols_jobs_t *symbols_jobs(struct symbols_s *symbols);

#endif
