/* SPDX-License-Identifier: MIT */
/* stat runs its command even if it can open no event. */
#include "live_container.h"
#include "tool_run.h"

/* No kernel has this event. */
#define MISSING "software/config=99/"

#define COMMAND "/bin/sh", "-c", "echo ran; exit 3"

static void expect_ran(tool_run_t *run, const char *message) {
  tool_run_ends(run, 3, message);
  assert_string_equal(run->out, "ran\n");
}

static void command_runs_without_any_event(void **state) {
  tool_run_t run = {
      .args = {STAT_PATH, "-e", MISSING ",dummy/config=98/", COMMAND}};

  expect_ran(&run, "   <not supported>      " MISSING "\n");
  tool_run_expect_text(run.err, "seconds time elapsed");
  tool_run_expect_text(run.err, "seconds user");
  tool_run_expect_text(run.err, " " MISSING ", dummy/config=98/: not "
                                "supported: ");
}

static void each_run_and_each_interval_has_its_lines(void **state) {
  tool_run_t runs = {.args = {STAT_PATH, "-r", "2", "-e", MISSING, COMMAND}};
  tool_run_t intervals = {
      .args = {STAT_PATH, "-I", "20", "-x,", "-e", MISSING, "sleep", "0.05"}};
  const char *line;
  size_t nr = 0;

  tool_run_ends(&runs, 3, "(2 runs)");
  assert_string_equal(runs.out, "ran\nran\n");
  tool_run_ends(&intervals, 0, ",<not supported>,," MISSING ",0,100.00,,\n");
  for (line = intervals.err; *line != '\0'; line = strchr(line, '\n') + 1)
    nr++;
  assert_true(nr >= 2);
}

static void missing_command_is_reported_first(void **state) {
  tool_run_t run = {.args = {STAT_PATH, "-e", MISSING, "/nonexistent/x"}};

  tool_run_ends(&run, 127, "/nonexistent/x");
  assert_null(strstr(run.err, "supported"));
}

/* stat keeps the command's status if the kernel refuses the event to users. */
static void command_runs_without_privileges(void **state) {
  tool_run_t run = {
      .args = {STAT_PATH, "-e", "page-faults:k," MISSING, COMMAND},
      .as_nobody = 1};

  if (tool_run_paranoid() != 2)
    support_skip(__func__, "kernel.perf_event_paranoid of 2");
  expect_ran(&run, "   <not permitted>      page-faults:k\n");
  tool_run_expect_text(run.err, "   <not supported>      " MISSING "\n");
  tool_run_expect_text(run.err, " page-faults:k: not permitted: ");
}

static void enter_container(void) {
  live_container_enter(LIVE_CONTAINER_EPERM);
}

/* If perf_event_open(2) is forbidden, stat can still measure times. */
static void command_runs_in_a_container(void **state) {
  tool_run_t run = {.args = {STAT_PATH, "-e",
                             "task-clock,duration_time,"
                             "user_time",
                             COMMAND},
                    .prepare = enter_container};

  live_container_need(__func__, LIVE_CONTAINER_EPERM);
  expect_ran(&run, "   <not permitted> msec task-clock\n");
  tool_run_expect_text(run.err, " ns   duration_time\n");
  assert_null(strstr(run.err, "dummy"));
  assert_null(strstr(run.err, "duration_time: not"));
}

/* With -a the command only decides how long CPUs are counted, and here no event
 * can be counted. */
static void stopwatch_runs_unless_privileges_are_missing(void **state) {
  tool_run_t missing = {
      .args = {STAT_PATH, "-a", "-A", "-e", MISSING, COMMAND}};
  tool_run_t forbidden = {.args = {STAT_PATH, "-a", COMMAND}, .as_nobody = 1};

  support_need_cpu_wide(__func__);
  tool_run(&missing);
  tool_run_expect_text(missing.err, "<not supported>      " MISSING "\n");
  assert_string_equal(missing.out, "ran\n");
  tool_run_expect_status(&missing, 3);
  if (tool_run_paranoid() <= 0)
    return;
  tool_run_ends(&forbidden, 1, "CAP_PERFMON");
  assert_string_equal(forbidden.out, "");
}

static void nothing_is_waited_for_without_a_command(void **state) {
  tool_run_t run = {.args = {STAT_PATH, "-a", "-e", MISSING}};

  tool_run_ends(&run, 1, "0x63");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(command_runs_without_any_event),
      cmocka_unit_test(each_run_and_each_interval_has_its_lines),
      cmocka_unit_test(missing_command_is_reported_first),
      cmocka_unit_test(command_runs_without_privileges),
      cmocka_unit_test(command_runs_in_a_container),
      cmocka_unit_test(stopwatch_runs_unless_privileges_are_missing),
      cmocka_unit_test(nothing_is_waited_for_without_a_command),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
