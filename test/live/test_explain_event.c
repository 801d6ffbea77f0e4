/* SPDX-License-Identifier: MIT */
/* Tracepoints, breakpoints, probes and other PMUs that this kernel refuses, and
 * the reported cause. */
#include "check_explain.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include <linux/hw_breakpoint.h>

#include "host/system.h"
#include "sys/sys.h"

static void unknown_tracepoint(uvperf_error_t *error) {
  struct perf_event_attr attr;

  uvperf_attr_tracepoint(&attr, 65000000);
  attr.exclude_kernel = 1;
  explain_try(error, &attr, 0, -1, -1);
}

static void live_unknown_tracepoint_is_no_event(void **state) {
  support_need_own_events(__func__);
  explain_expect(unknown_tracepoint, -EINVAL, UVPERF_CAUSE_NO_EVENT, "");
}

static void unknown_tracepoint_unprivileged(uvperf_error_t *error) {
  explain_drop_privileges();
  unknown_tracepoint(error);
}

/* Whether it is there cannot be known without reading tracefs. */
static void live_unknown_tracepoint_without_tracefs_is_not_sure(void **state) {
  struct stat status;

  explain_need_paranoid(__func__, -1, 2);
  if (support_is_in_user_namespace())
    support_skip(__func__, "root or a user outside of user namespaces");
  if (stat("/sys/kernel/tracing/events", &status) == 0 &&
      stat("/sys/kernel/tracing", &status) == 0 && (status.st_mode & 5) != 0)
    support_skip(__func__, "a tracefs that not everybody can read");
  explain_expect(unknown_tracepoint_unprivileged, -EINVAL,
                 UVPERF_CAUSE_NO_EVENT, "root");
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

static void live_breakpoints_end_with_slots(void **state) {
  support_need_breakpoints(__func__);
  explain_expect(breakpoints, -ENOSPC, UVPERF_CAUSE_BREAKPOINT_SLOTS, "");
}

static void branch_stack(uvperf_error_t *error) {
  struct perf_event_attr attr;

  explain_user_clock(&attr);
  attr.sample_type = PERF_SAMPLE_BRANCH_STACK;
  attr.branch_sample_type = PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_ANY;
  uvperf_attr_set_period(&attr, 1000000);
  explain_try(error, &attr, 0, -1, -1);
}

static void live_branch_stack_of_software_is_not_supported(void **state) {
  support_need_own_events(__func__);
  explain_expect(branch_stack, -EOPNOTSUPP, UVPERF_CAUSE_NOT_SUPPORTED,
                 "PERF_SAMPLE_BRANCH_STACK");
}

static void refused(struct perf_event_attr *attr, int code, int cause,
                    const char *piece) {
  uvperf_error_t error;

  assert_int_equal(explain_try(&error, attr, 0, -1, -1), code);
  explain_check(&error, code, cause, piece);
}

static void live_tracepoint_of_ftrace_is_not_supported(void **state) {
  uint64_t id = support_need_tracepoint(__func__, "ftrace:function");
  struct perf_event_attr attr;

  support_need_root(__func__);
  uvperf_attr_tracepoint(&attr, id);
  uvperf_attr_set_period(&attr, 1);
  attr.sample_type = PERF_SAMPLE_CALLCHAIN;
  refused(&attr, -EINVAL, UVPERF_CAUSE_NOT_SUPPORTED, "ftrace:function");
}

/* One that exists, in a combination that no event can have. */
static void live_known_tracepoint_is_not_called_unknown(void **state) {
  uint64_t id = support_need_tracepoint(__func__, "syscalls:sys_enter_getpgid");
  struct perf_event_attr attr;

  support_need_own_events(__func__);
  uvperf_attr_tracepoint(&attr, id);
  attr.exclude_kernel = 1;
  attr.aux_sample_size = 8;
  refused(&attr, -EINVAL, UVPERF_CAUSE_NOT_SUPPORTED, "AUX");
}

static void live_breakpoint_faults_have_reasons_of_their_own(void **state) {
  static uint64_t watched[2];
  uint64_t address = (uintptr_t)watched;
  const struct {
    uint32_t type;
    uint64_t address, length;
    const char *piece;
  } faults[] = {
    {HW_BREAKPOINT_EMPTY, address, 8, "bp_type"},
    {7, address, 8, "bp_type"},
    {HW_BREAKPOINT_W, address, 0, "bp_len"},
    {HW_BREAKPOINT_W, UINT64_MAX - 0xfff, 8, "exclude_kernel"},
#if defined(__x86_64__)
    {HW_BREAKPOINT_W, address, 3, "bp_len"},
    {HW_BREAKPOINT_R, address, 8, "HW_BREAKPOINT_RW"},
    {HW_BREAKPOINT_W, address + 1, 4, "bp_addr"},
    {HW_BREAKPOINT_X, address, 4, "HW_BREAKPOINT_X"},
#endif
  };
  struct perf_event_attr attr;
  size_t i;

  support_need_breakpoints(__func__);
  for (i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
    uvperf_attr_breakpoint(&attr, faults[i].type, faults[i].address,
                           faults[i].length);
    attr.exclude_kernel = 1;
    refused(&attr, -EINVAL, UVPERF_CAUSE_ARGUMENT, faults[i].piece);
  }
}

/* AMD's CPUs have masks for longer ones. */
static void live_long_breakpoint_is_not_supported(void **state) {
  static uint64_t watched[4];
  struct perf_event_attr attr;
  uvperf_error_t error;
  int rc;

  support_need_breakpoints(__func__);
  uvperf_attr_breakpoint(&attr, HW_BREAKPOINT_W,
                         ((uintptr_t)watched + 15) & ~(uintptr_t)15, 16);
  attr.exclude_kernel = 1;
  rc = explain_try(&error, &attr, 0, -1, -1);
  if (rc >= 0) {
    uvperf__sys_close(rc);
    support_skip(__func__, "a CPU without long breakpoints");
  }
#if defined(__x86_64__) || defined(__i386__)
  explain_check(&error, -EOPNOTSUPP, UVPERF_CAUSE_NOT_SUPPORTED, "bp_len");
#else
  explain_check(&error, -EINVAL, UVPERF_CAUSE_ARGUMENT, "bp_len");
#endif
}

static uint32_t need_pmu(const char *test, const char *pmu) {
  char path[96];
  int64_t type;

  snprintf(path, sizeof(path), "/sys/bus/event_source/devices/%s/type", pmu);
  if (uvperf__system_number(path, &type) != 0)
    support_skip(test, path);
  return (uint32_t)type;
}

static void uprobe_attr(struct perf_event_attr *attr, uint32_t type,
                        const char *path, uint64_t offset) {
  uvperf_attr_init(attr, type, 0);
  attr->config1 = (uintptr_t)path;
  attr->config2 = offset;
}

static void live_uprobe_faults_have_reasons_of_their_own(void **state) {
  uint32_t type = need_pmu(__func__, "uprobe");
  struct perf_event_attr attr;
  char path[8192];

  support_need_uprobes(__func__);
  uprobe_attr(&attr, type, "/nonexistent", 0);
  refused(&attr, -ENOENT, UVPERF_CAUSE_NO_EVENT, "uprobe_path");
  uprobe_attr(&attr, type, "/", 0);
  refused(&attr, -EINVAL, UVPERF_CAUSE_ARGUMENT, "uprobe_path");
  uprobe_attr(&attr, type, "/proc/self/exe", UINT64_C(1) << 40);
  refused(&attr, -EINVAL, UVPERF_CAUSE_ARGUMENT, "probe_offset");
  uprobe_attr(&attr, type, (const char *)8, 0);
  refused(&attr, -EFAULT, UVPERF_CAUSE_ARGUMENT, "uprobe_path");
  memset(path, 'x', sizeof(path));
  path[sizeof(path) - 1] = '\0';
  uprobe_attr(&attr, type, path, 0);
  refused(&attr, -E2BIG, UVPERF_CAUSE_ARGUMENT, "uprobe_path");
  path[300] = '\0';
  uprobe_attr(&attr, type, path, 0);
  refused(&attr, -ENAMETOOLONG, UVPERF_CAUSE_ARGUMENT, "uprobe_path");
  uprobe_attr(&attr, type, "/proc/version", 0);
  refused(&attr, -EIO, UVPERF_CAUSE_ARGUMENT, "uprobe_path");
}

static void live_pmu_error_says_what_it_may_lack(void **state) {
  uint32_t type = need_pmu(__func__, "msr");
  struct perf_event_attr attr;

  support_need_kernel_side(__func__);
  uvperf_attr_init(&attr, type, 99);
  refused(&attr, -EINVAL, UVPERF_CAUSE_NO_EVENT, "");
  uvperf_attr_init(&attr, type, 0);
  attr.exclude_kernel = 1;
  refused(&attr, -EINVAL, UVPERF_CAUSE_NOT_SUPPORTED, "exclude_*");
  uvperf_attr_init(&attr, type, 0);
  attr.sample_period = 1;
  refused(&attr, -EINVAL, UVPERF_CAUSE_NOT_SUPPORTED, "sampling");
}

/* They open if there is a PMU for them. */
static void live_hardware_event_without_a_pmu_is_no_event(void **state) {
  struct perf_event_attr attr;
  uvperf_error_t error;
  int fd;

  support_need_own_events(__func__);
  uvperf_attr_hardware(&attr, PERF_COUNT_HW_CPU_CYCLES);
  attr.exclude_kernel = 1;
  fd = explain_try(&error, &attr, 0, -1, -1);
  if (fd >= 0) {
    close(fd);
    support_skip(__func__, "a machine without a hardware PMU");
  }
  explain_check(&error, -ENOENT, UVPERF_CAUSE_NO_EVENT, "cpu-clock");
}

static void live_options_that_software_events_lack_are_enotsup(void **state) {
  struct perf_event_attr attr;

  support_need_own_events(__func__);
  explain_user_clock(&attr);
  attr.aux_output = 1;
  refused(&attr, -EOPNOTSUPP, UVPERF_CAUSE_NOT_SUPPORTED, "AUX");
#if defined(__x86_64__)
  explain_user_clock(&attr);
  attr.sample_type = PERF_SAMPLE_REGS_USER;
  attr.sample_regs_user = UINT64_C(1) << 32;
  refused(&attr, -EOPNOTSUPP, UVPERF_CAUSE_NOT_SUPPORTED, "XMM");
#endif
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(live_unknown_tracepoint_is_no_event),
      cmocka_unit_test(live_unknown_tracepoint_without_tracefs_is_not_sure),
      cmocka_unit_test(live_breakpoints_end_with_slots),
      cmocka_unit_test(live_branch_stack_of_software_is_not_supported),
      cmocka_unit_test(live_tracepoint_of_ftrace_is_not_supported),
      cmocka_unit_test(live_known_tracepoint_is_not_called_unknown),
      cmocka_unit_test(live_breakpoint_faults_have_reasons_of_their_own),
      cmocka_unit_test(live_long_breakpoint_is_not_supported),
      cmocka_unit_test(live_uprobe_faults_have_reasons_of_their_own),
      cmocka_unit_test(live_pmu_error_says_what_it_may_lack),
      cmocka_unit_test(live_hardware_event_without_a_pmu_is_no_event),
      cmocka_unit_test(live_options_that_software_events_lack_are_enotsup),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
