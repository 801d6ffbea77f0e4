/* SPDX-License-Identifier: MIT */
#include "tool_run.h"

#include <signal.h>
#include <unistd.h>

static int work(void *arg) {
  (void)arg;
  execl(WORKLOAD_PATH, "workload", "60", (char *)NULL);
  return 1;
}

/* The share of a row in the last table that has it, in percent. */
static double share_of(const char *text, const char *name) {
  double share = 0;
  const char *at;

  for (at = strstr(text, name); at != NULL; at = strstr(at + 1, name)) {
    while (at > text && at[-1] != '\n')
      at--;
    assert_int_equal(sscanf(at, "%lf %%", &share), 1);
    at = strstr(at, name);
  }
  return share;
}

/* workload's functions have known shares of it: 50 and 30 percent. */
static void top_functions_are_those_that_work(void **state) {
  static tool_run_t run = {.args = {SAMPLE_PATH, "1"},
                           .interrupt_at = "  compress [workload]\n"};
  const char *line = run.out;
  unsigned nr_tables = 0;
  pid_t pid;

  (void)state;
  support_need_cpu_wide(__func__);
  pid = support_fork(work, NULL);
  assert_true(pid > 0);
  tool_run(&run);
  assert_int_equal(kill(pid, SIGKILL), 0);
  support_wait(pid);
  tool_run_expect_status(&run, 0);
  while ((line = strstr(line, " samples, ")) != NULL) {
    nr_tables++;
    line++;
  }
  assert_true(nr_tables >= 2); /* the last for the signal */
  assert_true(share_of(run.out, "  parse [workload]\n") > 5);
  assert_true(share_of(run.out, "  compress [workload]\n") > 3);
}

static void top_functions_of_the_kernel_have_names(void **state) {
  static tool_run_t run = {.args = {SAMPLE_PATH, "1"},
                           .interrupt_at = " [kernel]\n"};

  (void)state;
  support_need_cpu_wide(__func__);
  tool_run_ends(&run, 0, "");
  assert_null(strstr(run.out, "%  [kernel]"));
}

static void top_functions_that_cannot_be_written_are_an_error(void **state) {
  static tool_run_t run = {
      .args = {"/bin/sh", "-c", "exec " SAMPLE_PATH " 1 >/dev/full"}};

  (void)state;
  support_need_cpu_wide(__func__);
  tool_run_ends(&run, 1, "No space left on device");
}

static void
top_functions_without_privileges_says_what_is_missing(void **state) {
  static tool_run_t run = {.args = {SAMPLE_PATH}, .as_nobody = 1};

  (void)state;
  if (tool_run_paranoid() < 1)
    support_skip(__func__, "perf_event_paranoid of at least 1");
  tool_run_ends(&run, 1, "kernel.perf_event_paranoid");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(top_functions_are_those_that_work),
      cmocka_unit_test(top_functions_of_the_kernel_have_names),
      cmocka_unit_test(top_functions_that_cannot_be_written_are_an_error),
      cmocka_unit_test(top_functions_without_privileges_says_what_is_missing),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
