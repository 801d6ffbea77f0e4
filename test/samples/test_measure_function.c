/* SPDX-License-Identifier: MIT */
#include "tool_run.h"

/* The function's work is a million divisions: its time cannot be 0. */
static void
measure_function_as_nobody_prints_page_faults_and_time(void **state) {
  tool_run_t run = {.args = {SAMPLE_PATH}, .as_nobody = 1};
  unsigned long long faults;
  double ms = 0;
  char *line;

  (void)state;
  if (tool_run_paranoid() > 2)
    support_skip(__func__, "perf_event_paranoid of at most 2");
  tool_run(&run);
  tool_run_expect_status(&run, 0);
  line = strchr(run.out, '\n'); /* the first line has cycles or a reason */
  assert_non_null(line);
  assert_int_equal(sscanf(line, "%llu page faults, %lf ms", &faults, &ms), 2);
  assert_true(ms > 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(measure_function_as_nobody_prints_page_faults_and_time),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
