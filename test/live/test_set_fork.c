/* SPDX-License-Identifier: MIT */
/* Live: a forked child has a copy of the parent's set, whose events are not its
 * own. */
#include "live_set.h"

#include <unistd.h>

static void open_syscalls(const char *test, uv_loop_t *loop, live_set_t *live) {
  live_plan_t plan;

  live_plan_begin(&plan);
  live_plan_syscall(&plan, support_need_tracepoint(test, LIVE_SYSCALL));
  live_plan_target(&plan, UVPERF_TARGET_SELF);
  live_set_begin(loop, live, &plan.options);
  assert_int_equal(uvperf_set_read_start(&live->set, 1, live_set_on_read, NULL),
                   0);
}

/* Whether every function except the getters fails. */
static int is_refused(live_set_t *live) {
  uvperf_target_t target = UVPERF_TARGET_INIT;
  uvperf_set_t *set = &live->set;
  uvperf_error_t error;
  uint32_t index;

  return uvperf_enable(&set->handle, UVPERF_ALL, &error) == UV_EPERM &&
         error.cause == UVPERF_CAUSE_ARGUMENT &&
         uvperf_disable(&set->handle, UVPERF_ALL, NULL) == UV_EPERM &&
         uvperf_reset(&set->handle, UVPERF_ALL, NULL) == UV_EPERM &&
         uvperf_set_read(set, live->reading, NULL) == UV_EPERM &&
         uvperf_set_read_start(set, 1, live_set_on_read, NULL) == UV_EPERM &&
         uvperf_set_read_stop(set) == UV_EPERM &&
         uvperf_set_add(set, &target, NULL, &index, NULL) == UV_EPERM &&
         uvperf_set_remove(set, 0, NULL, NULL) == UV_EPERM &&
         uvperf_apply_filter(&set->handle, 0, "pid == 1", NULL) == UV_EPERM &&
         uvperf_change_period(&set->handle, 0, 1, NULL) == UV_EPERM &&
         uvperf_attach_bpf(&set->handle, 0, 0, 0, NULL) == UV_EPERM;
}

static int getters_tell(const live_set_t *live) {
  const uvperf_set_t *set = &live->set;
  size_t nr_failures, nr_changes;

  uvperf_set_failures(set, &nr_failures);
  uvperf_changes(&set->handle, 0, &nr_changes);
  return nr_failures == 0 && nr_changes == 0 && uvperf_set_nr_attrs(set) == 1 &&
         uvperf_set_nr_open(set) == 1 && uvperf_set_item(set, 0) != NULL;
}

/* A child that follows the rules: uv_loop_fork, close, run. */
static int child_by_the_rules(live_set_t *live) {
  uv_loop_t *loop = live->set.handle.loop;

  if (uv_loop_fork(loop) != 0)
    return 1;
  if (!is_refused(live))
    return 2;
  if (!getters_tell(live))
    return 3;
  uvperf_close(&live->set.handle, NULL);
  while (uv_run(loop, UV_RUN_DEFAULT) != 0)
    continue;
  if (live->callbacks != 0 || live->set.handle.impl != NULL)
    return 4;
  return uv_loop_close(loop) == 0 ? 0 : 5;
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

static void set_child_with_the_same_pid_leaves_parent_alone(void **state) {
  live_set_t live;

  open_syscalls(__func__, *state, &live);
  live_syscall(3);
  assert_int_equal(support_run_with_same_pid(__func__, run_child, &live), 0);
  live_syscall(4);
  assert_int_equal(live_set_read(&live, 0).value, 7);
  live_set_close(&live);
}

/* A child that forgets to close: it calls nothing back, and its loop ends. */
static int run_without_close(void *arg) {
  live_set_t *live = arg;
  uv_loop_t *loop = live->set.handle.loop;

  if (uv_loop_fork(loop) != 0)
    return 1;
  if (uv_run(loop, UV_RUN_DEFAULT) != 0)
    return 2;
  if (live->callbacks != 0 || uvperf_is_active(&live->set.handle))
    return 3;
  return 0;
}

static void set_forked_child_runs_loop_delivers_nothing(void **state) {
  live_set_t live;

  open_syscalls(__func__, *state, &live);
  assert_int_equal(support_wait(support_fork(run_without_close, &live)), 0);
  live_syscall(2);
  assert_true(live_run_until(*state, &live.callbacks, 1));
  assert_int_equal(live.sum, 2);
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

int main(void) {
  const struct CMUnitTest tests[] = {
      support_loop_test(set_forked_child_closes_leaves_parent_alone),
      support_loop_test(set_child_with_the_same_pid_leaves_parent_alone),
      support_loop_test(set_forked_child_runs_loop_delivers_nothing),
      support_loop_test(set_forked_in_callback_child_closes_parent_goes_on),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
