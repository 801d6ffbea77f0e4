/* SPDX-License-Identifier: MIT */
/* A thread makes as many threads as libuv will, and ends them. It does not make
 * the pool too: the program may end meanwhile, or call uv_library_shutdown,
 * which joins the threads of the pool. */
#include "loop/threads.h"

#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>

#include <uv.h>

#include "sys/fork.h"

/* The same values as in src/threadpool.c of libuv. */
#define POOL_THREADS     4u
#define MAX_POOL_THREADS 1024u
#define POOL_STACK       (UINT32_C(8) << 20)
/* The version from which on libuv chooses the size of the stacks. */
#define POOL_STACK_SINCE 0x012d00u

/* What is known in a process. Only threads that call change it. */
enum {
  TRIAL_NONE = 0, /* it has not begun, or has failed */
  TRIAL_BEGINS,
  TRIAL_RUNS,
  TRIAL_ENDS, /* a thread that called joins it */
  TRIAL_ABLE  /* the threads can be made */
};
#define TRIAL_BITS 3

/* A forked child makes a trial of its own. */
static struct {
  _Atomic(uint32_t) state; /* of a process: see trial_state */
  _Atomic(int) is_over;
  _Atomic(int) code;
  _Atomic(int) joins_at_exit; /* join_at_exit was registered */
  unsigned int nr;            /* threads of the pool */
  uv_thread_t thread;
} trial;

static uint32_t trial_state(uint32_t state) {
  return uvperf__process() << TRIAL_BITS | state;
}

static int trial_go(uint32_t from, uint32_t to) {
  from = trial_state(from);
  return atomic_compare_exchange_strong(&trial.state, &from, trial_state(to));
}

/* -- the thread ----------------------------------------------------------- */

/* libuv takes a negative number for a great one. */
static unsigned int nr_pool_threads(void) {
  const char *text = getenv("UV_THREADPOOL_SIZE");
  unsigned int nr = text == NULL ? POOL_THREADS : (unsigned int)atoi(text);

  if (nr == 0)
    return 1;
  return nr > MAX_POOL_THREADS ? MAX_POOL_THREADS : nr;
}

static void wait_for_end(void *arg) {
  uv_sem_wait(arg);
}

/* Makes as many threads at once as libuv does (init_threads in
 * src/threadpool.c). */
static int try_threads(unsigned int nr) {
  uv_thread_options_t options = {.flags = UV_THREAD_HAS_STACK_SIZE};
  uv_thread_t threads[MAX_POOL_THREADS];
  uv_sem_t end;
  unsigned int made = 0;
  unsigned int i;
  int rc = uv_sem_init(&end, 0);

  if (rc != 0)
    return rc;
  options.stack_size = uv_version() < POOL_STACK_SINCE ? 0 : POOL_STACK;
  while (rc == 0 && made < nr) {
    rc = uv_thread_create_ex(&threads[made], &options, wait_for_end, &end);
    made += rc == 0;
  }
  for (i = 0; i < made; i++)
    uv_sem_post(&end);
  for (i = 0; i < made; i++)
    uv_thread_join(&threads[i]);
  uv_sem_destroy(&end);
  return rc;
}

static void trial_run(void *arg) {
  (void)arg;
  atomic_store(&trial.code, try_threads(trial.nr));
  atomic_store(&trial.is_over, 1);
}

/* -- for the loops -------------------------------------------------------- */

static int trial_join(void) {
  int rc;

  uv_thread_join(&trial.thread);
  rc = atomic_load(&trial.code);
  atomic_store(&trial.state, trial_state(rc == 0 ? TRIAL_ABLE : TRIAL_NONE));
  return rc;
}

/* dlclose(3) would unmap the code that it runs, and a leak checker cannot stop
 * threads that are being made. If all other threads have called
 * pthread_exit(3), it calls this itself. */
static void join_at_exit(void) {
  uv_thread_t self = uv_thread_self();

  if (trial_go(TRIAL_RUNS, TRIAL_ENDS) &&
      !uv_thread_equal(&self, &trial.thread))
    trial_join();
}

static int trial_begin(void) {
  uint32_t state = atomic_load(&trial.state);
  int rc;

  if (state == trial_state(TRIAL_ABLE))
    return 0;
  /* libuv may not know that it has no threads here, because its handler of
   * pthread_atfork(3) did not run (reset_once in src/threadpool.c). It would
   * never run a request. */
  if (uvperf__process_is_cloned())
    return UV_ENOTSUP;
  if (state != trial_state(TRIAL_NONE) &&
      state >> TRIAL_BITS == uvperf__process())
    return UV_EBUSY;
  if (!atomic_compare_exchange_strong(&trial.state, &state,
                                      trial_state(TRIAL_BEGINS)))
    return UV_EBUSY;
  if (!atomic_exchange(&trial.joins_at_exit, 1))
    atexit(join_at_exit);
  atomic_store(&trial.is_over, 0);
  trial.nr = nr_pool_threads(); /* here, as the program may change it */
  rc = uv_thread_create(&trial.thread, trial_run, NULL);
  if (rc != 0)
    atomic_store(&trial.code, rc);
  atomic_store(&trial.state, trial_state(rc == 0 ? TRIAL_RUNS : TRIAL_NONE));
  return rc == 0 ? UV_EBUSY : rc;
}

static int trial_check(void) {
  uint32_t state = atomic_load(&trial.state);

  if (state == trial_state(TRIAL_ABLE))
    return 0;
  if (state == trial_state(TRIAL_NONE))
    return atomic_load(&trial.code);
  if (atomic_load(&trial.is_over) && trial_go(TRIAL_RUNS, TRIAL_ENDS))
    return trial_join();
  return UV_EBUSY;
}

int uvperf__threads_begin(void) {
  return trial_begin();
}

int uvperf__threads_check(void) {
  return trial_check();
}

int uvperf__threads_wait(void) {
  int rc = trial_begin();

  while (rc == UV_EBUSY) {
    if (trial_go(TRIAL_RUNS, TRIAL_ENDS))
      return trial_join();
    /* Another thread begins or joins it, perhaps at a lower priority. */
    uv_sleep(1);
    rc = trial_check();
  }
  return rc;
}
