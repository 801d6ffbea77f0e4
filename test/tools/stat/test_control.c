/* SPDX-License-Identifier: MIT */
/* --control: another process controls when stat counts. Here the command itself
 * is that process, so the order of its calls and its requests is known. */
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "call_server.h"
#include "stat_fields.h"

/* The begin of each script. `say` sends a request and waits for the answer,
 * `calls` makes calls. */
static const char begin[] =
    "exec 7>\"$1.ctl\" 8<\"$1.ack\"; say() { echo \"$*\" >&7; read x <&8; "
    "test \"$x\" = ack || exit 9; }; calls() { \"$0\" calls \"$1\"; }; ";

static tool_run_t run;

/* Runs stat with --control and `options`, which end with NULL. Its command is
 * the script. */
static void run_script(const char *const *options, const char *script) {
  char directory[] = "/tmp/uvperf-stat-XXXXXX", base[64], ctl[80], ack[80];
  char runs[80], control[256], text[1024];
  size_t i = 3;

  assert_non_null(mkdtemp(directory));
  snprintf(base, sizeof(base), "%s/f", directory);
  snprintf(ctl, sizeof(ctl), "%s.ctl", base);
  snprintf(ack, sizeof(ack), "%s.ack", base);
  snprintf(runs, sizeof(runs), "%s.runs", base);
  snprintf(control, sizeof(control), "fifo:%s,%s", ctl, ack);
  snprintf(text, sizeof(text), "%s%s", begin, script);
  assert_int_equal(mkfifo(ctl, 0600), 0);
  assert_int_equal(mkfifo(ack, 0600), 0);
  memset(&run, 0, sizeof(run));
  run.args[0] = STAT_PATH;
  run.args[1] = "--control";
  run.args[2] = control;
  while (*options != NULL)
    run.args[i++] = *options++;
  run.args[i++] = "/bin/sh";
  run.args[i++] = "-c";
  run.args[i++] = text;
  run.args[i++] = TARGET_PATH;
  run.args[i] = base;
  tool_run(&run);
  unlink(ctl);
  unlink(ack);
  unlink(runs);
  rmdir(directory);
}

static void commands_decide_what_is_counted(void **state) {
  static const char *const options[] = {
      "-D", "-1", "-x,", "-e", CALL_SERVER_EVENT ",duration_time", NULL};

  support_need_tracepoint(__func__, CALL_SERVER_EVENT);
  run_script(options,
             "calls 100; say enable; calls 200; say ping; say disable; calls "
             "400; say enable; calls 800; say evlist; exit 5");
  tool_run_expect_status(&run, 5);
  assert_int_equal(stat_fields_value(run.err, CALL_SERVER_EVENT), 1000);
  assert_true(stat_fields_value(run.err, "duration_time") > 0);
  tool_run_expect_text(run.err, CALL_SERVER_EVENT "\nduration_time\n");
}

/* Without -D it counts from the start. */
static void stop_ends_the_count(void **state) {
  static const char *const options[] = {
      "-I", "10", "-x,", "-e", CALL_SERVER_EVENT, NULL};

  support_need_tracepoint(__func__, CALL_SERVER_EVENT);
  run_script(options,
             "calls 100; say enable page-faults; say snapshot; say stop; "
             "exec sleep 60");
  tool_run_expect_status(&run, 0);
  assert_int_equal(stat_fields_sum(strstr(run.err, "0."), CALL_SERVER_EVENT, 1),
                   100);
}

/* Runs a script only in the run with this number. Each run appends a line to a
 * file. */
#define IN_RUN(number, script)                                                 \
  "echo run; echo >>$1.runs; test $(wc -l <$1.runs) = " number " && { " script \
  "; }; "

static void enable_holds_for_the_runs_that_follow(void **state) {
  static const char *const options[] = {
      "-r", "3", "-D", "-1", "-x,", "-e", CALL_SERVER_EVENT, NULL};

  support_need_tracepoint(__func__, CALL_SERVER_EVENT);
  run_script(options, IN_RUN("1", "say enable") "calls 100");
  tool_run_expect_status(&run, 0);
  assert_int_equal(stat_fields_value(run.err, CALL_SERVER_EVENT), 100);
}

static void stop_ends_all_runs(void **state) {
  static const char *const options[] = {"-r", "5",           "-x,",
                                        "-e", "page-faults", NULL};

  support_need_own_events(__func__);
  run_script(options, IN_RUN("2", "say stop; exec sleep 60") "exit 0");
  tool_run_expect_status(&run, 0);
  tool_run_expect_text(run.err, "1 of 5 ");
  assert_string_equal(run.out, "run\nrun\n");
}

static void command_that_never_enables_counts_nothing(void **state) {
  static const char *const options[] = {"-D", "-1", "-e", "task-clock", NULL};

  support_need_own_events(__func__);
  run_script(options, "say ping; exit 4");
  tool_run_expect_status(&run, 4);
  tool_run_expect_text(run.err, "'enable'");
  tool_run_expect_text(run.err, "<not counted> msec task-clock");
}

/* The number of messages is limited, because another process could fill the
 * terminal. Requests after "stop" are ignored, so that nothing begins again. */
static void commands_after_stop_are_not_run_and_messages_end(void **state) {
  static const struct {
    const char *lines, *message;
  } cases[] = {{"printf 'stop\\nenable\\n'", "'enable'"},
               {"(yes snapshot | head -n 999; echo stop)", "snapshot"},
               {"(yes enable foo | head -n 999; echo stop)", "enable"}};
  char script[256];
  size_t i, j, nr;

  support_need_own_events(__func__);
  for (i = 0; i < COUNT_OF(cases); i++) {
    memset(&run, 0, sizeof(run));
    snprintf(script, sizeof(script),
             "%s | exec %s -D -1 --timeout 90000 --control fd:0 -e task-clock "
             "-p $$",
             cases[i].lines, STAT_PATH);
    run.args[0] = "/bin/sh";
    run.args[1] = "-c";
    run.args[2] = script;
    tool_run(&run);
    tool_run_expect_text(run.err, cases[i].message);
    tool_run_expect_text(run.err, "<not counted>");
    for (j = nr = 0; run.err[j] != '\0'; j++)
      nr += run.err[j] == '\n';
    assert_true(nr < 25);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(commands_decide_what_is_counted),
      cmocka_unit_test(stop_ends_the_count),
      cmocka_unit_test(commands_after_stop_are_not_run_and_messages_end),
      cmocka_unit_test(enable_holds_for_the_runs_that_follow),
      cmocka_unit_test(stop_ends_all_runs),
      cmocka_unit_test(command_that_never_enables_counts_nothing),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
