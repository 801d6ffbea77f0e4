/* SPDX-License-Identifier: MIT */
#include "tool_run.h"

static unsigned long long count_of(const tool_run_t *run, const char *title) {
  const char *line = strstr(run->out, title);
  unsigned long long count;

  assert_non_null(line);
  assert_int_equal(sscanf(line + strlen(title), "%llu\n", &count), 1);
  return count;
}

/* The first part touches a MiB of fresh memory, the other nothing new. */
static void count_group_as_nobody_prints_the_counts_of_each_part(void **state) {
  tool_run_t run = {.args = {SAMPLE_PATH}, .as_nobody = 1};
  size_t pages = ((size_t)1 << 20) / support_page_bytes();

  (void)state;
  if (tool_run_paranoid() > 2)
    support_skip(__func__, "perf_event_paranoid of at most 2");
  tool_run(&run);
  tool_run_expect_status(&run, 0);
  assert_true(count_of(&run, "touch memory: page-faults:u ") >= pages);
  assert_true(count_of(&run, "compute: page-faults:u ") <
              count_of(&run, "touch memory: page-faults:u "));
  assert_true(count_of(&run, "touch memory: task-clock:u ") > 0);
  assert_true(count_of(&run, "compute: task-clock:u ") > 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(count_group_as_nobody_prints_the_counts_of_each_part),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
