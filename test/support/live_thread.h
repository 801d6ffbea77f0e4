/* SPDX-License-Identifier: MIT */
/* A thread that works when it is told to: a target that is neither the thread
 * of the loop nor another process. Waiting is by semaphores alone (futex), so
 * that no other system call of it is seen by a tracepoint. */
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

/* Starts it; it waits to be told. Like all of these it fails no test and may be
 * called on any thread: what cannot be is an abort. */
void live_thread_start(live_thread_t *thread, void (*work)(void *), void *arg);
/* Tells it to work once. */
void live_thread_go(live_thread_t *thread);
/* Waits until it has. */
void live_thread_wait(live_thread_t *thread);
/* Both. */
void live_thread_do(live_thread_t *thread);
/* Has it return, and waits until the kernel knows it no more. */
void live_thread_end(live_thread_t *thread);

#endif
