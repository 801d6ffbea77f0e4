/* SPDX-License-Identifier: MIT */
/* Runs trace as a user would: command lines, ends, privileges, readers. */
#include "tool_run.h"
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

/* These events happen in the kernel, and this user may measure only the user
 * side. */
static void raw_system_calls_are_refused_without_the_kernel_side(void **state) {
  tool_run_t run = {.args = {"/usr/bin/env", "ASAN_OPTIONS=detect_leaks=0",
                             "setpriv", "--reuid=65534", "--regid=65534",
                             "--clear-groups", "--inh-caps=+dac_read_search",
                             "--ambient-caps=+dac_read_search", TRACE_PATH,
                             "-e", "raw_syscalls:sys_enter", "true"}};

  support_need_root(__func__);
  support_need_tracepoint(__func__, "raw_syscalls:sys_enter");
  if (tool_run_paranoid() < 2)
    support_skip(__func__, "kernel.perf_event_paranoid 2");
  if (system("setpriv --version >/dev/null 2>&1") != 0)
    support_skip(__func__, "setpriv(1)");
  tool_run_ends(&run, 1, "raw_syscalls:sys_enter: ");
}

static void unknown_name_is_reported_with_a_similar_one(void **state) {
  tool_run_t run = {.args = {TRACE_PATH, "-e", "sched:sched_swich", "true"}};

  support_need_tracepoint(__func__, "sched:sched_switch");
  tool_run_ends(&run, 2, "sched_switch");
  tool_run_expect_text(run.err, "^");
}

/* The name could otherwise control the terminal. */
static void unknown_name_is_printed_without_control_characters(void **state) {
  tool_run_t run = {.args = {TRACE_PATH, "-e", "cs,\033[31m:x", "true"}};

  support_need_tracepoint(__func__, ENTER);
  tool_run_ends(&run, 2, "trace:   cs,?[31m:x\n");
  assert_null(strchr(run.err, '\033'));
}

static void filter_with_an_unknown_field_is_reported(void **state) {
  tool_run_t run = {.args = {TRACE_PATH, "-e", "syscalls:sys_*_getpriority",
                             "--filter", "who == 1", "true"}};

  support_need_tracepoint(__func__, ENTER);
  tool_run_ends(&run, 2, "trace: syscalls:sys_exit_getpriority: ");
  tool_run_expect_text(run.err, " __syscall_nr, ret\n");
}

/* With a period of 1 these events would stop the machine. */
static void clocks_and_counters_are_refused(void **state) {
  tool_run_t run = {.args = {TRACE_PATH, "-e", "cpu-clock", "true"}};

  tool_run_ends(&run, 2, "cannot trace cpu-clock: it has no single hits");
}

static void trace_exits_with_the_status_of_the_command(void **state) {
  tool_run_t run = {.args = {TRACE_PATH, "-e", ENTER, "sh", "-c", "exit 5"}};

  support_need_tracepoint(__func__, ENTER);
  tool_run_ends(&run, 5, "trace: 0 hits in ");
}

static void missing_process_is_reported(void **state) {
  tool_run_t run = {.args = {TRACE_PATH, "-e", ENTER, "-p", "2147483647"}};

  support_need_tracepoint(__func__, ENTER);
  tool_run_ends(&run, 1, "2147483647");
}

static void interrupt_ends_with_the_last_line(void **state) {
  tool_run_t run = {.args = {TRACE_PATH, "-a", "-e", ENTER}};

  support_need_cpu_wide(__func__);
  support_need_tracepoint(__func__, ENTER);
  run.interrupt_at = "Ctrl-C";
  tool_run_ends(&run, 0, " 0 lost\n");
}

static void duration_ends_it(void **state) {
  tool_run_t run = {
      .args = {TRACE_PATH, "-d", "0.2", "-e", ENTER, "--", "sleep", "60"}};

  support_need_tracepoint(__func__, ENTER);
  tool_run_ends(&run, 0, "trace: 0 hits in ");
}

/* The run returns when the command has ended, too, because it has our pipe. */
static void reader_that_closes_the_pipe_ends_it(void **state) {
  tool_run_t run = {
      .args = {"/bin/sh", "-c",
               "\"$0\" -e \"$2\" -- sh -c 'while :; do \"$0\" calls 9; done' "
               "\"$1\" | head -n 1",
               TRACE_PATH, TARGET_PATH, ENTER}};

  support_need_tracepoint(__func__, ENTER);
  tool_run_exits(&run, 0);
  tool_run_expect_text(run.out, " trace_target ");
  tool_run_expect_text(run.out, " " ENTER " ");
  tool_run_expect_text(run.err, " lost\n");
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

static void too_few_fds_are_reported(void **state) {
  tool_run_t run = {.args = {"/bin/sh", "-c",
                             "ulimit -n 24; exec \"$0\" -a -e "
                             "'syscalls:sys_enter_*at'",
                             TRACE_PATH}};

  support_need_cpu_wide(__func__);
  support_need_tracepoint(__func__, "syscalls:sys_enter_openat");
  tool_run_ends(&run, 1, "RLIMIT_NOFILE");
}

/* trace raises its own limit, and the command keeps the old one. */
static void fd_limit_is_raised_for_trace_but_not_for_the_command(void **state) {
  tool_run_t run = {.args = {"/bin/sh", "-c",
                             "ulimit -Sn 24; exec \"$0\" -e "
                             "'syscalls:sys_enter_get*' -o /dev/null "
                             "sh -c 'ulimit -Sn'",
                             TRACE_PATH}};

  support_need_tracepoint(__func__, ENTER);
  tool_run_exits(&run, 0);
  assert_string_equal(run.out, "24\n");
}

/* tracefs belongs to root. */
static void unprivileged_user_learns_that_names_cannot_be_read(void **state) {
  static const char *const events[] = {ENTER, "getpriority", "getpri*",
                                       "faults,getpriority"};
  tool_run_t run = {.args = {TRACE_PATH, "-e", NULL, "true"}};
  struct stat tracefs;
  size_t i;

  support_need_root(__func__);
  support_need_tracepoint(__func__, ENTER);
  if (stat("/sys/kernel/tracing", &tracefs) != 0 || tracefs.st_mode & 7)
    support_skip(__func__, "a tracefs that only root may read");
  run.as_nobody = 1;
  for (i = 0; i < sizeof(events) / sizeof(events[0]); i++) {
    run.args[2] = events[i];
    tool_run_ends(&run, 1, "gid=GROUP,mode=750");
  }
}

static void unprivileged_user_traces_events_other_than_calls(void **state) {
  tool_run_t run = {.args = {TRACE_PATH, "-e", "faults", "-l", "1", "true"},
                    .as_nobody = 1};

  support_need_own_events(__func__);
  tool_run_ends(&run, 0, "trace: 1 hit in ");
  run.args[2] = "faultss";
  run.as_nobody = 0;
  support_need_root(__func__);
  support_need_tracepoint(__func__, ENTER);
  tool_run_ends(&run, 2, "'faultss'");
}

/* Runs trace as a user who may read all files and has no other privilege. */
static void run_as_reader(const char *test, const char *event,
                          tool_run_t *run) {
  *run = (tool_run_t){
      .args = {"/bin/sh", "-c",
               "exec setpriv --reuid 65534 --regid 65534 --clear-groups "
               "--inh-caps +dac_read_search --ambient-caps +dac_read_search "
               "\"$0\" -e \"$2\" -- \"$1\" calls 3",
               TRACE_PATH, TARGET_PATH, event}};
  support_need_root(test);
  support_need_tracepoint(test, ENTER);
  if (tool_run_paranoid() != 2)
    support_skip(test, "kernel.perf_event_paranoid at 2");
  if (system("setpriv --version >/dev/null 2>&1") != 0)
    support_skip(test, "setpriv(1)");
  tool_run(run);
}

static void unprivileged_user_traces_own_system_calls(void **state) {
  static tool_run_t run;

  run_as_reader(__func__, ENTER, &run);
  tool_run_expect_status(&run, 0);
  tool_run_expect_text(run.out, " who=2\n");
  tool_run_expect_text(run.err, "trace: 3 hits in ");
}

/* If only the side-band can be opened, trace ends. */
static void forbidden_events_are_reported_and_end_it(void **state) {
  static tool_run_t run;

  run_as_reader(__func__, "sched:sched_switch", &run);
  tool_run_expect_status(&run, 1);
  tool_run_expect_text(run.err, "kernel.perf_event_paranoid");
  assert_null(strstr(run.err, " hits in "));
  run_as_reader(__func__, "sched:sched_switch," ENTER, &run);
  tool_run_expect_status(&run, 0);
  tool_run_expect_text(run.err, "trace: sched:sched_switch: ");
  tool_run_expect_text(run.err, "trace: 3 hits in ");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(unknown_name_is_printed_without_control_characters),
      cmocka_unit_test(bad_options_exit_2_with_a_message),
      cmocka_unit_test(options_of_perf_are_taken_or_explained),
      cmocka_unit_test(raw_system_calls_are_refused_without_the_kernel_side),
      cmocka_unit_test(unknown_name_is_reported_with_a_similar_one),
      cmocka_unit_test(filter_with_an_unknown_field_is_reported),
      cmocka_unit_test(clocks_and_counters_are_refused),
      cmocka_unit_test(trace_exits_with_the_status_of_the_command),
      cmocka_unit_test(missing_process_is_reported),
      cmocka_unit_test(interrupt_ends_with_the_last_line),
      cmocka_unit_test(duration_ends_it),
      cmocka_unit_test(reader_that_closes_the_pipe_ends_it),
      cmocka_unit_test(reader_that_never_reads_does_not_block_it),
      cmocka_unit_test(file_gets_the_lines_and_command_keeps_stdout),
      cmocka_unit_test(unwritable_file_is_reported),
      cmocka_unit_test(file_size_limit_is_reported),
      cmocka_unit_test(file_size_limit_still_ends_the_command),
      cmocka_unit_test(too_few_fds_are_reported),
      cmocka_unit_test(fd_limit_is_raised_for_trace_but_not_for_the_command),
      cmocka_unit_test(unprivileged_user_learns_that_names_cannot_be_read),
      cmocka_unit_test(unprivileged_user_traces_events_other_than_calls),
      cmocka_unit_test(unprivileged_user_traces_own_system_calls),
      cmocka_unit_test(forbidden_events_are_reported_and_end_it),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
