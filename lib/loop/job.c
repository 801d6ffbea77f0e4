/* SPDX-License-Identifier: MIT */
/* The jobs of a loop take turns. Only the thread of the loop uses its queue.
 * Finding the queue needs no lock, because only that thread occupies or frees
 * the queue of its loop. */
#include "loop/job.h"

#include <assert.h>
#include <stdatomic.h>

#include "loop/threads.h"
#include "sys/fork.h"
#include "util/error.h"

#define STEPS_NS   UINT64_C(1000000)
#define MAX_QUEUES 64

typedef struct job_queue_s {
  _Atomic(uv_loop_t *) loop; /* NULL: free */
  uint32_t process;
  uvperf__job_t *first;
  uvperf__job_t *last;
} job_queue_t;

/* Each loop that has jobs has a queue. */
static job_queue_t queues[MAX_QUEUES];

/* -- queues --------------------------------------------------------------- */

/* A forked child does not have the parent's jobs. */
static void leave_to_parent(job_queue_t *queue) {
  if (queue->process == uvperf__process())
    return;
  queue->process = uvperf__process();
  queue->first = queue->last = NULL;
}

/* Returns NULL if there are more loops than queues. */
static job_queue_t *queue_of(uv_loop_t *loop) {
  uv_loop_t *none;
  size_t i;

  for (i = 0; i < MAX_QUEUES; i++)
    if (atomic_load(&queues[i].loop) == loop) {
      leave_to_parent(&queues[i]);
      return &queues[i];
    }
  for (i = 0; i < MAX_QUEUES; i++) {
    none = NULL;
    if (atomic_compare_exchange_strong(&queues[i].loop, &none, loop)) {
      leave_to_parent(&queues[i]);
      return &queues[i];
    }
  }
  return NULL;
}

static void push(job_queue_t *queue, uvperf__job_t *job) {
  job->next = NULL;
  if (queue->first == NULL)
    queue->first = job;
  else
    queue->last->next = job;
  queue->last = job;
}

static void pop(job_queue_t *queue) {
  queue->first = queue->first->next;
}

/* -- one request ---------------------------------------------------------- */

/* Whether this is a forked child and the job belongs to the parent. The job
 * would close copies of the parent's fds, and mappings that the child does not
 * have. */
static int is_parents(const uvperf__job_t *job) {
  return job->process != uvperf__process();
}

static void work(uv_work_t *request) {
  uvperf__job_t *job = (uvperf__job_t *)request;
  uint64_t end = uv_hrtime() + STEPS_NS;

  if (is_parents(job))
    return;
  do
    job->is_done = !job->step(job);
  while (!job->is_done && uv_hrtime() < end);
}

static void on_worked(uv_work_t *request, int status);

static int run(uvperf__job_t *job, uv_loop_t *loop) {
  return uv_queue_work(loop, &job->work, work, on_worked);
}

/* Runs the first job of the queue, or frees the queue for another loop if it is
 * empty. */
static void run_first(job_queue_t *queue, uv_loop_t *loop) {
  int rc = 0;

  if (queue->first == NULL)
    atomic_store(&queue->loop, NULL);
  else
    rc = run(queue->first, loop);
  assert(rc == 0);
  (void)rc;
}

/* A job that runs again belongs to the pool, so this function does not touch it
 * afterwards. */
static void on_worked(uv_work_t *request, int status) {
  uvperf__job_t *job = (uvperf__job_t *)request;
  job_queue_t *queue = job->queue;
  uv_loop_t *loop = request->loop;
  int is_done = job->is_done;

  (void)status;
  if (is_parents(job))
    return;
  if (queue != NULL) {
    pop(queue);
    if (!is_done)
      push(queue, job);
    run_first(queue, loop);
  } else if (!is_done) {
    run(job, loop);
  }
  if (is_done)
    job->done(job);
}

int uvperf__job_begin(uv_loop_t *loop, uvperf__job_t *job) {
  int rc = uvperf__threads_check();

  if (rc != 0)
    return rc;
  job->queue = queue_of(loop);
  job->process = uvperf__process();
  if (job->queue == NULL)
    return run(job, loop);
  if (job->queue->first == NULL)
    rc = run(job, loop);
  if (rc == 0)
    push(job->queue, job);
  else
    atomic_store(&job->queue->loop, NULL);
  return rc;
}

int uvperf__job_begin_or(uv_loop_t *loop, uvperf__job_t *job,
                         uvperf_error_t *error) {
  int rc = uvperf__job_begin(loop, job);

  return rc == 0
             ? 0
             : uvperf__error_set(error, rc, UVPERF_CAUSE_MEMORY,
                                 "libuv's thread pool cannot be used; leave "
                                 "the callback out, then no thread is "
                                 "needed");
}
