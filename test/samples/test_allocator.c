/* SPDX-License-Identifier: MIT */
#include "tool_run.h"

static void allocator_as_nobody_holds_nothing_at_the_end(void **state) {
  tool_run_t run = {.args = {SAMPLE_PATH}, .as_nobody = 1};
  long nr;

  (void)state;
  if (tool_run_paranoid() > 2)
    support_skip(__func__, "perf_event_paranoid of at most 2");
  tool_run(&run);
  tool_run_expect_status(&run, 0);
  assert_int_equal(sscanf(run.out, "%ld pieces", &nr), 1);
  assert_true(nr >= 3); /* of the loop, the event and its attr */
  assert_non_null(strstr(run.out, "\n0 at the end\n"));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(allocator_as_nobody_holds_nothing_at_the_end),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
