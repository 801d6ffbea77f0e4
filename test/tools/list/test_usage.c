/* SPDX-License-Identifier: MIT */
/* How list handles bad input, words without matches, and users who may not read
 * tracefs. */
#include "tool_rows.h"
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

  tool_usage_refused(LIST_PATH, cases, COUNT_OF(cases));
}

/* -- tracefs that may not be read ----------------------------------------- */

static void need_tracefs_of_root(const char *test) {
  struct stat status;

  support_need_root(test);
  support_need_tracefs(test, "syscalls:sys_enter_getpgid");
  if (stat("/sys/kernel/tracing", &status) != 0 || (status.st_mode & 5) != 0)
    support_skip(test, "tracefs that is for root alone");
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

static const tool_row_t rows[] = {
    {"misspelled_word_is_reported_with_a_similar_name", NULL, "cylces", 1,
     .err = "'cycles'", .out = "="},
    {"word_without_its_dash_is_reported_with_a_similar_name", NULL,
     "contextswitches", 1, .err = "'context-switches'", .out = "="},
    {"pattern_without_matches_is_reported", NULL, "nothing*", 1,
     .err = "list: nothing matches 'nothing*'\n", .out = "="},
    {"words_without_matches_are_reported", NULL, "'no thing,'", 1,
     .err = "'no thing,'\n", .out = "="},
    {"name_with_a_modifier_is_reported_with_its_numbers", NULL, "cycles:u", 1,
     .err = "type=0,config=0x0\n", .out = "="},
    {"raw_event_is_reported_with_its_numbers", NULL, "r1a8", 1,
     .err = "type=4,config=0x1a8\n", .out = "="},
    {"word_without_matches_does_not_hide_the_others", NULL, "cylces cpu-cloc?",
     0, .err = "'cylces'|!'cpu-cloc?'",
     .out = "=Software events\n  cpu-clock\n"},
    {"array_without_matches_is_empty", NULL, "-j nothing*", 1, .out = "=[]\n"},
    {"words_after_two_dashes_are_patterns", NULL, "-- --json", 1,
     .err = "'--json'"},
    {"plain_user_learns_what_is_missing", need_tracefs_of_root, "", 0,
     .err = "EACCES|root",
     .out = "\n  cpu-clock\n|\nOther forms\n|!Tracepoints", .as_nobody = 1},
    {"plain_user_gets_no_message_about_unwanted_kinds", support_need_root, "sw",
     0, .err = "=", .as_nobody = 1},
    {"plain_user_gets_no_tracepoints", need_tracefs_of_root,
     "--json tracepoint", 1, .err = "EACCES", .out = "=[]\n", .as_nobody = 1},
};

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(bad_options_exit_2_with_a_message),
      cmocka_unit_test(few_fds_do_not_abort),
  };

  return tool_rows_main(LIST_PATH, rows, COUNT_OF(rows), tests,
                        COUNT_OF(tests));
}
