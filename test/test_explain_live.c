/* SPDX-License-Identifier: MIT */
/* Failures that this kernel really gives, and the cause that is told. Each is
 * provoked in a child, so that no limit, uid or fd of it stays. */
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

#include "explain.h"
#include "sys.h"
#include "system.h"

static void user_clock(struct perf_event_attr *attr) {
  uvperf_attr_software(attr, PERF_COUNT_SW_CPU_CLOCK);
  attr->exclude_kernel = 1;
}

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
  user_clock(&attr);
  explain_try(error, &attr, dead, -1, -1);
}

static void live_dead_task_is_no_task(void **state) {
  (void)state;
  support_need_own_events(__func__);
  explain_expect(dead_task, -ESRCH, UVPERF_CAUSE_NO_TASK,
                 "there is no such thread");
}

static void missing_cpu(uvperf_error_t *error) {
  struct perf_event_attr attr;

  user_clock(&attr);
  explain_try(error, &attr, 0, 60000, -1);
}

static void live_cpu_that_is_not_there_is_no_cpu(void **state) {
  (void)state;
  support_need_own_events(__func__);
  explain_expect(missing_cpu, -EINVAL, UVPERF_CAUSE_NO_CPU,
                 "on CPU 60000: there is no such CPU");
}

static void kernel_side(uvperf_error_t *error) {
  struct perf_event_attr attr;

  explain_drop_privileges();
  uvperf_attr_software(&attr, PERF_COUNT_SW_CPU_CLOCK);
  explain_try(error, &attr, 0, -1, -1);
}

static void whole_cpu(uvperf_error_t *error) {
  struct perf_event_attr attr;

  explain_drop_privileges();
  user_clock(&attr);
  explain_try(error, &attr, -1, 0, -1);
}

static void live_unprivileged_is_told_the_level(void **state) {
  (void)state;
  explain_need_paranoid(__func__, 2, 9);
  explain_expect(kernel_side, -EACCES, UVPERF_CAUSE_PERMISSION,
                 "the kernel side (exclude_kernel avoids it) needs "
                 "kernel.perf_event_paranoid <= 1");
  explain_expect(whole_cpu, -EACCES, UVPERF_CAUSE_PERMISSION,
                 "a whole CPU needs kernel.perf_event_paranoid <= 0");
}

static void foreign_task(uvperf_error_t *error) {
  struct perf_event_attr attr;

  explain_drop_privileges();
  user_clock(&attr);
  explain_try(error, &attr, 1, -1, -1);
}

static void live_foreign_task_is_permission(void **state) {
  (void)state;
  explain_need_paranoid(__func__, -1, 2);
  explain_expect(foreign_task, -EACCES, UVPERF_CAUSE_PERMISSION,
                 "the thread runs as another user (uid 0)");
}

static int64_t sched_switch(void) {
  const char *const path = "/events/sched/sched_switch/id";
  int64_t id = -1;

  if (uvperf__system_number("/sys/kernel/tracing", path, &id) != 0)
    uvperf__system_number("/sys/kernel/debug/tracing", path, &id);
  return id > 0 ? id : -1;
}

static void tracepoint_data(uvperf_error_t *error) {
  struct perf_event_attr attr;

  uvperf_attr_tracepoint(&attr, (uint64_t)sched_switch());
  explain_drop_privileges();
  attr.exclude_kernel = 1;
  attr.sample_type = PERF_SAMPLE_RAW;
  uvperf_attr_set_period(&attr, 1);
  explain_try(error, &attr, 0, -1, -1);
}

static void live_tracepoint_data_asks_for_minus_1(void **state) {
  (void)state;
  explain_need_paranoid(__func__, 0, 2);
  if (sched_switch() < 0) {
    printf("skipped: %s: needs a tracefs that can be read\n", __func__);
    skip();
  }
  explain_expect(tracepoint_data, -EPERM, UVPERF_CAUSE_PERMISSION,
                 "a tracepoint's data needs kernel.perf_event_paranoid <= -1");
}

static void unknown_tracepoint(uvperf_error_t *error) {
  struct perf_event_attr attr;

  uvperf_attr_tracepoint(&attr, 65000000);
  attr.exclude_kernel = 1;
  explain_try(error, &attr, 0, -1, -1);
}

static void live_unknown_tracepoint_is_no_event(void **state) {
  (void)state;
  support_need_own_events(__func__);
  explain_expect(unknown_tracepoint, -EINVAL, UVPERF_CAUSE_NO_EVENT,
                 "tracepoint 65000000 of the calling thread: no tracepoint");
}

static void too_many_files(uvperf_error_t *error) {
  struct rlimit files = {16, 16};
  struct perf_event_attr attr;

  setrlimit(RLIMIT_NOFILE, &files);
  user_clock(&attr);
  while (explain_try(error, &attr, 0, -1, -1) >= 0)
    continue;
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

static void breakpoints(uvperf_error_t *error) {
  static uint64_t watched[64];
  struct perf_event_attr attr;
  size_t i;

  for (i = 0; i < 64 && error->code == 0; i++) {
    uvperf_attr_breakpoint(&attr, HW_BREAKPOINT_W, (uintptr_t)&watched[i], 8);
    attr.exclude_kernel = 1;
    explain_try(error, &attr, 0, -1, -1);
  }
}

static void unaligned_breakpoint(uvperf_error_t *error) {
  struct perf_event_attr attr;

  uvperf_attr_breakpoint(&attr, HW_BREAKPOINT_W, 0x1001, 4);
  attr.exclude_kernel = 1;
  explain_try(error, &attr, 0, -1, -1);
}

static void live_breakpoints_end_with_slots(void **state) {
  (void)state;
  support_need_own_events(__func__);
  explain_expect(breakpoints, -ENOSPC, UVPERF_CAUSE_BREAKPOINT_SLOTS,
                 "breakpoint slots of the CPU are in use");
  explain_expect(unaligned_breakpoint, -EINVAL, UVPERF_CAUSE_ARGUMENT,
                 "aligned");
}

static void too_fast(uvperf_error_t *error) {
  struct perf_event_attr attr;
  int64_t most = 0;

  user_clock(&attr);
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

  user_clock(&attr);
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

static void branch_stack(uvperf_error_t *error) {
  struct perf_event_attr attr;

  user_clock(&attr);
  attr.sample_type = PERF_SAMPLE_BRANCH_STACK;
  attr.branch_sample_type = PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_ANY;
  uvperf_attr_set_period(&attr, 1000000);
  explain_try(error, &attr, 0, -1, -1);
}

static void live_branch_stack_of_software_is_not_supported(void **state) {
  (void)state;
  support_need_own_events(__func__);
  explain_expect(branch_stack, -EOPNOTSUPP, UVPERF_CAUSE_NOT_SUPPORTED,
                 "the PMU cannot do branch stacks");
}

static void bad_leader(uvperf_error_t *error) {
  struct perf_event_attr attr;

  user_clock(&attr);
  explain_try(error, &attr, 0, -1, 999);
}

static void live_leader_that_is_no_fd_is_argument(void **state) {
  (void)state;
  support_need_own_events(__func__);
  explain_expect(bad_leader, -EBADF, UVPERF_CAUSE_ARGUMENT,
                 "the leader is not");
}

static void filtered_eperm(uvperf_error_t *error) {
  struct perf_event_attr attr;

  explain_filter(EPERM);
  user_clock(&attr);
  explain_try(error, &attr, 0, -1, -1);
}

static void filtered_enosys(uvperf_error_t *error) {
  struct perf_event_attr attr;

  explain_filter(ENOSYS);
  user_clock(&attr);
  explain_try(error, &attr, 0, -1, -1);
}

static void live_seccomp_filter_is_no_perf(void **state) {
  (void)state;
  explain_expect(filtered_eperm, -EPERM, UVPERF_CAUSE_NO_PERF, "seccomp");
  explain_expect(filtered_enosys, -ENOSYS, UVPERF_CAUSE_NO_PERF, "seccomp");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(live_unknown_event_is_no_event),
      cmocka_unit_test(live_dead_task_is_no_task),
      cmocka_unit_test(live_cpu_that_is_not_there_is_no_cpu),
      cmocka_unit_test(live_unprivileged_is_told_the_level),
      cmocka_unit_test(live_foreign_task_is_permission),
      cmocka_unit_test(live_tracepoint_data_asks_for_minus_1),
      cmocka_unit_test(live_unknown_tracepoint_is_no_event),
      cmocka_unit_test(live_no_fd_left_is_files),
      cmocka_unit_test(live_unknown_field_is_old_kernel),
      cmocka_unit_test(live_unknown_bit_is_old_kernel),
      cmocka_unit_test(live_breakpoints_end_with_slots),
      cmocka_unit_test(live_frequency_above_the_sysctl_is_sample_rate),
      cmocka_unit_test(live_stack_above_the_sysctl_is_max_stack),
      cmocka_unit_test(live_branch_stack_of_software_is_not_supported),
      cmocka_unit_test(live_leader_that_is_no_fd_is_argument),
      cmocka_unit_test(live_seccomp_filter_is_no_perf),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
