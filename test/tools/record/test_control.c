/* SPDX-License-Identifier: MIT */
/* --control: another process controls what is recorded, and the recording
 * survives whatever it sends. Here the recorded command is that process, so the
 * order of its calls and its requests is known. */
#include <sys/stat.h>
#include <unistd.h>

#include "call_server.h"
#include "record_run.h"

/* Makes this many calls. */
#define CALLS STAT_TARGET " calls "

static void make_fifo(const char *name) {
  char path[128];

  snprintf(path, sizeof(path), "%s.%s", record_run_path(), name);
  assert_int_equal(mkfifo(path, 0600), 0);
}

static tool_run_t last; /* run */

/* Records a script. Its function `say` sends a request and waits for the
 * answer. */
static void record(const char *options, const char *script) {
  char words[1024];
  const char *path = record_run_path();

  make_fifo("ctl");
  make_fifo("ack");
  snprintf(words, sizeof(words),
           "%s --control fifo:%s.ctl,%s.ack sh -c 'exec 7>%s.ctl 8<%s.ack; "
           "say() { echo \"$*\" >&7; read x <&8; test \"$x\" = ack || exit 9; "
           "}; %s'",
           options, path, path, path, path, script);
  memset(&last, 0, sizeof(last));
  record_run_run(&last, RECORD_PATH, words);
  tool_run_expect_status(&last, 0);
}

static void sequence_of_commands_decides_what_is_recorded(void **state) {
  record_run_count_t count;

  support_need_tracepoint(__func__, CALL_SERVER_EVENT);
  record("-D -1 -e " CALL_SERVER_EVENT,
         CALLS "100; say enable; " CALLS "200; say ping; say disable; " CALLS
               "400; say enable; " CALLS "800; say disable");
  record_run_count(&count);
  assert_int_equal(count.nr_of_event[0], 1000);
  /* Processes that were not sampled have names, too. */
  assert_true(count.nr_of_type[PERF_RECORD_COMM] >= 4 + 1);
}

static void single_events_are_turned_on_and_off_by_their_names(void **state) {
  record_run_count_t count;

  support_need_tracepoint(__func__, CALL_SERVER_EVENT);
  record("-D -1 -e '{page-faults/period=1/u," CALL_SERVER_EVENT "}'",
         "say enable " CALL_SERVER_EVENT "; " CALLS
         "10; say enable page-faults/period=1/u; " CALLS
         "20; say disable " CALL_SERVER_EVENT "; " CALLS
         "40; say enable no-such-event");
  tool_run_expect_text(last.err, "Event " CALL_SERVER_EVENT " disabled\n");
  tool_run_expect_text(last.err, "'no-such-event'");
  record_run_count(&count);
  /* A member of a group counts only while its leader counts. */
  assert_int_equal(count.nr_of_event[1], 20);
  assert_true(count.nr_of_event[0] > 20);
}

static void stop_ends_the_recording(void **state) {
  support_need_own_events(__func__);
  record("-e cpu-clock:u", "say stop; while :; do sleep 1; done");
  tool_run_expect_text(last.err, "record: wrote ");
}

static void snapshot_finishes_a_file_before_it_is_acknowledged(void **state) {
  record_run_count_t count;
  glob_t files;

  support_need_tracepoint(__func__, CALL_SERVER_EVENT);
  record("--switch-output -e " CALL_SERVER_EVENT,
         CALLS "100; say snapshot; " CALLS "200");
  assert_int_equal(record_run_files(&files), 4); /* two are the FIFOs */
  record_run_count_file(files.gl_pathv[0], &count);
  assert_int_equal(count.nr_of_event[0], 100);
  record_run_count_file(files.gl_pathv[1], &count);
  assert_int_equal(count.nr_of_event[0], 200);
  globfree(&files);
}

static void snapshot_without_switch_output_is_reported(void **state) {
  support_need_own_events(__func__);
  record("-e cpu-clock:u", "say snapshot; say evlist");
  tool_run_expect_text(last.err, "--switch-output");
  tool_run_expect_text(last.err, "\ncpu-clock:u\n");
}

/* -- what another process may do ------------------------------------------- */

/* No sample is lost, and the messages do not fill the terminal. */
static void recording_goes_on_with_garbage(void **state) {
  tool_run_t run = {
      .args = {"/bin/sh", "-c",
               "{ head -c 200000 /dev/zero | tr '\\0' x; printf '\\n'; yes | "
               "head -n 20000; } | \"$0\" -o \"$2\" --control fd:0 -e "
               "page-faults:u -c 1 -- sh -c '\"$0\" touch 5000; sleep 0.2' "
               "\"$1\"",
               RECORD_PATH, STAT_TARGET, record_run_path()}};
  record_run_count_t count;

  support_need_own_events(__func__);
  tool_run_exits(&run, 0);
  tool_run_expect_text(run.err, " 512 bytes ");
  assert_true(strlen(run.err) < 2000);
  record_run_count(&count);
  assert_true(count.nr_of_event[0] >= 5000);
}

static void fifo_that_is_not_there_leaves_the_file_alone(void **state) {
  support_need_own_events(__func__);
  memset(&last, 0, sizeof(last));
  record_run_run(&last, RECORD_PATH,
                 "--control fifo:/nonexistent/fifo -- echo ran");
  tool_run_expect_status(&last, 1);
  tool_run_expect_text(last.err, "--control: /nonexistent/fifo: ");
  assert_string_equal(last.out, "");
  assert_int_equal(access(record_run_path(), F_OK), -1);
}

/* Another process could fill the terminal. */
static void messages_about_commands_end(void **state) {
  static const char *const commands[] = {"snapshot", "enable foo"};
  char script[256];
  size_t i, j, nr;

  support_need_own_events(__func__);
  for (i = 0; i < 2; i++) {
    memset(&last, 0, sizeof(last));
    snprintf(script, sizeof(script),
             "(yes %s | head -n 999; echo stop) | exec %s -o %s --control fd:0 "
             "-e cpu-clock:u -p $$",
             commands[i], RECORD_PATH, record_run_path());
    last.args[0] = "/bin/sh";
    last.args[1] = "-c";
    last.args[2] = script;
    tool_run(&last);
    tool_run_expect_text(last.err, "--control: ");
    for (j = nr = 0; last.err[j] != '\0'; j++)
      nr += last.err[j] == '\n';
    assert_true(nr < 25);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      record_run_test(sequence_of_commands_decides_what_is_recorded),
      record_run_test(single_events_are_turned_on_and_off_by_their_names),
      record_run_test(stop_ends_the_recording),
      record_run_test(snapshot_finishes_a_file_before_it_is_acknowledged),
      record_run_test(snapshot_without_switch_output_is_reported),
      record_run_test(recording_goes_on_with_garbage),
      record_run_test(messages_about_commands_end),
      record_run_test(fifo_that_is_not_there_leaves_the_file_alone),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
