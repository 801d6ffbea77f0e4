/* SPDX-License-Identifier: MIT */
#include "json_check.h"
#include "tool_run.h"

#include <stdlib.h>

/* Names may be any bytes: a quote, a backslash, UTF-8, and bytes that are not
 * UTF-8. */
#define EVENTS                                                                 \
  "context-switches/name=a\"\\\xc3\xa4|\xff|\xc0\xaf|\xed\xa0\x80|\xc3/,"      \
  "software/config=99/"

static void counts_to_json_are_json_whatever_the_names(void **state) {
  static tool_run_t run = {.args = {SAMPLE_PATH, EVENTS, "20"},
                           .interrupt_at = "}\n"};

  support_need_cpu_wide(__func__);
  tool_run(&run);
  tool_run_expect_status(&run, 0);
  *strchr(run.out, '\n') = '\0';
  if (!json_is_tree(run.out))
    fail_msg("%s", run.out);
  tool_run_expect_text(run.out,
                       "{\"event\":\"a\\u0022\\u005c\xc3\xa4|\\ufffd|\\ufffd"
                       "\\ufffd|\\ufffd\\ufffd\\ufffd|\\ufffd\",\"unit\":");
  tool_run_expect_text(run.out, "\"value\":null}");
}

static void counts_to_json_says_once_why_a_value_is_null(void **state) {
  static tool_run_t run = {.args = {SAMPLE_PATH, EVENTS, "20"},
                           .interrupt_at = "}\n"};

  support_need_cpu_wide(__func__);
  tool_run(&run);
  tool_run_expect_text(run.err, "CPU ");
  assert_ptr_equal(strchr(run.err, '\n') + 1, run.err + strlen(run.err));
}

static void counts_to_json_has_numbers(void **state) {
  static tool_run_t run = {.args = {SAMPLE_PATH, "cpu-clock", "100"},
                           .interrupt_at = "}\n"};
  const char *value;

  support_need_cpu_wide(__func__);
  tool_run(&run);
  value = strstr(run.out, "\"value\":");
  assert_non_null(value);
  assert_true(strtod(value + strlen("\"value\":"), NULL) > 0);
}

static void counts_to_json_as_nobody_says_why_not(void **state) {
  static tool_run_t run = {.args = {SAMPLE_PATH}};

  tool_run_is_refused(__func__, &run);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(counts_to_json_are_json_whatever_the_names),
      cmocka_unit_test(counts_to_json_says_once_why_a_value_is_null),
      cmocka_unit_test(counts_to_json_has_numbers),
      cmocka_unit_test(counts_to_json_as_nobody_says_why_not),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
