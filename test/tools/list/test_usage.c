/* SPDX-License-Identifier: MIT */
/* How list handles bad input, words without matches, and users who may not read
 * tracefs. */
#include "tool_run.h"
#include "tool_usage.h"

#include <sys/stat.h>

static void bad_options_exit_2_with_a_message(void **state) {
  static const tool_usage_t cases[] = {
      {{"--json=1"}, "'--json' takes no value"},
      {{"-Q"}, "unknown option '-Q'"},
      {{"hw", "-Q"}, "unknown option '-Q'"},
      {{"-vQ"}, "unknown option '-Q'"},
      {{"--yaml"}, "unknown option '--yaml'"},
      {{""}, "a pattern is empty"},
      {{"hw", ""}, "a pattern is empty"},
      {{"forms", "--json"}, "forms are not events"},
  };

  tool_usage_refused(LIST_PATH, cases, sizeof(cases) / sizeof(cases[0]));
}

static void word_without_matches_is_reported_with_a_similar_name(void **state) {
  static const struct {
    const char *word;
    const char *message;
  } cases[] = {
      {"cylces", "'cycles'"},
      {"contextswitches", "'context-switches'"},
      {"nothing*", "list: nothing matches 'nothing*'\n"},
      {"no thing,", "'no thing,'\n"},
      {"cycles:u", "type=0,config=0x0\n"},
      {"r1a8", "type=4,config=0x1a8\n"},
  };
  size_t i;

  for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
    tool_run_t run = {.args = {LIST_PATH, cases[i].word}};

    tool_run_exits(&run, 1);
    tool_run_expect_text(run.err, cases[i].message);
    assert_string_equal(run.out, "");
  }
}

static void word_without_matches_does_not_hide_the_others(void **state) {
  tool_run_t run = {.args = {LIST_PATH, "cylces", "cpu-cloc?"}};

  tool_run_ends(&run, 0, "'cylces'");
  assert_null(strstr(run.err, "'cpu-cloc?'"));
  assert_string_equal(run.out, "Software events\n  cpu-clock\n");
}

static void array_without_matches_is_empty(void **state) {
  tool_run_t run = {.args = {LIST_PATH, "-j", "nothing*"}};

  tool_run_exits(&run, 1);
  assert_string_equal(run.out, "[]\n");
}

static void words_after_two_dashes_are_patterns(void **state) {
  tool_run_t run = {.args = {LIST_PATH, "--", "--json"}};

  tool_run_ends(&run, 1, "'--json'");
}

/* -- tracefs that may not be read ----------------------------------------- */

static void need_tracefs_of_root(const char *test) {
  struct stat status;

  support_need_root(test);
  support_need_tracefs(test, "syscalls:sys_enter_getpgid");
  if (stat("/sys/kernel/tracing", &status) != 0 || (status.st_mode & 5) != 0)
    support_skip(test, "tracefs that is for root alone");
}

static void plain_user_learns_what_is_missing(void **state) {
  tool_run_t run = {.args = {LIST_PATH}, .as_nobody = 1};

  need_tracefs_of_root(__func__);
  tool_run_ends(&run, 0, "EACCES");
  tool_run_expect_text(run.err, "root");
  tool_run_expect_text(run.out, "\n  cpu-clock\n");
  tool_run_expect_text(run.out, "\nOther forms\n");
  assert_null(strstr(run.out, "Tracepoints"));
}

static void plain_user_gets_no_message_about_unwanted_kinds(void **state) {
  tool_run_t run = {.args = {LIST_PATH, "sw"}, .as_nobody = 1};

  support_need_root(__func__);
  tool_run_exits(&run, 0);
  assert_string_equal(run.err, "");
}

static void plain_user_gets_no_tracepoints(void **state) {
  tool_run_t run = {.args = {LIST_PATH, "--json", "tracepoint"},
                    .as_nobody = 1};

  need_tracefs_of_root(__func__);
  tool_run_ends(&run, 1, "EACCES");
  assert_string_equal(run.out, "[]\n");
}

/* -- the output ----------------------------------------------------------- */

/* With each number of fds, list either works or reports that there are too
 * few. */
static void few_fds_do_not_abort(void **state) {
  char number[12];
  int reported = 0, nr;

  for (nr = 4; nr < 24; nr++) {
    tool_run_t run = {.args = {"/bin/sh", "-c", "ulimit -n $1; exec \"$0\" hw",
                               LIST_PATH, number}};

    snprintf(number, sizeof(number), "%d", nr);
    tool_run(&run);
    /* If fds were inherited, even the loader may have too few. */
    assert_true(run.status <= 1 || run.status == 127);
    reported += run.status == 1 && strstr(run.err, "ulimit -n") != NULL;
  }
  assert_true(reported > 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(bad_options_exit_2_with_a_message),
      cmocka_unit_test(word_without_matches_is_reported_with_a_similar_name),
      cmocka_unit_test(word_without_matches_does_not_hide_the_others),
      cmocka_unit_test(array_without_matches_is_empty),
      cmocka_unit_test(words_after_two_dashes_are_patterns),
      cmocka_unit_test(plain_user_learns_what_is_missing),
      cmocka_unit_test(plain_user_gets_no_message_about_unwanted_kinds),
      cmocka_unit_test(plain_user_gets_no_tracepoints),
      cmocka_unit_test(few_fds_do_not_abort),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
