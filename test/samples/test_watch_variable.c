/* SPDX-License-Identifier: MIT */
#include "tool_run.h"

/* Reads the code places of `nr` writes. Returns the rest of the text. */
static const char *places_of(const char *text, const char *name,
                             unsigned long long *places, int nr) {
  char line[64], path[512];
  int i;

  snprintf(line, sizeof(line), "%s was written %d times\n", name, nr);
  text = strstr(text, line);
  assert_non_null(text);
  for (i = 0; i < nr; i++) {
    text = strchr(text, '\n') + 1;
    assert_int_equal(sscanf(text, "%511s %llx", path, &places[i]), 2);
    assert_string_equal(path, SAMPLE_PATH);
  }
  return strchr(text, '\n') + 1;
}

/* add() writes both variables three times, and clear() one of them once. */
static void
watch_variable_as_nobody_prints_each_write_and_its_place(void **state) {
  tool_run_t run = {.args = {SAMPLE_PATH}, .as_nobody = 1};
  unsigned long long total[4], calls[3];
  const char *rest;

  (void)state;
  support_need_breakpoints(__func__);
  if (tool_run_paranoid() > 2)
    support_skip(__func__, "perf_event_paranoid of at most 2");
  tool_run(&run);
  tool_run_expect_status(&run, 0);
  places_of(run.out, "total", total, 4);
  rest = places_of(run.out, "calls", calls, 3);
  assert_string_equal(rest, "");
  assert_true(total[0] == total[1] && total[1] == total[2]);
  assert_true(calls[0] == calls[1] && calls[1] == calls[2]);
  assert_true(total[3] != total[0] && calls[0] != total[0]);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(
          watch_variable_as_nobody_prints_each_write_and_its_place),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
