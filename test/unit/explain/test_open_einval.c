/* SPDX-License-Identifier: MIT */
/* The meanings of EINVAL, on a scripted machine. */
#include "check_explain.h"
#include "make_host.h"

#include <errno.h>
#include <time.h>

static void expect(const struct perf_event_attr *attr, int pid, int cpu,
                   int cause, const char *piece) {
  uvperf_error_t error;
  uvperf__open_call_t call = explain_open_call(&error, -EINVAL, attr, pid, cpu);

  uvperf__explain_open(&call);
  explain_check(&error, -EINVAL, cause, piece);
}

static void einval_of_no_such_cpu_lists_the_possible_cpus(void **state) {
  struct perf_event_attr attr;

  uvperf_attr_software(&attr, PERF_COUNT_SW_CPU_CLOCK);
  expect(&attr, -1, 4, UVPERF_CAUSE_NO_CPU,
         "on CPU 4: there is no such CPU; the possible CPUs are 0-3");
  /* One that is there, though offline, is another's fault. */
  expect(&attr, -1, 3, UVPERF_CAUSE_UNKNOWN, "rejects this combination");
}

static void einval_of_target_is_argument(void **state) {
  struct perf_event_attr attr;
  uvperf__open_call_t call;
  uvperf_error_t error;

  uvperf_attr_software(&attr, PERF_COUNT_SW_CPU_CLOCK);
  expect(&attr, -1, -1, UVPERF_CAUSE_ARGUMENT,
         "every task (pid -1) needs a CPU");
  expect(&attr, -2, 0, UVPERF_CAUSE_ARGUMENT, "is below -1");
  expect(&attr, 0, -2, UVPERF_CAUSE_ARGUMENT, "is below -1");
  call = explain_open_call(&error, -EINVAL, &attr, 0, -1);
  call.cgroup = 5;
  uvperf__explain_open(&call);
  explain_check(&error, -EINVAL, UVPERF_CAUSE_ARGUMENT, "a cgroup needs a CPU");
  call.cpu = 1;
  if (uvperf_attr_set(&attr, UVPERF_ATTR_SIGTRAP, 1) != 0 ||
      uvperf_attr_set(&attr, UVPERF_ATTR_REMOVE_ON_EXEC, 1) != 0)
    return; /* headers without it */
  uvperf__explain_open(&call);
  explain_check(&error, -EINVAL, UVPERF_CAUSE_ARGUMENT, "sigtrap needs a task");
}

/* Each has one fault on Linux 6.1. The clock 0 is right for software events. */
static void einval_of_an_attr_names_its_fault(void **state) {
  static const struct {
    enum uvperf_attr_field field;
    uint64_t value;
    enum uvperf_attr_field other;
    uint64_t other_value;
    const char *piece;
  } faults[] = {
      {UVPERF_ATTR_SAMPLE_TYPE, PERF_SAMPLE_BRANCH_STACK,
       UVPERF_ATTR_BRANCH_SAMPLE_TYPE, PERF_SAMPLE_BRANCH_USER,
       "branch_sample_type names no kind of branches; set one, such as PERF_"},
      {UVPERF_ATTR_SAMPLE_TYPE, PERF_SAMPLE_REGS_USER,
       UVPERF_ATTR_SAMPLE_REGS_USER, 0,
       "sample_regs_user must name one or more registers of <asm/perf_regs.h>"},
      {UVPERF_ATTR_SAMPLE_TYPE, PERF_SAMPLE_REGS_INTR,
       UVPERF_ATTR_SAMPLE_REGS_INTR, 0,
       "sample_regs_intr must name one or more registers of <asm/perf_regs.h>"},
      {UVPERF_ATTR_SAMPLE_TYPE, PERF_SAMPLE_STACK_USER,
       UVPERF_ATTR_SAMPLE_STACK_USER, 12,
       "sample_stack_user must be a multiple of 8 below 65535"},
      {UVPERF_ATTR_SAMPLE_TYPE,
       PERF_SAMPLE_WEIGHT | UVPERF_SAMPLE_WEIGHT_STRUCT, UVPERF_ATTR_COMM, 1,
       "PERF_SAMPLE_WEIGHT and PERF_SAMPLE_WEIGHT_STRUCT exclude each other; "},
      {UVPERF_ATTR_INHERIT_THREAD, 1, UVPERF_ATTR_INHERIT, 0,
       "inherit_thread needs inherit; set both"},
      {UVPERF_ATTR_REMOVE_ON_EXEC, 1, UVPERF_ATTR_ENABLE_ON_EXEC, 1,
       "remove_on_exec and enable_on_exec exclude each other; set only one"},
      {UVPERF_ATTR_SIGTRAP, 1, UVPERF_ATTR_REMOVE_ON_EXEC, 0,
       "sigtrap needs remove_on_exec; set both"},
      {UVPERF_ATTR_SAMPLE_PERIOD, UINT64_C(1) << 63, UVPERF_ATTR_FREQ, 0,
       "sample_period is not below 2^63; lower it"},
      {UVPERF_ATTR_SAMPLE_TYPE, PERF_SAMPLE_READ, UVPERF_ATTR_INHERIT, 1,
       "PERF_SAMPLE_READ with inherit needs PERF_SAMPLE_TID (and Linux 6.12)"},
      {UVPERF_ATTR_SAMPLE_TYPE, PERF_SAMPLE_READ | PERF_SAMPLE_TID,
       UVPERF_ATTR_INHERIT, 1,
       "PERF_SAMPLE_READ with inherit needs Linux 6.12; clear one of them"},
      {UVPERF_ATTR_CLOCKID, CLOCK_PROCESS_CPUTIME_ID, UVPERF_ATTR_COMM, 1,
       "perf does not know this clockid; use CLOCK_MONOTONIC, _MONOTONIC_RAW,"},
      {UVPERF_ATTR_CLOCKID, CLOCK_REALTIME, UVPERF_ATTR_TYPE,
       PERF_TYPE_BREAKPOINT,
       "only software events can use this clockid; use CLOCK_MONOTONIC or "},
  };
  struct perf_event_attr attr;
  size_t i;

  for (i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
    uvperf_attr_software(&attr, PERF_COUNT_SW_DUMMY);
    attr.use_clockid = 1;
    if (uvperf_attr_set(&attr, faults[i].field, faults[i].value) != 0 ||
        uvperf_attr_set(&attr, faults[i].other, faults[i].other_value) != 0)
      continue; /* headers without it */
    expect(&attr, 0, -1, UVPERF_CAUSE_ARGUMENT, faults[i].piece);
  }
}

static void einval_of_a_cache_event_is_no_event(void **state) {
  struct perf_event_attr attr;

  uvperf_attr_init(&attr, PERF_TYPE_HW_CACHE,
                   PERF_COUNT_HW_CACHE_NODE |
                       PERF_COUNT_HW_CACHE_OP_PREFETCH << 8 |
                       PERF_COUNT_HW_CACHE_RESULT_MISS << 16);
  expect(&attr, 0, -1, UVPERF_CAUSE_NO_EVENT,
         "has no such event for this cache");
  attr.type = PERF_TYPE_HARDWARE;
  attr.config = PERF_COUNT_HW_INSTRUCTIONS;
  expect(&attr, 0, -1, UVPERF_CAUSE_UNKNOWN, "rejects this combination");
}

static void einval_of_frequency_says_limit_and_need(void **state) {
  struct perf_event_attr attr;
  uvperf__open_call_t call;
  uvperf_error_t error;

  uvperf_attr_software(&attr, PERF_COUNT_SW_CPU_CLOCK);
  uvperf_attr_set_frequency(&attr, 50001);
  call = explain_open_call(&error, -EINVAL, &attr, 0, -1);
  uvperf__explain_open(&call);
  explain_check(&error, -EINVAL, UVPERF_CAUSE_SAMPLE_RATE,
                "50001 Hz is above kernel.perf_event_max_sample_rate, 50000");
  assert_int_equal(error.limit, 50000);
  assert_int_equal(error.needed, 50001);
  uvperf_attr_set_frequency(&attr, 50000);
  expect(&attr, 0, -1, UVPERF_CAUSE_UNKNOWN, "rejects this combination");
  uvperf_attr_set_period(&attr, 50001);
  expect(&attr, 0, -1, UVPERF_CAUSE_UNKNOWN, "rejects this combination");
}

static void einval_of_newer_bit_is_old_kernel(void **state) {
  const struct {
    enum uvperf_attr_field field;
    uint64_t value;
    const char *piece;
  } newer[] = {
      {UVPERF_ATTR_DEFER_CALLCHAIN, 1, "defer_callchain needs Linux 6.19"},
      {UVPERF_ATTR_DEFER_OUTPUT, 1, "defer_output needs Linux 6.19"},
      {UVPERF_ATTR_AUX_ACTION, 2, "needs Linux 6.13"},
      {UVPERF_ATTR_BRANCH_SAMPLE_TYPE, UVPERF_SAMPLE_BRANCH_COUNTERS,
       "branch counters needs Linux 6.8"},
  };
  struct perf_event_attr attr;
  size_t i;

  for (i = 0; i < sizeof(newer) / sizeof(newer[0]); i++) {
    uvperf_attr_software(&attr, PERF_COUNT_SW_DUMMY);
    attr.sample_type = PERF_SAMPLE_BRANCH_STACK;
    uvperf_attr_set(&attr, newer[i].field, newer[i].value);
    expect(&attr, 0, -1, UVPERF_CAUSE_OLD_KERNEL, newer[i].piece);
    expect(&attr, 0, -1, UVPERF_CAUSE_OLD_KERNEL,
           ", and this is 6.1.0-9-amd64; leave it out");
  }
}

static void einval_of_older_bit_is_not_old_kernel(void **state) {
  struct perf_event_attr attr;

  uvperf_attr_software(&attr, PERF_COUNT_SW_DUMMY);
  attr.read_format = UVPERF_FORMAT_LOST;
  uvperf_attr_set(&attr, UVPERF_ATTR_BUILD_ID, 1);
  expect(&attr, 0, -1, UVPERF_CAUSE_UNKNOWN, "rejects this combination");
  /* Ignored without PERF_SAMPLE_BRANCH_STACK. */
  attr.branch_sample_type = UVPERF_SAMPLE_BRANCH_COUNTERS;
  expect(&attr, 0, -1, UVPERF_CAUSE_UNKNOWN, "rejects this combination");
  attr.branch_sample_type = 0;
  make_host_write("/proc/sys/kernel/osrelease", "5.19.3\n");
  expect(&attr, 0, -1, UVPERF_CAUSE_OLD_KERNEL,
         "PERF_FORMAT_LOST needs Linux 6.0");
  make_host_write("/proc/sys/kernel/osrelease", "6.0.0\n");
  expect(&attr, 0, -1, UVPERF_CAUSE_UNKNOWN, "rejects this combination");
  make_host_write("/proc/sys/kernel/osrelease", "5.19.3\n");
  attr.read_format = 0;
  expect(&attr, 0, -1, UVPERF_CAUSE_UNKNOWN, "rejects this combination");
  make_host_write("/proc/sys/kernel/osrelease", "5.9\n");
  expect(&attr, 0, -1, UVPERF_CAUSE_OLD_KERNEL, "build_id needs Linux 5.12");
}

static void einval_of_tracepoint_is_its_id(void **state) {
  struct perf_event_attr attr;

  uvperf_attr_tracepoint(&attr, 99999);
  expect(&attr, 0, -1, UVPERF_CAUSE_NO_EVENT,
         "cannot open tracepoint 99999 for the calling thread: no tracepoint "
         "has this id");
}

static void einval_of_tracepoint_that_exists_is_another(void **state) {
  struct perf_event_attr attr;

  uvperf_attr_tracepoint(&attr, 316);
  expect(&attr, 0, -1, UVPERF_CAUSE_UNKNOWN, "rejects this combination");
  uvperf_attr_tracepoint(&attr, 1);
  expect(&attr, 0, -1, UVPERF_CAUSE_NOT_SUPPORTED,
         "of ftrace's events perf can open ftrace:function only");
}

static void einval_of_tracepoint_without_tracefs_is_not_sure(void **state) {
  struct perf_event_attr attr;

  uvperf_attr_tracepoint(&attr, 99999);
  expect(&attr, 0, -1, UVPERF_CAUSE_NO_EVENT,
         "probably no tracepoint has this id; read it, as root");
}

static void einval_of_a_pmu_says_what_it_may_lack(void **state) {
  struct perf_event_attr attr;

  uvperf_attr_init(&attr, 9, 99);
  expect(&attr, 0, -1, UVPERF_CAUSE_NO_EVENT,
         "cannot open event 0x63 of PMU msr for the calling thread: the PMU "
         "has no such config");
  attr.exclude_kernel = 1;
  expect(&attr, 0, -1, UVPERF_CAUSE_NOT_SUPPORTED,
         "may not support exclude_* or this config; try without");
  attr.sample_period = 1;
  expect(&attr, 0, -1, UVPERF_CAUSE_NOT_SUPPORTED,
         "may not support sampling, exclude_* or this config; try without");
  attr.exclude_kernel = 0;
  expect(&attr, 0, -1, UVPERF_CAUSE_NOT_SUPPORTED,
         "may not support sampling or this config; try without");
  uvperf_attr_init(&attr, 20, 1);
  expect(&attr, 0, 1, UVPERF_CAUSE_ARGUMENT,
         "whole CPUs only; use pid -1, and UVPERF_EVENT_CPU with a CPU of its "
         "cpumask, 0,64");
  expect(&attr, -1, 1, UVPERF_CAUSE_NO_EVENT, "no such config");
}

static void einval_of_user_read_on_a_cpu_says_so(void **state) {
  struct perf_event_attr attr;

  make_host_write("/sys/bus/event_source/devices/msr/format/rdpmc",
                  "config1:1\n");
  uvperf_attr_init(&attr, 9, 8);
  attr.config1 = 3;
  expect(&attr, -1, 1, UVPERF_CAUSE_ARGUMENT,
         "only a thread's event can have rdpmc=1");
  expect(&attr, 0, -1, UVPERF_CAUSE_NO_EVENT, "no such config");
  attr.config1 = 1;
  expect(&attr, -1, 1, UVPERF_CAUSE_NO_EVENT, "no such config");
}

static void einval_of_aux_without_a_leader_says_so(void **state) {
  struct perf_event_attr attr;

  uvperf_attr_software(&attr, PERF_COUNT_SW_DUMMY);
  attr.aux_sample_size = 64;
  expect(&attr, 0, -1, UVPERF_CAUSE_NOT_SUPPORTED, "need an AUX area");
}

static void einval_of_a_cgroup_without_the_controller_says_so(void **state) {
  static const char piece[] = "it needs CONFIG_CGROUP_PERF";
  struct perf_event_attr attr;
  uvperf__open_call_t call;
  uvperf_error_t error;

  uvperf_attr_software(&attr, PERF_COUNT_SW_DUMMY);
  attr.sample_type = PERF_SAMPLE_CGROUP;
  expect(&attr, 0, -1, UVPERF_CAUSE_UNKNOWN, "combination");
  make_host_write("/proc/cgroups", "#subsys_name\ncpu\t0\t1\t1\n");
  expect(&attr, 0, -1, UVPERF_CAUSE_NOT_SUPPORTED, piece);
  attr.sample_type = 0;
  expect(&attr, 0, -1, UVPERF_CAUSE_UNKNOWN, "combination");
  call = explain_open_call(&error, -EINVAL, &attr, 0, 1);
  call.cgroup = 5;
  uvperf__explain_open(&call);
  explain_check(&error, -EINVAL, UVPERF_CAUSE_NOT_SUPPORTED, piece);
}

/* Bits that the library itself has no name for. */
static void einval_of_unknown_bits_names_them(void **state) {
  struct perf_event_attr attr;
  uint64_t flags = UINT64_C(5) << 40;

  make_host_write("/proc/sys/kernel/osrelease", "6.19.0\n");
  uvperf_attr_software(&attr, PERF_COUNT_SW_DUMMY);
  attr.sample_type = UINT64_C(1) << 40;
  expect(&attr, 0, -1, UVPERF_CAUSE_OLD_KERNEL,
         "sample_type has bits that neither this kernel nor Linux 6.19 knows, "
         "0x10000000000");
  attr.sample_type = (UINT64_C(1) << 25) - 1;
  attr.sample_type &= ~(uint64_t)PERF_SAMPLE_BRANCH_STACK;
  attr.read_format = 0x8000;
  expect(&attr, 0, -1, UVPERF_CAUSE_OLD_KERNEL,
         "read_format has bits that neither this kernel nor Linux 6.19 knows, "
         "0x8000");
  attr.read_format = 0;
  attr.branch_sample_type = UINT64_C(1) << 20;
  attr.sample_type = PERF_SAMPLE_BRANCH_STACK;
  expect(&attr, 0, -1, UVPERF_CAUSE_OLD_KERNEL,
         "branch_sample_type has bits that neither this kernel nor Linux 6.19 "
         "knows, 0x100000");
  attr.sample_type = 0;
  uvperf_attr_set(&attr, UVPERF_ATTR_AUX_ACTION, 9);
  expect(
      &attr, 0, -1, UVPERF_CAUSE_OLD_KERNEL,
      "aux_action has bits that neither this kernel nor Linux 6.19 knows, 0x8");
  uvperf_attr_set(&attr, UVPERF_ATTR_AUX_ACTION, 0);
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
  memcpy((uint8_t *)&attr + 40, &flags, sizeof(flags));
  expect(&attr, 0, -1, UVPERF_CAUSE_OLD_KERNEL,
         "the flag word has bits that neither this kernel nor Linux 6.19 "
         "knows, 0x50000000000");
#else
  (void)flags;
#endif
}

/* One fault at a time, each with the leader that makes it one. */
static void expect_group(const uvperf__open_call_t *sibling,
                         const uvperf__open_call_t *leader, int cause,
                         const char *piece) {
  uvperf_error_t error;
  uvperf__open_call_t call = *sibling;

  memset(&error, 0xff, sizeof(error));
  call.error = &error;
  call.leader = leader;
  uvperf__explain_open(&call);
  explain_check(&error, -EINVAL, cause, piece);
}

static void einval_of_a_group_names_what_differs(void **state) {
  struct perf_event_attr attr, other;
  uvperf_error_t error;
  uvperf__open_call_t leader, member;

  uvperf_attr_software(&attr, PERF_COUNT_SW_CPU_CLOCK);
  other = attr;
  leader = explain_open_call(&error, -EINVAL, &attr, 7, 1);
  member = explain_open_call(&error, -EINVAL, &other, 7, 1);
  expect_group(&member, &leader, UVPERF_CAUSE_UNKNOWN, "combination");
  other.pinned = 1;
  expect_group(&member, &leader, UVPERF_CAUSE_ARGUMENT,
               "only the leader may be pinned or exclusive");
  member.pid = 8;
  expect_group(&member, &leader, UVPERF_CAUSE_ARGUMENT,
               "the leader measures another thread");
  member.cpu = 0;
  expect_group(&member, &leader, UVPERF_CAUSE_ARGUMENT,
               "the leader is on another CPU");
  other.use_clockid = 1;
  other.clockid = CLOCK_MONOTONIC;
  expect_group(&member, &leader, UVPERF_CAUSE_ARGUMENT,
               "clockid differs from the leader's");
  leader.leader = &member;
  expect_group(&member, &leader, UVPERF_CAUSE_ARGUMENT,
               "the leader is itself a member of a group");
  other.inherit = 1;
  expect_group(&member, &leader, UVPERF_CAUSE_ARGUMENT,
               "inherit differs from the leader's");
}

static void einval_of_a_group_of_cgroups_names_what_differs(void **state) {
  struct perf_event_attr attr;
  uvperf_error_t error;
  uvperf__open_call_t leader, member;

  uvperf_attr_software(&attr, PERF_COUNT_SW_CPU_CLOCK);
  leader = explain_open_call(&error, -EINVAL, &attr, 0, 1);
  leader.cgroup = 3;
  member = leader;
  expect_group(&member, &leader, UVPERF_CAUSE_UNKNOWN, "combination");
  member.cgroup = 4;
  expect_group(&member, &leader, UVPERF_CAUSE_ARGUMENT,
               "the leader measures another cgroup");
  leader.cgroup = -1;
  expect_group(&member, &leader, UVPERF_CAUSE_ARGUMENT,
               "only one of the event and its leader measures a cgroup");
}

static void einval_of_a_hardware_group_names_the_pmu(void **state) {
  struct perf_event_attr attr;
  uvperf_error_t error;
  uvperf__open_call_t leader;

  uvperf_attr_hardware(&attr, PERF_COUNT_HW_CPU_CYCLES);
  leader = explain_open_call(&error, -EINVAL, &attr, 7, 1);
  expect_group(
      &leader, &leader, UVPERF_CAUSE_ARGUMENT,
      "hardware events of one PMU only, and no more than it has counters");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      MAKE_HOST_MACHINE_TEST(einval_of_no_such_cpu_lists_the_possible_cpus),
      MAKE_HOST_MACHINE_TEST(einval_of_target_is_argument),
      MAKE_HOST_MACHINE_TEST(einval_of_an_attr_names_its_fault),
      MAKE_HOST_MACHINE_TEST(einval_of_a_cache_event_is_no_event),
      MAKE_HOST_MACHINE_TEST(einval_of_frequency_says_limit_and_need),
      MAKE_HOST_MACHINE_TEST(einval_of_newer_bit_is_old_kernel),
      MAKE_HOST_MACHINE_TEST(einval_of_older_bit_is_not_old_kernel),
      MAKE_HOST_MACHINE_TEST(einval_of_tracepoint_is_its_id),
      MAKE_HOST_MACHINE_TEST(einval_of_tracepoint_that_exists_is_another),
      cmocka_unit_test_setup_teardown(
          einval_of_tracepoint_without_tracefs_is_not_sure, make_host_setup,
          make_host_teardown),
      MAKE_HOST_MACHINE_TEST(einval_of_a_pmu_says_what_it_may_lack),
      MAKE_HOST_MACHINE_TEST(einval_of_user_read_on_a_cpu_says_so),
      MAKE_HOST_MACHINE_TEST(einval_of_aux_without_a_leader_says_so),
      MAKE_HOST_MACHINE_TEST(einval_of_a_cgroup_without_the_controller_says_so),
      MAKE_HOST_MACHINE_TEST(einval_of_unknown_bits_names_them),
      MAKE_HOST_MACHINE_TEST(einval_of_a_group_names_what_differs),
      MAKE_HOST_MACHINE_TEST(einval_of_a_group_of_cgroups_names_what_differs),
      MAKE_HOST_MACHINE_TEST(einval_of_a_hardware_group_names_the_pmu),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
