/* SPDX-License-Identifier: MIT */
/* Failures that this kernel really returns, and the reported cause. Each is
 * provoked in a child, so that its limits, uid and fds do not stay.
 * test_event_open.c has more of them, through a handle. */
#include "check_explain.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "host/system.h"

static void unknown_software_event(uvperf_error_t *error) {
  struct perf_event_attr attr;

  uvperf_attr_software(&attr, 4242);
  attr.exclude_kernel = 1;
  explain_try(error, &attr, 0, -1, -1);
}

static void live_unknown_software_event_is_no_event(void **state) {
  support_need_own_events(__func__);
  explain_expect(unknown_software_event, -ENOENT, UVPERF_CAUSE_NO_EVENT, "");
}

static void negative_task(uvperf_error_t *error) {
  struct perf_event_attr attr;

  explain_user_clock(&attr);
  explain_try(error, &attr, -2, -1, -1);
}

static void live_task_below_minus_1_is_argument(void **state) {
  support_need_own_events(__func__);
  explain_expect(negative_task, -ESRCH, UVPERF_CAUSE_ARGUMENT, "");
}

static void too_many_files(uvperf_error_t *error) {
  struct rlimit files = {16, 16};
  struct perf_event_attr attr;

  setrlimit(RLIMIT_NOFILE, &files);
  explain_user_clock(&attr);
  while (explain_try(error, &attr, 0, -1, -1) >= 0)
    continue;
}

/* Lowered below fds that are open: raising it by one would not do. */
static void too_many_files_above(uvperf_error_t *error) {
  struct rlimit files = {64, 64};
  struct perf_event_attr attr;
  int fd;

  for (fd = 0; fd < 40; fd++)
    if (fcntl(fd, F_GETFD) < 0 && dup2(1, fd) != fd)
      _exit(1);
  close(40);
  files.rlim_cur = 20;
  setrlimit(RLIMIT_NOFILE, &files);
  explain_user_clock(&attr);
  explain_try(error, &attr, 0, -1, -1);
}

static void live_no_fd_left_is_files(void **state) {
  uvperf_error_t error;

  support_need_own_events(__func__);
  error = explain_in_child(too_many_files);
  explain_check(&error, -EMFILE, UVPERF_CAUSE_FILES, "RLIMIT_NOFILE");
  assert_int_equal(error.limit, 16);
  assert_int_equal(error.needed, 17);
  error = explain_in_child(too_many_files_above);
  explain_check(&error, -EMFILE, UVPERF_CAUSE_FILES, "64");
  assert_int_equal(error.needed, 41);
}

static void unknown_bit(uvperf_error_t *error) {
  struct perf_event_attr attr;

  uvperf_attr_software(&attr, PERF_COUNT_SW_DUMMY);
  attr.exclude_kernel = 1;
  uvperf_attr_set(&attr, UVPERF_ATTR_DEFER_CALLCHAIN, 1);
  explain_try(error, &attr, 0, -1, -1);
}

static void live_unknown_bit_is_old_kernel(void **state) {
  uvperf_error_t error;

  support_need_own_events(__func__);
  error = explain_in_child(unknown_bit);
  if (error.code == 0) {
    printf("skipped: %s: needs a kernel without defer_callchain\n", __func__);
    skip();
  }
  assert_int_equal(error.code, -EINVAL);
  assert_int_equal(error.cause, UVPERF_CAUSE_OLD_KERNEL);
}

static void too_deep(uvperf_error_t *error) {
  struct perf_event_attr attr;
  int64_t most = 0;

  explain_user_clock(&attr);
  uvperf__system_number(UVPERF__MAX_STACK, &most);
  attr.sample_type = PERF_SAMPLE_CALLCHAIN;
  attr.sample_max_stack = (uint16_t)(most + 1);
  uvperf_attr_set_period(&attr, 1000000);
  explain_try(error, &attr, 0, -1, -1);
}

static void live_stack_above_the_sysctl_is_max_stack(void **state) {
  uvperf_error_t error;

  support_need_own_events(__func__);
  error = explain_in_child(too_deep);
  assert_int_equal(error.code, -EOVERFLOW);
  assert_int_equal(error.cause, UVPERF_CAUSE_MAX_STACK);
  assert_int_equal(error.needed, error.limit + 1);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(live_unknown_software_event_is_no_event),
      cmocka_unit_test(live_task_below_minus_1_is_argument),
      cmocka_unit_test(live_no_fd_left_is_files),
      cmocka_unit_test(live_unknown_bit_is_old_kernel),
      cmocka_unit_test(live_stack_above_the_sysctl_is_max_stack),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
