/* SPDX-License-Identifier: MIT */
/* Live: handles whose events close slowly. libuv's thread pool, which has one
 * thread here, closes them, and the loop continues. */
#include "live_set.h"

#include <stdlib.h>

#include "live_busy_pool.h"
#include "uvperf/event.h"

#define NR_EVENTS 8 /* tracepoints on each CPU */

/* -- closing --------------------------------------------------------------- */

static void open_tracepoints(const char *test, uv_loop_t *loop,
                             live_set_t *live) {
  uint64_t id = support_need_tracepoint(test, LIVE_SYSCALL);
  live_plan_t plan;
  size_t i;

  support_need_cpu_wide(test);
  live_plan_begin(&plan);
  for (i = 0; i < NR_EVENTS; i++)
    live_plan_syscall(&plan, id);
  live_plan_target(&plan, UVPERF_TARGET_CPUS);
  live_set_begin(loop, live, &plan.options);
}

static void set_of_many_events_closes_all(void **state) {
  size_t fds = support_count_fds();
  uvperf_target_t *target;
  live_plan_t plan;
  live_set_t live;
  size_t i;

  support_need_own_events(__func__);
  live_plan_begin(&plan);
  live_plan_software(&plan, PERF_COUNT_SW_PAGE_FAULTS);
  plan.attrs[0].exclude_kernel = 1;
  target = live_plan_target(&plan, UVPERF_TARGET_SELF);
  live_set_open(*state, &live, &plan.options);
  for (i = 0; i < 100; i++)
    assert_int_equal(uvperf_set_add(&live.set, target, NULL, NULL, NULL), 0);
  live_set_close(&live);
  assert_int_equal(support_count_fds(), fds);
}

/* -- a pool that is busy --------------------------------------------------- */

/* Only the hub's handles are there, which it closes itself. */
static void leave_alone(uv_handle_t *handle, void *nr) {
  *(int *)nr += !uvperf_walk_close(handle);
}

static void close_waits_while_the_pool_is_busy(void **state) {
  size_t fds = support_count_fds();
  live_busy_pool_t busy;
  live_set_t live;
  int handles = 0;

  open_tracepoints(__func__, *state, &live);
  live_busy_pool_begin(&busy, *state);
  uvperf_close(&live.set.handle, live_set_on_close);
  live_run_ms(*state, 20);
  assert_int_equal(live.closed, 0);
  assert_int_equal(uvperf_is_closing(&live.set.handle), 1);
  uv_walk(*state, leave_alone, &handles);
  assert_int_equal(handles, 0);
  assert_int_equal(uv_loop_close(*state), UV_EBUSY);
  live_busy_pool_end(&busy);
  live_set_wait_closed(&live);
  assert_int_equal(support_count_fds(), fds);
}

/* The parent's jobs are not the child's, but libuv counts them: the loop cannot
 * be closed. */
static int close_another(void *loop) {
  live_set_t live;

  if (uv_loop_fork(loop) != 0)
    return 1;
  open_tracepoints(__func__, loop, &live);
  live_set_close(&live);
  return uv_loop_close(loop) == UV_EBUSY ? 0 : 2;
}

static void child_forked_while_events_close_closes_others(void **state) {
  live_busy_pool_t busy;
  live_set_t live;
  pid_t child;

  open_tracepoints(__func__, *state, &live);
  live_busy_pool_begin(&busy, *state);
  uvperf_close(&live.set.handle, live_set_on_close);
  live_run_ms(*state, 5);
  child = support_fork(close_another, *state);
  assert_int_equal(support_wait(child), 0);
  live_busy_pool_end(&busy);
  live_set_wait_closed(&live);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      support_loop_test(set_of_many_events_closes_all),
      support_loop_test(close_waits_while_the_pool_is_busy),
      support_loop_test(child_forked_while_events_close_closes_others),
  };

  setenv("UV_THREADPOOL_SIZE", "1", 1);
  return cmocka_run_group_tests(tests, NULL, NULL);
}
