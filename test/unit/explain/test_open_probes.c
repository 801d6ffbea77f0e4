/* SPDX-License-Identifier: MIT */
/* Causes and reasons for breakpoints and probes that the kernel refuses, on a
 * scripted machine. */
#include "check_explain.h"
#include "make_host.h"

static uvperf_error_t error;

/* Explains a failure and insists on a cause and on pieces of the reason. */
static void expect(int code, const struct perf_event_attr *attr, int cause,
                   const char *piece) {
  uvperf__open_call_t call = explain_open_call(&error, code, attr, 0, -1);

  assert_int_equal(uvperf__explain_open(&call), code);
  explain_check(&error, code, cause, piece);
}

/* Each errno of the two, and what it says about the pointer or the offset. */
static void explain_probe_names_its_field(void **state) {
  const struct {
    uint32_t type;
    int code;
    int cause;
    const char *piece;
  } probes[] = {
      {8, -ENOENT, UVPERF_CAUSE_NO_EVENT, "names does not exist"},
      {8, -EFAULT, UVPERF_CAUSE_ARGUMENT, "must point to a path"},
      {8, -E2BIG, UVPERF_CAUSE_ARGUMENT, "is too long"},
      {8, -EINVAL, UVPERF_CAUSE_ARGUMENT, "must name a regular file"},
      {8, -EIO, UVPERF_CAUSE_ARGUMENT, "does not support uprobes"},
      {8, -524, UVPERF_CAUSE_ARGUMENT, "cannot be probed"},
      {6, -ENOENT, UVPERF_CAUSE_NO_EVENT, "see /proc/kallsyms"},
      {6, -EADDRNOTAVAIL, UVPERF_CAUSE_NO_EVENT, "see /proc/kallsyms"},
      {6, -EFAULT, UVPERF_CAUSE_ARGUMENT, "must point to a function's name"},
      {6, -E2BIG, UVPERF_CAUSE_ARGUMENT, "is too long"},
      {6, -EINVAL, UVPERF_CAUSE_ARGUMENT, "may not be probed"},
      {6, -EILSEQ, UVPERF_CAUSE_ARGUMENT, "not at this probe_offset"},
      {6, -EXDEV, UVPERF_CAUSE_UNKNOWN, "errno 18"},
  };
  struct perf_event_attr attr;
  size_t i;

  for (i = 0; i < COUNT_OF(probes); i++) {
    uvperf_attr_init(&attr, probes[i].type, 0);
    expect(probes[i].code, &attr, probes[i].cause, probes[i].piece);
  }
}

static void explain_enospc_of_breakpoint_is_slots(void **state) {
  struct perf_event_attr attr;

  uvperf_attr_breakpoint(&attr, 2, 0x1000, 4);
  expect(-ENOSPC, &attr, UVPERF_CAUSE_BREAKPOINT_SLOTS,
         "breakpoint slots of the CPU are in use");
#if defined(__x86_64__)
  assert_non_null(strstr(error.reason, "all 4 breakpoint slots"));
  assert_int_equal(error.limit, 4);
  assert_int_equal(error.needed, 5);
#endif
  explain_user_clock(&attr);
  expect(-ENOSPC, &attr, UVPERF_CAUSE_UNKNOWN, "room");
}

static void einval_of_breakpoint_names_the_fault(void **state) {
  const struct {
    uint32_t type;
    uint64_t address, length;
    const char *piece;
  } faults[] = {
    {0, 0x1000, 8, "bp_type must be"},
    {7, 0x1000, 8, "bp_type must be"},
    {6, 0x1000, 8, "bp_type must be"},
    {2, 0x1000, 0, "bp_len must be 1, 2, 4 or 8"},
    {2, UINT64_MAX - 7, 8, "bp_addr is in the kernel"},
#if defined(__x86_64__)
    {2, 0x1000, 3, "bp_len must be 1, 2, 4 or 8"},
    {1, 0x1000, 8, "x86 has no breakpoints for reads only"},
    {2, 0x1001, 4, "bp_addr must be a multiple of bp_len"},
    {4, 0x1000, 4, "bp_len must be sizeof(long) for HW_BREAKPOINT_X"},
#endif
  };
  struct perf_event_attr attr;
  size_t i;

  for (i = 0; i < COUNT_OF(faults); i++) {
    uvperf_attr_breakpoint(&attr, faults[i].type, faults[i].address,
                           faults[i].length);
    attr.exclude_kernel = 1;
    expect(-EINVAL, &attr, UVPERF_CAUSE_ARGUMENT, faults[i].piece);
  }
  uvperf_attr_breakpoint(&attr, 4, 0x1001, sizeof(long));
  expect(-EINVAL, &attr, UVPERF_CAUSE_UNKNOWN, "rejects this combination");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      MAKE_HOST_MACHINE_TEST(explain_probe_names_its_field),
      MAKE_HOST_MACHINE_TEST(explain_enospc_of_breakpoint_is_slots),
      MAKE_HOST_MACHINE_TEST(einval_of_breakpoint_names_the_fault),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
