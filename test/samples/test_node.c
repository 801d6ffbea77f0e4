/* SPDX-License-Identifier: MIT */
/* Scripts of samples/node/ that check the add-on uvperf.node. Node has no
 * sanitizers. If the add-on is built with sanitizers, they are loaded before
 * Node. */
#include "tool_run.h"

#include <stdlib.h>
#include <unistd.h>

#define SCRIPTS UVPERF_TEST_DIR "/samples/node/"
#define EXAMPLE UVPERF_TEST_DIR "/../samples/node/example.js"

static void prepare(void) {
  setenv("UVPERF_ADDON", SAMPLE_PATH, 1);
  if (*SANITIZER_PATH != '\0') {
    setenv("LD_PRELOAD", SANITIZER_PATH, 1);
    /* Node does not free memory that lives as long as Node itself. */
    setenv("ASAN_OPTIONS", "detect_leaks=0:exitcode=99", 1);
  }
}

static void run_script(const char *test, const char *script,
                       const char *argument, int status) {
  tool_run_t run = {.args = {NODE_PATH, "--expose-gc", script, argument},
                    .prepare = prepare};

  support_need_own_events(test);
  tool_run(&run);
  tool_run_expect_status(&run, status);
  assert_string_equal(run.out, "");
  assert_string_equal(run.err, "");
}

static void counts_are_those_of_the_work(void **state) {
  run_script(__func__, SCRIPTS "counts.js", NULL, 0);
}

static void samples_are_of_the_busy_function(void **state) {
  run_script(__func__, SCRIPTS "samples.js", NULL, 0);
}

static void end_of_a_process_is_an_error(void **state) {
  run_script(__func__, SCRIPTS "end.js", NULL, 0);
}

static void process_ends_when_handles_are_closed_or_unrefd(void **state) {
  run_script(__func__, SCRIPTS "unref.js", NULL, 0);
}

static void exception_in_a_callback_is_uncaught(void **state) {
  run_script(__func__, SCRIPTS "throws.js", NULL, 0);
}

static void process_exit_with_live_handles_is_clean(void **state) {
  run_script(__func__, SCRIPTS "exit.js", "opening", 7);
  run_script(__func__, SCRIPTS "exit.js", "live", 7);
  run_script(__func__, SCRIPTS "exit.js", "callback", 7);
}

static void worker_ended_with_live_handles_is_clean(void **state) {
  run_script(__func__, SCRIPTS "worker.js", NULL, 0);
}

static void handle_without_a_callback_is_collected(void **state) {
  run_script(__func__, SCRIPTS "collected.js", NULL, 0);
}

static void two_copies_of_the_add_on_work(void **state) {
  run_script(__func__, SCRIPTS "twice.js", NULL, 0);
}

static void nobody_gets_errors_with_reasons(void **state) {
  run_script(__func__, SCRIPTS "denied.js", NULL, 0);
}

static void example_prints_counts_and_the_busy_function(void **state) {
  tool_run_t run = {.args = {NODE_PATH, "--perf-basic-prof",
                             "--no-short-builtin-calls", "--logfile=/dev/null",
                             "--no-logfile-per-isolate", EXAMPLE, SAMPLE_PATH,
                             "2"},
                    .prepare = prepare};
  char map[64];

  support_need_own_events(__func__);
  tool_run(&run);
  snprintf(map, sizeof(map), "/tmp/perf-%d.map", (int)run.pid);
  assert_int_equal(unlink(map), 0);
  tool_run_expect_status(&run, 0);
  tool_run_expect_text(run.out, "task-clock:u");
  tool_run_expect_text(run.out, "busy");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(counts_are_those_of_the_work),
      cmocka_unit_test(samples_are_of_the_busy_function),
      cmocka_unit_test(end_of_a_process_is_an_error),
      cmocka_unit_test(process_ends_when_handles_are_closed_or_unrefd),
      cmocka_unit_test(exception_in_a_callback_is_uncaught),
      cmocka_unit_test(process_exit_with_live_handles_is_clean),
      cmocka_unit_test(worker_ended_with_live_handles_is_clean),
      cmocka_unit_test(handle_without_a_callback_is_collected),
      cmocka_unit_test(two_copies_of_the_add_on_work),
      cmocka_unit_test(nobody_gets_errors_with_reasons),
      cmocka_unit_test(example_prints_counts_and_the_busy_function),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
