/* SPDX-License-Identifier: MIT */
/* Live: the targets of a count: a child, a CPU, every task of a CPU, a cgroup,
 * or a program after its exec. */
#include "live.h"

#include <unistd.h>

static uint64_t read_value(live_collector_t *collector) {
  uvperf_count_t count;

  assert_int_equal(uvperf_event_read(&collector->event, &count, NULL), 0);
  return count.value;
}

static void count_syscalls(struct perf_event_attr *attr, uint64_t tracepoint) {
  live_syscall_attr(attr, tracepoint, 0);
  uvperf_attr_set_period(attr, 0);
}

static void call_four_times(void *arg) {
  live_syscall(4);
}

/* -- a task --------------------------------------------------------------- */

static void count_of_a_child_leaves_the_parent_out(void **state) {
  uvperf_event_options_t options = UVPERF_EVENT_OPTIONS_INIT;
  live_collector_t collector;
  struct perf_event_attr attr;
  live_worker_t worker;
  uint64_t id;

  id = support_need_tracepoint(__func__, LIVE_SYSCALL);
  live_worker_fork(&worker, call_four_times, NULL);
  count_syscalls(&attr, id);
  options.pid = worker.pid;
  live_begin(*state, &collector, &attr, &options, NULL, NULL);
  live_syscall(3);
  assert_int_equal(read_value(&collector), 0);
  live_worker_do(&worker);
  assert_int_equal(read_value(&collector), 4);
  live_worker_do(&worker);
  live_worker_end(&worker);
  assert_int_equal(read_value(&collector), 8);
  live_close(&collector);
}

static int call_twice(void *arg) {
  live_syscall(2);
  return 0;
}

/* The kernel adds the children's counts: perf_event_count(). */
static void count_of_an_inherited_event_has_the_childrens(void **state) {
  live_collector_t collector;
  struct perf_event_attr attr;
  uint64_t id;

  id = support_need_tracepoint(__func__, LIVE_SYSCALL);
  count_syscalls(&attr, id);
  attr.inherit = 1;
  live_begin(*state, &collector, &attr, NULL, NULL, NULL);
  live_syscall(3);
  assert_int_equal(support_wait(support_fork(call_twice, NULL)), 0);
  assert_int_equal(support_wait(support_fork(call_twice, NULL)), 0);
  assert_int_equal(read_value(&collector), 7);
  live_close(&collector);
}

static void call_or_exec(void *arg) {
  int *turn = arg;

  live_syscall(5);
  if (++*turn == 2)
    execl("/bin/true", "true", (char *)NULL);
}

static void count_with_enable_on_exec_starts_with_the_exec(void **state) {
  uvperf_event_options_t options = UVPERF_EVENT_OPTIONS_INIT;
  live_collector_t collector;
  struct perf_event_attr attr;
  live_worker_t worker;
  uvperf_count_t count;
  int turn = 0;

  support_need_own_events(__func__);
  live_worker_fork(&worker, call_or_exec, &turn);
  live_touch_attr(&attr, 0);
  uvperf_attr_set_period(&attr, 0);
  attr.enable_on_exec = 1;
  attr.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED;
  options.pid = worker.pid;
  live_init(*state, &collector, &attr, &options);
  live_start(&collector, NULL);
  live_worker_do(&worker);
  assert_int_equal(uvperf_event_read(&collector.event, &count, NULL), 0);
  assert_int_equal(count.value, 0);
  assert_int_equal(count.time_enabled, 0);
  live_worker_do(&worker);
  live_worker_end(&worker);
  assert_int_equal(uvperf_event_read(&collector.event, &count, NULL), 0);
  assert_in_range(count.value, 10, 10000);
  assert_int_not_equal(count.time_enabled, 0);
  live_close(&collector);
}

/* -- a CPU ---------------------------------------------------------------- */

/* event_filter_match() keeps it from running, not from being enabled: its times
 * do not show a shared PMU, and its count must not be scaled by them. */
static void count_on_one_cpu_is_enabled_on_the_others_too(void **state) {
  uvperf_event_options_t options = UVPERF_EVENT_OPTIONS_INIT;
  live_collector_t collector;
  struct perf_event_attr attr;
  uvperf_count_t there, back, delta;
  cpu_set_t old;
  cpu_set_t ignored;
  int cpus[2];

  support_need_breakpoints(__func__);
  if (live_cpus(cpus, 2) < 2)
    support_skip(__func__, "two CPUs");
  live_write_attr(&attr, 0);
  uvperf_attr_set_period(&attr, 0);
  attr.read_format =
      PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
  options.cpu = cpus[1];
  options.flags |= UVPERF_EVENT_CPU;
  live_pin(cpus[1], &old);
  live_begin(*state, &collector, &attr, &options, NULL, NULL);
  live_write(3);
  live_pin(cpus[0], &ignored);
  assert_int_equal(uvperf_event_read(&collector.event, &there, NULL), 0);
  live_write(4);
  assert_int_equal(uvperf_event_read(&collector.event, &back, NULL), 0);
  assert_int_equal(uvperf_count_delta(&there, &back, &delta), 0);
  assert_int_equal(there.value, 3);
  assert_int_equal(back.scaled, 3);
  assert_int_equal(back.flags, UVPERF_COUNT_UNSCALED);
  assert_int_equal(delta.value, 0);
  assert_int_equal(delta.state, UVPERF_COUNT_NOT_ENABLED);
  assert_int_equal(delta.time_running, 0);
  assert_int_not_equal(delta.time_enabled, 0);
  live_close(&collector);
  live_unpin(&old);
}

static void count_of_every_task_on_a_cpu_has_all_of_them(void **state) {
  uvperf_event_options_t options = UVPERF_EVENT_OPTIONS_INIT;
  live_collector_t collector;
  struct perf_event_attr attr;
  live_worker_t worker;
  char filter[64];
  cpu_set_t old;
  uint64_t id;
  int cpu;

  support_need_cpu_wide(__func__);
  id = support_need_tracepoint(__func__, LIVE_SYSCALL);
  cpu = live_last_cpu();
  live_pin(cpu, &old);
  live_worker_fork(&worker, call_four_times, NULL);
  count_syscalls(&attr, id);
  options.pid = -1;
  options.cpu = cpu;
  options.flags |= UVPERF_EVENT_CPU;
  live_begin(*state, &collector, &attr, &options, NULL, NULL);
  /* Other tests make this call too. */
  snprintf(filter, sizeof(filter), "common_pid == %u || common_pid == %d",
           live_tid(), worker.pid);
  assert_int_equal(
      uvperf_apply_filter(&collector.event.handle, 0, filter, NULL), 0);
  assert_int_equal(uvperf_reset(&collector.event.handle, 0, NULL), 0);
  live_syscall(1000);
  live_worker_do(&worker);
  assert_int_equal(read_value(&collector), 1004);
  live_close(&collector);
  live_worker_end(&worker);
  live_unpin(&old);
}

/* -- a cgroup ------------------------------------------------------------- */

static void count_of_a_cgroup_has_its_members_only(void **state) {
  uvperf_event_options_t options = UVPERF_EVENT_OPTIONS_INIT;
  live_collector_t collector;
  struct perf_event_attr attr;
  live_cgroup_t cgroup;
  live_worker_t worker;
  cpu_set_t old;
  uint64_t id;

  support_need_cpu_wide(__func__);
  id = support_need_tracepoint(__func__, LIVE_SYSCALL);
  live_cgroup_make(__func__, &cgroup);
  options.cpu = live_last_cpu();
  options.flags |= UVPERF_EVENT_CPU;
  live_pin(options.cpu, &old);
  live_worker_fork(&worker, call_four_times, NULL);
  count_syscalls(&attr, id);
  options.cgroup = cgroup.fd;
  options.flags |= UVPERF_EVENT_CGROUP;
  live_begin(*state, &collector, &attr, &options, NULL, NULL);
  live_worker_do(&worker); /* not a member yet */
  live_syscall(3);
  assert_int_equal(read_value(&collector), 0);
  live_cgroup_add(&cgroup, worker.pid);
  live_worker_do(&worker);
  live_syscall(3);
  assert_int_equal(read_value(&collector), 4);
  live_close(&collector);
  live_worker_end(&worker);
  live_cgroup_remove(&cgroup);
  live_unpin(&old);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      support_loop_test(count_of_a_child_leaves_the_parent_out),
      support_loop_test(count_of_an_inherited_event_has_the_childrens),
      support_loop_test(count_with_enable_on_exec_starts_with_the_exec),
      support_loop_test(count_on_one_cpu_is_enabled_on_the_others_too),
      support_loop_test(count_of_every_task_on_a_cpu_has_all_of_them),
      support_loop_test(count_of_a_cgroup_has_its_members_only),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
