/* SPDX-License-Identifier: MIT */
#include "tool_run.h"

#include <signal.h>
#include <unistd.h>

static int work(void *arg) {
  execl(WORKLOAD_PATH, "workload", "60", (char *)NULL);
  return 1;
}

/* Returns the number of samples that a row has in all tables. A table is a line
 * with the number of its samples, and rows with shares of this number. */
static double samples_of(const char *text, const char *name) {
  double number, nr = 0, sum = 0;
  const char *line, *end;
  char unit[16];

  for (line = text; (end = strchr(line, '\n')) != NULL; line = end + 1) {
    assert_int_equal(sscanf(line, "%lf %15s", &number, unit), 2);
    if (strcmp(unit, "samples,") == 0)
      nr = number;
    else if ((size_t)(end - line) > strlen(name) &&
             strncmp(end - strlen(name), name, strlen(name)) == 0)
      sum += nr * number / 100;
  }
  return sum;
}

/* The functions of workload have known shares of its samples: 50 and 30
 * percent. Other programs run, too. */
static void top_functions_are_those_that_work(void **state) {
  static tool_run_t run = {.args = {SAMPLE_PATH, "1"},
                           .interrupt_at = "  compress [workload]\n"};
  const char *line = run.out;
  unsigned nr_tables = 0;
  double all;
  pid_t pid;

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
  assert_true(nr_tables >= 2); /* the last one is for the signal */
  all = samples_of(run.out, " [workload]");
  if (samples_of(run.out, "  parse [workload]") < all * 0.3 ||
      samples_of(run.out, "  compress [workload]") < all * 0.1)
    fail_msg("%s", run.out);
}

static void top_functions_of_the_kernel_have_names(void **state) {
  static tool_run_t run = {.args = {SAMPLE_PATH, "1"},
                           .interrupt_at = " [kernel]\n"};

  support_need_cpu_wide(__func__);
  tool_run_ends(&run, 0, "");
  assert_null(strstr(run.out, "%  [kernel]"));
}

static void top_functions_that_cannot_be_written_are_an_error(void **state) {
  static tool_run_t run = {
      .args = {"/bin/sh", "-c", "exec " SAMPLE_PATH " 1 >/dev/full"}};

  support_need_cpu_wide(__func__);
  tool_run_ends(&run, 1, strerror(ENOSPC));
}

static void
top_functions_without_privileges_says_what_is_missing(void **state) {
  static tool_run_t run = {.args = {SAMPLE_PATH}, .as_nobody = 1};

  if (tool_run_paranoid() < 1)
    support_skip(__func__, "perf_event_paranoid of at least 1");
  tool_run_ends(&run, 1, "kernel.perf_event_paranoid");
}

/* Less than a second was no time before. */
static void workload_takes_a_part_of_a_second(void **state) {
  tool_run_t run = {.args = {WORKLOAD_PATH, "0.01"}};
  tool_run_t refused = {.args = {WORKLOAD_PATH, "soon"}};

  tool_run_ends(&run, 0, "");
  tool_run_ends(&refused, 2, "SECONDS");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(top_functions_are_those_that_work),
      cmocka_unit_test(top_functions_of_the_kernel_have_names),
      cmocka_unit_test(top_functions_that_cannot_be_written_are_an_error),
      cmocka_unit_test(top_functions_without_privileges_says_what_is_missing),
      cmocka_unit_test(workload_takes_a_part_of_a_second),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
