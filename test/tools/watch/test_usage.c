/* SPDX-License-Identifier: MIT */
/* How watch ends, and how it handles bad input and targets that it cannot
 * open. */
#include "tool_rows.h"
#include "tool_usage.h"

#include <signal.h>
#include <unistd.h>

static void bad_options_exit_2_with_a_message(void **state) {
  static const tool_usage_t cases[] = {
      {{"-d", "0"}, "-d wants"},
      {{"-d", "1s"}, "-d wants"},
      {{"-k", ""}, "-k wants kinds"},
      {{"-k", "fork,"}, "-k wants kinds"},
      {{"-k", "forks"}, "not 'forks'"},
      {{"-k"}, "'-k' wants a value"},
      {{"-m", ""}, "-m wants"},
      {{"-m", "K"}, "-m wants"},
      {{"-m", "0"}, "-m wants"},
      {{"-m", "-4K"}, "-m wants"},
      {{"-m", "4k"}, "-m wants"},
      {{"-m", "4KK"}, "-m wants"},
      {{"-m", "1025M"}, "-m wants"},
      {{"-m", "1111111111111111111111111111K"}, "-m wants"},
      {{"-m"}, "'-m' wants a value"},
      {{"-p", "self"}, "-p wants"},
      {{"-p", "0"}, "-p wants"},
      {{"-p", "1", "--", "true"}, "choose one"},
      {{"-a", "-p", "1"}, "choose one of -a and -p"},
      {{"--"}, "command is missing"},
      {{"--json=1"}, "'--json' takes no value"},
      {{"--json", "-Q"}, "unknown option '-Q'"},
      {{"-tQ"}, "unknown option '-t'"},
      {{"--mmap"}, "unknown option '--mmap'"},
  };

  tool_usage_refused(WATCH_PATH, cases, COUNT_OF(cases));
}

/* No event happens that watch could write. */
static void reader_that_goes_in_silence_ends_it(void **state) {
  char text[16];
  tool_run_t run = {
      .args = {"/bin/sh", "-c", "\"$0\" -p $1 | :", WATCH_PATH, text}};
  pid_t pid;

  support_need_own_events(__func__);
  pid = fork();
  assert_true(pid >= 0);
  if (pid == 0) {
    pause();
    _exit(0);
  }
  snprintf(text, sizeof(text), "%d", pid);
  tool_run(&run);
  kill(pid, SIGKILL);
  assert_int_equal(support_wait(pid), 128 + SIGKILL);
  tool_run_expect_status(&run, 0);
  tool_run_expect_text(run.err, "watch: 0 forks, 0 execs, 0 exits; ");
}

static void reader_that_never_reads_does_not_hold_it(void **state) {
  tool_run_t run = {.args = {WATCH_PATH, "--", "sh", "-c",
                             "exec \"$0\" storm 500 >/dev/null", TARGET_PATH}};

  support_need_own_events(__func__);
  tool_usage_never_read(&run);
  tool_run_expect_text(run.err, " 502 execs, ");
}

static void file_gets_the_lines_and_stdout_is_the_commands(void **state) {
  tool_run_t run = {.args = {WATCH_PATH, "--", "echo", "hello"}};
  char text[65536] = "";

  support_need_own_events(__func__);
  tool_usage_good_file(&run, text, sizeof(text));
  tool_run_expect_text(text, " exec ");
  tool_run_expect_text(text, " exit ");
}

static void file_that_cannot_be_written_is_reported(void **state) {
  const tool_run_t run = {.args = {WATCH_PATH, "true"}};

  support_need_own_events(__func__);
  tool_usage_bad_file(&run, "watch");
}

static void need_refusal(const char *test) {
  support_need_root(test);
  if (tool_run_paranoid() <= 0)
    support_skip(test, "kernel.perf_event_paranoid above 0");
}

static const tool_row_t rows[] = {
    {"status_of_the_command_is_that_of_watch", support_need_own_events,
     "-- sh -c 'exit 3'", 3, .err = "watch: 0 forks, 1 exec, 1 exit; ",
     .out = " exec | exit "},
    {"signal_that_ended_the_command_is_in_the_status", support_need_own_events,
     "sh -c 'kill -USR1 $$'", 128 + SIGUSR1, .err = NULL},
    {"process_that_is_not_there_is_reported", NULL, "-p 2147483647", 1,
     .err = "2147483647"},
    /* The number of forks is not checked: it is two, or three if the shell
     * forks for the parentheses. */
    {"unprivileged_user_watches_own_command", support_need_own_events,
     "-- sh -c '/bin/true; (/bin/true & wait); exit 4'", 4,
     .err = " 3 execs, |; 0 records lost", .out = " exec ", .as_nobody = 1},
    /* Process 1 belongs to another user. */
    {"unprivileged_user_learns_that_a_process_is_not_his", need_refusal, "-p 1",
     1, .err = "'dummy'", .as_nobody = 1},
    {"sigterm_ends_with_the_last_line", support_need_own_events, "-- sleep 60",
     0, .err = "; 0 records lost\n", .interrupt_at = "Ctrl-C",
     .interrupt_with = SIGTERM},
    {"duration_ends_with_the_last_line", support_need_own_events,
     "--duration 0.2 -- sleep 60", 0, .err = "watch: 0 forks, 1 exec, ",
     .out = " exec "},
    /* The run returns when the command has ended too, because it has our
     * pipe. */
    {"reader_that_has_enough_ends_it", support_need_own_events,
     "/bin/sh -c '" WATCH_PATH
     " -- sh -c \"while :; do /bin/true; done\" | head -n 1'",
     0, .err = " records lost\n", .out = " exec "},
    /* The command stops watch, so watch cannot read the rings. */
    {"loss_is_reported_while_it_goes_on", support_need_own_events,
     "-m 4K -o /dev/null -- sh -c 'kill -STOP $PPID; " TARGET_PATH
     " storm 200 >/dev/null; kill -CONT $PPID; exec sleep 60'",
     0, .err = " records lost\n", .interrupt_at = " in all"},
};

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(bad_options_exit_2_with_a_message),
      cmocka_unit_test(reader_that_goes_in_silence_ends_it),
      cmocka_unit_test(reader_that_never_reads_does_not_hold_it),
      cmocka_unit_test(file_gets_the_lines_and_stdout_is_the_commands),
      cmocka_unit_test(file_that_cannot_be_written_is_reported),
  };

  return tool_rows_main(WATCH_PATH, rows, COUNT_OF(rows), tests,
                        COUNT_OF(tests));
}
