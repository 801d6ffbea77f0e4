/* SPDX-License-Identifier: MIT */
#include "tool_run.h"

/* The status is 1 if the loop cannot be closed, and 99 if memory is left. */
static void walk_close_as_nobody_samples_counts_and_closes(void **state) {
  tool_run_t run = {.args = {SAMPLE_PATH}, .as_nobody = 1};
  unsigned long long faults, last = 0;
  unsigned long samples, lost;
  char *line;
  size_t nr;
  int size;

  (void)state;
  if (tool_run_paranoid() > 2)
    support_skip(__func__, "perf_event_paranoid of at most 2");
  tool_run(&run);
  tool_run_expect_status(&run, 0);
  for (nr = 0, line = run.out;; nr++, line += size) {
    size = 0;
    sscanf(line, "%llu page faults%n", &faults, &size);
    if (size == 0)
      break;
    assert_true(faults >= last);
    last = faults;
    size++; /* the end of the line */
  }
  assert_true(nr >= 2 && last > 0);
  assert_int_equal(
      sscanf(line, "%lu samples, %lu lost\nclosed", &samples, &lost), 2);
  assert_true(samples >= 3);
  assert_string_equal(strchr(line, '\n'), "\nclosed\n");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(walk_close_as_nobody_samples_counts_and_closes),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
