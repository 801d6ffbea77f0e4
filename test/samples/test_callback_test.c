/* SPDX-License-Identifier: MIT */
#include "explain_check.h"
#include "tool_run.h"

#include <errno.h>

static void callback_test_as_nobody_passes_with_both_kinds(void **state) {
  tool_run_t run = {.args = {SAMPLE_PATH}, .as_nobody = 1};

  (void)state;
  if (tool_run_paranoid() > 2)
    support_skip(__func__, "perf_event_paranoid of at most 2");
  tool_run(&run);
  tool_run_expect_status(&run, 0);
  assert_string_equal(run.out, "made records: passed\n"
                               "records of the kernel: passed\n");
}

static void forbid(void) {
  explain_filter(EPERM);
}

static void callback_test_in_a_container_skips_the_kernel(void **state) {
  tool_run_t run = {.args = {SAMPLE_PATH}, .as_nobody = 1, .prepare = forbid};

  (void)state;
  tool_run(&run);
  tool_run_expect_status(&run, 0);
  tool_run_expect_text(run.out, "made records: passed\n"
                                "records of the kernel: skipped: ");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(callback_test_as_nobody_passes_with_both_kinds),
      cmocka_unit_test(callback_test_in_a_container_skips_the_kernel),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
