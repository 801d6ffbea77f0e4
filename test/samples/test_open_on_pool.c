/* SPDX-License-Identifier: MIT */
#include "tool_run.h"

static void open_on_pool_as_nobody_counts_until_ctrl_c(void **state) {
  tool_run_t run = {.args = {SAMPLE_PATH, "task-clock,page-faults"},
                    .interrupt_at = " task-clock",
                    .as_nobody = 1};
  unsigned long long ns;
  char *line;

  tool_run_need_own(__func__);
  tool_run(&run);
  tool_run_expect_status(&run, 0);
  line = strchr(run.out, '\n');
  assert_non_null(line);
  assert_int_equal(strncmp(run.out, "2 events ", 9), 0);
  assert_int_equal(sscanf(line, "%llu task-clock", &ns), 1);
  assert_in_range(ns, 1000, 999999999); /* the loop sleeps most of a second */
  tool_run_expect_text(run.out, "\nclosed; ");
}

/* Ctrl-C comes as soon as the sample can handle it, or before everything is
 * open. */
static void open_on_pool_closes_many_tracepoints(void **state) {
  tool_run_t run = {.args = {SAMPLE_PATH, "syscalls:sys_enter_*get*"},
                    .interrupt_at = " events "};
  size_t nr;

  support_need_tracepoint(__func__, "syscalls:sys_enter_getpgid");
  tool_run(&run);
  tool_run_expect_status(&run, 0);
  assert_int_equal(sscanf(run.out, "%zu events", &nr), 1);
  assert_true(nr > 20);
  tool_run_expect_text(run.out, "\nclosed; ");
}

static void open_on_pool_of_what_cannot_be_opened_says_why(void **state) {
  tool_run_t run = {.args = {SAMPLE_PATH, "raw_syscalls:sys_enter"},
                    .as_nobody = 1};

  tool_run_ends(&run, 1, "raw_syscalls");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(open_on_pool_as_nobody_counts_until_ctrl_c),
      cmocka_unit_test(open_on_pool_closes_many_tracepoints),
      cmocka_unit_test(open_on_pool_of_what_cannot_be_opened_says_why),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
