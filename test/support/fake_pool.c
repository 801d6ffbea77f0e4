/* SPDX-License-Identifier: MIT */
#include "fake_pool.h"

#include "support.h"

#include <uv.h>

#include "fake_script.h"
#include "loop/threads.h"

int __real_uv_queue_work(uv_loop_t *loop, uv_work_t *request, uv_work_cb work,
                         uv_after_work_cb after);

static struct {
  int is_made_later;
  int code; /* of making it */
  int is_held;
  int is_passed; /* to libuv */
  int is_worked; /* the work of the request is done */
  uv_work_t *request;
  uv_work_cb work;
  uv_after_work_cb after;
} pool;

int __wrap_uv_queue_work(uv_loop_t *loop, uv_work_t *request, uv_work_cb work,
                         uv_after_work_cb after) {
  if (!fake_is_scripted() || pool.is_passed)
    return __real_uv_queue_work(loop, request, work, after);
  if (!pool.is_held)
    return UV_ENOMEM;
  if (pool.request != NULL)
    fake_broken("a second request for the thread pool");
  request->loop = loop;
  pool.request = request;
  pool.work = work;
  pool.after = after;
  return 0;
}

int __real_uvperf__threads_begin(void);

int __wrap_uvperf__threads_begin(void) {
  if (!fake_is_scripted())
    return __real_uvperf__threads_begin();
  return pool.is_made_later ? UV_EBUSY : pool.code;
}

int __real_uvperf__threads_check(void);

int __wrap_uvperf__threads_check(void) {
  if (!fake_is_scripted())
    return __real_uvperf__threads_check();
  return __wrap_uvperf__threads_begin();
}

int __real_uvperf__threads_wait(void);

int __wrap_uvperf__threads_wait(void) {
  if (!fake_is_scripted())
    return __real_uvperf__threads_wait();
  pool.is_made_later = 0;
  return pool.code;
}

void fake_pool_make(int code) {
  pool.is_made_later = 1;
  pool.code = code;
}

void fake_pool_made(void) {
  pool.is_made_later = 0;
}

void fake_pool_reset(void) {
  memset(&pool, 0, sizeof(pool));
}

void fake_pool_hold(void) {
  pool.is_held = 1;
}

void fake_pool_pass(void) {
  pool.is_passed = 1;
}

int fake_pool_waits(void) {
  return pool.request != NULL;
}

void fake_pool_work(void) {
  uv_work_t *request = pool.request;

  assert_non_null(request);
  if (!pool.is_worked)
    pool.work(request);
  pool.is_worked = pool.request == request;
}

void fake_pool_hang(void) {
  assert_non_null(pool.request);
  pool.request = NULL;
}

void fake_pool_run(void) {
  uv_work_t *request = pool.request;
  uv_after_work_cb after = pool.after;

  fake_pool_work();
  if (pool.is_worked)
    pool.request = NULL;
  pool.is_worked = 0;
  after(request, 0);
}

void fake_pool_finish(void) {
  while (fake_pool_waits())
    fake_pool_run();
}
