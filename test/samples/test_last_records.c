/* SPDX-License-Identifier: MIT */
#include "tool_run.h"

/* The slow work touches 25,600 pages, more than the ring has records. */
static void last_records_as_nobody_prints_the_newest_first(void **state) {
  tool_run_t run = {.args = {SAMPLE_PATH}, .as_nobody = 1};
  double times[3], ms;
  unsigned long before;
  const char *line;

  (void)state;
  if (tool_run_paranoid() > 2)
    support_skip(__func__, "perf_event_paranoid of at most 2");
  tool_run(&run);
  tool_run_expect_status(&run, 0);
  line = strstr(run.out, "work 100 took");
  assert_non_null(line);
  assert_int_equal(sscanf(line,
                          "work 100 took %lf ms\n"
                          "  %lf %*x touched %*x\n"
                          "  %lf %*x touched %*x\n"
                          "  %lf %*x touched %*x\n"
                          "  and %lu before\n",
                          &ms, &times[0], &times[1], &times[2], &before),
                   5);
  assert_true(times[0] >= times[1] && times[1] >= times[2]);
  /* 65536 bytes hold 2048 records of a header and three fields. */
  assert_in_range(before, 2000, 2045);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(last_records_as_nobody_prints_the_newest_first),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
