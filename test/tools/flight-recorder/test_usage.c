/* SPDX-License-Identifier: MIT */
/* How flight-recorder ends, and how it handles bad input and targets that it
 * cannot open. */
#include "tool_run.h"
#include "tool_usage.h"

#include <signal.h>

static void bad_options_exit_2_with_a_message(void **state) {
  static const tool_usage_t cases[] = {
      {{"-d", "0"}, "-d wants seconds"},
      {{"-s", "x"}, "-s wants seconds"},
      {{"-m", "0"}, "-m wants a size"},
      {{"-m", "2000M"}, "-m wants a size"},
      {{"-C", "x"}, "-C wants a list of CPUs"},
      {{"-C", ""}, "-C wants a list of CPUs"},
      {{"-o", ""}, "-o wants the name of a file"},
      {{"-o"}, "option '-o' wants a value"},
      {{"-p", "1"}, "unknown option '-p'"},
      {{"--"}, "command is missing"},
      {{"--json=1"}, "'--json' takes no value"},
      {{"--news"}, "unknown option '--news'"},
  };

  (void)state;
  tool_usage_refused(FLIGHT_RECORDER_PATH, cases,
                     sizeof(cases) / sizeof(cases[0]));
}

static void help_goes_to_stdout(void **state) {
  (void)state;
  tool_usage_help(FLIGHT_RECORDER_PATH, "Usage: uvperf-flight-recorder");
}

static void missing_command_is_reported_with_status_127(void **state) {
  (void)state;
  support_need_own_events(__func__);
  tool_usage_missing_command(FLIGHT_RECORDER_PATH);
}

static void missing_cpu_is_reported(void **state) {
  tool_run_t run = {.args = {FLIGHT_RECORDER_PATH, "-C", "8191"}};

  (void)state;
  support_need_cpu_wide(__func__);
  tool_run_ends(&run, 1, "8191");
}

static void unprivileged_user_records_own_command(void **state) {
  tool_run_t run = {.args = {FLIGHT_RECORDER_PATH, "-m", "16K", "--", "sh",
                             "-c", "sleep 0.01; exit 4"}};

  (void)state;
  support_need_own_events(__func__);
  if (tool_run_paranoid() <= 0)
    support_skip(__func__, "kernel.perf_event_paranoid above 0");
  run.as_nobody = 1;
  tool_run_ends(&run, 4, "flight-recorder: 1 dump\n");
  tool_run_expect_text(run.out, "] - => sleep ");
  tool_run_expect_text(run.out, " => -\n");
  tool_run_expect_text(run.out, "# end of dump 1\n");
}

static void command_ends_it_with_a_dump_and_its_status(void **state) {
  tool_run_t run = {.args = {FLIGHT_RECORDER_PATH, "-m", "16K", "--", "sh",
                             "-c", "sleep 0.01; exit 3"}};

  (void)state;
  support_need_cpu_wide(__func__);
  tool_run_ends(&run, 3, "flight-recorder: 1 dump\n");
  tool_run_expect_text(run.out, "# dump 1 at ");
  tool_run_expect_text(run.out, "# end of dump 1\n");
}

/* The command does not inherit the recorder's handling of SIGUSR1. */
static void command_does_not_inherit_the_signal_handling(void **state) {
  tool_run_t run = {.args = {FLIGHT_RECORDER_PATH, "-m", "4K", "--", "sh", "-c",
                             "kill -USR1 $$; exit 3"}};

  (void)state;
  support_need_cpu_wide(__func__);
  tool_run(&run);
  tool_run_expect_status(&run, 128 + SIGUSR1);
}

static void command_may_request_dumps(void **state) {
  tool_run_t run = {.args = {FLIGHT_RECORDER_PATH, "-m", "4K", "--", "sh", "-c",
                             "kill -USR1 $PPID; exec sleep 60"}};

  (void)state;
  support_need_cpu_wide(__func__);
  run.interrupt_at = "dump 1: ";
  tool_run(&run);
  tool_run_expect_status(&run, 0);
  tool_run_expect_text(run.out, "# end of dump 1\n");
  tool_run_expect_text(run.out, "# end of dump 2\n");
  tool_run_expect_text(run.err, "flight-recorder: 2 dumps\n");
}

static void expect_quiet_end(int number) {
  tool_run_t run = {.args = {FLIGHT_RECORDER_PATH}};

  run.interrupt_at = "recording: ";
  run.interrupt_with = number;
  tool_run(&run);
  tool_run_expect_status(&run, 0);
  assert_string_equal(run.out, "");
  tool_run_expect_text(run.err, "flight-recorder: 0 dumps\n");
}

static void signals_end_it_without_a_dump(void **state) {
  (void)state;
  support_need_cpu_wide(__func__);
  expect_quiet_end(SIGINT);
  expect_quiet_end(SIGTERM);
  expect_quiet_end(SIGHUP);
}

static void dump_at_exit_is_printed_if_wanted(void **state) {
  tool_run_t run = {
      .args = {FLIGHT_RECORDER_PATH, "-m", "4K", "--dump-at-exit"}};

  (void)state;
  support_need_cpu_wide(__func__);
  run.interrupt_at = "recording: ";
  tool_run(&run);
  tool_run_expect_status(&run, 0);
  tool_run_expect_text(run.out, "# end of dump 1\n");
}

/* The run returns when the command has ended, too, because it has our pipe. */
static void reader_that_closes_the_pipe_ends_it(void **state) {
  tool_run_t run = {.args = {"/bin/sh", "-c",
                             "\"$0\" -- sh -c 'while :; do kill -USR1 $PPID;"
                             " sleep 0.01; done' | head -n 1",
                             FLIGHT_RECORDER_PATH}};

  (void)state;
  support_need_cpu_wide(__func__);
  tool_run(&run);
  tool_run_expect_status(&run, 0);
  tool_run_expect_text(run.out, "# dump 1 at ");
}

/* The reader closes before anything is written. */
static void reader_that_closes_before_any_output_ends_it(void **state) {
  tool_run_t run = {
      .args = {"/bin/sh", "-c", "\"$0\" | :", FLIGHT_RECORDER_PATH}};

  (void)state;
  support_need_cpu_wide(__func__);
  tool_run_ends(&run, 0, "flight-recorder: 0 dumps\n");
}

static void file_gets_one_dump_after_the_other(void **state) {
  tool_run_t run = {.args = {FLIGHT_RECORDER_PATH, "-m", "4K", "--", "sh", "-c",
                             "kill -USR1 $PPID; sleep 0.1; echo hello"}};
  char text[65536] = "";
  const char *first;

  (void)state;
  support_need_cpu_wide(__func__);
  tool_usage_good_file(&run, text, sizeof(text));
  first = strstr(text, "# end of dump 1\n");
  assert_non_null(first);
  tool_run_expect_text(first, "# end of dump 2\n");
}

/* The dump fails, and the recorder ends by itself. */
static void unwritable_file_is_reported(void **state) {
  const tool_run_t run = {.args = {FLIGHT_RECORDER_PATH, "-m", "4K"},
                          .interrupt_at = "recording: ",
                          .interrupt_with = SIGUSR1};

  (void)state;
  support_need_cpu_wide(__func__);
  tool_usage_bad_file(&run, "flight-recorder");
}

/* The dump is larger than the limit. */
static void file_size_limit_is_reported(void **state) {
  tool_run_t run = {.args = {FLIGHT_RECORDER_PATH, "-n", "--duration", "0.2"}};

  (void)state;
  support_need_cpu_wide(__func__);
  tool_usage_limited_file(&run);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(bad_options_exit_2_with_a_message),
      cmocka_unit_test(help_goes_to_stdout),
      cmocka_unit_test(missing_command_is_reported_with_status_127),
      cmocka_unit_test(missing_cpu_is_reported),
      cmocka_unit_test(unprivileged_user_records_own_command),
      cmocka_unit_test(command_ends_it_with_a_dump_and_its_status),
      cmocka_unit_test(command_does_not_inherit_the_signal_handling),
      cmocka_unit_test(command_may_request_dumps),
      cmocka_unit_test(signals_end_it_without_a_dump),
      cmocka_unit_test(dump_at_exit_is_printed_if_wanted),
      cmocka_unit_test(reader_that_closes_the_pipe_ends_it),
      cmocka_unit_test(reader_that_closes_before_any_output_ends_it),
      cmocka_unit_test(file_gets_one_dump_after_the_other),
      cmocka_unit_test(unwritable_file_is_reported),
      cmocka_unit_test(file_size_limit_is_reported),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
