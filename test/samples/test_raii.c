/* SPDX-License-Identifier: MIT */
#include "tool_run.h"

/* Each page is touched once: the addresses differ. */
static void raii_as_nobody_prints_page_faults(void **state) {
  tool_run_t run = {.args = {SAMPLE_PATH}, .as_nobody = 1};
  unsigned long long ip, addr, last = 0;
  char *line;
  size_t nr;
  int size;

  tool_run_need_own(__func__);
  tool_run(&run);
  tool_run_expect_status(&run, 0);
  for (line = run.out, nr = 0; *line != '\0'; line += size, nr++) {
    size = 0;
    assert_int_equal(sscanf(line, "%llx touched %llx%n", &ip, &addr, &size), 2);
    assert_true(addr != last);
    last = addr;
    size++;
  }
  assert_int_equal(nr, 10);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(raii_as_nobody_prints_page_faults),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
