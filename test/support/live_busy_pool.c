/* SPDX-License-Identifier: MIT */
#include "live_busy_pool.h"

#include "support.h"

static void wait_for_go(uv_work_t *request) {
  live_busy_pool_t *busy = (live_busy_pool_t *)request;

  while (sem_wait(&busy->go) != 0)
    continue;
}

static void forget(uv_work_t *request, int status) {
}

void live_busy_pool_begin(live_busy_pool_t *busy, uv_loop_t *loop) {
  assert_int_equal(sem_init(&busy->go, 0, 0), 0);
  assert_int_equal(uv_queue_work(loop, &busy->work, wait_for_go, forget), 0);
}

void live_busy_pool_end(live_busy_pool_t *busy) {
  sem_post(&busy->go);
}
