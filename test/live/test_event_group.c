/* SPDX-License-Identifier: MIT */
/* Live: a leader and its siblings as handles. The leader is a clock, and the
 * siblings are breakpoints of another PMU, so a sibling that is enabled late
 * would count late (Linux 6.12). */
#include "live_control.h"

#include <sys/ioctl.h>
#include <unistd.h>

typedef struct group_s {
  live_collector_t leader;
  live_collector_t writes; /* of live_word */
  live_collector_t calls;  /* of live_called */
} group_t;

static void open_sibling(group_t *group, live_collector_t *sibling,
                         struct perf_event_attr *attr) {
  uvperf_event_options_t options = UVPERF_EVENT_OPTIONS_INIT;

  uvperf_attr_set_period(attr, 0);
  options.leader = &group->leader.event;
  live_init(group->leader.event.handle.loop, sibling, attr, &options);
}

static void open_writes(group_t *group) {
  struct perf_event_attr attr;

  live_write_attr(&attr, 0);
  open_sibling(group, &group->writes, &attr);
}

static void open_leader(uv_loop_t *loop, group_t *group) {
  struct perf_event_attr attr;

  uvperf_attr_software(&attr, PERF_COUNT_SW_TASK_CLOCK);
  attr.exclude_kernel = 1;
  live_init(loop, &group->leader, &attr, NULL);
}

static void open_calls(group_t *group) {
  struct perf_event_attr attr;

  live_called_attr(&attr, 0);
  open_sibling(group, &group->calls, &attr);
}

static void work(void) {
  live_write(5);
  live_called(1);
  live_called(2);
}

static void expect_counts(group_t *group, uint64_t writes, uint64_t calls) {
  assert_int_equal(live_control_count(&group->writes), writes);
  assert_int_equal(live_control_count(&group->calls), calls);
}

static void start_leader(group_t *group) {
  assert_int_equal(uvperf_start(&group->leader.event.handle, NULL, NULL, NULL),
                   0);
}

/* -- the four sentences ---------------------------------------------------- */

typedef struct row_s {
  const char *name;
  int joins_late; /* calls, with step j */
  const char *steps;
} row_t;

/* s: start the leader   e: enable it   d: disable it   c: close it
 * k: enable it without the handles' knowledge
 * E: enable the writes  D: disable them
 * j: calls join         r: disable and enable them with their group
 * w: work               =: so many writes and calls were counted */
static const row_t rows[] = {
    {"group_opened_has_disabled_siblings", 0, "kw=0,0"},
    {"group_whose_leader_is_started_counts_at_once", 0, "sw=5,2"},
    {"group_whose_leader_is_enabled_counts_at_once", 0, "ew=5,2"},
    {"group_whose_leader_is_disabled_counts_nothing", 0, "swdw=5,2ew=10,4"},
    /* The kernel makes a sibling a leader, and an enabled one would count. */
    {"group_whose_leader_is_closed_counts_nothing", 0, "swcw=5,2Ew=10,2"},
    {"sibling_disabled_counts_again_with_its_leader", 0, "swDw=5,4dew=10,6"},
    {"sibling_that_joins_late_counts_once_it_is_enabled", 1, "sjw=5,0rw=10,2"},
};

static void run_step(group_t *group, const char *step) {
  uvperf_handle_t *leader = &group->leader.event.handle;
  uvperf_handle_t *writes = &group->writes.event.handle;
  uvperf_handle_t *calls = &group->calls.event.handle;
  unsigned long nr_writes, nr_calls;

  if (*step == 's') {
    start_leader(group);
  } else if (*step == 'e') {
    assert_int_equal(uvperf_enable(leader, 0, NULL), 0);
  } else if (*step == 'd') {
    assert_int_equal(uvperf_disable(leader, 0, NULL), 0);
  } else if (*step == 'c') {
    live_close(&group->leader);
  } else if (*step == 'k') {
    assert_int_equal(
        ioctl(uvperf_event_fd(&group->leader.event), PERF_EVENT_IOC_ENABLE, 0),
        0);
  } else if (*step == 'E') {
    assert_int_equal(uvperf_enable(writes, 0, NULL), 0);
  } else if (*step == 'D') {
    assert_int_equal(uvperf_disable(writes, 0, NULL), 0);
  } else if (*step == 'j') {
    open_calls(group);
  } else if (*step == 'r') {
    assert_int_equal(uvperf_disable(calls, UVPERF_ALL, NULL), 0);
    assert_int_equal(uvperf_enable(calls, UVPERF_ALL, NULL), 0);
  } else if (*step == 'w') {
    work();
  } else {
    assert_int_equal(sscanf(step, "=%lu,%lu", &nr_writes, &nr_calls), 2);
    expect_counts(group, nr_writes, nr_calls);
  }
}

static void run_row(void **state) {
  uv_loop_t *loop = state[0];
  const row_t *row = state[1];
  const char *step;
  group_t group;

  support_need_breakpoints(row->name);
  open_leader(loop, &group);
  open_writes(&group);
  if (!row->joins_late)
    open_calls(&group);
  for (step = row->steps; *step != '\0'; step++) {
    run_step(&group, step);
    if (*step == '=')
      step += strspn(step + 1, "0123456789,");
  }
  live_close(&group.calls);
  live_close(&group.writes);
  if (strchr(row->steps, 'c') == NULL) {
    assert_int_not_equal(live_control_count(&group.leader), 0);
    live_close(&group.leader);
  }
}

/* -- siblings by themselves ------------------------------------------------ */

static void sibling_started_before_its_leader_samples_with_it(void **state) {
  uvperf_event_options_t options = UVPERF_EVENT_OPTIONS_INIT;
  struct perf_event_attr attr;
  group_t group;

  support_need_breakpoints(__func__);
  open_leader(*state, &group);
  live_write_attr(&attr, PERF_SAMPLE_IP);
  options.leader = &group.leader.event;
  live_init(*state, &group.writes, &attr, &options);
  live_start(&group.writes, NULL);
  live_write(3);
  start_leader(&group);
  live_write(4);
  live_control_expect_records(&group.writes, 4);
  live_close(&group.leader);
  live_write(5);
  live_control_expect_records(&group.writes, 4);
  assert_int_equal(group.writes.ends, 0);
  live_close(&group.writes);
}

/* -- others ---------------------------------------------------------------- */

static void work_or_exec(void *arg) {
  int *turn = arg;
  char *region = live_region();

  live_touch(region);
  live_region_free(region);
  if (++*turn == 2)
    execl("/bin/true", "true", (char *)NULL);
}

/* The leader begins with the exec, so its sibling, which has no
 * enable_on_exec, does. */
static void group_enabled_on_exec_counts_from_the_exec_on(void **state) {
  uvperf_event_options_t options = UVPERF_EVENT_OPTIONS_INIT;
  live_collector_t leader, sibling;
  struct perf_event_attr attr;
  live_worker_t worker;
  int turn = 0;

  support_need_own_events(__func__);
  live_worker_fork(&worker, work_or_exec, &turn);
  options.pid = worker.pid;
  uvperf_attr_software(&attr, PERF_COUNT_SW_TASK_CLOCK);
  attr.exclude_kernel = 1;
  attr.enable_on_exec = 1;
  live_init(*state, &leader, &attr, &options);
  uvperf_attr_software(&attr, PERF_COUNT_SW_PAGE_FAULTS);
  attr.exclude_kernel = 1;
  options.leader = &leader.event;
  live_init(*state, &sibling, &attr, &options);
  assert_int_equal(uvperf_start(&leader.event.handle, NULL, NULL, NULL), 0);
  live_worker_do(&worker);
  assert_int_equal(live_control_count(&leader), 0);
  assert_int_equal(live_control_count(&sibling), 0);
  live_worker_do(&worker);
  live_worker_end(&worker);
  assert_int_not_equal(live_control_count(&leader), 0);
  assert_int_not_equal(live_control_count(&sibling), 0);
  live_close(&sibling);
  live_close(&leader);
}

static void group_closed_in_a_forked_child_goes_on_counting(void **state) {
  group_t group;
  pid_t pid;

  support_need_breakpoints(__func__);
  open_leader(*state, &group);
  open_writes(&group);
  open_calls(&group);
  start_leader(&group);
  work();
  pid = fork();
  if (pid == 0) {
    if (uv_loop_fork(*state) != 0 ||
        uvperf_enable(&group.leader.event.handle, 0, NULL) != UV_EPERM)
      _exit(1);
    uvperf_close(&group.leader.event.handle, NULL);
    uvperf_close(&group.writes.event.handle, NULL);
    uvperf_close(&group.calls.event.handle, NULL);
    while (uv_run(*state, UV_RUN_DEFAULT) != 0)
      continue;
    _exit(0);
  }
  assert_int_equal(support_wait(pid), 0);
  work();
  expect_counts(&group, 10, 4);
  live_close(&group.calls);
  live_close(&group.writes);
  live_close(&group.leader);
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

static void expect_no_leader(uv_loop_t *loop, uvperf_event_t *leader) {
  uvperf_event_options_t options = UVPERF_EVENT_OPTIONS_INIT;
  struct perf_event_attr attr;
  uvperf_event_t sibling;

  live_comm_attr(&attr);
  options.leader = leader;
  assert_int_equal(uvperf_event_init(loop, &sibling, &attr, &options, NULL),
                   UV_EINVAL);
}

/* Another event soon gets the number of a closed leader's fd, and must not
 * become the leader by accident. */
static void event_joins_no_leader_that_is_not_open(void **state) {
  live_collector_t collector, other;
  uvperf_event_t zeroes;

  support_need_own_events(__func__);
  live_init_comm(*state, &collector);
  uvperf_close(&collector.event.handle, NULL);
  expect_no_leader(*state, &collector.event);
  uv_run(*state, UV_RUN_DEFAULT);
  live_init_comm(*state, &other);
  expect_no_leader(*state, &collector.event);
  live_close(&other);
  memset(&zeroes, 0, sizeof(zeroes));
  zeroes.handle.loop = *state;
  expect_no_leader(*state, &zeroes);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      support_loop_test(sibling_started_before_its_leader_samples_with_it),
      support_loop_test(group_enabled_on_exec_counts_from_the_exec_on),
      support_loop_test(group_closed_in_a_forked_child_goes_on_counting),
      support_loop_test(event_forked_child_cannot_join_parents_group),
      support_loop_test(event_joins_no_leader_that_is_not_open),
  };

  return SUPPORT_RUN_LOOP_ROWS_AND_TESTS(rows, run_row, tests);
}
