/* SPDX-License-Identifier: MIT */
/* Causes and reasons for the errnos of perf_event_open(2), except EINVAL and
 * permission errors, on a scripted machine. */
#include "check_explain.h"
#include "fake_kernel.h"
#include "make_host.h"
#include "util/error.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

/* Explains a failure and insists on a cause and on pieces of the reason. */
static void expect(uvperf_error_t *error, int code,
                   const struct perf_event_attr *attr, int pid, int cpu,
                   int cause, const char *piece) {
  uvperf__open_call_t call = explain_open_call(error, code, attr, pid, cpu);

  assert_int_equal(uvperf__explain_open(&call), code);
  explain_check(error, code, cause, piece);
}

static void explain_without_error_returns_the_code(void **state) {
  struct perf_event_attr attr;
  uvperf__open_call_t call;
  uvperf_error_t error;

  explain_user_clock(&attr);
  assert_int_equal(uvperf__error_set(NULL, -EIO, 1, "%d", 1), -EIO);
  call = explain_open_call(&error, -EACCES, &attr, 0, -1);
  call.error = NULL;
  assert_int_equal(uvperf__explain_open(&call), -EACCES);
  assert_int_equal(uvperf__explain_map(NULL, -EPERM, &attr, -1, 4096), -EPERM);
}

static void explain_enosys_is_no_perf(void **state) {
  struct perf_event_attr attr;
  uvperf_error_t error;
  char path[PATH_MAX];

  explain_user_clock(&attr);
  /* As from qemu-user. */
  expect(&error, -ENOSYS, &attr, 0, -1, UVPERF_CAUSE_NO_PERF,
         "an emulator or sandbox hides the kernel's perf_event_open(2)");
  snprintf(path, sizeof(path), "%s/proc/sys/kernel/perf_event_paranoid",
           make_host_root());
  assert_int_equal(unlink(path), 0);
  expect(&error, -ENOSYS, &attr, 0, -1, UVPERF_CAUSE_NO_PERF,
         "CONFIG_PERF_EVENTS");
  attr.sample_type = PERF_SAMPLE_STACK_USER;
  fake_kernel_reset();
  fake_fail(FAKE_OPEN, 1, -ENOSYS);
  expect(&error, -ENOSYS, &attr, 0, -1, UVPERF_CAUSE_NO_PERF,
         "CONFIG_PERF_EVENTS");
  fake_fail(FAKE_OPEN, 1, -EFAULT);
  expect(&error, -ENOSYS, &attr, 0, -1, UVPERF_CAUSE_NOT_SUPPORTED,
         "this architecture cannot copy stacks or registers; leave out PERF_");
}

static void explain_enoent_separates_event_and_pmu(void **state) {
  struct perf_event_attr attr;
  uvperf_error_t error;

  uvperf_attr_init(&attr, 42, 1);
  expect(&error, -ENOENT, &attr, 0, -1, UVPERF_CAUSE_NO_EVENT,
         "cannot open event 0x1 of type 42 for the calling thread: no PMU has "
         "this type");
  uvperf_attr_init(&attr, 9, 99);
  expect(&error, -ENOENT, &attr, 0, -1, UVPERF_CAUSE_NO_EVENT,
         "the PMU has no such event");
  uvperf_attr_hardware(&attr, PERF_COUNT_HW_CPU_CYCLES);
  expect(&error, -ENOENT, &attr, 0, -1, UVPERF_CAUSE_NO_EVENT, "try cpu-clock");
  uvperf_attr_software(&attr, 99);
  expect(&error, -ENOENT, &attr, 0, -1, UVPERF_CAUSE_NO_EVENT,
         "this kernel has no such event");
  uvperf_attr_init(&attr, PERF_TYPE_BREAKPOINT, 0);
  expect(&error, -ENOENT, &attr, 0, -1, UVPERF_CAUSE_NO_EVENT,
         "this kernel has no breakpoints");
}

static void expect_cgroup(int code, const struct perf_event_attr *attr,
                          int cgroup, int cause, const char *piece) {
  uvperf_error_t error;
  uvperf__open_call_t call = explain_open_call(&error, code, attr, 0, 1);

  call.cgroup = cgroup;
  uvperf__explain_open(&call);
  explain_check(&error, code, cause, piece);
}

static void explain_of_cgroup_names_it(void **state) {
  struct perf_event_attr attr;
  char expected[512];
  char name[64] = "a\nb\033";
  int fds[2];
  int fd;

  explain_user_clock(&attr);
  assert_int_equal(pipe(fds), 0);
  snprintf(expected, sizeof(expected),
           "for cgroup fd %d on CPU 1: the cgroup is not in", fds[0]);
  expect_cgroup(-ENOENT, &attr, fds[0], UVPERF_CAUSE_ARGUMENT, expected);
  close(fds[0]);
  close(fds[1]);
  /* Nothing of a name gets to a terminal but letters. */
  fd = open(make_host_root(), O_RDONLY | O_DIRECTORY);
  assert_int_equal(mkdirat(fd, name, 0700), 0);
  close(fd);
  snprintf(expected, sizeof(expected), "%s/%s", make_host_root(), name);
  fd = open(expected, O_RDONLY | O_DIRECTORY);
  assert_true(fd >= 0);
  snprintf(expected, sizeof(expected), "for cgroup %s/a?b? on CPU 1: the",
           make_host_root());
  expect_cgroup(-ENOENT, &attr, fd, UVPERF_CAUSE_ARGUMENT, expected);
  close(fd);
  memset(name, 'x', sizeof(name) - 1);
  fd = open(make_host_root(), O_RDONLY | O_DIRECTORY);
  assert_int_equal(mkdirat(fd, name, 0700), 0);
  close(fd);
  snprintf(expected, sizeof(expected), "%s/%s", make_host_root(), name);
  fd = open(expected, O_RDONLY | O_DIRECTORY);
  assert_true(fd >= 0);
  expect_cgroup(-ENOENT, &attr, fd, UVPERF_CAUSE_ARGUMENT,
                "xx... on CPU 1: the cgroup is not in the hierarchy");
  assert_int_equal(rmdir(expected), 0);
  expect_cgroup(-ENOENT, &attr, fd, UVPERF_CAUSE_NO_TASK,
                "xx... on CPU 1: the cgroup was removed");
  close(fd);
  expect_cgroup(-EBADF, &attr, 0, UVPERF_CAUSE_ARGUMENT,
                "not the directory of a cgroup");
  expect_cgroup(-EBADF, &attr, INT32_MAX, UVPERF_CAUSE_ARGUMENT,
                "fd is not open");
  expect_cgroup(-EACCES, &attr, 0, UVPERF_CAUSE_PERMISSION,
                "a whole CPU or a cgroup needs");
  expect_cgroup(-EINVAL, &attr, 0, UVPERF_CAUSE_UNKNOWN,
                "rejects this combination");
  uvperf_attr_hardware(&attr, PERF_COUNT_HW_CPU_CYCLES);
  expect_cgroup(-ENOENT, &attr, 0, UVPERF_CAUSE_NO_EVENT, "try cpu-clock");
}

/* An event that every kernel has cannot be missing; others may be. */
static void explain_enoent_of_cgroup_blames_it_only_if_sure(void **state) {
  struct perf_event_attr attr;

  uvperf_attr_software(&attr, PERF_COUNT_SW_BPF_OUTPUT);
  expect_cgroup(-ENOENT, &attr, 0, UVPERF_CAUSE_ARGUMENT,
                "the cgroup is not in the hierarchy");
  uvperf_attr_software(&attr, PERF_COUNT_SW_BPF_OUTPUT + 1);
  expect_cgroup(-ENOENT, &attr, 0, UVPERF_CAUSE_NO_EVENT,
                "this kernel has no such event");
  uvperf_attr_init(&attr, PERF_TYPE_MAX + 90, 0);
  expect_cgroup(-ENOENT, &attr, 0, UVPERF_CAUSE_NO_EVENT,
                "no PMU has this type");
}

static void explain_ebadf_without_cgroup_blames_the_leader(void **state) {
  struct perf_event_attr attr;
  uvperf_error_t error;

  explain_user_clock(&attr);
  expect(&error, -EBADF, &attr, 0, -1, UVPERF_CAUSE_ARGUMENT,
         "the leader is not an open perf event");
}

static void explain_enodev_separates_offline_cpu_and_lost_pmu(void **state) {
  struct perf_event_attr attr;
  uvperf_error_t error;

  explain_user_clock(&attr);
  expect(&error, -ENODEV, &attr, -1, 3, UVPERF_CAUSE_NO_CPU,
         "the CPU is offline; the online CPUs are 0-1");
  expect(&error, -ENODEV, &attr, -1, 1, UVPERF_CAUSE_NO_EVENT,
         "the device of the PMU is gone");
}

static void explain_esrch_is_no_task(void **state) {
  struct perf_event_attr attr;
  uvperf_error_t error;

  explain_user_clock(&attr);
  expect(
      &error, -ESRCH, &attr, 4711, -1, UVPERF_CAUSE_NO_TASK,
      "for thread 4711: this thread does not exist in this PID namespace, or "
      "has ended");
  expect(&error, -ESRCH, &attr, -2, -1, UVPERF_CAUSE_ARGUMENT,
         "pid is below -1");
}

static void explain_emfile_says_limit_and_need(void **state) {
  struct perf_event_attr attr;
  uvperf_error_t error;
  struct rlimit files;
  char piece[128];

  assert_int_equal(getrlimit(RLIMIT_NOFILE, &files), 0);
  explain_user_clock(&attr);
  snprintf(
      piece, sizeof(piece),
      "all %llu fds of RLIMIT_NOFILE are in use; raise it (hard limit %llu)",
      (unsigned long long)files.rlim_cur, (unsigned long long)files.rlim_max);
  expect(&error, -EMFILE, &attr, 0, -1, UVPERF_CAUSE_FILES, piece);
  assert_int_equal(error.limit, files.rlim_cur);
  assert_int_equal(error.needed, files.rlim_cur + 1);
  expect(&error, -ENFILE, &attr, 0, -1, UVPERF_CAUSE_FILES,
         "raise fs.file-max (100000)");
  assert_int_equal(error.limit, 100000);
  assert_int_equal(error.needed, 100001);
}

static void explain_e2big_says_both_sizes(void **state) {
  struct perf_event_attr attr;
  uvperf_error_t error;
  uvperf__open_call_t call;

  explain_user_clock(&attr);
  attr.size = 120;
  call = explain_open_call(&error, -E2BIG, &attr, 0, -1);
  call.asked_size = 144;
  uvperf__explain_open(&call);
  explain_check(&error, -E2BIG, UVPERF_CAUSE_OLD_KERNEL,
                "attr.size is 144, this kernel knows 120 bytes");
  assert_int_equal(error.limit, 120);
  assert_int_equal(error.needed, 144);
  call.asked_size = 63;
  uvperf__explain_open(&call);
  explain_check(&error, -E2BIG, UVPERF_CAUSE_ARGUMENT,
                "attr.size 63 is not between 64 and the page size; use sizeof");
  call.asked_size = 120;
  uvperf__explain_open(&call);
  explain_check(&error, -E2BIG, UVPERF_CAUSE_ARGUMENT,
                "reading the group would return more than 16 KiB");
}

static void expect_enotsup(const struct perf_event_attr *attr,
                           const char *piece) {
  uvperf_error_t error;

  expect(&error, -EOPNOTSUPP, attr, 0, -1, UVPERF_CAUSE_NOT_SUPPORTED, piece);
}

static void explain_enotsup_names_what_the_pmu_lacks(void **state) {
  struct perf_event_attr attr;

  uvperf_attr_hardware(&attr, PERF_COUNT_HW_CPU_CYCLES);
  expect_enotsup(&attr, "does not support everything in the attr");
  uvperf_attr_set_frequency(&attr, 99);
  expect_enotsup(&attr, "does not support sampling");
  attr.precise_ip = 2;
  expect_enotsup(&attr, "does not support this precise_ip");
  attr.aux_output = 1;
  expect_enotsup(&attr, "does not support AUX; use a PMU that has an AUX area");
  attr.sample_type = PERF_SAMPLE_BRANCH_STACK;
  expect_enotsup(&attr, "branch stacks; leave out PERF_SAMPLE_BRANCH_STACK");
  attr.type = PERF_TYPE_SOFTWARE;
  expect_enotsup(&attr, "BRANCH_STACK, or sample a hardware event");
#if defined(__x86_64__)
  attr.sample_type = PERF_SAMPLE_REGS_USER;
  attr.sample_regs_user = UINT64_C(1) << 32;
  expect_enotsup(&attr, "XMM registers; leave out the registers above bit 31");
#endif
  uvperf_attr_breakpoint(&attr, 2, 0x1000, 16);
  expect_enotsup(&attr, "no breakpoints longer than 8 bytes");
}

static void explain_enomem_separates_stack_and_memory(void **state) {
  const int codes[] = {-ENOMEM, -EOVERFLOW};
  struct perf_event_attr attr;
  uvperf_error_t error;
  size_t i;

  explain_user_clock(&attr);
  for (i = 0; i < 2; i++) {
    attr.sample_max_stack = 200;
    expect(&error, codes[i], &attr, 0, -1, UVPERF_CAUSE_MAX_STACK,
           "sample_max_stack 200 is above kernel.perf_event_max_stack, 127");
    assert_int_equal(error.limit, 127);
    assert_int_equal(error.needed, 200);
  }
  attr.sample_max_stack = 127;
  expect(&error, -ENOMEM, &attr, 0, -1, UVPERF_CAUSE_MEMORY,
         "the kernel is out of memory; close some events");
  expect(&error, -EOVERFLOW, &attr, 0, -1, UVPERF_CAUSE_UNKNOWN, "errno 75");
}

/* A remedy names the fallback that would help, unless it is tried already. */
static void explain_remedy_names_the_fallback_to_allow(void **state) {
  struct perf_event_attr cycles, precise, clock, newer;
  const struct {
    const struct perf_event_attr *attr;
    int code;
    uint32_t fallback;
    const char *remedy;
  } cases[] = {
      {&cycles, -ENOENT, UVPERF_FALLBACK_CLOCK,
       "; try cpu-clock, or allow UVPERF_FALLBACK_CLOCK"},
      {&precise, -EOPNOTSUPP, UVPERF_FALLBACK_PRECISE,
       "; lower it, or allow UVPERF_FALLBACK_PRECISE"},
      {&clock, -EACCES, UVPERF_FALLBACK_USER,
       "; or set exclude_kernel, or allow UVPERF_FALLBACK_USER"},
      {&newer, -EINVAL, UVPERF_FALLBACK_KERNEL,
       "; leave it out, or allow UVPERF_FALLBACK_KERNEL"},
  };
  uvperf__open_call_t call;
  uvperf_error_t error;
  size_t i;

  uvperf_attr_hardware(&cycles, PERF_COUNT_HW_CPU_CYCLES);
  precise = cycles;
  precise.precise_ip = 2;
  uvperf_attr_software(&clock, PERF_COUNT_SW_CPU_CLOCK);
  explain_user_clock(&newer);
  uvperf_attr_set(&newer, UVPERF_ATTR_DEFER_CALLCHAIN, 1);
  for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
    call = explain_open_call(&error, cases[i].code, cases[i].attr, 0, -1);
    uvperf__explain_open(&call);
    assert_null(strstr(error.reason, "UVPERF_FALLBACK"));
    call.may_allow = 1;
    uvperf__explain_open(&call);
    assert_string_equal(error.reason + strlen(error.reason) -
                            strlen(cases[i].remedy),
                        cases[i].remedy);
    call.fallbacks = cases[i].fallback;
    uvperf__explain_open(&call);
    assert_null(strstr(error.reason, "UVPERF_FALLBACK"));
  }
}

/* What the opener may do is unknown here: only its code explains it. */
static void explain_program_goes_by_its_code(void **state) {
  static const struct {
    int code;
    int cause;
    const char *piece;
  } cases[] = {
      {-EACCES, UVPERF_CAUSE_PERMISSION,
       "it returned errno 13, so the opener refuses this event"},
      {-EPERM, UVPERF_CAUSE_PERMISSION, "it returned errno 1,"},
      {-ENOSYS, UVPERF_CAUSE_PERMISSION, "it returned errno 38,"},
      {-EMFILE, UVPERF_CAUSE_FILES, "it returned errno 24, so this process or"},
      {-ENOTTY, UVPERF_CAUSE_ARGUMENT, "is not the fd of an open perf event"},
      {-E2BIG, UVPERF_CAUSE_OLD_KERNEL, "it returned errno 7; clear newer"},
      {-ESRCH, UVPERF_CAUSE_NO_TASK, "this thread does not exist"},
      {-ECONNRESET, UVPERF_CAUSE_UNKNOWN, "it returned errno 104"},
  };
  struct perf_event_attr attr;
  uvperf__open_call_t call;
  uvperf_error_t error;
  size_t i;

  uvperf_attr_software(&attr, PERF_COUNT_SW_PAGE_FAULTS);
  for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
    call = explain_open_call(&error, cases[i].code, &attr, 44, -1);
    call.is_by_program = 1;
    uvperf__explain_open(&call);
    explain_check(&error, cases[i].code, cases[i].cause, cases[i].piece);
    assert_ptr_equal(strstr(error.reason, "options.open cannot open "),
                     error.reason);
  }
}

static void explain_other_errno_is_unknown(void **state) {
  struct perf_event_attr attr;
  uvperf_error_t error;

  explain_user_clock(&attr);
  expect(&error, -EXDEV, &attr, 0, -1, UVPERF_CAUSE_UNKNOWN,
         "perf_event_open(2) returned errno 18");
  expect(&error, -EBUSY, &attr, 0, -1, UVPERF_CAUSE_BUSY,
         "another user holds the PMU exclusively (a tracer, a virtual machine "
         "or the firmware); wait until it is free");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(explain_without_error_returns_the_code),
      MAKE_HOST_MACHINE_TEST(explain_enosys_is_no_perf),
      MAKE_HOST_MACHINE_TEST(explain_enoent_separates_event_and_pmu),
      MAKE_HOST_MACHINE_TEST(explain_of_cgroup_names_it),
      MAKE_HOST_MACHINE_TEST(explain_enoent_of_cgroup_blames_it_only_if_sure),
      MAKE_HOST_MACHINE_TEST(explain_ebadf_without_cgroup_blames_the_leader),
      MAKE_HOST_MACHINE_TEST(explain_enodev_separates_offline_cpu_and_lost_pmu),
      MAKE_HOST_MACHINE_TEST(explain_esrch_is_no_task),
      MAKE_HOST_MACHINE_TEST(explain_emfile_says_limit_and_need),
      MAKE_HOST_MACHINE_TEST(explain_e2big_says_both_sizes),
      MAKE_HOST_MACHINE_TEST(explain_enotsup_names_what_the_pmu_lacks),
      MAKE_HOST_MACHINE_TEST(explain_enomem_separates_stack_and_memory),
      MAKE_HOST_MACHINE_TEST(explain_remedy_names_the_fallback_to_allow),
      MAKE_HOST_MACHINE_TEST(explain_program_goes_by_its_code),
      MAKE_HOST_MACHINE_TEST(explain_other_errno_is_unknown),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
