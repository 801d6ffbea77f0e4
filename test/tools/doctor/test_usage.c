/* SPDX-License-Identifier: MIT */
/* How doctor handles bad input. */
#include "tool_run.h"
#include "tool_usage.h"

static void bad_options_exit_2_with_a_message(void **state) {
  static const tool_usage_t cases[] = {
      {{"--json=1"}, "'--json' takes no value"},
      {{"--help=1"}, "'--help' takes no value"},
      {{"-Q"}, "unknown option '-Q'"},
      {{"--json", "-j"}, "unknown option '-j'"},
      {{"--yaml"}, "unknown option '--yaml'"},
      {{"cycles"}, "unknown argument 'cycles'"},
      {{"--", "cycles"}, "unknown argument 'cycles'"},
      {{""}, "unknown argument ''"},
  };

  tool_usage_refused(DOCTOR_PATH, cases, COUNT_OF(cases));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(bad_options_exit_2_with_a_message),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
