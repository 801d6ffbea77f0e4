/* SPDX-License-Identifier: MIT */
/* stat runs its command even if it can open no event. */
#include "live_container.h"
#include "tool_rows.h"

/* No kernel has this event. */
#define MISSING "software/config=99/"

#define COMMAND " /bin/sh -c 'echo ran; exit 3'"

static void enter_container(void) {
  live_container_enter(LIVE_CONTAINER_EPERM);
}

static void need_container(const char *test) {
  live_container_need(test, LIVE_CONTAINER_EPERM);
}

static void need_paranoid_2(const char *test) {
  if (tool_run_paranoid() != 2)
    support_skip(test, "kernel.perf_event_paranoid of 2");
}

static void need_refusal(const char *test) {
  support_need_cpu_wide(test);
  if (tool_run_paranoid() <= 0)
    support_skip(test, "kernel.perf_event_paranoid above 0");
}

static void each_interval_has_its_lines(void **state) {
  tool_run_t run = {
      .args = {STAT_PATH, "-I", "20", "-x,", "-e", MISSING, "sleep", "0.05"}};
  const char *line;
  size_t nr = 0;

  tool_run_ends(&run, 0, ",<not supported>,," MISSING ",0,100.00,,\n");
  for (line = run.err; *line != '\0'; line = strchr(line, '\n') + 1)
    nr++;
  assert_true(nr >= 2);
}

static const tool_row_t rows[] = {
    {"command_runs_without_any_event", NULL,
     "-e " MISSING ",dummy/config=98/" COMMAND, 3,
     .err = "   <not supported>      " MISSING
            "\n|seconds time elapsed|seconds user|"
            " " MISSING ", dummy/config=98/: not supported: ",
     .out = "=ran\n"},
    {"each_run_has_its_lines", NULL, "-r 2 -e " MISSING COMMAND, 3,
     .err = "(2 runs)", .out = "=ran\nran\n"},
    {"missing_command_is_reported_first", NULL, "-e " MISSING " /nonexistent/x",
     127, .err = "/nonexistent/x|!supported"},
    /* stat keeps the command's status if the kernel refuses the event to
     * users. */
    {"command_runs_without_privileges", need_paranoid_2,
     "-e page-faults:k," MISSING COMMAND, 3,
     .err = "   <not permitted>      page-faults:k\n|"
            "   <not supported>      " MISSING
            "\n| page-faults:k: not permitted: ",
     .out = "=ran\n", .as_nobody = 1},
    /* If perf_event_open(2) is forbidden, stat can still measure times. */
    {"command_runs_in_a_container", need_container,
     "-e task-clock,duration_time,user_time" COMMAND, 3,
     .err = "   <not permitted> msec task-clock\n| ns   duration_time\n|!dummy|"
            "!duration_time: not",
     .out = "=ran\n", .prepare = enter_container},
    /* With -a the command only decides how long CPUs are counted, and here no
     * event can be counted. */
    {"stopwatch_runs_without_any_event", support_need_cpu_wide,
     "-a -A -e " MISSING COMMAND, 3,
     .err = "<not supported>      " MISSING "\n", .out = "=ran\n"},
    {"stopwatch_does_not_run_without_privileges", need_refusal, "-a" COMMAND, 1,
     .err = "CAP_PERFMON", .out = "=", .as_nobody = 1},
    {"nothing_is_waited_for_without_a_command", NULL, "-a -e " MISSING, 1,
     .err = "0x63"},
};

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(each_interval_has_its_lines),
  };

  return tool_rows_main(STAT_PATH, rows, COUNT_OF(rows), tests,
                        COUNT_OF(tests));
}
