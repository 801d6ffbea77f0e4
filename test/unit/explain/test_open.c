/* SPDX-License-Identifier: MIT */
/* Causes and reasons for the errnos of perf_event_open(2), except EINVAL and
 * permission errors, on a scripted machine: check_explain_rows.h explains the
 * rows. */
#include "check_explain_rows.h"
#include "util/error.h"

#include <fcntl.h>
#include <limits.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

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

static void expect_cgroup(const struct perf_event_attr *attr, int cgroup,
                          int cause, const char *piece) {
  uvperf_error_t error;
  uvperf__open_call_t call = explain_open_call(&error, -ENOENT, attr, 0, 1);

  call.cgroup = cgroup;
  uvperf__explain_open(&call);
  explain_check(&error, -ENOENT, cause, piece);
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
  expect_cgroup(&attr, fds[0], UVPERF_CAUSE_ARGUMENT, expected);
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
  expect_cgroup(&attr, fd, UVPERF_CAUSE_ARGUMENT, expected);
  close(fd);
  memset(name, 'x', sizeof(name) - 1);
  fd = open(make_host_root(), O_RDONLY | O_DIRECTORY);
  assert_int_equal(mkdirat(fd, name, 0700), 0);
  close(fd);
  snprintf(expected, sizeof(expected), "%s/%s", make_host_root(), name);
  fd = open(expected, O_RDONLY | O_DIRECTORY);
  assert_true(fd >= 0);
  expect_cgroup(&attr, fd, UVPERF_CAUSE_ARGUMENT,
                "xx... on CPU 1: the cgroup is not in the hierarchy");
  assert_int_equal(rmdir(expected), 0);
  expect_cgroup(&attr, fd, UVPERF_CAUSE_NO_TASK,
                "xx... on CPU 1: the cgroup was removed");
  close(fd);
}

static void explain_emfile_says_limit_and_need(void **state) {
  struct perf_event_attr attr;
  uvperf__open_call_t call;
  uvperf_error_t error;
  struct rlimit files;
  char piece[128];

  assert_int_equal(getrlimit(RLIMIT_NOFILE, &files), 0);
  explain_user_clock(&attr);
  snprintf(
      piece, sizeof(piece),
      "all %llu fds of RLIMIT_NOFILE are in use; raise it (hard limit %llu)",
      (unsigned long long)files.rlim_cur, (unsigned long long)files.rlim_max);
  call = explain_open_call(&error, -EMFILE, &attr, 0, -1);
  assert_int_equal(uvperf__explain_open(&call), -EMFILE);
  explain_check(&error, -EMFILE, UVPERF_CAUSE_FILES, piece);
  assert_int_equal(error.limit, files.rlim_cur);
  assert_int_equal(error.needed, files.rlim_cur + 1);
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
  for (i = 0; i < COUNT_OF(cases); i++) {
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

static const explain_row_t rows[] = {
    /* The first is from qemu-user. The kernel copies no stacks if it calls
     * another open a fault. */
    {"explain_enosys_is_no_perf",
     "attr user_clock\n"
     "ENOSYS -> no_perf an emulator or sandbox hides the kernel's "
     "perf_event_open(2)\n"
     "no_file paranoid\n"
     "ENOSYS -> no_perf CONFIG_PERF_EVENTS\n"
     "set sample_type=STACK_USER\n"
     "probe ENOSYS\n"
     "ENOSYS -> no_perf CONFIG_PERF_EVENTS\n"
     "probe EFAULT\n"
     "ENOSYS -> not_supported this architecture cannot copy stacks or "
     "registers; leave out PERF_\n"},
    {"explain_enoent_separates_event_and_pmu",
     "attr 42 1\n"
     "ENOENT -> no_event cannot open event 0x1 of type 42 for the calling "
     "thread: no PMU has this type\n"
     "attr 9 99\n"
     "ENOENT -> no_event the PMU has no such event\n"
     "attr cycles\n"
     "ENOENT -> no_event try cpu-clock\n"
     "attr 1 99\n"
     "ENOENT -> no_event this kernel has no such event\n"
     "attr 5 0\n"
     "ENOENT -> no_event this kernel has no breakpoints\n"},
    /* An event that every kernel has cannot be missing, such as bpf-output;
     * others may be. */
    {"explain_enoent_of_cgroup_blames_it_only_if_sure",
     "attr 1 10\n"
     "ENOENT cgroup 0 cpu 1 -> argument the cgroup is not in the hierarchy\n"
     "attr 1 11\n"
     "ENOENT cgroup 0 cpu 1 -> no_event this kernel has no such event\n"
     "attr 96 0\n"
     "ENOENT cgroup 0 cpu 1 -> no_event no PMU has this type\n"},
    {"explain_ebadf_without_cgroup_blames_the_leader",
     "attr user_clock\n"
     "EBADF -> argument the leader is not an open perf event\n"},
    {"explain_enodev_separates_offline_cpu_and_lost_pmu",
     "attr user_clock\n"
     "ENODEV pid -1 cpu 3 -> no_cpu the CPU is offline; the online CPUs are "
     "0-1\n"
     "ENODEV pid -1 cpu 1 -> no_event the device of the PMU is gone\n"},
    {"explain_esrch_is_no_task",
     "attr user_clock\n"
     "ESRCH pid 4711 -> no_task for thread 4711: this thread does not exist in "
     "this PID namespace, or has ended\n"
     "ESRCH pid -2 -> argument pid is below -1\n"},
    {"explain_e2big_says_both_sizes",
     "attr user_clock size=120\n"
     "E2BIG asked 144 -> old_kernel attr.size is 144, this kernel knows 120 "
     "bytes\n"
     "limit 120 needed 144\n"
     "E2BIG asked 63 -> argument attr.size 63 is not between 64 and the page "
     "size; use sizeof\n"
     "E2BIG asked 120 -> argument reading the group would return more than 16 "
     "KiB\n"},
    {"explain_enotsup_names_what_the_pmu_lacks",
     "attr cycles\n"
     "EOPNOTSUPP -> not_supported does not support everything in the attr\n"
     "set freq=1 sample_period=99\n"
     "EOPNOTSUPP -> not_supported does not support sampling\n"
     "set precise_ip=2\n"
     "EOPNOTSUPP -> not_supported does not support this precise_ip\n"
     "set aux_output=1\n"
     "EOPNOTSUPP -> not_supported does not support AUX; use a PMU that has an "
     "AUX area\n"
     "set sample_type=BRANCH_STACK\n"
     "EOPNOTSUPP -> not_supported branch stacks; leave out "
     "PERF_SAMPLE_BRANCH_STACK\n"
     "set type=1\n"
     "EOPNOTSUPP -> not_supported BRANCH_STACK, or sample a hardware event\n"
#if defined(__x86_64__)
     "set sample_type=REGS_USER sample_regs_user=0x100000000\n"
     "EOPNOTSUPP -> not_supported XMM registers; leave out the registers above "
     "bit 31\n"
#endif
     "attr 5 0 bp_type=2 config1=0x1000 config2=16\n"
     "EOPNOTSUPP -> not_supported no breakpoints longer than 8 bytes\n"},
    {"explain_enomem_separates_stack_and_memory",
     "attr user_clock sample_max_stack=200\n"
     "ENOMEM -> max_stack sample_max_stack 200 is above "
     "kernel.perf_event_max_stack, 127\n"
     "limit 127 needed 200\n"
     "EOVERFLOW -> max_stack sample_max_stack 200 is above "
     "kernel.perf_event_max_stack, 127\n"
     "limit 127 needed 200\n"
     "set sample_max_stack=127\n"
     "ENOMEM -> memory the kernel is out of memory; close some events\n"
     "EOVERFLOW -> unknown errno 75\n"},
    /* What the opener may do is unknown here: only its code explains it. */
    {"explain_program_goes_by_its_code",
     "attr 1 2\n"
     "EACCES pid 44 program -> permission it returned errno 13, so the opener "
     "refuses this event\n"
     "EPERM pid 44 program -> permission it returned errno 1,\n"
     "ENOSYS pid 44 program -> permission it returned errno 38,\n"
     "EMFILE pid 44 program -> files it returned errno 24, so this process or\n"
     "ENOTTY pid 44 program -> argument is not the fd of an open perf event\n"
     "E2BIG pid 44 program -> old_kernel it returned errno 7; clear newer\n"
     "ESRCH pid 44 program -> no_task this thread does not exist\n"
     "ECONNRESET pid 44 program -> unknown it returned errno 104\n"},
    {"explain_enfile_says_limit_and_need",
     "attr user_clock\n"
     "ENFILE -> files raise fs.file-max (100000)\n"
     "limit 100000 needed 100001\n"},
    {"explain_of_a_cgroup_goes_by_its_fd_and_the_event",
     "attr user_clock\n"
     "EBADF cgroup 0 cpu 1 -> argument not the directory of a cgroup\n"
     "EBADF cgroup 2147483647 cpu 1 -> argument fd is not open\n"
     "EACCES cgroup 0 cpu 1 -> permission a whole CPU or a cgroup needs\n"
     "EINVAL cgroup 0 cpu 1 -> unknown rejects this combination\n"
     "attr cycles\n"
     "ENOENT cgroup 0 cpu 1 -> no_event try cpu-clock\n"},
    {"explain_other_errno_is_unknown",
     "attr user_clock\n"
     "EXDEV -> unknown perf_event_open(2) returned errno 18\n"
     "EBUSY -> busy another user holds the PMU exclusively (a tracer, a "
     "virtual machine or the firmware); wait until it is free\n"},
};

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(explain_without_error_returns_the_code),
      MAKE_HOST_MACHINE_TEST(explain_of_cgroup_names_it),
      MAKE_HOST_MACHINE_TEST(explain_emfile_says_limit_and_need),
      MAKE_HOST_MACHINE_TEST(explain_remedy_names_the_fallback_to_allow),
  };

  return EXPLAIN_ROWS_AND_TESTS(&explain_opens, rows, tests);
}
