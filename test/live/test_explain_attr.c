/* SPDX-License-Identifier: MIT */
/* The kernel refuses the attrs that the library calls invalid. */
#include "check_explain.h"

#include <errno.h>
#include <time.h>

#include <linux/hw_breakpoint.h>

#include "host/system.h"
#include "sys/sys.h"

static void refused(struct perf_event_attr *attr, int pid, int cpu,
                    const char *piece) {
  uvperf_error_t error;

  assert_int_equal(explain_try(&error, attr, pid, cpu, -1), -EINVAL);
  explain_check(&error, -EINVAL, UVPERF_CAUSE_ARGUMENT, piece);
}

/* The same attr without the fault opens: so the fault was the reason. */
static void accepted(struct perf_event_attr *attr) {
  int fd = uvperf__sys_open(attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);

  assert_true(fd >= 0);
  assert_int_equal(uvperf__sys_close(fd), 0);
}

static void live_every_task_without_cpu_is_refused(void **state) {
  struct perf_event_attr attr;

  support_need_own_events(__func__);
  explain_user_dummy(&attr);
  refused(&attr, -1, -1, "CPU");
  accepted(&attr);
}

static void live_sigtrap_without_remove_on_exec_is_refused(void **state) {
  struct perf_event_attr attr;

  support_need_own_events(__func__);
  explain_user_dummy(&attr);
  uvperf_attr_set(&attr, UVPERF_ATTR_SIGTRAP, 1);
  refused(&attr, 0, -1, "sigtrap");
  uvperf_attr_set(&attr, UVPERF_ATTR_REMOVE_ON_EXEC, 1);
  accepted(&attr);
  attr.enable_on_exec = 1;
  refused(&attr, 0, -1, "enable_on_exec");
}

static void live_inherit_thread_without_inherit_is_refused(void **state) {
  struct perf_event_attr attr;

  support_need_own_events(__func__);
  explain_user_dummy(&attr);
  uvperf_attr_set(&attr, UVPERF_ATTR_INHERIT_THREAD, 1);
  refused(&attr, 0, -1, "inherit_thread");
  attr.inherit = 1;
  accepted(&attr);
}

static void live_clockid_not_of_perf_is_refused(void **state) {
  const clockid_t good[] = {CLOCK_MONOTONIC, CLOCK_MONOTONIC_RAW,
                            CLOCK_REALTIME, CLOCK_BOOTTIME, CLOCK_TAI};
  struct perf_event_attr attr;
  size_t i;

  support_need_own_events(__func__);
  explain_user_dummy(&attr);
  attr.use_clockid = 1;
  attr.clockid = CLOCK_PROCESS_CPUTIME_ID;
  refused(&attr, 0, -1, "_REALTIME");
  attr.clockid = -1;
  refused(&attr, 0, -1, "_REALTIME");
  for (i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
    attr.clockid = good[i];
    accepted(&attr);
  }
}

/* perf_event_set_clock(): these may count in an NMI. */
static void live_clockid_not_safe_in_nmis_is_refused(void **state) {
  static uint64_t watched;
  const clockid_t unsafe[] = {CLOCK_REALTIME, CLOCK_BOOTTIME, CLOCK_TAI};
  struct perf_event_attr attr;
  size_t i;

  support_need_breakpoints(__func__);
  uvperf_attr_breakpoint(&attr, HW_BREAKPOINT_W, (uintptr_t)&watched, 8);
  attr.exclude_kernel = 1;
  attr.use_clockid = 1;
  for (i = 0; i < sizeof(unsafe) / sizeof(unsafe[0]); i++) {
    attr.clockid = unsafe[i];
    refused(&attr, 0, -1, "CLOCK_MONOTONIC_RAW");
  }
  attr.clockid = CLOCK_MONOTONIC_RAW;
  accepted(&attr);
}

static void live_two_weights_are_refused(void **state) {
  struct perf_event_attr attr;

  support_need_own_events(__func__);
  explain_user_dummy(&attr);
  attr.sample_type = PERF_SAMPLE_WEIGHT | UVPERF_SAMPLE_WEIGHT_STRUCT;
  refused(&attr, 0, -1, "PERF_SAMPLE_WEIGHT_STRUCT");
  attr.sample_type = UVPERF_SAMPLE_WEIGHT_STRUCT;
  accepted(&attr);
}

static void live_odd_user_stack_is_refused(void **state) {
  struct perf_event_attr attr;

  support_need_own_events(__func__);
  explain_user_dummy(&attr);
  attr.sample_type = PERF_SAMPLE_STACK_USER;
  attr.sample_stack_user = 12;
  refused(&attr, 0, -1, "sample_stack_user");
  attr.sample_stack_user = 65536;
  refused(&attr, 0, -1, "sample_stack_user");
  attr.sample_stack_user = 65528;
  accepted(&attr);
}

static void live_negative_period_is_refused(void **state) {
  struct perf_event_attr attr;

  support_need_own_events(__func__);
  explain_user_dummy(&attr);
  uvperf_attr_set_period(&attr, UINT64_C(1) << 63);
  refused(&attr, 0, -1, "sample_period");
  uvperf_attr_set_period(&attr, (UINT64_C(1) << 63) - 1);
  accepted(&attr);
}

static void live_read_with_inherit_is_refused(void **state) {
  struct perf_event_attr attr;

  support_need_own_events(__func__);
  explain_user_dummy(&attr);
  attr.inherit = 1;
  attr.sample_type = PERF_SAMPLE_READ;
  refused(&attr, 0, -1, "PERF_SAMPLE_READ");
  attr.inherit = 0;
  accepted(&attr);
}

static void live_branch_stack_of_no_kind_is_refused(void **state) {
  struct perf_event_attr attr;

  support_need_own_events(__func__);
  explain_user_dummy(&attr);
  attr.exclude_hv = 1;
  attr.sample_type = PERF_SAMPLE_BRANCH_STACK;
  attr.branch_sample_type = PERF_SAMPLE_BRANCH_USER;
  refused(&attr, 0, -1, "branch_sample_type");
  attr.branch_sample_type = 0;
  refused(&attr, 0, -1, "branch_sample_type");
}

static void live_invalid_registers_are_refused(void **state) {
  struct perf_event_attr attr;

  support_need_own_events(__func__);
  explain_user_dummy(&attr);
  attr.sample_type = PERF_SAMPLE_REGS_USER;
  refused(&attr, 0, -1, "sample_regs_user");
  attr.sample_regs_user = 1;
  accepted(&attr);
#if defined(__x86_64__)
  attr.sample_regs_user = 1 << 12; /* PERF_REG_X86_DS */
  refused(&attr, 0, -1, "sample_regs_user");
  attr.sample_regs_user = 1 << 24;
  refused(&attr, 0, -1, "sample_regs_user");
  attr.sample_regs_user = 0xff0fff;
  accepted(&attr);
#endif
  attr.sample_type = PERF_SAMPLE_REGS_INTR;
  refused(&attr, 0, -1, "sample_regs_intr");
}

static void live_bits_of_no_kernel_are_named(void **state) {
  struct perf_event_attr attr;
  uvperf_error_t error;

  support_need_own_events(__func__);
  explain_user_dummy(&attr);
  attr.sample_type = UINT64_C(1) << 62;
  assert_int_equal(explain_try(&error, &attr, 0, -1, -1), -EINVAL);
  explain_check(&error, -EINVAL, UVPERF_CAUSE_OLD_KERNEL, "0x4000000000000000");
  explain_user_dummy(&attr);
  ((uint8_t *)&attr)[47] = 0x81;
  assert_int_equal(explain_try(&error, &attr, 0, -1, -1), -EINVAL);
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
  explain_check(&error, -EINVAL, UVPERF_CAUSE_OLD_KERNEL, "0x8100000000000000");
#endif
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(live_every_task_without_cpu_is_refused),
      cmocka_unit_test(live_sigtrap_without_remove_on_exec_is_refused),
      cmocka_unit_test(live_inherit_thread_without_inherit_is_refused),
      cmocka_unit_test(live_clockid_not_of_perf_is_refused),
      cmocka_unit_test(live_clockid_not_safe_in_nmis_is_refused),
      cmocka_unit_test(live_two_weights_are_refused),
      cmocka_unit_test(live_odd_user_stack_is_refused),
      cmocka_unit_test(live_negative_period_is_refused),
      cmocka_unit_test(live_read_with_inherit_is_refused),
      cmocka_unit_test(live_branch_stack_of_no_kind_is_refused),
      cmocka_unit_test(live_invalid_registers_are_refused),
      cmocka_unit_test(live_bits_of_no_kernel_are_named),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
