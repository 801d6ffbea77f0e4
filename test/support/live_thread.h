/* SPDX-License-Identifier: MIT */
/* A thread that works on request: a target that is neither the loop's thread
 * nor another process. It waits only with semaphores (futex), so that a
 * tracepoint sees no other system call of it. */
#ifndef UVPERF_TEST_LIVE_THREAD_H
#define UVPERF_TEST_LIVE_THREAD_H

#include "live.h"

typedef struct live_thread_s {
  uint32_t tid;
  void (*work)(void *arg);
  void *arg;
  uv_thread_t thread;
  uv_sem_t go;
  uv_sem_t done;
  int over;
} live_thread_t;

/* Starts the thread, which waits for a request. None of these functions fails
 * the test, so they may be called on any thread; if something is impossible
 * they abort. */
void live_thread_start(live_thread_t *thread, void (*work)(void *), void *arg);
/* Requests the work once. */
void live_thread_go(live_thread_t *thread);
/* Waits until it is done. */
void live_thread_wait(live_thread_t *thread);
/* Requests the work and waits. */
void live_thread_do(live_thread_t *thread);
/* Ends the thread, and waits until the kernel no longer knows it. */
void live_thread_end(live_thread_t *thread);

#endif
