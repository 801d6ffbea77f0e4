/* SPDX-License-Identifier: MIT */
/* Makes threads to check whether libuv can make the threads of its pool. */
#include "loop/threads.h"

#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>

#include <uv.h>

#include "sys/fork.h"
#include "util/alloc.h"

/* The same values as in src/threadpool.c of libuv. */
#define POOL_THREADS     4
#define MAX_POOL_THREADS 1024

/* The process that can make the threads of a pool, or has made them. */
static _Atomic(uint32_t) able_process;

static size_t nr_pool_threads(void) {
  const char *text = getenv("UV_THREADPOOL_SIZE");
  int nr = text == NULL ? POOL_THREADS : atoi(text);

  if (nr <= 0)
    return 1;
  return nr > MAX_POOL_THREADS ? MAX_POOL_THREADS : (size_t)nr;
}

static void wait_for_end(void *arg) {
  uv_sem_wait(arg);
}

/* Makes as many threads at once as libuv does at the first request of a
 * process. libuv calls abort(3) if it cannot (init_threads in
 * src/threadpool.c). */
static int try_threads(uv_thread_t *threads, size_t nr) {
  uv_sem_t end;
  size_t made = 0;
  size_t i;
  int rc = uv_sem_init(&end, 0);

  if (rc != 0)
    return rc;
  while (rc == 0 && made < nr) {
    rc = uv_thread_create(&threads[made], wait_for_end, &end);
    made += rc == 0;
  }
  for (i = 0; i < made; i++)
    uv_sem_post(&end);
  for (i = 0; i < made; i++)
    uv_thread_join(&threads[i]);
  uv_sem_destroy(&end);
  return rc;
}

int uvperf__threads_check(void) {
  uint32_t process = uvperf__process();
  size_t nr = nr_pool_threads();
  uv_thread_t *threads;
  int rc;

  if (atomic_load(&able_process) == process)
    return 0;
  /* libuv may not know that it has no threads here, because its handler of
   * pthread_atfork(3) did not run (reset_once in src/threadpool.c). It would
   * never run a request. */
  if (uvperf__process_is_cloned())
    return UV_ENOTSUP;
  threads = uvperf__calloc(nr, sizeof(*threads));
  if (threads == NULL)
    return UV_ENOMEM;
  rc = try_threads(threads, nr);
  uvperf__free(threads);
  if (rc == 0)
    atomic_store(&able_process, process);
  return rc;
}
