/* SPDX-License-Identifier: MIT */
/* The meanings of EINVAL, and why mapping fails, on a scripted machine. */
#include "support.h"
#include "temp_tree.h"

#include <errno.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "explain.h"

static void check(const uvperf_error_t *error, int cause, const char *piece) {
  assert_int_equal(error->code, -EINVAL);
  assert_string_equal(uvperf_cause_name(error->cause),
                      uvperf_cause_name(cause));
  if (strstr(error->reason, piece) == NULL)
    fail_msg("\"%s\" is not in \"%s\"", piece, error->reason);
}

static void expect(const temp_tree_t *tree, const struct perf_event_attr *attr,
                   int pid, int cpu, int cause, const char *piece) {
  uvperf_error_t error;

  uvperf__explain_open(&error, -EINVAL, tree->root, attr, attr->size, pid, cpu,
                       -1);
  check(&error, cause, piece);
}

static void einval_of_no_such_cpu_gives_the_possible(void **state) {
  struct perf_event_attr attr;

  uvperf_attr_software(&attr, PERF_COUNT_SW_CPU_CLOCK);
  expect(*state, &attr, -1, 4, UVPERF_CAUSE_NO_CPU,
         "on CPU 4: there is no such CPU; possible are 0-3");
  /* One that is there, though offline, is another's fault. */
  expect(*state, &attr, -1, 3, UVPERF_CAUSE_UNKNOWN, "no such combination");
}

static void einval_of_target_is_argument(void **state) {
  const temp_tree_t *tree = *state;
  struct perf_event_attr attr;
  uvperf_error_t error;

  uvperf_attr_software(&attr, PERF_COUNT_SW_CPU_CLOCK);
  expect(tree, &attr, -1, -1, UVPERF_CAUSE_ARGUMENT, "needs a cpu");
  expect(tree, &attr, -2, 0, UVPERF_CAUSE_ARGUMENT, "ids, or -1");
  expect(tree, &attr, 0, -2, UVPERF_CAUSE_ARGUMENT, "ids, or -1");
  uvperf__explain_open(&error, -EINVAL, tree->root, &attr, attr.size, 0, -1, 5);
  check(&error, UVPERF_CAUSE_ARGUMENT, "a cgroup needs a cpu");
}

static void einval_of_frequency_gives_limit_and_need(void **state) {
  const temp_tree_t *tree = *state;
  struct perf_event_attr attr;
  uvperf_error_t error;

  uvperf_attr_software(&attr, PERF_COUNT_SW_CPU_CLOCK);
  uvperf_attr_set_frequency(&attr, 50001);
  uvperf__explain_open(&error, -EINVAL, tree->root, &attr, attr.size, 0, -1,
                       -1);
  check(&error, UVPERF_CAUSE_SAMPLE_RATE,
        "50001 Hz is above kernel.perf_event_max_sample_rate, 50000");
  assert_int_equal(error.limit, 50000);
  assert_int_equal(error.needed, 50001);
  uvperf_attr_set_frequency(&attr, 50000);
  expect(tree, &attr, 0, -1, UVPERF_CAUSE_UNKNOWN, "no such combination");
  uvperf_attr_set_period(&attr, 50001);
  expect(tree, &attr, 0, -1, UVPERF_CAUSE_UNKNOWN, "no such combination");
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
  const temp_tree_t *tree = *state;
  struct perf_event_attr attr;
  size_t i;

  for (i = 0; i < sizeof(newer) / sizeof(newer[0]); i++) {
    uvperf_attr_software(&attr, PERF_COUNT_SW_DUMMY);
    uvperf_attr_set(&attr, newer[i].field, newer[i].value);
    expect(tree, &attr, 0, -1, UVPERF_CAUSE_OLD_KERNEL, newer[i].piece);
    expect(tree, &attr, 0, -1, UVPERF_CAUSE_OLD_KERNEL,
           "; this is 6.1.0-9-amd64");
  }
}

static void einval_of_older_bit_is_not_old_kernel(void **state) {
  const temp_tree_t *tree = *state;
  struct perf_event_attr attr;

  uvperf_attr_software(&attr, PERF_COUNT_SW_DUMMY);
  attr.read_format = UVPERF_FORMAT_LOST;
  uvperf_attr_set(&attr, UVPERF_ATTR_BUILD_ID, 1);
  expect(tree, &attr, 0, -1, UVPERF_CAUSE_UNKNOWN, "no such combination");
  temp_tree_write(tree, "/proc/sys/kernel/osrelease", "5.19.3\n");
  expect(tree, &attr, 0, -1, UVPERF_CAUSE_OLD_KERNEL,
         "PERF_FORMAT_LOST needs Linux 6.0");
  temp_tree_write(tree, "/proc/sys/kernel/osrelease", "6.0.0\n");
  expect(tree, &attr, 0, -1, UVPERF_CAUSE_UNKNOWN, "no such combination");
  temp_tree_write(tree, "/proc/sys/kernel/osrelease", "5.19.3\n");
  attr.read_format = 0;
  expect(tree, &attr, 0, -1, UVPERF_CAUSE_UNKNOWN, "no such combination");
  temp_tree_write(tree, "/proc/sys/kernel/osrelease", "5.9\n");
  expect(tree, &attr, 0, -1, UVPERF_CAUSE_OLD_KERNEL,
         "build_id needs Linux 5.12");
}

static void einval_of_tracepoint_is_its_id(void **state) {
  struct perf_event_attr attr;

  uvperf_attr_tracepoint(&attr, 99999);
  expect(*state, &attr, 0, -1, UVPERF_CAUSE_NO_EVENT,
         "tracepoint 99999 of the calling thread: no tracepoint has this id");
}

static void einval_of_breakpoint_gives_the_rules(void **state) {
  struct perf_event_attr attr;

  uvperf_attr_breakpoint(&attr, 2, 0x1001, 4);
  expect(*state, &attr, 0, -1, UVPERF_CAUSE_ARGUMENT, "bp_addr aligned");
  uvperf_attr_breakpoint(&attr, 1, 0x1000, 4);
  expect(*state, &attr, 0, -1, UVPERF_CAUSE_ARGUMENT, "x86 has no R");
}

static void map(const temp_tree_t *tree, uvperf_error_t *error, int code,
                const struct perf_event_attr *attr, int cpu, size_t bytes,
                int cause) {
  memset(error, 0xff, sizeof(*error));
  assert_int_equal(
      uvperf__explain_map(error, code, tree->root, attr, cpu, bytes), code);
  assert_int_equal(error->code, code);
  assert_string_equal(uvperf_cause_name(error->cause),
                      uvperf_cause_name(cause));
  assert_true(strlen(error->reason) < sizeof(error->reason) - 1);
}

static void map_eperm_gives_limit_and_need(void **state) {
  uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
  struct perf_event_attr attr;
  struct rlimit old, low;
  uvperf_error_t error;

  assert_int_equal(getrlimit(RLIMIT_MEMLOCK, &old), 0);
  low = old;
  low.rlim_cur = 65536;
  assert_int_equal(setrlimit(RLIMIT_MEMLOCK, &low), 0);
  uvperf_attr_software(&attr, PERF_COUNT_SW_CPU_CLOCK);
  map(*state, &error, -EPERM, &attr, -1, 2097152, UVPERF_CAUSE_LOCKED_MEMORY);
  assert_int_equal(setrlimit(RLIMIT_MEMLOCK, &old), 0);
  assert_int_equal(error.limit, 516 * 1024 * 2 + 65536);
  assert_int_equal(error.needed, 2097152 + page);
  assert_non_null(strstr(error.reason, "lock 516 KiB (perf_event_mlock_kb) x 2 "
                                       "CPUs + RLIMIT_MEMLOCK 65536"));
}

static void map_einval_names_the_fault(void **state) {
  struct perf_event_attr attr;
  uvperf_error_t error;

  uvperf_attr_software(&attr, PERF_COUNT_SW_CPU_CLOCK);
  attr.inherit = 1;
  map(*state, &error, -EINVAL, &attr, -1, 65536, UVPERF_CAUSE_ARGUMENT);
  check(&error, UVPERF_CAUSE_ARGUMENT, "inherit with a ring needs a cpu");
  map(*state, &error, -EINVAL, &attr, 0, 65536, UVPERF_CAUSE_UNKNOWN);
  check(&error, UVPERF_CAUSE_UNKNOWN, "mmap gave errno 22");
  uvperf_attr_set_wakeup_bytes(&attr, 65536);
  map(*state, &error, -EINVAL, &attr, 0, 65536, UVPERF_CAUSE_ARGUMENT);
  check(&error, UVPERF_CAUSE_ARGUMENT, "must be smaller than the ring");
  uvperf_attr_set_wakeup_bytes(&attr, 65535);
  map(*state, &error, -EINVAL, &attr, 0, 65536, UVPERF_CAUSE_UNKNOWN);
  map(*state, &error, -EINVAL, &attr, 0, 3 * 65536, UVPERF_CAUSE_ARGUMENT);
  check(&error, UVPERF_CAUSE_ARGUMENT, "power of two");
}

static void map_other_errno_has_its_cause(void **state) {
  struct perf_event_attr attr;
  uvperf_error_t error;

  uvperf_attr_software(&attr, PERF_COUNT_SW_CPU_CLOCK);
  map(*state, &error, -ENOMEM, &attr, 0, 65536, UVPERF_CAUSE_MEMORY);
  map(*state, &error, -EAGAIN, &attr, 0, 65536, UVPERF_CAUSE_LOCKED_MEMORY);
  map(*state, &error, -EBUSY, &attr, 0, 65536, UVPERF_CAUSE_ARGUMENT);
  map(*state, &error, -EIO, &attr, 0, 65536, UVPERF_CAUSE_UNKNOWN);
}

#define WITH_MACHINE(test)                                                     \
  cmocka_unit_test_setup_teardown(test, temp_tree_machine_setup,               \
                                  temp_tree_teardown)

int main(void) {
  const struct CMUnitTest tests[] = {
      WITH_MACHINE(einval_of_no_such_cpu_gives_the_possible),
      WITH_MACHINE(einval_of_target_is_argument),
      WITH_MACHINE(einval_of_frequency_gives_limit_and_need),
      WITH_MACHINE(einval_of_newer_bit_is_old_kernel),
      WITH_MACHINE(einval_of_older_bit_is_not_old_kernel),
      WITH_MACHINE(einval_of_tracepoint_is_its_id),
      WITH_MACHINE(einval_of_breakpoint_gives_the_rules),
      WITH_MACHINE(map_eperm_gives_limit_and_need),
      WITH_MACHINE(map_einval_names_the_fault),
      WITH_MACHINE(map_other_errno_has_its_cause),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
