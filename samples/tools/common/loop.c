/* SPDX-License-Identifier: MIT */
/* Opens a loop, and starts libuv's pool. Does each of the two only if libuv
 * would not abort. */
#include "common/loop.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/say.h"

/* libuv aborts if it cannot open its first fds: a pipe and an epoll set. */
static int has_fds(void) {
  int fds[4];
  size_t nr, i;

  for (nr = 0; nr < 4; nr++) {
    fds[nr] = dup(STDERR_FILENO);
    if (fds[nr] < 0)
      break;
  }
  for (i = 0; i < nr; i++)
    close(fds[i]);
  return nr == 4;
}

int common_loop_init(uv_loop_t *loop) {
  int rc = has_fds() ? uv_loop_init(loop) : UV_EMFILE;

  if (rc == 0)
    return 0;
  common_say("cannot open an event loop: %s%s\n", uv_strerror(rc),
             rc == UV_EMFILE ? ": raise the limit of open files (ulimit -n)"
                             : "");
  return 1;
}

/* The values of libuv's src/threadpool.c. */
#define POOL_THREADS     4
#define MAX_POOL_THREADS 1024

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

/* libuv aborts if it cannot make all threads of its pool (RLIMIT_NPROC,
 * pids.max, a seccomp filter). */
static int has_threads(void) {
  uv_thread_t threads[MAX_POOL_THREADS];
  size_t nr = nr_pool_threads(), made = 0, i;
  uv_sem_t end;

  if (uv_sem_init(&end, 0) != 0)
    return 0;
  while (made < nr && uv_thread_create(&threads[made], wait_for_end, &end) == 0)
    made++;
  for (i = 0; i < made; i++)
    uv_sem_post(&end);
  for (i = 0; i < made; i++)
    uv_thread_join(&threads[i]);
  uv_sem_destroy(&end);
  return made == nr;
}

static void do_nothing(uv_work_t *work) {
  (void)work;
}

void common_loop_start_pool(uv_loop_t *loop, uv_work_t *work) {
  sigset_t all, before;

  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, &before);
  if (has_threads())
    uv_queue_work(loop, work, do_nothing, NULL);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
}
