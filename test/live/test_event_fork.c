/* SPDX-License-Identifier: MIT */
/* Live: a forked child has the parent's fds and epoll but not its rings. */
#include "live.h"

#include <signal.h>
#include <unistd.h>

/* A child that follows the rules: uv_loop_fork, close, run. */
static int child_by_the_rules(void *arg) {
  live_collector_t *collector = arg;
  uv_loop_t *loop = collector->event.handle.loop;
  uvperf_count_t count;
  uint64_t id;

  if (uv_loop_fork(loop) != 0)
    return 1;
  if (uvperf_enable(&collector->event.handle, 0, NULL) != UV_EPERM ||
      uvperf_disable(&collector->event.handle, 0, NULL) != UV_EPERM ||
      uvperf_reset(&collector->event.handle, 0, NULL) != UV_EPERM ||
      uvperf_event_read(&collector->event, &count, NULL) != UV_EPERM ||
      uvperf_event_id(&collector->event, &id) != UV_EPERM)
    return 2;
  if (uvperf_stop(&collector->event.handle) != UV_EPERM ||
      uvperf_flush(&collector->event.handle) != UV_EPERM ||
      uvperf_start(&collector->event.handle, NULL, live_on_record, NULL) !=
          UV_EPERM)
    return 3;
  uvperf_close(&collector->event.handle, NULL);
  while (uv_run(loop, UV_RUN_DEFAULT) != 0)
    continue;
  if (collector->comms != 0 || collector->event.handle.impl != NULL)
    return 4;
  return uv_loop_close(loop) == 0 ? 0 : 5;
}

/* Makes a child, as support_run_with_same_pid does. */
typedef int (*run_child_fn)(const char *test, support_child_fn run, void *arg);

static void parent_is_left_alone(uv_loop_t *loop, const char *test,
                                 run_child_fn run) {
  live_collector_t collector;
  uint64_t next = 0;

  live_init_comm(loop, &collector);
  live_start(&collector, NULL);
  live_comm(&next, 3);
  assert_int_equal(run(test, child_by_the_rules, &collector), 0);
  assert_true(live_run_until(loop, &collector.comms, 3));
  live_comm(&next, 100);
  assert_true(live_run_until(loop, &collector.comms, 103));
  assert_int_equal(collector.out_of_order, 0);
  live_close(&collector);
}

static int run_forked(const char *test, support_child_fn run, void *arg) {
  (void)test;
  return support_wait(support_fork(run, arg));
}

/* P19: neither the parent's events nor its epoll registration are touched. */
static void event_forked_child_closes_leaves_parent_alone(void **state) {
  support_need_own_events(__func__);
  parent_is_left_alone(*state, __func__, run_forked);
}

static int run_cloned(const char *test, support_child_fn run, void *arg) {
  (void)test;
  return support_wait(support_clone(run, arg));
}

static void event_cloned_child_closes_leaves_parent_alone(void **state) {
  support_need_own_events(__func__);
  parent_is_left_alone(*state, __func__, run_cloned);
}

static void event_child_with_the_same_pid_leaves_parent_alone(void **state) {
  support_need_own_events(__func__);
  parent_is_left_alone(*state, __func__, support_run_with_same_pid);
}

/* One that forgets to close: it delivers nothing and does not die of the ring
 * that it has not got. */
static void event_forked_child_runs_loop_delivers_nothing(void **state) {
  uvperf_stream_options_t options = UVPERF_STREAM_OPTIONS_INIT;
  live_collector_t collector;
  uint64_t next = 0;
  pid_t pid;

  support_need_own_events(__func__);
  live_init_comm(*state, &collector);
  options.flush_ms = 1;
  live_start(&collector, &options);
  live_comm(&next, 3);
  pid = fork();
  if (pid == 0) {
    if (uv_loop_fork(*state) != 0)
      _exit(1);
    live_run_ms(*state, 20);
    if (collector.comms != 0)
      _exit(2);
    _exit(child_by_the_rules(&collector));
  }
  assert_int_equal(support_wait(pid), 0);
  assert_true(live_run_until(*state, &collector.comms, 3));
  live_close(&collector);
}

static void event_forked_child_cannot_join_parents_group(void **state) {
  uvperf_event_options_t options = UVPERF_EVENT_OPTIONS_INIT;
  live_collector_t collector;
  struct perf_event_attr attr;
  uvperf_event_t sibling;
  pid_t pid;

  support_need_own_events(__func__);
  live_init_comm(*state, &collector);
  live_comm_attr(&attr);
  options.leader = &collector.event;
  pid = fork();
  if (pid == 0) {
    uv_loop_fork(*state);
    _exit(uvperf_event_init(*state, &sibling, &attr, &options, NULL) == UV_EPERM
              ? 0
              : 1);
  }
  assert_int_equal(support_wait(pid), 0);
  live_close(&collector);
}

/* After its third record it forks, and the child closes the handle in the midst
 * of the drain. The record itself is in the ring that the child lacks. */
static void fork_after_third(uvperf_handle_t *handle, int status,
                             const uvperf_record_t *record) {
  live_collector_t *collector = handle->data;
  pid_t *pid = collector->hook_data;

  live_on_record(handle, status, record);
  if (collector->comms != 3 || *pid != -1)
    return;
  *pid = fork();
  if (*pid == 0 && uv_loop_fork(handle->loop) != 0)
    _exit(1);
  if (*pid == 0)
    uvperf_close(handle, NULL);
}

static void open_to_fork_after_third(uv_loop_t *loop,
                                     live_collector_t *collector, pid_t *pid) {
  uint64_t next = 0;

  *pid = -1;
  live_init_comm(loop, collector);
  collector->hook_data = pid;
  assert_int_equal(
      uvperf_start(&collector->event.handle, NULL, fork_after_third, NULL), 0);
  live_comm(&next, 10);
}

/* The rest for a child that has closed the handle. */
static int child_after_close(live_collector_t *collector) {
  uv_loop_t *loop = collector->event.handle.loop;

  while (uv_run(loop, UV_RUN_DEFAULT) != 0)
    continue;
  if (collector->comms != 3 || collector->event.handle.impl != NULL)
    return 2;
  return uv_loop_close(loop) == 0 ? 0 : 3;
}

static void event_forked_in_turn_child_closes_parent_gets_all(void **state) {
  live_collector_t collector;
  pid_t pid;

  support_need_own_events(__func__);
  open_to_fork_after_third(*state, &collector, &pid);
  while (pid == -1)
    uv_run(*state, UV_RUN_NOWAIT);
  if (pid == 0)
    _exit(child_after_close(&collector));
  assert_int_equal(support_wait(pid), 0);
  assert_true(live_run_until(*state, &collector.comms, 10));
  live_close(&collector);
}

static void event_forked_in_flush_child_closes_parent_gets_all(void **state) {
  live_collector_t collector;
  pid_t pid;

  support_need_own_events(__func__);
  open_to_fork_after_third(*state, &collector, &pid);
  assert_int_equal(uvperf_flush(&collector.event.handle), 0);
  if (pid == 0)
    _exit(child_after_close(&collector));
  assert_int_equal(support_wait(pid), 0);
  assert_int_equal(collector.comms, 10);
  live_close(&collector);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      support_loop_test(event_forked_child_closes_leaves_parent_alone),
      support_loop_test(event_cloned_child_closes_leaves_parent_alone),
      support_loop_test(event_child_with_the_same_pid_leaves_parent_alone),
      support_loop_test(event_forked_child_runs_loop_delivers_nothing),
      support_loop_test(event_forked_child_cannot_join_parents_group),
      support_loop_test(event_forked_in_turn_child_closes_parent_gets_all),
      support_loop_test(event_forked_in_flush_child_closes_parent_gets_all),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
