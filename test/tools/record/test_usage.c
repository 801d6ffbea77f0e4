/* SPDX-License-Identifier: MIT */
/* How record treats bad input and events that it cannot record: a message and
 * an exit status, and an old file is left alone. */
#include <unistd.h>

#include "tool_rows.h"
#include "tool_usage.h"

static void bad_options_exit_2_with_a_message(void **state) {
  static const tool_usage_t cases[] = {
      {{"-p", "self"}, "-p wants ids such as 17 or 17,18, not 'self'"},
      {{"-p", "17,"}, "not '17,'"},
      {{"-t", "0"}, "-t wants"},
      {{"-C", "3-1"}, "-C wants"},
      {{"-F", "0"}, "-F wants"},
      {{"-F", "many"}, "-F wants"},
      {{"-F", "4000000000", "true"}, "kernel.perf_event_max_sample_rate"},
      {{"-c", "-1"}, "-c wants"},
      {{"-c", "9223372036854775808"}, "-c wants"},
      {{"-c", "5", "-F", "6"}, "choose one of -F and -c"},
      {{"--call-graph", "lbr"}, "--call-graph wants fp, dwarf"},
      {{"--call-graph", "dwarf,"}, "--call-graph dwarf,SIZE wants"},
      {{"--call-graph", "dwarf,65529"}, "8 to 65528, not '65529'"},
      {{"--max-stack", "65536"}, "--max-stack wants"},
      {{"--duration", "0"}, "--duration wants seconds"},
      {{"-m", "0"}, "-m wants"},
      {{"--mmap-pages=0"}, "-m wants"},
      {{"-m", "2G"}, "-m wants"},
      {{"-o", ""}, "-o wants"},
      {{"--filter", "x", "true"}, "--filter must follow the -e"},
      {{"-ecs", "--filter=x", "--filter=y"}, "one --filter for each -e"},
      {{"-j", "foo"}, "-j wants kinds of branches"},
      {{"-j", "any,,u"}, "not ''"},
      {{"-j", "any/,u"}, "not 'any/'"},
      {{"-j", "no"}, "not 'no'"},
      {{"-b", "-j", "any"}, "choose one of -b and -j"},
      {{"-k", "sundial"}, "-k wants monotonic"},
      {{"-k", "99"}, "not '99'"},
      {{"-k", "-1"}, "not '-1'"},
      {{"--all-user", "--all-kernel"}, "choose one of --all-user"},
      {{"-q", "-v"}, "choose one of -q and -v"},
      {{"-a", "-p", "1"}, "choose one of -p, -t, and -a or -C"},
      {{"-C", "0", "-t", "1"}, "choose one of -p, -t, and -a or -C"},
      {{"-i", "-a"}, "-i is for a command, -p or -t"},
      {{"--overwrite", "--max-size=1M"}, "--max-size is not for --overwrite"},
      {{"--overwrite", "--switch-output=1M"}, "wants signal or a time"},
      {{"--overwrite", "-k", "raw"}, "choose one of -k and --overwrite"},
      {{"--control", "fd:x"}, "--control wants fifo:CTL[,ACK] or fd:CTL"},
      {{"-D", "soon"}, "-D wants milliseconds"},
      {{"-D", "20-10"}, "-D wants milliseconds"},
      {{"--max-size", "100"}, "--max-size wants a size with a unit"},
      {{"--max-size", "0K"}, "--max-size wants a size with a unit"},
      {{"--max-size", "-1K"}, "--max-size wants a size with a unit"},
      {{"--max-size=99999999999999999G"}, "--max-size wants a size"},
      {{"--switch-output=10"}, "--switch-output wants signal, a size"},
      {{"--switch-output="}, "--switch-output wants signal, a size"},
      {{"--switch-output=0s"}, "--switch-output wants signal, a size"},
      {{"--switch-output=1.5s"}, "--switch-output wants signal, a size"},
      {{"--switch-output", "-o-"}, "--switch-output wants a file, not -o -"},
      {{"--timestamp-filename", "-o-"}, "wants a file, not -o -"},
      {{"--switch-output", "--switch-max-files=0"}, "wants a number of files"},
      {{"--switch-max-files=2"}, "needs --switch-output"},
      {{"--"}, "command is missing"},
      {{"-Q"}, "unknown option '-Q'"},
      {{"--nonsense"}, "unknown option '--nonsense'"},
      {{"--buildid-mmap"},
       "--buildid-mmap is not here: the file has the build "
       "ids of mapped programs; perf reads"},
      {{"--proc-map-timeout=9"}, "--proc-map-timeout is not here: /proc is"},
      {{"-aG", "x"}, "-G is not here: --all-cgroups"},
      {{"-z3"}, "-z is not here: one loop writes records as they come.\n"},
      {{"--timestamp"}, "--timestamp is not here: always on"},
      {{"--quiet=1"}, "'--quiet' takes no value"},
  };

  tool_usage_refused(RECORD_PATH, cases, COUNT_OF(cases));
}

/* These are the options of perf record in Linux 6.1. */
static void options_of_perf_are_taken_or_explained(void **state) {
  static const char options[] =
      "-a -B -b -C -c -D -d -e -F -G -g -I -i -j -k -m -N -n -o -P -p -q "
      "-R -r -S -s -T -t -u -v -W -z --affinity --aio --all-cgroups "
      "--all-cpus --all-kernel --all-user --aux-sample --branch-any "
      "--branch-filter --buildid-all --buildid-mmap --call-graph --cgroup "
      "--clang-opt --clang-path --clockid --code-page-size "
      "--compression-level --control --count --cpu --data "
      "--data-page-size --debuginfod --delay --dry-run --event "
      "--exclude-perf --filter --freq --group --intr-regs --kcore "
      "--kernel-callchains --max-size --mmap-flush --mmap-pages "
      "--namespaces --no-bpf-event --no-buffering --no-buildid "
      "--no-buildid-cache --no-inherit --no-samples "
      "--num-thread-synthesize --off-cpu --output --overwrite "
      "--per-thread --period --phys-data --pid --proc-map-timeout --quiet "
      "--raw-samples --realtime --running-time --sample-cpu "
      "--sample-identifier --snapshot --stat --strict-freq "
      "--switch-events --switch-max-files --switch-output "
      "--switch-output-event --synth --tail-synthesize --threads --tid "
      "--timestamp --timestamp-boundary --timestamp-filename "
      "--transaction --uid --user-callchains --user-regs --verbose "
      "--vmlinux --weight";

  tool_usage_knows(RECORD_PATH, options);
}

static void every_option_is_in_the_help(void **state) {
  tool_usage_in_help(
      RECORD_PATH,
      "-e EVENTS|--filter F|-F HZ|-c N|-g |--call-graph|-a |"
      "-C, --cpu CPUS|-p PID|-t TID|-i, |--duration S|-m SIZE|"
      "-o FILE|-q |-v |--max-stack N|--sample-cpu|--switch-|"
      "--namespaces|--all-cgroups|command...|-b, --branch-any|"
      "-j, --branch-filter KINDS|-k, --clockid CLOCK|-d, --data|"
      "--phys-data|--data-page-size|--code-page-size|-W, --weight|"
      "--all-user|--all-kernel|--exclude-perf|-D, --delay MS|"
      "--control fifo:CTL[,ACK]|--max-size SIZE|--overwrite |"
      "--switch-output[=|--switch-max-files N|--timestamp-filename|"
      "--switch-output-event:|--tail-synthesize|--help|");
}

static void need_no_pmu(const char *test) {
  tool_run_t run = {.args = {RECORD_PATH, "-o", "/dev/null", "-e",
                             "L1-dcache-loads:u", "true"}};

  support_need_own_events(test);
  tool_run(&run);
  if (run.status == 0)
    support_skip(test, "a machine without a hardware PMU");
}

static void need_switches(const char *test) {
  support_need_tracepoint(test, "sched:sched_switch");
  support_need_kernel_side(test);
}

/* Records into a file that has been there before. The last line on stdout is
 * what the file has then. */
#define INTO_OLD_FILE(words)                                                   \
  "/bin/sh -c \"file=$(mktemp) && printf old >$file; " RECORD_PATH             \
  " -o $file " words "; status=$?; cat $file; rm -f $file $file.old; "         \
  "exit $status\""

static const tool_row_t rows[] = {
    {"unknown_event_is_reported_and_pointed_at", NULL,
     INTO_OLD_FILE("-e cs -e page-fault true"), 2,
     .err = "record:   cs,page-fault\n|record:      ^\n", .out = "=old"},
    {"event_that_opens_nowhere_is_reported", need_no_pmu,
     INTO_OLD_FILE("-e 'cpu-clock,{L1-dcache-loads,cs}' true"), 1,
     .err = "L1-dcache-loads: ", .out = "=old"},
    {"filter_of_an_event_without_fields_is_reported", support_need_own_events,
     INTO_OLD_FILE("-e cpu-clock --filter 'x == 1' true"), 1,
     .err = "--filter 'x == 1': ", .out = "=old"},
    {"filter_of_an_unknown_field_names_it", need_switches,
     INTO_OLD_FILE("-e sched:sched_switch/name=x/ --filter 'nofield == 1' "
                   "true"),
     2, .err = "x: --filter 'nofield == 1': | prev_comm, ", .out = "=old"},
    {"branches_of_a_software_event_are_refused", support_need_own_events,
     INTO_OLD_FILE("-b -e cs true"), 1, .err = "context-switches",
     .out = "=old"},
    {"clock_that_an_event_cannot_have_is_reported", need_switches,
     INTO_OLD_FILE("-k tai -e sched:sched_switch true"), 1, .err = "monotonic",
     .out = "=old"},
    {"file_that_cannot_be_created_is_reported", support_need_own_events,
     "-o /nonexistent/file -- echo ran", 1,
     .err = "/nonexistent/file: ", .out = "="},
};

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(bad_options_exit_2_with_a_message),
      cmocka_unit_test(options_of_perf_are_taken_or_explained),
      cmocka_unit_test(every_option_is_in_the_help),
  };

  return tool_rows_main(RECORD_PATH, rows, COUNT_OF(rows), tests,
                        COUNT_OF(tests));
}
