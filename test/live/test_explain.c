/* SPDX-License-Identifier: MIT */
/* Failures that this kernel really returns, and the reported cause. Each is
 * provoked in a child, so that its limits, uid and fds do not stay. */
#include "explain_check.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <linux/filter.h>
#include <linux/hw_breakpoint.h>
#include <linux/seccomp.h>

#include "explain/explain.h"
#include "host/system.h"
#include "sys/sys.h"

static void unknown_type(uvperf_error_t *error) {
  struct perf_event_attr attr;

  uvperf_attr_init(&attr, 424242, 0);
  attr.exclude_kernel = 1;
  explain_try(error, &attr, 0, -1, -1);
}

static void unknown_software_event(uvperf_error_t *error) {
  struct perf_event_attr attr;

  uvperf_attr_software(&attr, 4242);
  attr.exclude_kernel = 1;
  explain_try(error, &attr, 0, -1, -1);
}

static void live_unknown_event_is_no_event(void **state) {
  (void)state;
  support_need_own_events(__func__);
  explain_expect(unknown_type, -ENOENT, UVPERF_CAUSE_NO_EVENT,
                 "no PMU has this type");
  explain_expect(unknown_software_event, -ENOENT, UVPERF_CAUSE_NO_EVENT,
                 "this kernel has no such event");
}

static void dead_task(uvperf_error_t *error) {
  struct perf_event_attr attr;
  pid_t dead = fork();

  if (dead == 0)
    _exit(0);
  waitpid(dead, NULL, 0);
  explain_user_clock(&attr);
  explain_try(error, &attr, dead, -1, -1);
}

static void negative_task(uvperf_error_t *error) {
  struct perf_event_attr attr;

  explain_user_clock(&attr);
  explain_try(error, &attr, -2, -1, -1);
}

static void live_dead_task_is_no_task(void **state) {
  (void)state;
  support_need_own_events(__func__);
  explain_expect(negative_task, -ESRCH, UVPERF_CAUSE_ARGUMENT,
                 "pid is below -1");
  explain_expect(dead_task, -ESRCH, UVPERF_CAUSE_NO_TASK,
                 "this thread does not exist");
}

static void missing_cpu(uvperf_error_t *error) {
  struct perf_event_attr attr;

  explain_user_clock(&attr);
  explain_try(error, &attr, 0, 60000, -1);
}

static void live_cpu_that_is_not_there_is_no_cpu(void **state) {
  (void)state;
  support_need_own_events(__func__);
  explain_expect(missing_cpu, -EINVAL, UVPERF_CAUSE_NO_CPU,
                 "on CPU 60000: there is no such CPU");
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

  (void)state;
  support_need_own_events(__func__);
  error = explain_in_child(too_many_files);
  assert_int_equal(error.code, -EMFILE);
  assert_int_equal(error.cause, UVPERF_CAUSE_FILES);
  assert_int_equal(error.limit, 16);
  assert_int_equal(error.needed, 17);
  explain_expect(
      too_many_files_above, -EMFILE, UVPERF_CAUSE_FILES,
      "all 20 fds of RLIMIT_NOFILE are in use; raise it (hard limit 64)");
  error = explain_in_child(too_many_files_above);
  assert_int_equal(error.needed, 41);
}

static void unknown_field(uvperf_error_t *error) {
  union {
    struct perf_event_attr attr;
    uint8_t bytes[256];
  } big;

  uvperf_attr_init_sized(&big.attr, sizeof(big), PERF_TYPE_SOFTWARE,
                         PERF_COUNT_SW_DUMMY);
  big.attr.exclude_kernel = 1;
  big.bytes[255] = 1;
  explain_try(error, &big.attr, 0, -1, -1);
}

static void live_unknown_field_is_old_kernel(void **state) {
  uvperf_error_t error;

  (void)state;
  support_need_own_events(__func__);
  error = explain_in_child(unknown_field);
  assert_int_equal(error.code, -E2BIG);
  assert_int_equal(error.cause, UVPERF_CAUSE_OLD_KERNEL);
  assert_int_equal(error.needed, 256);
  assert_in_range(error.limit, 64, 255);
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

  (void)state;
  support_need_own_events(__func__);
  error = explain_in_child(unknown_bit);
  if (error.code == 0) {
    printf("skipped: %s: needs a kernel without defer_callchain\n", __func__);
    skip();
  }
  assert_int_equal(error.code, -EINVAL);
  assert_int_equal(error.cause, UVPERF_CAUSE_OLD_KERNEL);
}

static void too_fast(uvperf_error_t *error) {
  struct perf_event_attr attr;
  int64_t most = 0;

  explain_user_clock(&attr);
  uvperf__system_max_sample_rate("", &most);
  uvperf_attr_set_frequency(&attr, (uint64_t)most + 1);
  explain_try(error, &attr, 0, -1, -1);
}

static void live_frequency_above_the_sysctl_is_sample_rate(void **state) {
  uvperf_error_t error;

  (void)state;
  support_need_own_events(__func__);
  error = explain_in_child(too_fast);
  assert_int_equal(error.code, -EINVAL);
  assert_int_equal(error.cause, UVPERF_CAUSE_SAMPLE_RATE);
  assert_int_equal(error.needed, error.limit + 1);
}

static void too_deep(uvperf_error_t *error) {
  struct perf_event_attr attr;
  int64_t most = 0;

  explain_user_clock(&attr);
  uvperf__system_max_stack("", &most);
  attr.sample_type = PERF_SAMPLE_CALLCHAIN;
  attr.sample_max_stack = (uint16_t)(most + 1);
  uvperf_attr_set_period(&attr, 1000000);
  explain_try(error, &attr, 0, -1, -1);
}

static void live_stack_above_the_sysctl_is_max_stack(void **state) {
  uvperf_error_t error;

  (void)state;
  support_need_own_events(__func__);
  error = explain_in_child(too_deep);
  assert_int_equal(error.code, -EOVERFLOW);
  assert_int_equal(error.cause, UVPERF_CAUSE_MAX_STACK);
  assert_int_equal(error.needed, error.limit + 1);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(live_unknown_event_is_no_event),
      cmocka_unit_test(live_dead_task_is_no_task),
      cmocka_unit_test(live_cpu_that_is_not_there_is_no_cpu),
      cmocka_unit_test(live_no_fd_left_is_files),
      cmocka_unit_test(live_unknown_field_is_old_kernel),
      cmocka_unit_test(live_unknown_bit_is_old_kernel),
      cmocka_unit_test(live_frequency_above_the_sysctl_is_sample_rate),
      cmocka_unit_test(live_stack_above_the_sysctl_is_max_stack),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
