/* SPDX-License-Identifier: MIT */
/* Bad input and impossible targets cause a message and an exit status. */
#include "tool_run.h"
#include "tool_usage.h"

static void command_that_ends_ends_the_profile(void **state) {
  tool_run_t run = {.args = {PROFILE_PATH, "--", "sh", "-c", "exit 3"}};
  tool_run_t killed = {.args = {PROFILE_PATH, "sh", "-c", "kill -9 $$"}};

  support_need_own_events(__func__);
  tool_run(&run);
  tool_run_expect_status(&run, 3);
  tool_run_expect_text(run.out, " samples, ");
  tool_run_expect_text(run.err, " status 3");
  tool_run(&killed);
  tool_run_expect_status(&killed, 128 + 9);
}

static void quiet_profile_prints_the_table_alone(void **state) {
  tool_run_t run = {.args = {PROFILE_PATH, "-q", "--by", "comm", "--rows", "1",
                             "--", "sh", "-c", "sleep 0; exit 3"}};

  support_need_own_events(__func__);
  tool_run(&run);
  tool_run_expect_status(&run, 3);
  assert_string_equal(run.err, "");
  tool_run_expect_text(run.out, " samples, ");
}

static void command_ends_the_profile_of_another_target(void **state) {
  tool_run_t run = {.args = {PROFILE_PATH, "-a", "--", "sh", "-c", "exit 3"}};

  support_need_cpu_wide(__func__);
  tool_run(&run);
  tool_run_expect_status(&run, 3);
  tool_run_expect_text(run.out, " samples, ");
}

static void missing_command_is_reported_with_status_127(void **state) {
  support_need_own_events(__func__);
  tool_usage_missing_command(PROFILE_PATH);
}

static void missing_process_is_reported(void **state) {
  tool_usage_missing_process(PROFILE_PATH);
}

static void bad_options_exit_2_with_a_message(void **state) {
  static const tool_usage_t cases[] = {
      {{"-F", "0", "-a"}, "-F wants"},
      {{"-F", "many", "-a"}, "-F wants"},
      {{"-F", "-5", "-a"}, "-F wants"},
      {{"-F", "99x", "-a"}, "-F wants"},
      {{"-F"}, "'-F' wants a value"},
      {{"-d", "0", "-a"}, "-d wants"},
      {{"--duration", "nan", "-a"}, "-d wants"},
      {{"-d", "1s", "-a"}, "-d wants"},
      {{"--names-time", "0", "-a"}, "--names-time wants"},
      {{"-p", "self"}, "-p wants"},
      {{"-p", "0"}, "-p wants"},
      {{"-p", "99999999999"}, "-p wants"},
      {{"-t", "1", "-p", "1"}, "choose one"},
      {{"-t", "1", "-C", "0"}, "leave out -a and -C"},
      {{"-G", "a", "-t", "1"}, "choose one"},
      {{"-G", "a", "-a"}, "leave out -a"},
      {{"-G", "a", "--off-cpu"}, "--off-cpu has no -G"},
      {{"-G", "a,"}, "-G wants"},
      {{"-C", "x"}, "-C wants"},
      {{"-m", "x"}, "-m wants"},
      {{"-a", "-p", "1", "--off-cpu"}, "--off-cpu needs no -a"},
      {{"--"}, "command is missing"},
      {{"--folded=x", "-Qx"}, "unknown option '-Q'"},
      {{"--folded"}, "'--folded' wants a value"},
      {{"--folded=", "-a"}, "--folded wants"},
      {{"--html=", "-a"}, "--html wants"},
      {{"--html", "-d", "1", "-a"},
       "--html wants the name of a file, not '-d'"},
      {{"--top", "--html=/dev/null"}, "--top writes no file"},
      {{"--top", "--off-cpu"}, "choose one of"},
      {{"--off-cpu", "-F", "99"}, "leave out -F"},
      {{"--off-cpu", "--call-graph=none"}, "leave out --call-graph none"},
      {{"--by", "name", "-a"}, "--by wants"},
      {{"--sort", "name", "-a"}, "--sort wants"},
      {{"--rows", "0", "-a"}, "--rows wants"},
      {{"--call-graph", "lbr", "-a"}, "--call-graph wants"},
      {{"--call-graph", "dwarf,7", "-a"}, "a multiple of 8 up to 65528"},
      {{"--call-graph", "dwarf,65536", "-a"}, "up to 65528, not '65536'"},
      {{"--call-graph", "dwarf8192", "-a"}, "--call-graph wants"},
      {{"-e", "cycles"}, "-e is not here: uvperf-record"},
      {{"--output=x"}, "--output is not here: the table"},
      {{"-x"}, "unknown option '-x'"},
      {{"--nonsense"}, "unknown option '--nonsense'"},
  };

  tool_usage_refused(PROFILE_PATH, cases, sizeof(cases) / sizeof(cases[0]));
}

static void frequency_above_the_limit_exits_2(void **state) {
  tool_run_t run = {.args = {PROFILE_PATH, "-F", "1000000", "--", "true"}};

  support_need_own_events(__func__);
  tool_run_ends(&run, 2, "perf_event_max_sample_rate");
}

static void help_goes_to_stdout(void **state) {
  tool_usage_help(PROFILE_PATH, "Usage: uvperf-profile");
}

/* The run returns when the command has ended too, because it has our pipe. */
static void reader_of_stderr_gone_ends_the_command(void **state) {
  tool_run_t run = {.args = {"/bin/sh", "-c",
                             "\"$0\" -- \"$1\" spin 2>&1 >/dev/null | "
                             "head -n 1 >&2",
                             PROFILE_PATH, TARGET_PATH}};

  support_need_own_events(__func__);
  tool_run_ends(&run, 0, "profile: ");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(reader_of_stderr_gone_ends_the_command),
      cmocka_unit_test(command_that_ends_ends_the_profile),
      cmocka_unit_test(command_ends_the_profile_of_another_target),
      cmocka_unit_test(quiet_profile_prints_the_table_alone),
      cmocka_unit_test(missing_command_is_reported_with_status_127),
      cmocka_unit_test(missing_process_is_reported),
      cmocka_unit_test(bad_options_exit_2_with_a_message),
      cmocka_unit_test(frequency_above_the_limit_exits_2),
      cmocka_unit_test(help_goes_to_stdout),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
