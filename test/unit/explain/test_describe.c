/* SPDX-License-Identifier: MIT */
/* How a reason describes the event and its target, on a scripted machine. */
#include "check_explain.h"
#include "make_host.h"

/* Explains a failure and insists on a cause and on pieces of the reason. */
static void expect(uvperf_error_t *error, int code,
                   const struct perf_event_attr *attr, int pid, int cpu,
                   int cause, const char *piece) {
  uvperf__open_call_t call = explain_open_call(error, code, attr, pid, cpu);

  assert_int_equal(uvperf__explain_open(&call), code);
  explain_check(error, code, cause, piece);
}

static void explain_open_says_what_was_tried(void **state) {
  struct perf_event_attr attr;
  uvperf_error_t error;

  uvperf_attr_software(&attr, PERF_COUNT_SW_PAGE_FAULTS);
  expect(&error, -EBUSY, &attr, 0, -1, UVPERF_CAUSE_BUSY,
         "cannot open 'page-faults' for the calling thread: ");
  uvperf_attr_software(&attr, 99);
  expect(&error, -EBUSY, &attr, 12, 3, UVPERF_CAUSE_BUSY,
         "cannot open software event 0x63 for thread 12 on CPU 3: ");
  uvperf_attr_hardware(&attr, PERF_COUNT_HW_BRANCH_MISSES);
  expect(&error, -EBUSY, &attr, -1, 0, UVPERF_CAUSE_BUSY,
         "cannot open 'branch-misses' on CPU 0: ");
  uvperf_attr_cache(&attr, PERF_COUNT_HW_CACHE_DTLB,
                    PERF_COUNT_HW_CACHE_OP_READ,
                    PERF_COUNT_HW_CACHE_RESULT_MISS);
  expect(&error, -EBUSY, &attr, 0, -1, UVPERF_CAUSE_BUSY,
         "cannot open 'dTLB-load-misses' for");
  uvperf_attr_raw(&attr, 0x3c);
  expect(&error, -EBUSY, &attr, 0, -1, UVPERF_CAUSE_BUSY,
         "cannot open raw event 0x3c for");
  uvperf_attr_tracepoint(&attr, 316);
  expect(&error, -EBUSY, &attr, 0, -1, UVPERF_CAUSE_BUSY,
         "cannot open tracepoint 316 for");
  uvperf_attr_breakpoint(&attr, 2, 0xabc8, 4);
  expect(&error, -EBUSY, &attr, 0, -1, UVPERF_CAUSE_BUSY,
         "cannot open breakpoint at 0xabc8 for");
  uvperf_attr_init(&attr, 9, 4);
  expect(&error, -EBUSY, &attr, 0, -1, UVPERF_CAUSE_BUSY,
         "cannot open event 0x4 of PMU msr for");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      MAKE_HOST_MACHINE_TEST(explain_open_says_what_was_tried),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
