/* SPDX-License-Identifier: MIT */
/* Times that are events (duration_time), and counting that begins later
 * (-D). */
#include <stdlib.h>

#include "call_server.h"
#include "stat_fields.h"
#include "tool_rows.h"
#include "tool_usage.h"

static double value_of(const char *text, const char *event) {
  return (double)stat_fields_value(text, event);
}

/* The times are printed in the requested order, and are those of the command
 * alone. */
static void times_are_events_of_a_command(void **state) {
  static const char *const names[] = {"duration_time", "page-faults",
                                      "user_time", "system_time"};
  tool_run_t run = {.args = {STAT_PATH, "-x,", "-e",
                             "duration_time,page-faults,user_time,system_time",
                             "sh", "-c", "sleep 0.2; exit 5"}};
  stat_fields_t line;
  size_t i;

  support_need_own_events(__func__);
  tool_run_exits(&run, 5);
  for (i = 0; i < 4; i++) {
    assert_true(stat_fields_line(run.err, ',', 7, i, &line));
    assert_int_equal(strncmp(line.field[2], names[i], strlen(names[i])), 0);
    assert_string_equal(line.field[1], i == 1 ? "" : "ns");
  }
  assert_true(value_of(run.err, "duration_time") >= 0.2e9);
  assert_true(value_of(run.err, "user_time") +
                  value_of(run.err, "system_time") <
              value_of(run.err, "duration_time"));
}

/* Only the first CPU has a line for the time. */
static void times_of_a_machine_are_on_one_line(void **state) {
  tool_run_t run = {.args = {STAT_PATH, "-a", "-A", "-x,", "--timeout", "50",
                             "-e", "{duration_time,context-switches}"}};
  const char *first;

  support_need_cpu_wide(__func__);
  tool_run_exits(&run, 0);
  first = strstr(run.err, ",ns,duration_time,");
  assert_non_null(first);
  assert_null(strstr(first + 1, ",ns,duration_time,"));
}

/* Without a command, user_time and system_time are refused. With a command they
 * work, also together with -a. */
static void times_of_a_command_need_one(void **state) {
  static const tool_usage_t cases[] = {
      {{"-e", "user_time", "-a", "--timeout", "50"},
       "user_time is the time of a command, and none is given"},
      {{"-e", "duration_time,system_time", "-p", "1"}, "system_time"},
  };
  tool_run_t run = {.args = {STAT_PATH, "-a", "-x,", "-e",
                             "duration_time,user_time", "true"}};

  tool_usage_refused(STAT_PATH, cases, COUNT_OF(cases));
  support_need_cpu_wide(__func__);
  tool_run_ends(&run, 0, ",ns,user_time,");
  assert_null(strstr(run.err, "<not counted>"));
}

static void times_of_intervals_add_up(void **state) {
  tool_run_t run = {.args = {STAT_PATH, "-I", "50", "-x,", "-e",
                             "duration_time", "sleep", "0.2"}};
  double sum;

  support_need_own_events(__func__);
  tool_run_exits(&run, 0);
  sum = (double)stat_fields_sum(run.err, "duration_time", 1);
  assert_true(sum >= 0.2e9);
}

static void delay_leaves_out_what_comes_before(void **state) {
  static const char work[] = "\"$0\" calls 5; sleep 1; \"$0\" children 3 4";
  tool_run_t run = {.args = {STAT_PATH, "-D", "500", "-x,", "-e",
                             CALL_SERVER_EVENT ",duration_time", "/bin/sh",
                             "-c", work, TARGET_PATH}};

  support_need_tracepoint(__func__, CALL_SERVER_EVENT);
  tool_run_exits(&run, 0);
  assert_int_equal(stat_fields_value(run.err, CALL_SERVER_EVENT), 12);
  assert_true(value_of(run.err, "duration_time") >= 0.4e9);
}

/* The timeout and the intervals begin when counting begins. */
static void delay_comes_before_timeout_and_intervals(void **state) {
  tool_run_t run = {.args = {STAT_PATH, "--delay", "3000", "--timeout", "200",
                             "-I", "50", "-x,", "-e", "task-clock", "sleep",
                             "60"}};
  stat_fields_t line;
  size_t i = 0;

  support_need_own_events(__func__);
  tool_run(&run);
  assert_true(stat_fields_line(run.err, ',', 8, 0, &line));
  assert_true(strtod(line.field[0], NULL) < 3);
  while (stat_fields_line(run.err, ',', 8, i, &line))
    i++;
  assert_true(strtod(line.field[0], NULL) >= 0.19);
}

static const tool_row_t rows[] = {
    {"null_run_has_its_time_alone", NULL, "-n -r 2 sh -c 'exit 3'", 3,
     .err = "(2 runs):\n\n\n    |seconds time elapsed"},
    {"message_quotes_what_the_user_wrote", NULL,
     "-e \"cpu/name='duration_time,'/,{user_time , nosuch}\" true", 2,
     .err = "duration_time,'/,{user_time , nosuch}\n"},
    {"message_points_at_what_the_user_wrote", NULL,
     "-e 'duration_time,{user_time , nosuch}' true", 2,
     .err = "'nosuch'|  duration_time,{user_time , nosuch}\n|"
            "                             ^\n"},
    {"times_take_no_modifiers", NULL, "-e page-faults,user_time:k true", 2,
     .err = "user_time takes no modifiers or terms|  page-faults,user_time:k\n|"
            "                        ^\n"},
    {"times_in_a_group_take_no_modifiers", NULL,
     "-e {duration_time:u,page-faults} true", 2, .err = "duration_time"},
    {"times_take_no_terms", NULL, "-e system_time/period=1/ true", 2,
     .err = "system_time"},
    {"run_shorter_than_the_delay_counts_nothing", support_need_own_events,
     "-D 60000 -x, -e task-clock sh -c 'exit 6'", 6,
     .err = " 60000|<not counted>,msec,task-clock"},
    {"time_that_did_not_begin_did_not_run", NULL,
     "-D 60000 -j -e duration_time,user_time true", 0,
     .err = "\"event\":\"duration_time\"|\"state\":\"did not run\"|"
            "!\"state\":\"counting\""},
};

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(times_are_events_of_a_command),
      cmocka_unit_test(times_of_a_machine_are_on_one_line),
      cmocka_unit_test(times_of_a_command_need_one),
      cmocka_unit_test(times_of_intervals_add_up),
      cmocka_unit_test(delay_leaves_out_what_comes_before),
      cmocka_unit_test(delay_comes_before_timeout_and_intervals),
  };

  return tool_rows_main(STAT_PATH, rows, COUNT_OF(rows), tests,
                        COUNT_OF(tests));
}
