/* SPDX-License-Identifier: MIT */
/* A set that reads at an interval is closed, by the user and by other code, and
 * forked. */
#include "live_set.h"

#include <unistd.h>

#include "fake_kernel.h"

/* Two dummies of the calling thread: any user may have them. */
static void plan_own(live_plan_t *plan) {
  live_plan_begin(plan);
  live_plan_software(plan, PERF_COUNT_SW_DUMMY);
  plan->attrs[0].exclude_kernel = 1;
  live_plan_software(plan, PERF_COUNT_SW_DUMMY);
  plan->attrs[1].exclude_kernel = 1;
  live_plan_target(plan, UVPERF_TARGET_SELF);
}

static void open_own(uv_loop_t *loop, live_set_t *live) {
  live_plan_t plan;

  plan_own(&plan);
  live_set_begin(loop, live, &plan.options);
}

static void start(live_set_t *live) {
  assert_int_equal(uvperf_set_read_start(&live->set, 1, live_set_on_read, NULL),
                   0);
}

static void run_to_end(uv_loop_t *loop) {
  int turns;

  for (turns = 0; uv_run(loop, UV_RUN_NOWAIT) != 0 && turns < 100; turns++)
    continue;
  assert_in_range(turns, 0, 99);
}

static void set_close_ends_readings_at_once(void **state) {
  live_set_t live;

  support_need_own_events(__func__);
  open_own(*state, &live);
  start(&live);
  assert_true(live_run_until(*state, &live.callbacks, 1));
  live.callbacks = 0;
  uvperf_close(&live.set.handle, live_set_on_close);
  assert_int_equal(uvperf_is_closing(&live.set.handle), 1);
  assert_int_equal(uvperf_is_active(&live.set.handle), 0);
  live_run_ms(*state, 10);
  assert_int_equal(live.callbacks, 0);
  assert_int_equal(live.closed, 1);
  assert_int_equal(uvperf_is_closing(&live.set.handle), 1);
  uvperf_reading_free(live.reading);
  fake_assert_clean();
}

/* Closes the set in hook_data, and runs the loop. */
static void close_set(live_collector_t *collector,
                      const uvperf_record_t *record) {
  live_set_t *live = collector->hook_data;

  uvperf_close(&live->set.handle, live_set_on_close);
  while (live->closed == 0)
    uv_run(collector->event.handle.loop, UV_RUN_NOWAIT);
}

static void flush_event(live_set_t *live) {
  live_collector_t *collector = live->hook_data;

  assert_int_equal(uvperf_flush(&collector->event.handle), 0);
}

static void set_closed_by_a_flush_in_its_read_callback_is_clean(void **state) {
  live_collector_t collector;
  uint64_t next = 0;
  live_set_t live;

  support_need_own_events(__func__);
  live_init_comm(*state, &collector);
  collector.hook = close_set;
  collector.hook_data = &live;
  live_start(&collector, NULL);
  assert_int_equal(uvperf_stop(&collector.event.handle), 0);
  live_comm(&next, 1);
  open_own(*state, &live);
  live.hook = flush_event;
  live.hook_data = &collector;
  start(&live);
  assert_true(live_run_until(*state, &live.callbacks, 1));
  assert_int_equal(live.closed, 1);
  assert_int_equal(collector.comms, 1);
  live_close(&collector);
  uvperf_reading_free(live.reading);
  fake_assert_clean();
}

/* -- teardown by others --------------------------------------------------- */

static void uv_close_all(uv_handle_t *handle, void *arg) {
  if (!uv_is_closing(handle))
    uv_close(handle, NULL);
}

/* It can still be read and controlled, but not on the loop. */
static void set_closed_after_others_closed_its_timer_frees_all(void **state) {
  size_t fds = support_count_fds();
  live_set_t live;

  support_need_own_events(__func__);
  open_own(*state, &live);
  start(&live);
  uv_walk(*state, uv_close_all, NULL);
  run_to_end(*state);
  assert_int_equal(live.closed, 0);
  assert_int_equal(uvperf_set_read_start(&live.set, 1, live_set_on_read, NULL),
                   UV_EALREADY);
  assert_int_equal(uvperf_set_read_stop(&live.set), 0);
  assert_int_equal(uvperf_set_read_start(&live.set, 1, live_set_on_read, NULL),
                   UV_EINVAL);
  assert_int_equal(uvperf_is_active(&live.set.handle), 0);
  assert_int_equal(live_set_read(&live, 0).state, UVPERF_COUNT_COUNTING);
  assert_int_equal(uvperf_disable(&live.set.handle, UVPERF_ALL, NULL), 0);
  live_set_close(&live);
  assert_int_equal(support_count_fds(), fds);
  fake_assert_clean();
}

/* -- forked children ------------------------------------------------------ */

static void open_syscalls(const char *test, uv_loop_t *loop, live_set_t *live) {
  live_plan_t plan;

  live_plan_begin(&plan);
  live_plan_syscall(&plan, support_need_tracepoint(test, LIVE_SYSCALL));
  live_plan_target(&plan, UVPERF_TARGET_SELF);
  live_set_begin(loop, live, &plan.options);
  assert_int_equal(uvperf_set_read_start(&live->set, 1, live_set_on_read, NULL),
                   0);
}

/* A child that follows the rules: uv_loop_fork, close, run. */
static int child_by_the_rules(live_set_t *live) {
  uv_loop_t *loop = live->set.handle.loop;

  if (uv_loop_fork(loop) != 0)
    return 1;
  if (uvperf_set_read_start(&live->set, 1, live_set_on_read, NULL) !=
          UV_EPERM ||
      uvperf_set_nr_open(&live->set) != 1)
    return 2;
  uvperf_close(&live->set.handle, NULL);
  while (uv_run(loop, UV_RUN_DEFAULT) != 0)
    continue;
  if (live->callbacks != 0 || live->set.handle.impl != NULL)
    return 3;
  return uv_loop_close(loop) == 0 ? 0 : 4;
}

static int run_child(void *arg) {
  return child_by_the_rules(arg);
}

static void set_forked_child_closes_leaves_parent_alone(void **state) {
  live_set_t live;

  open_syscalls(__func__, *state, &live);
  live_syscall(3);
  assert_int_equal(support_wait(support_fork(run_child, &live)), 0);
  live_syscall(4);
  assert_int_equal(live_set_read(&live, 0).value, 7);
  assert_true(live_run_until(*state, &live.callbacks, 1));
  assert_int_equal(live.total.value, 7);
  assert_int_equal(live.sum, 7);
  live_set_close(&live);
}

/* Forks in its first callback; the child closes there, or does not. */
static void fork_in_callback(live_set_t *live) {
  pid_t *pid = live->hook_data;

  if (*pid != -1)
    return;
  fflush(NULL);
  *pid = fork();
  if (*pid != 0)
    return;
  if (uv_loop_fork(live->set.handle.loop) != 0)
    _exit(1);
  uvperf_close(&live->set.handle, NULL);
}

static void set_forked_in_callback_child_closes_parent_goes_on(void **state) {
  uv_loop_t *loop = *state;
  live_set_t live;
  pid_t pid = -1;

  open_syscalls(__func__, loop, &live);
  live.hook = fork_in_callback;
  live.hook_data = &pid;
  while (pid == -1)
    uv_run(loop, UV_RUN_ONCE);
  if (pid == 0) {
    while (uv_run(loop, UV_RUN_DEFAULT) != 0)
      continue;
    _exit(live.callbacks == 1 && live.set.handle.impl == NULL &&
                  uv_loop_close(loop) == 0
              ? 0
              : 2);
  }
  assert_int_equal(support_wait(pid), 0);
  live_syscall(5);
  live.sum = 0;
  assert_true(live_run_until(loop, &live.callbacks, live.callbacks + 1));
  assert_int_equal(live.sum, 5);
  live_set_close(&live);
}

#define SET_CLOSE(test)                                                        \
  support_loop_test_setup_teardown(test, fake_kernel_loop_setup,               \
                                   fake_kernel_loop_teardown)

int main(void) {
  const struct CMUnitTest tests[] = {
      SET_CLOSE(set_close_ends_readings_at_once),
      SET_CLOSE(set_closed_by_a_flush_in_its_read_callback_is_clean),
      SET_CLOSE(set_closed_after_others_closed_its_timer_frees_all),
      SET_CLOSE(set_forked_child_closes_leaves_parent_alone),
      SET_CLOSE(set_forked_in_callback_child_closes_parent_goes_on),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
