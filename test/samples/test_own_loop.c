/* SPDX-License-Identifier: MIT */
#include "live.h"
#include "tool_run.h"

#include <signal.h>

static void name_child(tool_run_t *run) {
  live_child_go(run->data);
}

/* There are two names more than one turn of the loop handles, so some are
 * left. */
static void own_loop_prints_each_name_in_order_until_the_end(void **state) {
  const size_t nr = 1002;
  char line[64], *place, pid[16];
  tool_run_t run = {.args = {SAMPLE_PATH, pid},
                    .interrupt_at = "follows",
                    .interrupt_with = TOOL_RUN_NO_SIGNAL,
                    .work = name_child};
  live_child_t child;
  size_t i;

  support_need_own_events(__func__);
  live_child_fork(&child, nr);
  snprintf(pid, sizeof(pid), "%d", (int)child.pid);
  run.data = &child;
  tool_run(&run);
  live_child_wait(&child);
  tool_run_expect_status(&run, 0);
  for (place = run.out, i = 0; i < nr; i++) {
    snprintf(line, sizeof(line), " %d is live%zu\n", (int)child.pid, i);
    place = strstr(place, line);
    if (place == NULL)
      fail_msg("no %s", line);
  }
  assert_string_equal(strchr(place, '\n'), "\n");
}

static void own_loop_closes_at_ctrl_c(void **state) {
  char pid[16];
  tool_run_t run = {.args = {SAMPLE_PATH, pid}, .interrupt_at = "follows"};
  live_child_t child;

  support_need_own_events(__func__);
  live_child_fork(&child, 0);
  snprintf(pid, sizeof(pid), "%d", (int)child.pid);
  tool_run(&run);
  live_child_go(&child);
  live_child_wait(&child);
  tool_run_expect_status(&run, 0);
}

static void own_loop_of_no_process_says_why(void **state) {
  tool_run_t run = {.args = {SAMPLE_PATH, "2147483647"}};

  tool_run_ends(&run, 1, "2147483647");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(own_loop_prints_each_name_in_order_until_the_end),
      cmocka_unit_test(own_loop_closes_at_ctrl_c),
      cmocka_unit_test(own_loop_of_no_process_says_why),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
