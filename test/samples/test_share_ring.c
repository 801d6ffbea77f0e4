/* SPDX-License-Identifier: MIT */
#include "tool_run.h"

static size_t count(const char *text, const char *part) {
  size_t nr = 0;

  while ((text = strstr(text, part)) != NULL) {
    nr++;
    text++;
  }
  return nr;
}

static void share_ring_as_nobody_prints_records_of_both_events(void **state) {
  tool_run_t run = {.args = {SAMPLE_PATH}, .as_nobody = 1};
  size_t nr_clock, nr_faults;

  (void)state;
  if (tool_run_paranoid() > 2)
    support_skip(__func__, "perf_event_paranoid of at most 2");
  tool_run(&run);
  tool_run_expect_status(&run, 0);
  nr_clock = count(run.out, "computes at 0x");
  nr_faults = count(run.out, "touches 0x");
  assert_true(nr_clock > 0);
  assert_true(nr_faults >= 20);
  assert_int_equal(nr_clock + nr_faults, count(run.out, "\n"));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(share_ring_as_nobody_prints_records_of_both_events),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
