/* SPDX-License-Identifier: MIT */
#include "live_thread.h"

#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

static void run(void *arg) {
  live_thread_t *thread = arg;

  thread->tid = live_tid();
  uv_sem_post(&thread->done);
  for (;;) {
    uv_sem_wait(&thread->go);
    if (thread->over)
      return;
    thread->work(thread->arg);
    uv_sem_post(&thread->done);
  }
}

void live_thread_start(live_thread_t *thread, void (*work)(void *), void *arg) {
  thread->work = work;
  thread->arg = arg;
  thread->over = 0;
  if (uv_sem_init(&thread->go, 0) != 0 || uv_sem_init(&thread->done, 0) != 0 ||
      uv_thread_create(&thread->thread, run, thread) != 0)
    abort();
  live_thread_wait(thread);
}

void live_thread_go(live_thread_t *thread) {
  uv_sem_post(&thread->go);
}

void live_thread_wait(live_thread_t *thread) {
  uv_sem_wait(&thread->done);
}

void live_thread_do(live_thread_t *thread) {
  live_thread_go(thread);
  live_thread_wait(thread);
}

void live_thread_end(live_thread_t *thread) {
  thread->over = 1;
  live_thread_go(thread);
  uv_thread_join(&thread->thread);
  /* pthread_join(3) returns before the kernel ends the thread's events. */
  while (syscall(SYS_tgkill, getpid(), thread->tid, 0) == 0)
    sched_yield();
  uv_sem_destroy(&thread->go);
  uv_sem_destroy(&thread->done);
}
