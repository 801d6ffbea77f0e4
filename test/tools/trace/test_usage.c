/* SPDX-License-Identifier: MIT */
/* Runs trace as a user would: command lines, ends, privileges, readers. */
#include "tool_rows.h"
#include "tool_usage.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#define ENTER "syscalls:sys_enter_getpriority"

static void bad_options_exit_2_with_a_message(void **state) {
  static const tool_usage_t cases[] = {
      {{"true"}, "choose events with -e"},
      {{"--filter", "a == 1"}, "--filter applies to the -e before it"},
      {{"-e", "a:b", "--filter", "x", "--filter=y"},
       "'a:b' already has a filter"},
      {{"-e", "a:b", "--filter", ""}, "--filter wants an expression"},
      {{"-e"}, "option '-e' wants a value"},
      {{"-e", "a:b", "-d", "0"}, "-d wants seconds"},
      {{"-e", "a:b", "-l", "0"}, "-l wants a number of hits"},
      {{"-e", "a:b", "-p", "x"}, "-p wants ids"},
      {{"-e", "a:b", "-C", "1-"}, "-C wants a list of CPUs"},
      {{"-e", "a:b", "-m", "2G"}, "-m wants a size"},
      {{"-e", "a:b", "-o", ""}, "-o wants the name of a file"},
      {{"-e", "a:b", "-a", "-p", "1"}, "choose one of -a, -p and -t"},
      {{"-e", "a:b", "-t", "x"}, "-t wants ids"},
      {{"-s", "-C", "0"}, "-s needs both the begin and the end of calls"},
      {{"-s", "-l", "5"}, "leave out -l"},
      {{"-s", "--print-fmt"}, "leave out --print-fmt"},
      {{"--summary-mode", "user"}, "wants process, thread or total"},
      {{"-e", "a:b", "-D", "x"}, "-D wants"},
      {{"-e", "a:b", "-D", "-1"}, "-D -1 would never begin"},
      {{"-i", ""}, "-i wants the name of a file"},
      {{"-i", "x", "-a"}, "-i prints all hits of a file: leave out -a"},
      {{"-i", "x", "-e", "a:b"}, "leave out -e"},
      {{"-i", "x", "true"}, "leave out the command"},
      {{"-i", "x", "-s", "-l", "1"}, "leave out -l"},
      {{"-e", "a:b", "--"}, "a command is missing after --"},
      {{"--json=1"}, "option '--json' takes no value"},
      {{"-Q"}, "unknown option '-Q'"},
      {{"--nonsense"}, "unknown option '--nonsense'"},
      {{"--mmap-pages=x"}, "-m wants"},
      {{"--call-graph=dwarf"}, "--call-graph is not here: uvperf-record -g"},
      {{"-F", "all"}, "-F is not here: write -e page-faults.\n"},
  };

  tool_usage_refused(TRACE_PATH, cases, sizeof(cases) / sizeof(cases[0]));
}

/* These are the options of perf trace in Linux 6.1. */
static void options_of_perf_are_taken_or_explained(void **state) {
  static const char options[] =
      "-a -C -D -e -F -f -G -i -m -o -p -S -s -T -t -u -v --all-cpus "
      "--call-graph --cgroup --comm --cpu --delay --duration "
      "--errno-summary --event --expr --failure --filter --filter-pids "
      "--force --input --kernel-syscall-graph --libtraceevent_print "
      "--map-dump --max-events --max-stack --min-stack --mmap-pages "
      "--no-inherit --output --pf --pid --print-sample --proc-map-timeout "
      "--sched --show-on-off-events --sort-events --summary --switch-off "
      "--switch-on --syscalls --tid --time --tool_stats --uid --verbose "
      "--with-summary";

  tool_usage_knows(TRACE_PATH, options);
}

/* Hits that do not fit into the pipe, the text and the rings are lost. The loss
 * is reported. */
static void reader_that_never_reads_does_not_block_it(void **state) {
  tool_run_t run = {
      .args = {TRACE_PATH, "-e", ENTER, "--", TARGET_PATH, "calls", "5000"}};

  support_need_tracepoint(__func__, ENTER);
  tool_usage_never_read(&run);
  tool_run_expect_text(run.err, "trace: 5000 hits in ");
}

static void file_gets_the_lines_and_command_keeps_stdout(void **state) {
  tool_run_t run = {.args = {TRACE_PATH, "-e", "syscalls:sys_enter_write", "--",
                             "echo", "hello"}};
  char text[65536] = "";

  support_need_tracepoint(__func__, "syscalls:sys_enter_write");
  tool_usage_good_file(&run, text, sizeof(text));
  tool_run_expect_text(text, " echo ");
  tool_run_expect_text(text, " syscalls:sys_enter_write ");
}

static void unwritable_file_is_reported(void **state) {
  const tool_run_t run = {
      .args = {TRACE_PATH, "-e", ENTER, TARGET_PATH, "calls", "1"}};

  support_need_tracepoint(__func__, ENTER);
  tool_usage_bad_file(&run, "trace");
}

/* Each page fault of a shell is a line. */
static void file_size_limit_is_reported(void **state) {
  tool_run_t run = {
      .args = {TRACE_PATH, "-e", "page-faults:u", "--", "sh", "-c", ":"}};

  support_need_own_events(__func__);
  tool_usage_limited_file(&run);
  tool_run_expect_text(run.err, " lost\n");
}

/* trace ignores SIGXFSZ, but the command does not inherit that. */
static void file_size_limit_still_ends_the_command(void **state) {
  char path[] = "/tmp/uvperf-trace-XXXXXX";
  tool_run_t run = {.args = {"/bin/sh", "-c",
                             "ulimit -f 1; exec \"$0\" -e page-faults:u -o "
                             "/dev/null -- dd if=/dev/zero bs=4096 count=2 "
                             "of=\"$1\"",
                             TRACE_PATH, path}};
  int fd;

  support_need_own_events(__func__);
  fd = mkstemp(path);
  assert_true(fd >= 0);
  tool_run(&run);
  close(fd);
  unlink(path);
  tool_run_expect_status(&run, 128 + SIGXFSZ);
}

static void need_enter(const char *test) {
  support_need_tracepoint(test, ENTER);
}

static void need_enter_of_all(const char *test) {
  support_need_cpu_wide(test);
  support_need_tracepoint(test, ENTER);
}

static void need_tracefs_of_root(const char *test) {
  struct stat tracefs;

  support_need_root(test);
  support_need_tracepoint(test, ENTER);
  if (stat("/sys/kernel/tracing", &tracefs) != 0 || tracefs.st_mode & 7)
    support_skip(test, "a tracefs that only root may read");
}

/* Runs a program as a user who may read all files and has no other privilege.
 * Such a user may measure only the user side. */
#define READER                                                                 \
  "/usr/bin/env ASAN_OPTIONS=detect_leaks=0 setpriv --reuid=65534 "            \
  "--regid=65534 --clear-groups --inh-caps=+dac_read_search "                  \
  "--ambient-caps=+dac_read_search "

static void need_reader(const char *test) {
  support_need_root(test);
  support_need_tracepoint(test, ENTER);
  if (tool_run_paranoid() != 2)
    support_skip(test, "kernel.perf_event_paranoid at 2");
  if (system("setpriv --version >/dev/null 2>&1") != 0)
    support_skip(test, "setpriv(1)");
}

static const tool_row_t rows[] = {
    {"raw_system_calls_are_refused_without_the_kernel_side", need_reader,
     READER TRACE_PATH " -e raw_syscalls:sys_enter true", 1,
     .err = "raw_syscalls:sys_enter: "},
    {"unknown_name_is_reported_with_a_similar_one", need_enter,
     "-e sched:sched_swich true", 2, .err = "sched_switch| ^"},
    /* The name could otherwise control the terminal. */
    {"unknown_name_is_printed_without_control_characters", need_enter,
     "-e cs,\033[31m:x true", 2, .err = "trace:   cs,?[31m:x\n|!\033"},
    {"unknown_word_is_reported", need_enter, "-e faultss -l 1 true", 2,
     .err = "'faultss'"},
    {"filter_with_an_unknown_field_is_reported", need_enter,
     "-e syscalls:sys_*_getpriority --filter 'who == 1' true", 2,
     .err = "trace: syscalls:sys_exit_getpriority: | __syscall_nr, ret\n"},
    /* With a period of 1 these events would stop the machine. */
    {"clocks_and_counters_are_refused", NULL, "-e cpu-clock true", 2,
     .err = "cannot trace cpu-clock: it has no single hits"},
    {"trace_exits_with_the_status_of_the_command", need_enter,
     "-e " ENTER " sh -c 'exit 5'", 5, .err = "trace: 0 hits in "},
    {"missing_process_is_reported", need_enter, "-e " ENTER " -p 2147483647", 1,
     .err = "2147483647"},
    {"interrupt_ends_with_the_last_line", need_enter_of_all, "-a -e " ENTER, 0,
     .err = " 0 lost\n", .interrupt_at = "Ctrl-C"},
    {"duration_ends_it", need_enter, "-d 0.2 -e " ENTER " -- sleep 60", 0,
     .err = "trace: 0 hits in "},
    /* The run returns when the command has ended, too, because it has our
     * pipe. */
    {"reader_that_closes_the_pipe_ends_it", need_enter,
     "/bin/sh -c '" TRACE_PATH " -e " ENTER
     " -- sh -c \"while :; do " TARGET_PATH " calls 9; done\" | head -n 1'",
     0, .err = " lost\n", .out = " trace_target | " ENTER " "},
    {"too_few_fds_are_reported", need_enter_of_all,
     "/bin/sh -c \"ulimit -n 24; exec " TRACE_PATH
     " -a -e 'syscalls:sys_enter_*at'\"",
     1, .err = "RLIMIT_NOFILE"},
    /* trace raises its own limit, and the command keeps the old one. */
    {"fd_limit_is_raised_for_trace_but_not_for_the_command", need_enter,
     "/bin/sh -c \"ulimit -Sn 24; exec " TRACE_PATH
     " -e 'syscalls:sys_enter_get*' -o /dev/null sh -c 'ulimit -Sn'\"",
     0, .out = "=24\n"},
    /* tracefs belongs to root. */
    {"unprivileged_user_learns_that_an_event_cannot_be_read",
     need_tracefs_of_root, "-e " ENTER " true", 1, .err = "gid=GROUP,mode=750",
     .as_nobody = 1},
    {"unprivileged_user_learns_that_a_call_cannot_be_read",
     need_tracefs_of_root, "-e getpriority true", 1,
     .err = "gid=GROUP,mode=750", .as_nobody = 1},
    {"unprivileged_user_learns_that_calls_cannot_be_listed",
     need_tracefs_of_root, "-e getpri* true", 1, .err = "gid=GROUP,mode=750",
     .as_nobody = 1},
    {"unprivileged_user_learns_that_one_of_two_cannot_be_read",
     need_tracefs_of_root, "-e faults,getpriority true", 1,
     .err = "gid=GROUP,mode=750", .as_nobody = 1},
    {"unprivileged_user_traces_events_other_than_calls",
     support_need_own_events, "-e faults -l 1 true", 0,
     .err = "trace: 1 hit in ", .as_nobody = 1},
    {"unprivileged_user_traces_own_system_calls", need_reader,
     READER TRACE_PATH " -e " ENTER " -- " TARGET_PATH " calls 3", 0,
     .err = "trace: 3 hits in ", .out = " who=2\n"},
    /* If only the side-band can be opened, trace ends. */
    {"forbidden_events_are_reported_and_end_it", need_reader,
     READER TRACE_PATH " -e sched:sched_switch -- " TARGET_PATH " calls 3", 1,
     .err = "kernel.perf_event_paranoid|! hits in "},
    {"forbidden_event_leaves_the_others", need_reader,
     READER TRACE_PATH " -e sched:sched_switch," ENTER " -- " TARGET_PATH
                       " calls 3",
     0, .err = "trace: sched:sched_switch: |trace: 3 hits in "},
};

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(bad_options_exit_2_with_a_message),
      cmocka_unit_test(options_of_perf_are_taken_or_explained),
      cmocka_unit_test(reader_that_never_reads_does_not_block_it),
      cmocka_unit_test(file_gets_the_lines_and_command_keeps_stdout),
      cmocka_unit_test(unwritable_file_is_reported),
      cmocka_unit_test(file_size_limit_is_reported),
      cmocka_unit_test(file_size_limit_still_ends_the_command),
  };

  return tool_rows_main(TRACE_PATH, rows, sizeof(rows) / sizeof(rows[0]), tests,
                        sizeof(tests) / sizeof(tests[0]));
}
