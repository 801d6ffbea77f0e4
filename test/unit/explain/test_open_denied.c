/* SPDX-License-Identifier: MIT */
/* Causes and reasons for EACCES and EPERM of perf_event_open(2), on a scripted
 * machine. */
#include "check_explain.h"
#include "fake_kernel.h"
#include "make_host.h"

#include <errno.h>

#define PARANOID "/proc/sys/kernel/perf_event_paranoid"
#define RELEASE  "/proc/sys/kernel/osrelease"
#define STATUS   "/proc/self/status"
#define LOCKDOWN "/sys/kernel/security/lockdown"

/* /proc/self/status of a process with CAP_PERFMON, with CAP_SYS_ADMIN, or with
 * a seccomp filter. */
#define PERFMON  "Uid:\t1000\t1000\t1000\t1000\nCapEff:\t0000004000000000\n"
#define ADMIN    "Uid:\t1000\t1000\t1000\t1000\nCapEff:\t0000000000200000\n"
#define FILTERED "Uid:\t1000\t1000\t1000\t1000\nCapEff:\t0\nSeccomp:\t2\n"

static void expect(int code, const struct perf_event_attr *attr, int pid,
                   int cpu, const char *piece) {
  uvperf_error_t error;
  uvperf__open_call_t call = explain_open_call(&error, code, attr, pid, cpu);

  assert_int_equal(uvperf__explain_open(&call), code);
  explain_check(&error, code, UVPERF_CAUSE_PERMISSION, piece);
}

static void eacces_names_what_lifts_paranoid(void **state) {
  struct perf_event_attr attr;

  uvperf_attr_software(&attr, PERF_COUNT_SW_CPU_CLOCK);
  expect(-EACCES, &attr, 0, -1,
         "the kernel side needs kernel.perf_event_paranoid <= 1 (it is 2) or "
         "CAP_PERFMON; or set exclude_kernel");
  expect(-EACCES, &attr, -1, 0,
         "a whole CPU needs kernel.perf_event_paranoid <= 0 (it is 2)");
  uvperf_attr_init(&attr, PERF_TYPE_MAX + 90, 0);
  expect(-EACCES, &attr, 0, -1,
         "the kernel side needs kernel.perf_event_paranoid <= 1 (it is 2) or "
         "CAP_PERFMON; or set exclude_kernel, if this PMU can");
  explain_user_clock(&attr);
  attr.sample_type = PERF_SAMPLE_PHYS_ADDR;
  expect(-EACCES, &attr, 0, -1,
         "PHYS_ADDR needs kernel.perf_event_paranoid <= 1 (it is 2)");
}

static void
eacces_of_tracepoint_data_everywhere_asks_for_minus_1(void **state) {
  struct perf_event_attr attr;

  uvperf_attr_tracepoint(&attr, 316);
  attr.sample_type = PERF_SAMPLE_RAW;
  expect(-EACCES, &attr, -1, 0, "perf_event_paranoid <= -1");
  expect(-EACCES, &attr, 0, -1, "perf_event_paranoid <= 1");
}

static void eacces_of_kernel_branches_asks_for_1(void **state) {
  static const char piece[] =
      "more than PERF_SAMPLE_BRANCH_USER needs kernel.perf_event_paranoid <= 1";
  struct perf_event_attr attr;

  uvperf_attr_hardware(&attr, PERF_COUNT_HW_CPU_CYCLES);
  attr.exclude_kernel = 1;
  attr.sample_type = PERF_SAMPLE_BRANCH_STACK;
  attr.branch_sample_type = PERF_SAMPLE_BRANCH_ANY;
  expect(-EACCES, &attr, 0, -1, piece);
  attr.exclude_hv = 1;
  expect(-EACCES, &attr, 0, -1, "despite capabilities and");
  attr.branch_sample_type |= PERF_SAMPLE_BRANCH_KERNEL;
  expect(-EACCES, &attr, 0, -1, piece);
  attr.branch_sample_type = PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_ANY;
  expect(-EACCES, &attr, 0, -1, "despite capabilities and");
}

static void eacces_at_a_distributions_level_wants_sys_admin(void **state) {
  struct perf_event_attr attr;

  make_host_write(PARANOID, "3\n");
  explain_user_clock(&attr);
  expect(-EACCES, &attr, 0, -1,
         "any event needs kernel.perf_event_paranoid <= 2 (it is 3) or "
         "CAP_SYS_ADMIN");
  make_host_write(STATUS, PERFMON);
  expect(-EACCES, &attr, 0, -1,
         "at kernel.perf_event_paranoid 3 CAP_PERFMON is not enough");
  make_host_write(STATUS, ADMIN);
  expect(-EACCES, &attr, 0, -1, "perhaps by a security module");
}

static void eacces_before_linux_5_8_wants_sys_admin(void **state) {
  struct perf_event_attr attr;

  uvperf_attr_software(&attr, PERF_COUNT_SW_CPU_CLOCK);
  make_host_write(RELEASE, "5.8.0\n");
  expect(-EACCES, &attr, 0, -1, "(it is 2) or CAP_PERFMON");
  make_host_write(RELEASE, "5.7.19\n");
  expect(-EACCES, &attr, 0, -1, "(it is 2) or CAP_SYS_ADMIN");
}

static void eperm_of_tracepoint_data_asks_for_minus_1(void **state) {
  struct perf_event_attr attr;

  uvperf_attr_tracepoint(&attr, 316);
  attr.exclude_kernel = 1;
  attr.sample_type = PERF_SAMPLE_RAW;
  expect(-EPERM, &attr, 0, -1,
         "a tracepoint's data needs kernel.perf_event_paranoid <= -1");
}

static void eacces_of_a_uprobe_wants_sys_admin(void **state) {
  struct perf_event_attr attr;

  uvperf_attr_init(&attr, 8, 0);
  expect(-EACCES, &attr, 0, -1, "a uprobe needs CAP_SYS_ADMIN at any");
  make_host_write(STATUS, PERFMON);
  expect(-EACCES, &attr, 0, -1, "a uprobe needs CAP_SYS_ADMIN at any");
  make_host_write(STATUS, ADMIN);
  expect(-EACCES, &attr, 0, -1, "perhaps by a security module");
}

static void eperm_of_a_kernel_breakpoint_wants_sys_admin(void **state) {
  struct perf_event_attr attr;

  uvperf_attr_breakpoint(&attr, 2, UINT64_MAX - 7, 8);
  make_host_write(STATUS, PERFMON);
  expect(-EPERM, &attr, 0, -1, "a kernel address needs CAP_SYS_ADMIN");
  make_host_write(STATUS, ADMIN);
  expect(-EPERM, &attr, 0, -1, "perhaps by a security module");
}

static void eperm_under_lockdown_says_so(void **state) {
  struct perf_event_attr attr;

  explain_user_clock(&attr);
  make_host_write(LOCKDOWN, "none integrity [confidentiality]\n");
  expect(-EPERM, &attr, 0, -1, "perhaps by a security module");
  attr.sample_type = PERF_SAMPLE_REGS_INTR;
  expect(-EPERM, &attr, 0, -1, "forbids PERF_SAMPLE_REGS_INTR");
  make_host_write(LOCKDOWN, "none [integrity] confidentiality\n");
  expect(-EPERM, &attr, 0, -1, "perhaps by a security module");
}

static void eacces_of_a_thread_names_its_user(void **state) {
  struct perf_event_attr attr;

  explain_user_clock(&attr);
  expect(
      -EACCES, &attr, 77, -1,
      "belongs to another user (uid 0); run as that user or with CAP_PERFMON");
  expect(-EACCES, &attr, 78, -1, "tracing it needs");
  expect(-EACCES, &attr, 79, -1, "belongs to another user (uid 0)");
  expect(-EACCES, &attr, 80, -1, "tracing it needs");
  uvperf_attr_set(&attr, UVPERF_ATTR_SIGTRAP, 1);
  expect(-EACCES, &attr, 78, -1,
         "right to ptrace(2) the thread (see kernel.yama.ptrace_scope), or "
         "CAP_PERFMON and CAP_KILL");
}

static void eacces_at_every_level_says_so(void **state) {
  struct perf_event_attr attr;

  explain_user_clock(&attr);
  attr.namespaces = 1;
  expect(-EACCES, &attr, 0, -1, "attr.namespaces needs CAP_PERFMON at any");
  uvperf_attr_init(&attr, 6, 0);
  expect(-EACCES, &attr, 0, -1, "a kprobe needs CAP_PERFMON at any");
}

static void
eacces_in_spite_of_the_capability_is_a_security_modules(void **state) {
  struct perf_event_attr attr;

  explain_user_clock(&attr);
  make_host_write(STATUS, PERFMON);
  expect(-EACCES, &attr, 0, -1, "perhaps by a security module; see the audit");
  expect(-EACCES, &attr, 77, -1, "perhaps by a security module; see the audit");
  uvperf_attr_set(&attr, UVPERF_ATTR_SIGTRAP, 1);
  expect(-EACCES, &attr, 77, -1, "or CAP_PERFMON and CAP_KILL");
}

/* A container's root that is a user outside has every capability there. */
static void eacces_in_a_user_namespace_says_where_it_is_needed(void **state) {
  struct perf_event_attr attr;

  make_host_write(STATUS, "Uid:\t0\t0\t0\t0\nCapEff:\t000001ffffffffff\n");
  make_host_write("/proc/self/uid_map", "0 1000 1\n");
  uvperf_attr_software(&attr, PERF_COUNT_SW_CPU_CLOCK);
  expect(-EACCES, &attr, 0, -1,
         "needs kernel.perf_event_paranoid <= 1 (it is 2) or CAP_PERFMON "
         "outside this user namespace");
  attr.exclude_kernel = 1;
  expect(-EACCES, &attr, 78, -1,
         "run as that user or with CAP_PERFMON outside this user namespace");
  attr.namespaces = 1;
  expect(
      -EACCES, &attr, 0, -1,
      "attr.namespaces needs CAP_PERFMON outside this user namespace at any");
  uvperf_attr_init(&attr, 8, 0);
  expect(-EACCES, &attr, 0, -1,
         "a uprobe needs CAP_SYS_ADMIN outside this user namespace");
  make_host_write(PARANOID, "3\n");
  explain_user_clock(&attr);
  expect(-EACCES, &attr, 0, -1,
         "<= 2 (it is 3) or CAP_SYS_ADMIN outside this user namespace");
}

static void eacces_without_proc_still_has_a_reason(void **state) {
  struct perf_event_attr attr;

  explain_user_clock(&attr);
  expect(-EACCES, &attr, 0, -1, "which cannot be read");
}

static void expect_filter(int code, const struct perf_event_attr *attr,
                          int probed, int cause, const char *piece) {
  uvperf_error_t error;
  uvperf__open_call_t call = explain_open_call(&error, code, attr, 0, -1);

  fake_kernel_reset();
  fake_fail(FAKE_OPEN, 1, probed);
  uvperf__explain_open(&call);
  explain_check(&error, code, cause, piece);
}

/* Containers have filters that let perf_event_open pass, too. */
static void
denied_under_seccomp_is_the_filters_only_if_it_says_the_same(void **state) {
  struct perf_event_attr attr;

  uvperf_attr_software(&attr, PERF_COUNT_SW_CPU_CLOCK);
  make_host_write(STATUS, FILTERED);
  expect_filter(-EPERM, &attr, -EPERM, UVPERF_CAUSE_NO_PERF,
                "a seccomp filter forbids perf_event_open(2); run the "
                "container with --cap-add PERFMON, or allow it in its profile "
                "(systemd: SystemCallFilter=)");
  expect_filter(-ENOSYS, &attr, -ENOSYS, UVPERF_CAUSE_NO_PERF, "seccomp");
  expect_filter(-EACCES, &attr, -EACCES, UVPERF_CAUSE_NO_PERF, "seccomp");
  expect_filter(-EACCES, &attr, -EFAULT, UVPERF_CAUSE_PERMISSION,
                "the kernel side");
  expect_filter(-EPERM, &attr, -EFAULT, UVPERF_CAUSE_PERMISSION,
                "the kernel side");
  /* Distributions refuse every event by EACCES, never by EPERM. */
  make_host_write(PARANOID, "3\n");
  expect_filter(-EACCES, &attr, -EACCES, UVPERF_CAUSE_PERMISSION,
                "the kernel side");
  expect_filter(-EPERM, &attr, -EPERM, UVPERF_CAUSE_NO_PERF, "seccomp");
  /* A profile of before it knew the capability. */
  make_host_write(STATUS, PERFMON "Seccomp:\t2\n");
  expect_filter(-EPERM, &attr, -EPERM, UVPERF_CAUSE_NO_PERF,
                "a seccomp filter forbids perf_event_open(2) despite "
                "CAP_PERFMON; allow it in the container's profile");
}

/* Such a kernel has no perf_event_paranoid either. */
static void enosys_under_seccomp_may_be_the_kernels(void **state) {
  struct perf_event_attr attr;

  explain_user_clock(&attr);
  make_host_write(STATUS, FILTERED);
  /* systemd's ProcSubset=pid hides all of /proc/sys. */
  expect_filter(-ENOSYS, &attr, -ENOSYS, UVPERF_CAUSE_NO_PERF,
                "a seccomp filter forbids");
  make_host_write("/proc/sys/kernel/osrelease", "6.1.0-9-amd64\n");
  expect_filter(-ENOSYS, &attr, -ENOSYS, UVPERF_CAUSE_NO_PERF,
                "CONFIG_PERF_EVENTS");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      MAKE_HOST_MACHINE_TEST(eacces_names_what_lifts_paranoid),
      MAKE_HOST_MACHINE_TEST(
          eacces_of_tracepoint_data_everywhere_asks_for_minus_1),
      MAKE_HOST_MACHINE_TEST(eacces_of_kernel_branches_asks_for_1),
      MAKE_HOST_MACHINE_TEST(eacces_at_a_distributions_level_wants_sys_admin),
      MAKE_HOST_MACHINE_TEST(eacces_before_linux_5_8_wants_sys_admin),
      MAKE_HOST_MACHINE_TEST(eperm_of_tracepoint_data_asks_for_minus_1),
      MAKE_HOST_MACHINE_TEST(eacces_of_a_uprobe_wants_sys_admin),
      MAKE_HOST_MACHINE_TEST(eperm_of_a_kernel_breakpoint_wants_sys_admin),
      MAKE_HOST_MACHINE_TEST(eperm_under_lockdown_says_so),
      MAKE_HOST_MACHINE_TEST(eacces_of_a_thread_names_its_user),
      MAKE_HOST_MACHINE_TEST(eacces_at_every_level_says_so),
      MAKE_HOST_MACHINE_TEST(
          eacces_in_spite_of_the_capability_is_a_security_modules),
      MAKE_HOST_MACHINE_TEST(
          eacces_in_a_user_namespace_says_where_it_is_needed),
      cmocka_unit_test_setup_teardown(eacces_without_proc_still_has_a_reason,
                                      make_host_setup, make_host_teardown),
      MAKE_HOST_MACHINE_TEST(
          denied_under_seccomp_is_the_filters_only_if_it_says_the_same),
      cmocka_unit_test_setup_teardown(enosys_under_seccomp_may_be_the_kernels,
                                      make_host_setup, make_host_teardown),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
