/* SPDX-License-Identifier: MIT */
/* The combined effect of an event's terms: its call chain. */
#include "fake_host.h"
#include "check_parse.h"

#define CYCLES .type = PERF_TYPE_HARDWARE, .config = PERF_COUNT_HW_CPU_CYCLES
#define CLOCK  .type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_CPU_CLOCK

static void terms_ask_for_call_chains(void **state) {
  static const name_good_t good[] = {
    {"cycles/call-graph=fp,time,period=100000/",
     {CYCLES, .sample_period = 100000,
      .sample_type = PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_TIME}},
    {"cycles/call-graph=no,time=0,period=2000/",
     {CYCLES, .sample_period = 2000}},
    {"cycles/call-graph=lbr/",
     {CYCLES, .sample_type = PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_BRANCH_STACK,
      .branch_sample_type =
          PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_CALL_STACK |
          PERF_SAMPLE_BRANCH_NO_CYCLES | PERF_SAMPLE_BRANCH_NO_FLAGS}},
#if defined(__x86_64__)
    /* As perf record --call-graph dwarf: all registers except the segments that
     * a 64-bit task does not have. */
    {"cycles/call-graph=dwarf/",
     {CYCLES,
      .sample_type = PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_REGS_USER |
                     PERF_SAMPLE_STACK_USER,
      .sample_regs_user = 0xff0fff, .sample_stack_user = 8192,
      .exclude_callchain_user = 1}},
    {"cycles/stack-size=4096,call-graph=dwarf/",
     {CYCLES,
      .sample_type = PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_REGS_USER |
                     PERF_SAMPLE_STACK_USER,
      .sample_regs_user = 0xff0fff, .sample_stack_user = 4096,
      .exclude_callchain_user = 1}},
#endif
  };

  check_parse_good(good, COUNT_OF(good));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(terms_ask_for_call_chains),
  };

  return cmocka_run_group_tests(tests, fake_host_empty, fake_host_real);
}
