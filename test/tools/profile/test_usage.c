/* SPDX-License-Identifier: MIT */
/* Bad input and impossible targets cause a message and an exit status. */
#include "tool_rows.h"
#include "tool_usage.h"

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

  tool_usage_refused(PROFILE_PATH, cases, COUNT_OF(cases));
}

static const tool_row_t rows[] = {
    {"command_that_ends_ends_the_profile", support_need_own_events,
     "-- sh -c 'exit 3'", 3, .err = " status 3", .out = " samples, "},
    {"signal_that_ended_the_command_is_in_the_status", support_need_own_events,
     "sh -c 'kill -9 $$'", 128 + 9, .err = NULL},
    {"command_ends_the_profile_of_another_target", support_need_cpu_wide,
     "-a -- sh -c 'exit 3'", 3, .out = " samples, "},
    {"quiet_profile_prints_the_table_alone", support_need_own_events,
     "-q --by comm --rows 1 -- sh -c 'sleep 0; exit 3'", 3, .err = "=",
     .out = " samples, "},
    {"missing_process_is_reported", NULL, "-p 2147483647", 1,
     .err = "2147483647"},
    {"frequency_above_the_limit_exits_2", support_need_own_events,
     "-F 1000000 -- true", 2, .err = "perf_event_max_sample_rate"},
    /* The run returns when the command has ended too, because it has our
     * pipe. */
    {"reader_of_stderr_gone_ends_the_command", support_need_own_events,
     "/bin/sh -c '" PROFILE_PATH " -- " TARGET_PATH
     " spin 2>&1 >/dev/null | head -n 1 >&2'",
     0, .err = "profile: "},
};

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(bad_options_exit_2_with_a_message),
  };

  return tool_rows_main(PROFILE_PATH, rows, COUNT_OF(rows), tests,
                        COUNT_OF(tests));
}
