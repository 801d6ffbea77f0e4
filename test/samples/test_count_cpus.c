/* SPDX-License-Identifier: MIT */
#include "live.h"
#include "tool_run.h"

#include <signal.h>

/* The sample itself sleeps between two lines, so there are switches. */
static void count_cpus_prints_the_counts_of_each_second(void **state) {
  tool_run_t run = {.args = {SAMPLE_PATH}, .interrupt_at = " cs\n"};
  char cycles[128], instructions[128];
  unsigned long long switches;
  uint64_t begin = live_now();

  support_need_cpu_wide(__func__);
  tool_run(&run);
  tool_run_expect_status(&run, 128 + SIGINT);
  assert_true(live_now() - begin >= 1000000000);
  if (sscanf(run.out, "%127[^\n]\n%127[^\n]\n%llu cs\n", cycles, instructions,
             &switches) != 3)
    fail_msg("%s", run.out);
  tool_run_expect_text(cycles, " cycles");
  tool_run_expect_text(instructions, " instructions");
  assert_true(switches > 0);
}

static void count_cpus_as_nobody_says_why_not(void **state) {
  tool_run_t run = {.args = {SAMPLE_PATH}};

  tool_run_is_refused(__func__, &run);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(count_cpus_prints_the_counts_of_each_second),
      cmocka_unit_test(count_cpus_as_nobody_says_why_not),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
