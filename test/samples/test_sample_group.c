/* SPDX-License-Identifier: MIT */
#include "tool_run.h"

/* The work touches 2560 pages: most of them are before the last sample. */
static void sample_group_as_nobody_prints_page_faults_by_sample(void **state) {
  tool_run_t run = {.args = {SAMPLE_PATH}, .as_nobody = 1};
  unsigned long long ip, faults, sum = 0;
  size_t nr = 0;
  char *line;
  int size;

  (void)state;
  if (tool_run_paranoid() > 2)
    support_skip(__func__, "perf_event_paranoid of at most 2");
  tool_run(&run);
  tool_run_expect_status(&run, 0);
  for (line = run.out; *line != '\0'; line += size + 1, nr++) {
    size = 0;
    sscanf(line, "%llx: %llu page faults%n", &ip, &faults, &size);
    assert_true(size > 0);
    sum += faults;
  }
  assert_true(nr >= 5);
  assert_in_range(sum, 1000, 10000);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(sample_group_as_nobody_prints_page_faults_by_sample),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
