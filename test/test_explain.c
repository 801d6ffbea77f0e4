/* SPDX-License-Identifier: MIT */
/* Causes and reasons for the errnos of perf_event_open(2) but EINVAL, on a
 * scripted machine. */
#include "support.h"
#include "temp_tree.h"

#include <errno.h>
#include <sys/resource.h>

#include "explain.h"

#define PARANOID "/proc/sys/kernel/perf_event_paranoid"
#define STATUS   "/proc/self/status"

/* Explains a failure and insists on a cause and on pieces of the reason. */
static void expect(const temp_tree_t *tree, uvperf_error_t *error, int code,
                   const struct perf_event_attr *attr, int pid, int cpu,
                   int cause, const char *piece) {
  memset(error, 0xff, sizeof(*error));
  assert_int_equal(uvperf__explain_open(error, code, tree->root, attr,
                                        attr->size, pid, cpu, -1),
                   code);
  assert_int_equal(error->code, code);
  assert_string_equal(uvperf_cause_name(error->cause),
                      uvperf_cause_name(cause));
  assert_int_equal(error->attr_index, 0);
  assert_int_equal(error->target_index, 0);
  if (strstr(error->reason, piece) == NULL)
    fail_msg("\"%s\" is not in \"%s\"", piece, error->reason);
}

static void user_clock(struct perf_event_attr *attr) {
  uvperf_attr_software(attr, PERF_COUNT_SW_CPU_CLOCK);
  attr->exclude_kernel = 1;
}

static void cause_name_of_each_value_is_its_own(void **state) {
  int one, other;

  (void)state;
  assert_string_equal(uvperf_cause_name(UVPERF_CAUSE_NONE), "none");
  assert_string_equal(uvperf_cause_name(UVPERF_CAUSE_PERMISSION), "permission");
  assert_string_equal(uvperf_cause_name(UVPERF_CAUSE_BREAKPOINT_SLOTS),
                      "breakpoint_slots");
  assert_string_equal(uvperf_cause_name(UVPERF_CAUSE_NO_PERF), "no_perf");
  for (one = 0; one <= UVPERF_CAUSE_BPF_PROGRAMS; one++)
    for (other = 0; other < one; other++)
      assert_string_not_equal(uvperf_cause_name(one), uvperf_cause_name(other));
  assert_string_equal(uvperf_cause_name(-1), "unknown");
  assert_string_equal(uvperf_cause_name(UVPERF_CAUSE_BPF_PROGRAMS + 1),
                      "unknown");
  assert_string_equal(uvperf_cause_name(INT32_MIN), "unknown");
}

static void explain_cuts_a_long_reason(void **state) {
  struct {
    uvperf_error_t error;
    char after[8];
  } box;
  char text[400];

  (void)state;
  memset(&box, 0x5a, sizeof(box));
  memset(text, 'x', sizeof(text) - 1);
  text[sizeof(text) - 1] = '\0';
  assert_int_equal(
      uvperf__explain(&box.error, -EBUSY, UVPERF_CAUSE_LOOP, "%d %s", 42, text),
      -EBUSY);
  assert_int_equal(box.error.code, -EBUSY);
  assert_int_equal(box.error.cause, UVPERF_CAUSE_LOOP);
  assert_int_equal(box.error.limit, 0);
  assert_int_equal(box.error.needed, 0);
  assert_int_equal(strlen(box.error.reason), sizeof(box.error.reason) - 1);
  assert_memory_equal(box.error.reason, "42 xxx", 6);
  assert_memory_equal(box.after, "ZZZZZZZZ", 8);
}

static void explain_without_error_returns_the_code(void **state) {
  struct perf_event_attr attr;

  (void)state;
  user_clock(&attr);
  assert_int_equal(uvperf__explain(NULL, -EIO, 1, "%d", 1), -EIO);
  assert_int_equal(
      uvperf__explain_open(NULL, -EACCES, "", &attr, attr.size, 0, -1, -1),
      -EACCES);
  assert_int_equal(uvperf__explain_map(NULL, -EPERM, "", &attr, -1, 4096),
                   -EPERM);
}

static void explain_open_says_what_was_tried(void **state) {
  struct perf_event_attr attr;
  uvperf_error_t error;

  uvperf_attr_software(&attr, PERF_COUNT_SW_PAGE_FAULTS);
  expect(*state, &error, -EBUSY, &attr, 0, -1, UVPERF_CAUSE_BUSY,
         "software event page-faults of the calling thread: ");
  uvperf_attr_software(&attr, 99);
  expect(*state, &error, -EBUSY, &attr, 12, 3, UVPERF_CAUSE_BUSY,
         "software event 0x63 of thread 12 on CPU 3: ");
  uvperf_attr_hardware(&attr, PERF_COUNT_HW_BRANCH_MISSES);
  expect(*state, &error, -EBUSY, &attr, -1, 0, UVPERF_CAUSE_BUSY,
         "hardware event branch-misses of every task on CPU 0: ");
  uvperf_attr_cache(&attr, PERF_COUNT_HW_CACHE_DTLB,
                    PERF_COUNT_HW_CACHE_OP_READ,
                    PERF_COUNT_HW_CACHE_RESULT_MISS);
  expect(*state, &error, -EBUSY, &attr, 0, -1, UVPERF_CAUSE_BUSY,
         "cache event dTLB load miss of");
  uvperf_attr_raw(&attr, 0x3c);
  expect(*state, &error, -EBUSY, &attr, 0, -1, UVPERF_CAUSE_BUSY,
         "raw event 0x3c of");
  uvperf_attr_tracepoint(&attr, 316);
  expect(*state, &error, -EBUSY, &attr, 0, -1, UVPERF_CAUSE_BUSY,
         "tracepoint 316 of");
  uvperf_attr_breakpoint(&attr, 2, 0xabc8, 4);
  expect(*state, &error, -EBUSY, &attr, 0, -1, UVPERF_CAUSE_BUSY,
         "breakpoint at 0xabc8 of");
  uvperf_attr_init(&attr, 9, 4);
  expect(*state, &error, -EBUSY, &attr, 0, -1, UVPERF_CAUSE_BUSY,
         "event 0x4 of PMU msr of");
}

static void explain_eacces_names_what_lifts_paranoid(void **state) {
  const temp_tree_t *tree = *state;
  struct perf_event_attr attr;
  uvperf_error_t error;

  uvperf_attr_software(&attr, PERF_COUNT_SW_CPU_CLOCK);
  expect(tree, &error, -EACCES, &attr, 0, -1, UVPERF_CAUSE_PERMISSION,
         "exclude_kernel avoids it) needs kernel.perf_event_paranoid <= 1 (it "
         "is 2) or CAP_PERFMON");
  expect(tree, &error, -EACCES, &attr, -1, 0, UVPERF_CAUSE_PERMISSION,
         "a whole CPU needs kernel.perf_event_paranoid <= 0 (it is 2)");
  user_clock(&attr);
  attr.sample_type = PERF_SAMPLE_PHYS_ADDR;
  expect(tree, &error, -EACCES, &attr, 0, -1, UVPERF_CAUSE_PERMISSION,
         "PHYS_ADDR needs kernel.perf_event_paranoid <= 1 (it is 2)");
  temp_tree_write(tree, PARANOID, "4\n");
  user_clock(&attr);
  expect(tree, &error, -EACCES, &attr, 0, -1, UVPERF_CAUSE_PERMISSION,
         "any event needs kernel.perf_event_paranoid <= 2 (it is 4)");
}

static void explain_eperm_of_tracepoint_data_asks_for_minus_1(void **state) {
  struct perf_event_attr attr;
  uvperf_error_t error;

  uvperf_attr_tracepoint(&attr, 316);
  attr.exclude_kernel = 1;
  attr.sample_type = PERF_SAMPLE_RAW;
  expect(*state, &error, -EPERM, &attr, 0, -1, UVPERF_CAUSE_PERMISSION,
         "a tracepoint's data needs kernel.perf_event_paranoid <= -1");
}

static void explain_eacces_not_of_paranoid_says_so(void **state) {
  const temp_tree_t *tree = *state;
  struct perf_event_attr attr;
  uvperf_error_t error;

  user_clock(&attr);
  expect(tree, &error, -EACCES, &attr, 77, -1, UVPERF_CAUSE_PERMISSION,
         "belongs to another user");
  expect(tree, &error, -EACCES, &attr, 78, -1, UVPERF_CAUSE_PERMISSION,
         "though kernel.perf_event_paranoid is 2");
  attr.namespaces = 1;
  expect(tree, &error, -EACCES, &attr, 0, -1, UVPERF_CAUSE_PERMISSION,
         "namespaces bit needs CAP_PERFMON");
  uvperf_attr_init(&attr, 8, 0);
  expect(tree, &error, -EACCES, &attr, 0, -1, UVPERF_CAUSE_PERMISSION,
         "probes need CAP_PERFMON");
  temp_tree_write(tree, STATUS, "CapEff:\t0000004000000000\n");
  expect(tree, &error, -EACCES, &attr, 0, -1, UVPERF_CAUSE_PERMISSION,
         "in spite of CAP_PERFMON");
}

static void explain_eacces_without_proc_still_has_a_reason(void **state) {
  struct perf_event_attr attr;
  uvperf_error_t error;

  user_clock(&attr);
  expect(*state, &error, -EACCES, &attr, 0, -1, UVPERF_CAUSE_PERMISSION,
         "could not be read");
}

static void explain_eperm_under_seccomp_is_no_perf(void **state) {
  const temp_tree_t *tree = *state;
  struct perf_event_attr attr;
  uvperf_error_t error;

  user_clock(&attr);
  temp_tree_write(tree, STATUS, "CapEff:\t0\nSeccomp:\t2\n");
  expect(tree, &error, -EPERM, &attr, 0, -1, UVPERF_CAUSE_NO_PERF, "seccomp");
  expect(tree, &error, -ENOSYS, &attr, 0, -1, UVPERF_CAUSE_NO_PERF, "seccomp");
}

static void explain_enosys_is_no_perf(void **state) {
  struct perf_event_attr attr;
  uvperf_error_t error;

  user_clock(&attr);
  expect(*state, &error, -ENOSYS, &attr, 0, -1, UVPERF_CAUSE_NO_PERF,
         "CONFIG_PERF_EVENTS");
}

static void explain_enoent_tells_event_from_pmu(void **state) {
  struct perf_event_attr attr;
  uvperf_error_t error;

  uvperf_attr_init(&attr, 42, 1);
  expect(*state, &error, -ENOENT, &attr, 0, -1, UVPERF_CAUSE_NO_EVENT,
         "event 0x1 of type 42 of the calling thread: no PMU has this type");
  uvperf_attr_init(&attr, 9, 99);
  expect(*state, &error, -ENOENT, &attr, 0, -1, UVPERF_CAUSE_NO_EVENT,
         "the PMU has no such event");
  uvperf_attr_hardware(&attr, PERF_COUNT_HW_CPU_CYCLES);
  expect(*state, &error, -ENOENT, &attr, 0, -1, UVPERF_CAUSE_NO_EVENT,
         "try a software event such as cpu-clock");
  uvperf_attr_software(&attr, 99);
  expect(*state, &error, -ENOENT, &attr, 0, -1, UVPERF_CAUSE_NO_EVENT,
         "this kernel has no such event");
}

static void explain_of_cgroup_names_it(void **state) {
  const temp_tree_t *tree = *state;
  struct perf_event_attr attr;
  uvperf_error_t error;

  user_clock(&attr);
  uvperf__explain_open(&error, -ENOENT, tree->root, &attr, attr.size, 0, 1, 5);
  assert_int_equal(error.cause, UVPERF_CAUSE_NO_EVENT);
  assert_non_null(strstr(error.reason, "of cgroup fd 5 on CPU 1: "));
  assert_non_null(strstr(error.reason, "the cgroup's hierarchy"));
  uvperf__explain_open(&error, -EBADF, tree->root, &attr, attr.size, 0, 1, 5);
  assert_int_equal(error.cause, UVPERF_CAUSE_ARGUMENT);
  assert_non_null(strstr(error.reason, "cgroup is not an open fd"));
  uvperf__explain_open(&error, -EACCES, tree->root, &attr, attr.size, 0, 1, 5);
  assert_non_null(strstr(error.reason, "a whole CPU needs"));
}

static void explain_ebadf_without_cgroup_blames_the_leader(void **state) {
  struct perf_event_attr attr;
  uvperf_error_t error;

  user_clock(&attr);
  expect(*state, &error, -EBADF, &attr, 0, -1, UVPERF_CAUSE_ARGUMENT,
         "the leader is not an open perf event");
}

static void explain_enodev_tells_offline_cpu_from_lost_pmu(void **state) {
  struct perf_event_attr attr;
  uvperf_error_t error;

  user_clock(&attr);
  expect(*state, &error, -ENODEV, &attr, -1, 3, UVPERF_CAUSE_NO_CPU,
         "the CPU is offline; online are 0-1");
  expect(*state, &error, -ENODEV, &attr, -1, 1, UVPERF_CAUSE_NO_EVENT,
         "the PMU's device is gone");
}

static void explain_esrch_is_no_task(void **state) {
  struct perf_event_attr attr;
  uvperf_error_t error;

  user_clock(&attr);
  expect(*state, &error, -ESRCH, &attr, 4711, -1, UVPERF_CAUSE_NO_TASK,
         "of thread 4711: there is no such thread");
}

static void explain_emfile_gives_limit_and_need(void **state) {
  struct perf_event_attr attr;
  uvperf_error_t error;
  struct rlimit files;
  char piece[64];

  assert_int_equal(getrlimit(RLIMIT_NOFILE, &files), 0);
  user_clock(&attr);
  snprintf(piece, sizeof(piece), "all %llu fds that RLIMIT_NOFILE",
           (unsigned long long)files.rlim_cur);
  expect(*state, &error, -EMFILE, &attr, 0, -1, UVPERF_CAUSE_FILES, piece);
  assert_int_equal(error.limit, files.rlim_cur);
  assert_int_equal(error.needed, files.rlim_cur + 1);
  expect(*state, &error, -ENFILE, &attr, 0, -1, UVPERF_CAUSE_FILES,
         "fs.file-max");
  assert_int_equal(error.limit, 0);
}

static void explain_e2big_gives_both_sizes(void **state) {
  const temp_tree_t *tree = *state;
  struct perf_event_attr attr;
  uvperf_error_t error;

  user_clock(&attr);
  attr.size = 120;
  uvperf__explain_open(&error, -E2BIG, tree->root, &attr, 144, 0, -1, -1);
  assert_int_equal(error.cause, UVPERF_CAUSE_OLD_KERNEL);
  assert_non_null(
      strstr(error.reason, "has 144 bytes, this kernel knows the first 120"));
  assert_int_equal(error.limit, 120);
  assert_int_equal(error.needed, 144);
  uvperf__explain_open(&error, -E2BIG, tree->root, &attr, 63, 0, -1, -1);
  assert_int_equal(error.cause, UVPERF_CAUSE_ARGUMENT);
}

static void explain_enotsup_names_what_the_pmu_lacks(void **state) {
  struct perf_event_attr attr;
  uvperf_error_t error;

  uvperf_attr_hardware(&attr, PERF_COUNT_HW_CPU_CYCLES);
  expect(*state, &error, -EOPNOTSUPP, &attr, 0, -1, UVPERF_CAUSE_NOT_SUPPORTED,
         "cannot do this use of it");
  uvperf_attr_set_frequency(&attr, 99);
  expect(*state, &error, -EOPNOTSUPP, &attr, 0, -1, UVPERF_CAUSE_NOT_SUPPORTED,
         "cannot do sampling");
  attr.precise_ip = 2;
  expect(*state, &error, -EOPNOTSUPP, &attr, 0, -1, UVPERF_CAUSE_NOT_SUPPORTED,
         "cannot do this precise_ip");
  attr.sample_type = PERF_SAMPLE_BRANCH_STACK;
  expect(*state, &error, -EOPNOTSUPP, &attr, 0, -1, UVPERF_CAUSE_NOT_SUPPORTED,
         "cannot do branch stacks");
  attr.aux_output = 1;
  expect(*state, &error, -EOPNOTSUPP, &attr, 0, -1, UVPERF_CAUSE_NOT_SUPPORTED,
         "cannot do AUX");
}

static void explain_enospc_of_breakpoint_is_slots(void **state) {
  struct perf_event_attr attr;
  uvperf_error_t error;

  uvperf_attr_breakpoint(&attr, 2, 0x1000, 4);
  expect(*state, &error, -ENOSPC, &attr, 0, -1, UVPERF_CAUSE_BREAKPOINT_SLOTS,
         "slots");
  user_clock(&attr);
  expect(*state, &error, -ENOSPC, &attr, 0, -1, UVPERF_CAUSE_UNKNOWN, "room");
}

static void explain_enomem_tells_stack_from_memory(void **state) {
  const int codes[] = {-ENOMEM, -EOVERFLOW};
  struct perf_event_attr attr;
  uvperf_error_t error;
  size_t i;

  user_clock(&attr);
  for (i = 0; i < 2; i++) {
    attr.sample_max_stack = 200;
    expect(*state, &error, codes[i], &attr, 0, -1, UVPERF_CAUSE_MAX_STACK,
           "sample_max_stack 200 is above kernel.perf_event_max_stack, 127");
    assert_int_equal(error.limit, 127);
    assert_int_equal(error.needed, 200);
  }
  attr.sample_max_stack = 127;
  expect(*state, &error, -ENOMEM, &attr, 0, -1, UVPERF_CAUSE_MEMORY, "memory");
  expect(*state, &error, -EOVERFLOW, &attr, 0, -1, UVPERF_CAUSE_UNKNOWN,
         "errno 75");
}

static void explain_other_errno_is_unknown(void **state) {
  struct perf_event_attr attr;
  uvperf_error_t error;

  user_clock(&attr);
  expect(*state, &error, -EINTR, &attr, 0, -1, UVPERF_CAUSE_UNKNOWN,
         "perf_event_open gave errno 4");
}

/* The longest words before every reason: nothing may be cut. */
static void explain_longest_reason_is_whole(void **state) {
  const temp_tree_t *tree = *state;
  struct perf_event_attr attrs[6];
  uvperf_error_t error;
  size_t i;
  int code;

  temp_tree_write(tree,
                  "/sys/bus/event_source/devices/uncore_a_long_name_0123/"
                  "type",
                  "4294967295\n");
  uvperf_attr_init(&attrs[0], UINT32_MAX, UINT64_MAX);
  uvperf_attr_tracepoint(&attrs[1], UINT64_MAX);
  uvperf_attr_breakpoint(&attrs[2], 1, UINT64_MAX, 8);
  uvperf_attr_hardware(&attrs[3], PERF_COUNT_HW_STALLED_CYCLES_FRONTEND);
  uvperf_attr_set_frequency(&attrs[3], UINT64_MAX);
  uvperf_attr_init(&attrs[4], UINT32_MAX, UINT64_MAX);
  attrs[4].sample_max_stack = UINT16_MAX;
  uvperf_attr_init(&attrs[5], UINT32_MAX, UINT64_MAX);
  attrs[5].use_clockid = 1;
  attrs[5].clockid = 99;
  for (i = 0; i < 6; i++)
    for (code = 1; code < 134; code++) {
      uvperf__explain_open(&error, -code, tree->root, &attrs[i], 144,
                           INT32_MAX - 1, i == 4 ? INT32_MAX : 1, -1);
      if (strlen(error.reason) >= sizeof(error.reason) - 1)
        fail_msg("errno %d is cut: %s", code, error.reason);
    }
}

#define WITH_MACHINE(test)                                                     \
  cmocka_unit_test_setup_teardown(test, temp_tree_machine_setup,               \
                                  temp_tree_teardown)

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(cause_name_of_each_value_is_its_own),
      cmocka_unit_test(explain_cuts_a_long_reason),
      cmocka_unit_test(explain_without_error_returns_the_code),
      WITH_MACHINE(explain_open_says_what_was_tried),
      WITH_MACHINE(explain_eacces_names_what_lifts_paranoid),
      WITH_MACHINE(explain_eperm_of_tracepoint_data_asks_for_minus_1),
      WITH_MACHINE(explain_eacces_not_of_paranoid_says_so),
      cmocka_unit_test_setup_teardown(
          explain_eacces_without_proc_still_has_a_reason, temp_tree_setup,
          temp_tree_teardown),
      WITH_MACHINE(explain_eperm_under_seccomp_is_no_perf),
      WITH_MACHINE(explain_enosys_is_no_perf),
      WITH_MACHINE(explain_enoent_tells_event_from_pmu),
      WITH_MACHINE(explain_of_cgroup_names_it),
      WITH_MACHINE(explain_ebadf_without_cgroup_blames_the_leader),
      WITH_MACHINE(explain_enodev_tells_offline_cpu_from_lost_pmu),
      WITH_MACHINE(explain_esrch_is_no_task),
      WITH_MACHINE(explain_emfile_gives_limit_and_need),
      WITH_MACHINE(explain_e2big_gives_both_sizes),
      WITH_MACHINE(explain_enotsup_names_what_the_pmu_lacks),
      WITH_MACHINE(explain_enospc_of_breakpoint_is_slots),
      WITH_MACHINE(explain_enomem_tells_stack_from_memory),
      WITH_MACHINE(explain_other_errno_is_unknown),
      WITH_MACHINE(explain_longest_reason_is_whole),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
