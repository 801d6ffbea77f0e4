/* SPDX-License-Identifier: MIT */
/* Which of the things in test_unprivileged_refused.c CAP_PERFMON alone allows,
 * and which it does not. */
#include "live_unprivileged.h"

#include <linux/hw_breakpoint.h>

#include "host/system.h"

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

/* Found by root, before the child drops the privilege to read it. */
static uint64_t sched_switch;

static void kernel_side(live_unprivileged_report_t *report) {
  struct perf_event_attr attr;

  uvperf_attr_software(&attr, PERF_COUNT_SW_CPU_CLOCK);
  live_unprivileged_opens(report, &attr, 0, -1);
}

static void physical_addresses(live_unprivileged_report_t *report) {
  struct perf_event_attr attr;

  live_touch_attr(&attr, PERF_SAMPLE_ADDR | PERF_SAMPLE_PHYS_ADDR);
  live_unprivileged_opens(report, &attr, 0, -1);
}

static void whole_cpu(live_unprivileged_report_t *report) {
  struct perf_event_attr attr;

  uvperf_attr_software(&attr, PERF_COUNT_SW_CPU_CLOCK);
  live_unprivileged_opens(report, &attr, -1, 0);
}

static void task_of_another(live_unprivileged_report_t *report) {
  struct perf_event_attr attr;

  live_comm_attr(&attr);
  live_unprivileged_opens(report, &attr, 1, -1);
}

static void data_of_a_tracepoint(live_unprivileged_report_t *report) {
  struct perf_event_attr attr;

  live_syscall_attr(&attr, sched_switch, PERF_SAMPLE_RAW);
  live_unprivileged_opens(report, &attr, 0, -1);
}

static void namespaces(live_unprivileged_report_t *report) {
  struct perf_event_attr attr;

  live_comm_attr(&attr);
  attr.namespaces = 1;
  live_unprivileged_opens(report, &attr, 0, -1);
}

/* Linux 6.16, and stable kernels of that time, want CAP_SYS_ADMIN. */
static void uprobe(live_unprivileged_report_t *report) {
  static const char path[] = "/sys/bus/event_source/devices/uprobe/type";
  struct perf_event_attr attr;
  int64_t type;

  if (uvperf__system_number(path, &type) != 0 ||
      uvperf__system_is_before(6, 16) != 0) {
    live_unprivileged_absent(report, "a uprobe PMU of Linux 6.16");
    return;
  }
  uvperf_attr_init(&attr, (uint32_t)type, 0);
  attr.config1 = (uintptr_t) "/bin/sh";
  live_unprivileged_refused(report, &attr, 0, -1, UV_EACCES, "CAP_SYS_ADMIN");
}

static void kernel_breakpoint(live_unprivileged_report_t *report) {
  struct perf_event_attr attr;

  uvperf_attr_breakpoint(&attr, HW_BREAKPOINT_W, UINT64_MAX - 0xfff, 8);
  live_unprivileged_refused(report, &attr, -1, 0, UV_EPERM, "CAP_SYS_ADMIN");
}

static void perfmon_lifts_what_paranoid_forbids(void **state) {
  static const live_unprivileged_line_t lines[] = {
      {"the kernel side", kernel_side},
      {"physical addresses", physical_addresses},
      {"a whole CPU", whole_cpu},
      {"a task of another user", task_of_another},
      {"the data of sched_switch", data_of_a_tracepoint},
      {"namespaces", namespaces},
  };

  sched_switch = support_need_tracepoint(__func__, "sched:sched_switch");
  live_unprivileged_run_with_perfmon(__func__, lines, COUNT_OF(lines));
}

static void
perfmon_does_not_lift_breakpoints_in_the_kernel_and_uprobes(void **state) {
  static const live_unprivileged_line_t lines[] = {
      {"a breakpoint in the kernel", kernel_breakpoint},
      {"uprobes", uprobe},
  };

  support_need_breakpoints(__func__);
  live_unprivileged_run_with_perfmon(__func__, lines, COUNT_OF(lines));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(perfmon_lifts_what_paranoid_forbids),
      cmocka_unit_test(
          perfmon_does_not_lift_breakpoints_in_the_kernel_and_uprobes),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
