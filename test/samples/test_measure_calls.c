/* SPDX-License-Identifier: MIT */
#include "tool_run.h"

/* Sorting a thousand numbers takes longer than measuring nothing. */
static void measure_calls_as_nobody_prints_least_and_mean(void **state) {
  tool_run_t run = {.args = {SAMPLE_PATH}, .as_nobody = 1};
  unsigned long long first, least, empty;
  double mean, deviation;

  (void)state;
  if (tool_run_paranoid() > 2)
    support_skip(__func__, "needs perf_event_paranoid of at most 2");
  tool_run(&run);
  tool_run_expect_status(&run, 0);
  if (sscanf(run.out,
             "task-clock:u: first %llu, least %llu, mean %lf, deviation %lf; "
             "%llu of that is measuring",
             &first, &least, &mean, &deviation, &empty) != 5)
    fail_msg("%s", run.out);
  assert_true(empty > 0 && empty < least);
  assert_true(mean >= (double)least && first > empty);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(measure_calls_as_nobody_prints_least_and_mean),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
