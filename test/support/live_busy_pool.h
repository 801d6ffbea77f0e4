/* SPDX-License-Identifier: MIT */
/* Keeps a thread of libuv's pool busy until the test releases it. It is the
 * only thread if UV_THREADPOOL_SIZE is 1. */
#ifndef UVPERF_TEST_LIVE_BUSY_POOL_H
#define UVPERF_TEST_LIVE_BUSY_POOL_H

#include <semaphore.h>

#include <uv.h>

typedef struct live_busy_pool_s {
  uv_work_t work;
  sem_t go;
} live_busy_pool_t;

/* `busy` must not move until the loop has run after live_busy_pool_end. */
void live_busy_pool_begin(live_busy_pool_t *busy, uv_loop_t *loop);
void live_busy_pool_end(live_busy_pool_t *busy);

#endif
