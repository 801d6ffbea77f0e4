/* SPDX-License-Identifier: MIT */
/* Live: a task ends before libuv's pool opens its events, and another task gets
 * its id. The other task is not measured. A pidfd names a task for good. The
 * pool has one thread here, which the tests keep busy. */
#include "live_set.h"

#include <stdlib.h>
#include <unistd.h>

#include <sys/syscall.h>

#include "live_busy_pool.h"
#include "live_chosen_id.h"

/* The same number on each architecture. */
#define NR_PIDFD_OPEN 434

static int open_pidfd(const char *test, pid_t pid) {
  int fd = (int)syscall(NR_PIDFD_OPEN, pid, 0);

  if (fd < 0)
    support_skip(test, "pidfd_open(2), Linux 5.3");
  return fd;
}

/* -- ids that are used again ----------------------------------------------- */

typedef struct opened_s {
  live_collector_t collector;
  live_set_t live;
  uint64_t done;
  int status;
  uvperf_error_t error;
} opened_t;

static void note(opened_t *opened, int status, const uvperf_error_t *error) {
  opened->done += 1;
  opened->status = status;
  if (error != NULL)
    opened->error = *error;
}

static void on_event(uvperf_handle_t *base, int status,
                     const uvperf_error_t *error) {
  note(((live_collector_t *)base->data)->hook_data, status, error);
}

static void on_set(uvperf_handle_t *base, int status,
                   const uvperf_error_t *error) {
  note(((live_set_t *)base->data)->hook_data, status, error);
}

static void on_target(uvperf_set_t *set, int status, void *data, uint32_t index,
                      const uvperf_error_t *error) {
  note(data, status, error);
}

/* Replaces the task while its events wait for the pool. */
static void expect_esrch(uv_loop_t *loop, live_busy_pool_t *busy,
                         opened_t *opened, pid_t pid) {
  live_chosen_id_replace(__func__, pid);
  assert_int_equal(opened->done, 0);
  live_busy_pool_end(busy);
  assert_true(live_run_until(loop, &opened->done, 1));
  assert_int_equal(opened->status, UV_ESRCH);
  assert_int_equal(opened->error.cause, UVPERF_CAUSE_NO_TASK);
  live_chosen_id_end(pid);
}

static void event_of_an_id_used_again_is_esrch(void **state) {
  uvperf_event_options_t options = UVPERF_EVENT_OPTIONS_INIT;
  size_t fds = support_count_fds();
  struct perf_event_attr attr;
  live_busy_pool_t busy;
  opened_t opened;

  support_need_own_events(__func__);
  live_chosen_id_need(__func__);
  memset(&opened, 0, sizeof(opened));
  opened.collector.event.handle.data = &opened.collector;
  opened.collector.hook_data = &opened;
  uvperf_attr_software(&attr, PERF_COUNT_SW_TASK_CLOCK);
  attr.exclude_kernel = 1;
  options.pid = live_chosen_id_begin(__func__, 0);
  options.open_cb = on_event;
  live_busy_pool_begin(&busy, *state);
  assert_int_equal(
      uvperf_event_init(*state, &opened.collector.event, &attr, &options, NULL),
      0);
  expect_esrch(*state, &busy, &opened, options.pid);
  assert_int_equal(support_count_fds(), fds);
  live_close(&opened.collector);
}

/* A set without targets, and the target of a type. */
static void plan_set(live_plan_t *plan, opened_t *opened, uint32_t records) {
  memset(opened, 0, sizeof(*opened));
  live_plan_begin(plan);
  live_plan_software(plan, PERF_COUNT_SW_TASK_CLOCK);
  live_plan_software(plan, PERF_COUNT_SW_PAGE_FAULTS);
  plan->attrs[0].exclude_kernel = plan->attrs[1].exclude_kernel = 1;
  live_plan_group(plan, 2);
  plan->options.flags |= records;
  opened->live.set.handle.data = &opened->live;
  opened->live.hook_data = opened;
}

static void target_of_an_id_used_again_is_esrch(void **state) {
  static const struct {
    uint32_t type;
    uint32_t flags;
  } rows[] = {{UVPERF_TARGET_PROCESS, 0},
              {UVPERF_TARGET_PROCESS, UVPERF_SET_RECORDS},
              {UVPERF_TARGET_THREAD, UVPERF_SET_STRICT},
              {UVPERF_TARGET_COMMAND, 0}};
  uvperf_target_t target = UVPERF_TARGET_INIT;
  live_plan_t plan;
  live_busy_pool_t busy;
  opened_t opened;
  size_t fds, i;

  support_need_own_events(__func__);
  live_chosen_id_need(__func__);
  for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
    plan_set(&plan, &opened, rows[i].flags | UVPERF_SET_TARGETS_LATER);
    live_set_open(*state, &opened.live, &plan.options);
    uvperf_event_list_free(plan.list);
    fds = support_count_fds();
    target.type = rows[i].type;
    target.pid = live_chosen_id_begin(__func__, 0);
    target.data = &opened;
    live_busy_pool_begin(&busy, *state);
    assert_int_equal(
        uvperf_set_add(&opened.live.set, &target, on_target, NULL, NULL), 0);
    expect_esrch(*state, &busy, &opened, target.pid);
    assert_int_equal(support_count_fds(), fds);
    live_set_close(&opened.live);
  }
}

static void set_of_an_id_used_again_is_esrch(void **state) {
  live_plan_t plan;
  live_busy_pool_t busy;
  opened_t opened;

  support_need_own_events(__func__);
  live_chosen_id_need(__func__);
  plan_set(&plan, &opened, 0);
  live_plan_target(&plan, UVPERF_TARGET_PROCESS)->pid =
      live_chosen_id_begin(__func__, 0);
  assert_int_equal(uvperf_reading_new(&opened.live.reading), 0);
  live_busy_pool_begin(&busy, *state);
  plan.options.open_cb = on_set;
  assert_int_equal(
      uvperf_set_init(*state, &opened.live.set, &plan.options, NULL), 0);
  uvperf_event_list_free(plan.list);
  expect_esrch(*state, &busy, &opened, plan.targets[0].pid);
  live_set_close(&opened.live);
}

/* -- pidfds --------------------------------------------------------------- */

/* The pidfd is closed after the call. The event ends with its task. */
static void event_of_a_pidfd_ends_with_its_task(void **state) {
  uvperf_event_options_t options = UVPERF_EVENT_OPTIONS_INIT;
  pid_t pid = live_chosen_id_begin(__func__, 0);
  live_collector_t collector;
  struct perf_event_attr attr;

  support_need_own_events(__func__);
  options.pid = open_pidfd(__func__, pid);
  options.flags = UVPERF_EVENT_PIDFD;
  uvperf_attr_software(&attr, PERF_COUNT_SW_CPU_CLOCK);
  uvperf_attr_set_period(&attr, 1000000);
  attr.exclude_kernel = 1;
  live_init(*state, &collector, &attr, &options);
  close(options.pid);
  assert_int_equal(
      uvperf_start(&collector.event.handle, NULL, live_on_record, NULL), 0);
  live_chosen_id_end(pid);
  assert_true(live_run_until(*state, &collector.ends, 1));
  assert_int_equal(collector.end_status, UV_EOF);
  live_close(&collector);
}

static void target_of_a_pidfd_is_its_process(void **state) {
  pid_t pid = live_chosen_id_begin(__func__, 0);
  uvperf_target_t *target;
  live_plan_t plan;
  opened_t opened;
  int fd;

  support_need_own_events(__func__);
  fd = open_pidfd(__func__, pid);
  plan_set(&plan, &opened, 0);
  target = live_plan_target(&plan, UVPERF_TARGET_PROCESS);
  target->pid = fd;
  target->flags = UVPERF_TARGET_PIDFD;
  live_set_open(*state, &opened.live, &plan.options);
  live_set_read(&opened.live, 0);
  assert_int_equal(uvperf_reading_place(opened.live.reading, 0)->pid, pid);
  live_set_close(&opened.live);
  live_chosen_id_end(pid);
  /* The id may belong to another task now. */
  assert_int_equal(
      uvperf_set_init(*state, &opened.live.set, &plan.options, &opened.error),
      UV_ESRCH);
  assert_int_equal(opened.error.cause, UVPERF_CAUSE_NO_TASK);
  uvperf_event_list_free(plan.list);
  close(fd);
}

static void fd_that_is_no_pidfd_is_ebadf(void **state) {
  uvperf_event_options_t options = UVPERF_EVENT_OPTIONS_INIT;
  struct perf_event_attr attr;
  uvperf_event_t event;
  uvperf_error_t error;
  int ends[2];

  assert_int_equal(pipe(ends), 0);
  uvperf_attr_software(&attr, PERF_COUNT_SW_TASK_CLOCK);
  options.flags = UVPERF_EVENT_PIDFD;
  options.pid = ends[0];
  assert_int_equal(uvperf_event_init(*state, &event, &attr, &options, &error),
                   UV_EBADF);
  assert_int_equal(error.cause, UVPERF_CAUSE_ARGUMENT);
  close(ends[0]);
  assert_int_equal(uvperf_event_init(*state, &event, &attr, &options, NULL),
                   UV_EBADF);
  close(ends[1]);
  options.pid = -1;
  assert_int_equal(uvperf_event_init(*state, &event, &attr, &options, NULL),
                   UV_EINVAL);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      support_loop_test(event_of_an_id_used_again_is_esrch),
      support_loop_test(target_of_an_id_used_again_is_esrch),
      support_loop_test(set_of_an_id_used_again_is_esrch),
      support_loop_test(event_of_a_pidfd_ends_with_its_task),
      support_loop_test(target_of_a_pidfd_is_its_process),
      support_loop_test(fd_that_is_no_pidfd_is_ebadf),
  };

  setenv("UV_THREADPOOL_SIZE", "1", 1);
  return cmocka_run_group_tests(tests, NULL, NULL);
}
