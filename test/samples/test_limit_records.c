/* SPDX-License-Identifier: MIT */
#include "tool_run.h"

/* There are hundreds of faults every 10 ms. Five of them come at once, and five
 * after each of two seconds. */
static void limit_records_as_nobody_takes_five_each_second(void **state) {
  tool_run_t run = {.args = {SAMPLE_PATH}, .as_nobody = 1};
  unsigned long long address, ip;
  const char *line;
  int nr = 0;

  (void)state;
  if (tool_run_paranoid() > 2)
    support_skip(__func__, "needs perf_event_paranoid of at most 2");
  tool_run(&run);
  tool_run_expect_status(&run, 0);
  for (line = run.out; *line != '\0'; line = strchr(line, '\n') + 1) {
    if (sscanf(line, "fault at %llx, by %llx", &address, &ip) != 2)
      fail_msg("%s", line);
    assert_true(address != 0 && ip != 0);
    nr++;
  }
  assert_int_equal(nr, 15);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(limit_records_as_nobody_takes_five_each_second),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
