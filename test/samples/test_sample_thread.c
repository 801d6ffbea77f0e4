/* SPDX-License-Identifier: MIT */
#include "live.h"
#include "tool_run.h"

#include <signal.h>

static int spin(void *arg) {
  volatile int go = arg == NULL;

  while (go)
    continue;
  return 0;
}

static void end_child(tool_run_t *run) {
  const pid_t *child = run->data;

  kill(*child, SIGKILL);
  support_wait(*child);
}

/* Every line is of that thread, and the sample ends with it. */
static void sample_thread_prints_where_it_was_until_it_ends(void **state) {
  char pid[16], seen[32];
  pid_t child;
  tool_run_t run = {.args = {SAMPLE_PATH, pid},
                    .interrupt_at = seen,
                    .interrupt_with = TOOL_RUN_NO_SIGNAL,
                    .work = end_child,
                    .data = &child};
  unsigned long long ip;
  unsigned int tid;
  const char *line;

  support_need_own_events(__func__);
  child = support_fork(spin, NULL);
  assert_true(child > 0);
  snprintf(pid, sizeof(pid), "%d", child);
  snprintf(seen, sizeof(seen), "\n%d 0x", child);
  tool_run(&run);
  tool_run_expect_status(&run, 0);
  for (line = run.out; *line != '\0'; line = strchr(line, '\n') + 1) {
    assert_int_equal(sscanf(line, "%u %llx", &tid, &ip), 2);
    assert_int_equal(tid, child);
    assert_true(ip != 0);
  }
}

static void sample_thread_of_no_thread_says_so(void **state) {
  tool_run_t run = {.args = {SAMPLE_PATH, "2147483647"}};

  tool_run_ends(&run, 1, "2147483647");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(sample_thread_prints_where_it_was_until_it_ends),
      cmocka_unit_test(sample_thread_of_no_thread_says_so),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
