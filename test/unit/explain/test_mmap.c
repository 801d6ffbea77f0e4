/* SPDX-License-Identifier: MIT */
/* Why mapping a ring fails, on a scripted machine; no reason is cut off. */
#include "check_explain.h"
#include "make_host.h"

#include <sys/resource.h>
#include <unistd.h>

static uvperf_error_t error;

static struct perf_event_attr attr;

static void map(int code, int cpu, size_t bytes, int cause, const char *piece) {
  memset(&error, 0xff, sizeof(error));
  assert_int_equal(uvperf__explain_map(&error, code, &attr, cpu, bytes), code);
  explain_check(&error, code, cause, "ring of ");
  explain_check(&error, code, cause, piece);
}

static void map_eperm_says_limit_and_need(void **state) {
  uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
  struct rlimit old, low;

  assert_int_equal(getrlimit(RLIMIT_MEMLOCK, &old), 0);
  low = old;
  low.rlim_cur = 65536;
  assert_int_equal(setrlimit(RLIMIT_MEMLOCK, &low), 0);
  uvperf_attr_software(&attr, PERF_COUNT_SW_CPU_CLOCK);
  map(-EPERM, -1, 2097152, UVPERF_CAUSE_LOCKED_MEMORY,
      "516 KiB (perf_event_mlock_kb) x 2 CPUs and 64 KiB "
      "(RLIMIT_MEMLOCK, 64 KiB used)");
  assert_int_equal(setrlimit(RLIMIT_MEMLOCK, &old), 0);
  assert_int_equal(error.limit, 516 * 1024 * 2 + 65536);
  assert_int_equal(error.needed, 2097152 + page);
}

/* At least the CPU that runs this is online. */
static void map_eperm_without_a_list_of_cpus_counts_one(void **state) {
  struct rlimit limit;

  make_host_write("/sys/devices/system/cpu/online", "");
  assert_int_equal(getrlimit(RLIMIT_MEMLOCK, &limit), 0);
  uvperf_attr_software(&attr, PERF_COUNT_SW_CPU_CLOCK);
  map(-EPERM, -1, 2097152, UVPERF_CAUSE_LOCKED_MEMORY,
      "516 KiB (perf_event_mlock_kb) x 1");
  if (limit.rlim_cur < UINT32_MAX)
    assert_int_equal(error.limit, 516 * 1024 + limit.rlim_cur);
}

static void map_eperm_without_a_limit_is_permission(void **state) {
  static const char below[] = "denied below all limits of locked memory";

  uvperf_attr_software(&attr, PERF_COUNT_SW_CPU_CLOCK);
  make_host_write("/proc/self/status", "CapEff:\t0000000000004000\n");
  map(-EPERM, -1, 65536, UVPERF_CAUSE_PERMISSION, below);
  make_host_write("/proc/self/uid_map", "0 1000 1\n");
  map(-EPERM, -1, 65536, UVPERF_CAUSE_LOCKED_MEMORY, "");
  make_host_write("/proc/sys/kernel/perf_event_paranoid", "0\n");
  map(-EPERM, -1, 65536, UVPERF_CAUSE_LOCKED_MEMORY, "");
  make_host_write("/proc/sys/kernel/perf_event_paranoid", "-1\n");
  map(-EPERM, -1, 65536, UVPERF_CAUSE_PERMISSION, below);
}

static void map_einval_names_the_fault(void **state) {
  static const char none[] = "mmap(2) returned errno 22";

  uvperf_attr_software(&attr, PERF_COUNT_SW_CPU_CLOCK);
  attr.inherit = 1;
  map(-EINVAL, -1, 65536, UVPERF_CAUSE_ARGUMENT,
      "a ring with attr.inherit needs a CPU");
  map(-EINVAL, 0, 65536, UVPERF_CAUSE_UNKNOWN, none);
  uvperf_attr_set_wakeup_bytes(&attr, 65536);
  map(-EINVAL, 0, 65536, UVPERF_CAUSE_ARGUMENT,
      "is not below the size of the ring");
  attr.write_backward = 1;
  map(-EINVAL, 0, 65536, UVPERF_CAUSE_UNKNOWN, none);
  attr.write_backward = 0;
  uvperf_attr_set_wakeup_bytes(&attr, 65535);
  map(-EINVAL, 0, 65536, UVPERF_CAUSE_UNKNOWN, none);
  map(-EINVAL, 0, 3 * 65536, UVPERF_CAUSE_ARGUMENT,
      "the size is not a power of two pages");
}

static void map_other_errno_has_its_cause(void **state) {
  struct rlimit old, low;

  uvperf_attr_software(&attr, PERF_COUNT_SW_CPU_CLOCK);
  assert_int_equal(getrlimit(RLIMIT_AS, &old), 0);
  if (old.rlim_cur == RLIM_INFINITY)
    map(-ENOMEM, 0, 65536, UVPERF_CAUSE_MEMORY,
        "out of memory, or of vm.max_map_count (65530) mappings");
  /* A kernel of 32 bits takes larger numbers for no limit. */
  low = old;
  low.rlim_cur = UINTPTR_MAX - 4096;
  if (low.rlim_cur >= low.rlim_max)
    low.rlim_cur = low.rlim_max - 1;
  assert_int_equal(setrlimit(RLIMIT_AS, &low), 0);
  map(-ENOMEM, 0, 65536, UVPERF_CAUSE_MEMORY,
      "bytes of RLIMIT_AS, or of vm.max_map_count mappings");
  assert_int_equal(setrlimit(RLIMIT_AS, &old), 0);
  map(-EAGAIN, 0, 65536, UVPERF_CAUSE_LOCKED_MEMORY,
      "mlockall(2) locks it too, and RLIMIT_MEMLOCK is ");
  map(-EBUSY, 0, 65536, UVPERF_CAUSE_ARGUMENT,
      "the event writes to another event's ring");
  map(-EACCES, 0, 65536, UVPERF_CAUSE_PERMISSION,
      "denied, perhaps by a security module; see the audit log");
  map(-ENODEV, 0, 65536, UVPERF_CAUSE_NO_EVENT, "the PMU's device is gone");
  map(-EIO, 0, 65536, UVPERF_CAUSE_UNKNOWN, "errno 5");
}

/* The longest words before every reason: nothing may be cut. */
static void expect_whole(void) {
  if (strlen(error.reason) >= sizeof(error.reason) - 1)
    fail_msg("errno %d is cut: %s", -error.code, error.reason);
}

#define NR_LONGEST 12

static void longest_attrs(struct perf_event_attr attrs[NR_LONGEST]) {
  size_t i;

  for (i = 0; i < NR_LONGEST; i++)
    uvperf_attr_init(&attrs[i], UINT32_MAX, UINT64_MAX);
  uvperf_attr_tracepoint(&attrs[1], UINT64_MAX);
  uvperf_attr_breakpoint(&attrs[2], 1, UINT64_MAX, 8);
  uvperf_attr_hardware(&attrs[3], PERF_COUNT_HW_STALLED_CYCLES_FRONTEND);
  uvperf_attr_set_frequency(&attrs[3], UINT64_MAX);
  attrs[4].sample_max_stack = UINT16_MAX;
  attrs[5].use_clockid = 1;
  attrs[5].clockid = 99;
  attrs[6].sample_type = PERF_SAMPLE_REGS_USER;
  attrs[7].sample_type = UINT64_MAX;
  attrs[8].sample_type = PERF_SAMPLE_BRANCH_STACK;
  attrs[8].branch_sample_type = UVPERF_SAMPLE_BRANCH_COUNTERS;
  attrs[8].exclude_kernel = 1;
  uvperf_attr_set(&attrs[9], UVPERF_ATTR_SIGTRAP, 1);
  uvperf_attr_set(&attrs[9], UVPERF_ATTR_REMOVE_ON_EXEC, 1);
  attrs[9].exclude_kernel = 1;
  attrs[10].aux_sample_size = 1;
  attrs[10].pinned = 1;
  uvperf_attr_set(&attrs[11], UVPERF_ATTR_AUX_ACTION, 1);
}

static void explain_longest_reason_is_whole(void **state) {
  struct perf_event_attr attrs[NR_LONGEST];
  uvperf__open_call_t call, leader;
  size_t i, turn;
  int code;

  make_host_write("/sys/bus/event_source/devices/uncore_a_long_name_0123/"
                  "type",
                  "4294967295\n");
  make_host_write("/proc/sys/kernel/osrelease",
                  "5.15.167.4-microsoft-standard-WSL2\n");
  longest_attrs(attrs);
  for (i = 0; i < NR_LONGEST; i++) {
    leader = explain_open_call(&error, 0, &attrs[i == 10 ? 0 : 10],
                               INT32_MAX - 1, 1);
    for (turn = 0; turn < 8; turn++)
      for (code = 1; code < 134; code++) {
        call = explain_open_call(&error, -code, &attrs[i], INT32_MAX - 1,
                                 turn & 1 ? INT32_MAX : 1);
        call.asked_size = 144;
        call.may_allow = 1;
        call.cgroup = turn & 2 ? INT32_MAX : -1;
        call.leader = turn & 4 ? &leader : NULL;
        uvperf__explain_open(&call);
        expect_whole();
      }
  }
}

/* The same for the PMUs whose attrs point to names, and a cpumask. */
static void explain_longest_reason_of_a_pmu_is_whole(void **state) {
  const uint32_t types[] = {6, 8, 9, 20};
  uvperf__open_call_t call;
  size_t i;
  unsigned int excludes;
  int code;

  make_host_write("/sys/bus/event_source/devices/uncore_imc/cpumask",
                  "0,16,32,48,64,80,96,112,128,144,160,176,192,208,224,240\n");
  for (i = 0; i < 4; i++)
    for (code = 1; code < 530; code++)
      for (excludes = 0; excludes < 2; excludes++) {
        uvperf_attr_init(&attr, types[i], UINT64_MAX);
        attr.exclude_kernel = excludes & 1U;
        attr.sample_period = 1;
        call = explain_open_call(&error, -code, &attr, INT32_MAX - 1, 1);
        uvperf__explain_open(&call);
        expect_whole();
      }
}

static void explain_map_longest_reason_is_whole(void **state) {
  struct perf_event_attr attrs[NR_LONGEST];
  size_t i;
  int code;

  make_host_write("/sys/bus/event_source/devices/uncore_a_long_name_0123/"
                  "type",
                  "4294967295\n");
  make_host_write("/proc/sys/kernel/perf_event_mlock_kb", "1048576\n");
  make_host_write("/sys/devices/system/cpu/online", "0-8191\n");
  longest_attrs(attrs);
  attrs[0].inherit = 1;
  for (i = 0; i < NR_LONGEST; i++)
    for (code = 1; code < 134; code++) {
      uvperf__explain_map(&error, -code, &attrs[i], -1, SIZE_MAX / 2);
      expect_whole();
    }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      MAKE_HOST_MACHINE_TEST(map_eperm_says_limit_and_need),
      MAKE_HOST_MACHINE_TEST(map_eperm_without_a_list_of_cpus_counts_one),
      MAKE_HOST_MACHINE_TEST(map_eperm_without_a_limit_is_permission),
      MAKE_HOST_MACHINE_TEST(map_einval_names_the_fault),
      MAKE_HOST_MACHINE_TEST(map_other_errno_has_its_cause),
      MAKE_HOST_MACHINE_TEST(explain_longest_reason_is_whole),
      MAKE_HOST_MACHINE_TEST(explain_longest_reason_of_a_pmu_is_whole),
      MAKE_HOST_MACHINE_TEST(explain_map_longest_reason_is_whole),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
