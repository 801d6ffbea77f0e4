/* SPDX-License-Identifier: MIT */
/* stat counts a command and its children exactly, whatever signals come. The
 * command runs as it would without stat. */
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "call_server.h"
#include "stat_fields.h"
#include "tool_rows.h"

static void need_calls(const char *test) {
  support_need_cpu_wide(test);
  support_need_tracepoint(test, CALL_SERVER_EVENT);
}

static void command_is_counted_exactly(void **state) {
  tool_run_t run = {.args = {STAT_PATH, "-x,", "-e", CALL_SERVER_EVENT, "-e",
                             "page-faults", TARGET_PATH, "calls", "1234"}};

  need_calls(__func__);
  tool_run_exits(&run, 0);
  assert_int_equal(stat_fields_value(run.err, CALL_SERVER_EVENT), 1234);
  assert_true(stat_fields_value(run.err, "page-faults") > 0);
  assert_string_equal(run.out, "");
}

static void members_of_a_group_are_all_counted(void **state) {
  tool_run_t run = {.args = {STAT_PATH, "-x,", "-e",
                             "{page-faults," CALL_SERVER_EVENT
                             ",minor-faults,major-faults}",
                             TARGET_PATH, "children", "3", "50"}};

  need_calls(__func__);
  tool_run_exits(&run, 0);
  assert_int_equal(stat_fields_value(run.err, CALL_SERVER_EVENT), 150);
  assert_int_equal(stat_fields_value(run.err, "page-faults"),
                   stat_fields_value(run.err, "minor-faults") +
                       stat_fields_value(run.err, "major-faults"));
}

/* On a machine with a PMU no event is missing. */
static void usual_events_are_counted_or_explained_once(void **state) {
  static const char *const events[] = {
      "task-clock", "context-switches", "cpu-migrations", "page-faults",
      "cycles",     "instructions",     "branches",       "branch-misses"};
  tool_run_t run = {.args = {STAT_PATH, "true"}};
  const char *reason;
  size_t i;

  support_need_kernel_side(__func__);
  tool_run_exits(&run, 0);
  for (i = 0; i < COUNT_OF(events); i++)
    tool_run_expect_text(run.err, events[i]);
  tool_run_expect_text(run.err, "Performance counter stats for 'true':");
  tool_run_expect_text(run.err, "seconds time elapsed");
  tool_run_expect_text(run.err, "seconds user");
  if (strstr(run.err, "<not supported>") == NULL)
    return;
  reason = strstr(run.err, "branch-misses: not supported: ");
  assert_non_null(reason);
  assert_null(strstr(strchr(reason, '\n'), "not supported"));
}

/* In each run the command has the input, output, limits and signals that it
 * would have without stat. */
static void command_runs_as_it_would_alone(void **state) {
  static const char alone[] =
      "ulimit -Sn 123; echo input | \"$0\" -r 2 -x, -e task-clock -- sh -c "
      "'ulimit -Sn; grep -E \"Sig(Blk|Ign)\" /proc/self/status; cat'";
  tool_run_t run = {.args = {"/bin/sh", "-c", alone, STAT_PATH}};

  support_need_own_events(__func__);
  tool_run_exits(&run, 0);
  assert_string_equal(run.out, "123\n"
                               "SigBlk:\t0000000000000000\n"
                               "SigIgn:\t0000000000000000\n"
                               "input\n"
                               "123\n"
                               "SigBlk:\t0000000000000000\n"
                               "SigIgn:\t0000000000000000\n");
}

static void close_stdin(void) {
  close(STDIN_FILENO);
}

/* Some parents that handle signals in a separate thread leave signals blocked
 * and ignored like this. */
static void block_and_ignore(void) {
  sigset_t set;
  int i;

  for (i = 1; i < NSIG; i++)
    signal(i, SIG_DFL);
  signal(SIGHUP, SIG_IGN);
  signal(SIGINT, SIG_IGN);
  signal(SIGPIPE, SIG_IGN);
  signal(SIGCHLD, SIG_IGN);
  sigemptyset(&set);
  sigaddset(&set, SIGUSR1);
  sigaddset(&set, SIGTERM);
  sigaddset(&set, SIGCHLD);
  sigprocmask(SIG_SETMASK, &set, NULL);
}

/* -- signals ---------------------------------------------------------------
 *
 * The command prints "waiting" on stderr when it waits. */

static void lead_a_group(void) {
  setpgid(0, 0);
}

/* A terminal sends SIGINT to the whole group, too. */
static void interrupt_group(tool_run_t *run) {
  kill(-run->pid, SIGINT);
}

static void interrupt_at(tool_run_t *run, const char *text) {
  run->prepare = lead_a_group;
  tool_run_calls(run, text, interrupt_group, NULL);
}

static void interrupt_is_for_the_command(void **state) {
  tool_run_t run = {.args = {STAT_PATH, "-x,", "-e", CALL_SERVER_EVENT, "--",
                             "sh", "-c", "exec \"$0\" trap 17 >&2",
                             TARGET_PATH}};

  need_calls(__func__);
  interrupt_at(&run, "waiting");
  tool_run(&run);
  /* stat counts what the command did because of the signal, and exits with its
   * status. */
  tool_run_expect_status(&run, 7);
  assert_int_equal(stat_fields_value(run.err, CALL_SERVER_EVENT), 17);
}

static void interrupted_command_prints_what_there_is(void **state) {
  tool_run_t run = {.args = {STAT_PATH, "-e", "task-clock", "--", "sh", "-c",
                             "echo waiting >&2; exec \"$0\" spin",
                             TARGET_PATH}};

  support_need_own_events(__func__);
  interrupt_at(&run, "waiting");
  tool_run_exits(&run, 128 + SIGINT);
  tool_run_expect_text(run.err, "task-clock");
  tool_run_expect_text(run.err, "seconds time elapsed");
}

static void ignore_hangup(void) {
  signal(SIGHUP, SIG_IGN);
}

/* -- runs ------------------------------------------------------------------ */

/* Runs it while there is a file with this name, empty at first. */
static void run_with_file(tool_run_t *run, char *path) {
  int fd = mkstemp(path);

  assert_true(fd >= 0);
  close(fd);
  tool_run(run);
  unlink(path);
}

/* The five runs make 10, 20, 30, 40 and 50 calls. Their mean is 30. The
 * deviation of the mean is 10 * sqrt(2.5) / sqrt(5) = 7.071, which is 23.57 %
 * of 30. */
static void runs_that_differ_deviate(void **state) {
  char path[] = "/tmp/uvperf-stat-XXXXXX";
  tool_run_t run = {.args = {STAT_PATH, "-r", "5", "-x,", "-e",
                             CALL_SERVER_EVENT, "--", "sh", "-c",
                             "echo >>\"$0\"; exec \"$1\" calls "
                             "$((10 * $(wc -l <\"$0\")))",
                             path, TARGET_PATH}};
  stat_fields_t line;

  need_calls(__func__);
  run_with_file(&run, path);
  tool_run_expect_status(&run, 0);
  assert_true(stat_fields_line(run.err, ',', 8, 0, &line));
  assert_string_equal(line.field[0], "30");
  assert_string_equal(line.field[3], "23.57%");
}

/* Two runs make 5 calls each. The third waits for Ctrl-C, so it is not complete
 * and not counted. */
static void interrupt_ends_the_runs(void **state) {
  char path[] = "/tmp/uvperf-stat-XXXXXX";
  tool_run_t run = {.args = {STAT_PATH, "-r", "10", "-x,", "-e",
                             CALL_SERVER_EVENT, "--", "sh", "-c",
                             "echo >>\"$0\"; [ $(wc -l <\"$0\") -lt 3 ] && "
                             "exec \"$1\" calls 5; exec \"$1\" trap 9 >&2",
                             path, TARGET_PATH}};

  need_calls(__func__);
  interrupt_at(&run, "waiting");
  run_with_file(&run, path);
  tool_run_expect_status(&run, 7);
  tool_run_expect_text(run.err, "\n5,," CALL_SERVER_EVENT ",0.00%,");
  tool_run_expect_text(run.err, " 2 of 10 ");
}

/* An interrupted run is counted if there is no complete one. */
static void interrupted_first_run_is_counted(void **state) {
  tool_run_t run = {.args = {STAT_PATH, "-r", "10", "-x,", "-e",
                             CALL_SERVER_EVENT, "--", "sh", "-c",
                             "exec \"$0\" trap 9 >&2", TARGET_PATH}};

  need_calls(__func__);
  interrupt_at(&run, "waiting");
  tool_run_exits(&run, 7);
  tool_run_expect_text(run.err, "\n9,," CALL_SERVER_EVENT ",");
  tool_run_expect_text(run.err, " 1 of 10 ");
}

static void runs_for_ever_have_a_table_each(void **state) {
  tool_run_t run = {.args = {STAT_PATH, "-v", "-r", "0", "-x,", "-e",
                             CALL_SERVER_EVENT, "--", TARGET_PATH, "calls",
                             "5"}};
  stat_fields_t line;

  need_calls(__func__);
  interrupt_at(&run, "run 4\n");
  tool_run(&run);
  assert_true(stat_fields_line(run.err, ',', 7, 2, &line));
  assert_string_equal(line.field[0], "5");
}

/* -- closing ---------------------------------------------------------------
 *
 * Closing so many events takes the kernel seconds. */

#define MANY "syscalls:sys_enter_s*"

static void note_events(tool_run_t *run) {
  *(size_t *)run->data = tool_run_nr_events(run);
}

static void interrupt_again(tool_run_t *run) {
  kill(run->pid, SIGINT);
}

static void table_is_printed_while_the_events_are_open(void **state) {
  static tool_run_t run = {.args = {STAT_PATH, "-v", "-a", "-e", MANY}};
  size_t nr_events = 0;

  need_calls(__func__);
  run.interrupt_at = "counting";
  run.check_at = "seconds time elapsed";
  run.check = note_events;
  run.data = &nr_events;
  tool_run_exits(&run, 0);
  assert_true(nr_events > 0);
  assert_null(strstr(run.err, "closing")); /* only for terminals */
}

static void second_interrupt_does_not_wait_for_the_close(void **state) {
  static tool_run_t run = {.args = {STAT_PATH, "-v", "-a", "-e", MANY}};
  const char *table, *closing;

  need_calls(__func__);
  tool_run_need_terminal(__func__);
  run.err_is_terminal = 1;
  run.interrupt_at = "counting";
  run.check_at = "Ctrl-C";
  run.check = interrupt_again;
  tool_run_exits(&run, 128 + SIGINT);
  table = strstr(run.err, "seconds time elapsed");
  closing = strstr(run.err, "stat: closing ");
  assert_true(table != NULL && closing > table);
}

static void runs_interrupted_while_events_close_are_printed(void **state) {
  static tool_run_t run = {.args = {STAT_PATH, "-r", "5", "-e",
                                    CALL_SERVER_EVENT "," MANY, "--",
                                    TARGET_PATH, "calls", "7"}};
  size_t nr_events = 0;

  need_calls(__func__);
  tool_run_need_terminal(__func__);
  run.err_is_terminal = 1;
  run.interrupt_at = "stat: closing ";
  run.check_at = " 1 of 5 ";
  run.check = note_events;
  run.data = &nr_events;
  tool_run_exits(&run, 0);
  tool_run_expect_text(run.err, " 7      " CALL_SERVER_EVENT);
  assert_true(nr_events > 0);
}

static const tool_row_t rows[] = {
    {"what_the_children_of_the_command_do_is_counted", need_calls,
     "-x, -e " CALL_SERVER_EVENT " " TARGET_PATH " children 5 7", 0,
     .err = "^35,," CALL_SERVER_EVENT ","},
    {"what_the_threads_of_the_command_do_is_counted", need_calls,
     "-x, -e " CALL_SERVER_EVENT " " TARGET_PATH " threads 4 11", 0,
     .err = "^44,," CALL_SERVER_EVENT ","},
    {"what_the_command_starts_is_left_out_with_no_inherit", need_calls,
     "-i -x, -e " CALL_SERVER_EVENT " " TARGET_PATH " children 5 7", 0,
     .err = "^0,," CALL_SERVER_EVENT ","},
    /* A filter applies to the events of the -e before it. */
    {"filter_counts_what_fits", need_calls,
     "-x, -e duration_time,page-faults -e " CALL_SERVER_EVENT "/name=one/ "
     "--filter 'policy == 1' -e " CALL_SERVER_EVENT "/name=none/ "
     "--filter 'policy == 0' " TARGET_PATH " calls 12",
     0, .err = "\n0,,one,|\n12,,none,"},
    {"filter_of_an_unknown_field_is_refused", need_calls,
     "-e page-faults -e " CALL_SERVER_EVENT "/name=none/ --filter "
     "'polcy == 0' true",
     2, .err = "none: --filter 'polcy == 0': "},
    {"status_is_that_of_the_command", support_need_own_events,
     "-e task-clock -- sh -c 'exit 3'", 3, .err = "seconds time elapsed"},
    {"status_is_the_signal_that_ended_the_command", support_need_own_events,
     "-e task-clock -- sh -c 'kill -KILL $$'", 128 + SIGKILL,
     .err = "seconds time elapsed"},
    {"command_finds_closed_what_was_closed", support_need_own_events,
     "-e task-clock -- sh -c 'test -e /proc/self/fd/0; echo $?'", 0,
     .out = "=1\n", .prepare = close_stdin},
    /* stat notices the end of the command although SIGCHLD is blocked and
     * ignored. */
    {"command_finds_signals_as_stat_did", support_need_own_events,
     "-r2 -e task-clock -- grep -E Sig(Blk|Ign) /proc/self/status", 0,
     .out = "=SigBlk:\t0000000000014200\nSigIgn:\t0000000000011003\n"
            "SigBlk:\t0000000000014200\nSigIgn:\t0000000000011003\n",
     .prepare = block_and_ignore},
    /* The run returns when the command has ended too, because it has our
     * pipe. */
    {"sigterm_prints_and_terminates_the_command", support_need_own_events,
     "-v -e task-clock -- " TARGET_PATH " spin", 0,
     .err = "seconds time elapsed", .interrupt_at = "counting",
     .interrupt_with = SIGTERM},
    {"sighup_prints_and_terminates_the_command", support_need_own_events,
     "-v -e task-clock -- " TARGET_PATH " spin", 0,
     .err = "seconds time elapsed", .interrupt_at = "counting",
     .interrupt_with = SIGHUP},
    /* Under nohup(1) SIGHUP ends neither the run nor the series of runs. */
    {"sighup_that_is_ignored_stays_so", support_need_own_events,
     "-r2 -e task-clock -- sh -c 'kill -HUP $PPID; exit 7'", 7,
     .err = "(2 runs)", .prepare = ignore_hangup},
    {"timeout_prints_and_terminates_the_command", support_need_own_events,
     "--timeout 20 -e task-clock -- " TARGET_PATH " spin", 0,
     .err = "seconds time elapsed"},
    {"runs_have_one_line_with_mean_and_deviation", need_calls,
     "-r 4 -x, -e " CALL_SERVER_EVENT " -- " TARGET_PATH " calls 25", 0,
     .err = "^25,," CALL_SERVER_EVENT ",0.00%,|!\n25,"},
    {"runs_are_named_in_the_title", support_need_kernel_side,
     "-v -r 3 -e page-faults true", 0,
     .err = "stat: run 1 of 3\n|stat: run 3 of 3\n|'true' (3 runs):|!seconds "
            "user"},
};

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(command_is_counted_exactly),
      cmocka_unit_test(members_of_a_group_are_all_counted),
      cmocka_unit_test(usual_events_are_counted_or_explained_once),
      cmocka_unit_test(command_runs_as_it_would_alone),
      cmocka_unit_test(interrupt_is_for_the_command),
      cmocka_unit_test(interrupted_command_prints_what_there_is),
      cmocka_unit_test(runs_that_differ_deviate),
      cmocka_unit_test(interrupt_ends_the_runs),
      cmocka_unit_test(interrupted_first_run_is_counted),
      cmocka_unit_test(runs_for_ever_have_a_table_each),
      cmocka_unit_test(table_is_printed_while_the_events_are_open),
      cmocka_unit_test(second_interrupt_does_not_wait_for_the_close),
      cmocka_unit_test(runs_interrupted_while_events_close_are_printed),
  };

  return tool_rows_main(STAT_PATH, rows, COUNT_OF(rows), tests,
                        COUNT_OF(tests));
}
