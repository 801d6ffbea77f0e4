/* SPDX-License-Identifier: MIT */
/* How stat treats bad input and events that it cannot count: a message and an
 * exit status. */
#include <sys/resource.h>

#include "tool_rows.h"
#include "tool_usage.h"

static void bad_options_exit_2_with_a_message(void **state) {
  static const tool_usage_t cases[] = {
      {{"-p", "self"}, "-p wants"},
      {{"-p", "0"}, "-p wants"},
      {{"-p", "17,"}, "-p wants"},
      {{"-p", "17,,18"}, "-p wants"},
      {{"-p", "99999999999"}, "-p wants"},
      {{"-t", "-1"}, "-t wants"},
      {{"-t"}, "'-t' wants a value"},
      {{"-C", "x"}, "-C wants"},
      {{"-C", ""}, "-C wants"},
      {{"-C", "3-1"}, "-C wants"},
      {{"-G", ""}, "-G wants"},
      {{"-G", "a,,b"}, "-G wants"},
      {{"-I", "0"}, "-I wants"},
      {{"-I", "1s"}, "-I wants"},
      {{"--timeout", "-5"}, "--timeout wants"},
      {{"--interval-count", "0", "-I", "10"}, "--interval-count wants"},
      {{"--interval-count", "2", "-a"}, "--interval-count needs -I"},
      {{"-r", "many", "true"}, "-r wants"},
      {{"-r", "-1", "true"}, "-r wants"},
      {{"-r", "3", "-a"}, "-r needs a command"},
      {{"-r", "3", "-I", "10", "true"}, "choose one of -r and -I"},
      {{"-x", "", "true"}, "-x wants"},
      {{"-x", "\",\"", "true"}, "-x wants"},
      {{"-x,", "--json", "true"}, "choose one of -x and --json"},
      {{"-o", "", "true"}, "-o wants"},
      {{"-a", "-p", "1"}, "choose one of -p, -t, and"},
      {{"-t", "1", "-p", "1"}, "choose one of -p, -t, and"},
      {{"-G", "x", "-t", "1"}, "choose one of -p, -t, and"},
      {{"-C", "0", "-p", "1"}, "choose one of -p, -t, and"},
      {{"--per-cpu", "true"}, "--per-cpu needs"},
      {{"-A", "-p", "1"}, "--per-cpu needs"},
      {{"-i", "-a", "true"}, "-i is for a command or -p"},
      {{"--per-core", "true"}, "--per-node need -a, -C or -G"},
      {{"--per-core", "-A", "-a"}, "choose one of --per-cpu (-A), --per-core"},
      {{"--per-thread", "true"}, "--per-thread needs -p, -t or -a"},
      {{"--per-thread", "-C", "0"}, "--per-thread needs -p, -t or -a"},
      {{"-D", "x", "true"}, "-D wants"},
      {{"-D", "-1", "true"}, "-D -1 leaves the counters off"},
      {{"--append", "true"}, "--append needs -o"},
      {{"--control", "fifo", "true"}, "--control wants"},
      {{"--filter", "x", "true"}, "--filter must follow the -e"},
      {{"--log-fd", "x", "true"}, "--log-fd wants"},
      {{"--log-fd", "2", "-o", "x", "true"}, "choose one of -o and --log-fd"},
      {{"-n", "-d", "true"}, "choose one of -n and -e or -d"},
      {{"-n", "-I", "10", "true"}, "choose one of -n"},
      {{"--summary", "true"}, "--summary needs -I"},
      {{"--per-node", "-t", "1"},
       "--per-core, --per-die, --per-socket and --per"},
      {{"--metric-only", "-r", "2", "true"}, "one of --metric-only and -r"},
      {{"--metric-only", "--per-thread"}, "one of --metric-only and --per"},
      {{"--"}, "command is missing"},
      {{"-a", "--"}, "command is missing"},
      {{"-Q"}, "unknown option '-Q'"},
      {{"--nonsense"}, "unknown option '--nonsense'"},
      {{"--pre", "true"}, "--pre is not here: a script can do this"},
      {{"-M", "ipc"}, "-M is not here: these need perf's tables of events, "},
      {{"--json=1"}, "'--json' takes no value"},
  };

  tool_usage_refused(STAT_PATH, cases, COUNT_OF(cases));
}

/* These are the options of perf stat in Linux 6.1. */
static void options_of_perf_are_taken_or_explained(void **state) {
  static const char options[] =
      "-A -a -B -C -D -d -e -G -g -I -i -j -M -n -o -p -r -S -T -t -v -x "
      "--all-cpus --all-kernel --all-user --append --big-num --cgroup "
      "--control --cpu --cputype --delay --detailed --event "
      "--field-separator --filter --for-each-cgroup --group "
      "--hybrid-merge --interval-clear --interval-count --interval-print "
      "--iostat --json-output --log-fd --metric-no-group "
      "--metric-no-merge --metric-only --metrics --no-aggr "
      "--no-csv-summary --no-inherit --no-merge --no-scale --null "
      "--output --per-core --per-die --per-node --per-socket --per-thread "
      "--percore-show-thread --pid --post --pre --quiet --repeat "
      "--smi-cost --summary --sync --table --td-level --tid --timeout "
      "--topdown --transaction --verbose";

  tool_usage_knows(STAT_PATH, options);
}

static void every_option_is_in_the_help(void **state) {
  tool_usage_in_help(
      STAT_PATH,
      "-e EVENTS|-p PID|-t TID|-a |-C CPUS|-G CGROUP|-I ms|-r runs|"
      "-x SEP|--json|-o FILE|--interval-count|--timeout|-d |"
      "--no-inherit|--per-cpu|-v |command...|--delay|--append|"
      "duration_time|--per-core|--per-thread|--metric-only|--per-die|"
      "--per-socket|--per-node|--log-fd|--null|--summary|--big-num|"
      "--filter F|--control|--help|");
}

/* The first run shows that the command is missing, and no other run is
 * tried. */
static void missing_command_is_reported_once_for_several_runs(void **state) {
  tool_run_t run = {.args = {STAT_PATH, "-r", "5", "/nonexistent/command"}};
  const char *first;

  support_need_own_events(__func__);
  tool_run_exits(&run, 127);
  first = strstr(run.err, "nonexistent");
  assert_non_null(first);
  assert_null(strstr(first + 1, "nonexistent"));
}

static void lower_file_limit(void) {
  static const struct rlimit limit = {30, 30};

  setrlimit(RLIMIT_NOFILE, &limit);
}

static void expect_too_many(int as_nobody) {
  tool_run_t run = {.args = {STAT_PATH, "-e", NULL, "true"},
                    .prepare = lower_file_limit,
                    .as_nobody = as_nobody};
  char events[2048] = "page-faults";
  size_t i;

  for (i = 0; i < 99; i++)
    strcat(events, ",page-faults");
  run.args[2] = events;
  tool_run_ends(&run, 1, "RLIMIT_NOFILE");
  tool_run_expect_text(run.err, " 30 ");
}

/* With too few fds no event is counted, not even in part. The same is true
 * without privileges, where each event is tried twice. */
static void too_many_events_for_the_fds_are_reported(void **state) {
  support_need_own_events(__func__);
  expect_too_many(0);
  if (tool_run_paranoid() == 2)
    expect_too_many(1);
}

static const tool_row_t rows[] = {
    {"unknown_event_is_reported_and_pointed_at", NULL,
     "-e page-faults -e page-fault true", 2,
     .err = "page-fault|page-faults,page-fault\n|             ^\n"},
    {"missing_process_is_reported", NULL, "-p 2147483647", 1,
     .err = "2147483647"},
    {"missing_thread_is_reported", NULL, "-t 2147483647", 1,
     .err = "thread|2147483647"},
    {"missing_cgroup_is_reported", NULL, "-G nonexistent/x true", 1,
     .err = "nonexistent/x"},
    {"missing_cpu_is_reported", support_need_cpu_wide,
     "-C 4000 -e context-switches true", 1, .err = "4000"},
    {"file_that_cannot_be_opened_is_reported", NULL,
     "-o /nonexistent/file -- echo ran", 1,
     .err = "/nonexistent/file: ", .out = "="},
    {"file_that_cannot_be_written_is_reported", support_need_own_events,
     "-o /dev/full -e task-clock true", 1, .err = "/dev/full"},
};

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(bad_options_exit_2_with_a_message),
      cmocka_unit_test(options_of_perf_are_taken_or_explained),
      cmocka_unit_test(every_option_is_in_the_help),
      cmocka_unit_test(missing_command_is_reported_once_for_several_runs),
      cmocka_unit_test(too_many_events_for_the_fds_are_reported),
  };

  return tool_rows_main(STAT_PATH, rows, COUNT_OF(rows), tests,
                        COUNT_OF(tests));
}
