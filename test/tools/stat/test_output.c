/* SPDX-License-Identifier: MIT */
/* The forms, files and intervals in which stat writes its counts. */
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "call_server.h"
#include "json_check.h"
#include "live.h"
#include "stat_fields.h"
#include "tool_rows.h"

static void need_calls(const char *test) {
  support_need_cpu_wide(test);
  support_need_tracepoint(test, CALL_SERVER_EVENT);
}

/* -- forms ----------------------------------------------------------------- */

static stat_fields_t line;

static void fields_have_the_separator_that_is_asked_for(void **state) {
  tool_run_t run = {.args = {STAT_PATH, "-x", "\\t", "-e",
                             "task-clock," CALL_SERVER_EVENT, "--", TARGET_PATH,
                             "calls", "77"}};

  need_calls(__func__);
  tool_run_exits(&run, 0);
  assert_true(stat_fields_line(run.err, '\t', 7, 0, &line));
  assert_string_equal(line.field[1], "msec");
  assert_string_equal(line.field[2], "task-clock");
  assert_string_equal(line.field[4], "100.00");
  assert_string_equal(line.field[6], "CPUs utilized");
  assert_true(stat_fields_line(run.err, '\t', 7, 1, &line));
  assert_string_equal(line.field[0], "77");
  assert_string_equal(line.field[1], "");
  assert_string_equal(line.field[2], CALL_SERVER_EVENT);
  assert_non_null(strstr(line.field[6], "/sec"));
  assert_false(stat_fields_line(run.err, '\t', 1, 2, &line));
}

/* Expects that each line is a JSON object, and that there are at least
 * `least`. */
static void expect_json(const char *text, size_t least) {
  size_t nr = 0, size;
  char object[4096];

  for (; *text != '\0'; text += size + 1) {
    size = strcspn(text, "\n");
    assert_true(size < sizeof(object));
    snprintf(object, sizeof(object), "%.*s", (int)size, text);
    if (!json_is_object(object))
      print_error("no JSON: %s\n", object);
    assert_true(json_is_object(object));
    nr++;
  }
  assert_true(nr >= least);
}

static void json_is_an_object_a_line(void **state) {
  tool_run_t run = {.args = {STAT_PATH, "--json", "-e",
                             "task-clock/name=a \"\\\xff\033b/,cycles,"
                             "page-faults," CALL_SERVER_EVENT,
                             "--", TARGET_PATH, "calls", "88"}};

  need_calls(__func__);
  tool_run_exits(&run, 0);
  expect_json(run.err, 4);
  /* The command has ended, but its counts are valid. */
  assert_null(strstr(run.err, "\"state\":\"gone\""));
  tool_run_expect_text(run.err, "\"state\":\"counting\"");
  tool_run_expect_text(run.err, "\"counter-value\":\"88.000000\"");
  tool_run_expect_text(run.err, "\"event\":\"" CALL_SERVER_EVENT "\"");
}

static void json_of_intervals_and_cpus_is_valid(void **state) {
  tool_run_t run = {.args = {STAT_PATH, "-j", "-a", "--per-cpu", "-I", "5",
                             "--interval-count", "2"}};

  support_need_cpu_wide(__func__);
  tool_run_exits(&run, 0);
  expect_json(run.err, 16);
  tool_run_expect_text(run.err, "{\"interval\":0.0");
  tool_run_expect_text(run.err, "\"cpu\":\"0\"");
}

/* Runs it with a file of this content, and reads the file. */
static void run_into(tool_run_t *run, char *path, const char *before,
                     char *text, size_t size) {
  int fd = mkstemp(path);

  assert_true(fd >= 0);
  assert_int_equal(write(fd, before, strlen(before)), strlen(before));
  tool_run(run);
  assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
  while (tool_run_append(fd, text, size))
    continue;
  close(fd);
  unlink(path);
  tool_run_expect_status(run, 0);
}

/* With -o only the command writes to stderr. */
static void file_receives_the_table_and_nothing_else(void **state) {
  char path[] = "/tmp/uvperf-stat-XXXXXX", text[4096] = "";
  tool_run_t run = {.args = {STAT_PATH, "-o", path, "-e", "page-faults,cycles",
                             "sh", "-c", "echo mine >&2"}};

  support_need_kernel_side(__func__);
  run_into(&run, path, "what was there before", text, sizeof(text));
  assert_string_equal(run.err, "mine\n");
  assert_null(strstr(text, "there before"));
  tool_run_expect_text(text, "page-faults");
  tool_run_expect_text(text, "seconds time elapsed");
}

/* The old content stays, and each table begins with its start time. */
static void appended_table_stands_behind_the_file(void **state) {
  char path[] = "/tmp/uvperf-stat-XXXXXX", text[4096] = "";
  tool_run_t run = {
      .args = {STAT_PATH, "--append", "-o", path, "-e", "page-faults", "true"}};

  support_need_own_events(__func__);
  run_into(&run, path, "what was there before\n", text, sizeof(text));
  tool_run_expect_text(text, "what was there before\n# started on ");
  tool_run_expect_text(text, "page-faults");
}

static void table_goes_to_a_file_that_is_open(void **state) {
  tool_run_t run = {.args = {"/bin/sh", "-c",
                             "\"$0\" --log-fd 7 -e page-faults -- sh -c "
                             "'echo mine >&2' 7>&1",
                             STAT_PATH}};

  support_need_own_events(__func__);
  tool_run_exits(&run, 0);
  assert_string_equal(run.err, "mine\n");
  tool_run_expect_text(run.out, "page-faults");
}

/* -- intervals ------------------------------------------------------------- */

/* No call is lost between two intervals or at the end. */
static void intervals_add_up_to_what_the_command_did(void **state) {
  tool_run_t run = {.args = {STAT_PATH, "-I", "20", "-x,", "-e",
                             CALL_SERVER_EVENT, "--", TARGET_PATH, "children",
                             "20", "5000"}};
  double at = 0, before = 0;
  size_t i;

  need_calls(__func__);
  tool_run_exits(&run, 0);
  assert_int_equal(stat_fields_sum(run.err, CALL_SERVER_EVENT, 1), 100000);
  for (i = 0; stat_fields_line(run.err, ',', 8, i, &line); i++) {
    at = strtod(line.field[0], NULL);
    assert_true(at > before);
    before = at;
  }
  assert_true(i >= 2);
}

/* The summary is the sum of the intervals. */
static void summary_follows_the_intervals(void **state) {
  tool_run_t run = {.args = {STAT_PATH, "-I", "5", "--summary", "-x,", "-e",
                             CALL_SERVER_EVENT, TARGET_PATH, "children", "20",
                             "500"}};
  const char *summary;

  need_calls(__func__);
  tool_run_exits(&run, 0);
  assert_int_equal(stat_fields_sum(run.err, CALL_SERVER_EVENT, 1), 20000);
  summary = strstr(run.err, "\nsummary,10000,," CALL_SERVER_EVENT ",");
  assert_non_null(summary);
  assert_int_equal(strchr(summary + 1, '\n')[1], '\0');
}

static void command_shorter_than_an_interval_has_one(void **state) {
  tool_run_t run = {.args = {STAT_PATH, "-I", "100000", "-x,", "-e",
                             CALL_SERVER_EVENT, "--", TARGET_PATH, "calls",
                             "31"}};

  need_calls(__func__);
  tool_run_exits(&run, 0);
  assert_true(stat_fields_line(run.err, ',', 8, 0, &line));
  assert_string_equal(line.field[1], "31");
  assert_false(stat_fields_line(run.err, ',', 8, 1, &line));
}

static void serve_then_end(tool_run_t *run) {
  call_server_t *serve = run->data;

  call_server_calls(serve, 1000);
  call_server_calls(serve, 300);
  call_server_end(serve);
}

static void intervals_of_a_process_end_with_it(void **state) {
  call_server_t serve;
  tool_run_t run = {.args = {STAT_PATH, "-v", "-I", "2", "-x,", "-e",
                             CALL_SERVER_EVENT, "-p", serve.id}};

  need_calls(__func__);
  call_server_start(&serve, TARGET_PATH);
  tool_run_calls(&run, "counting", serve_then_end, &serve);
  tool_run_exits(&run, 0);
  assert_int_equal(stat_fields_sum(run.err, CALL_SERVER_EVENT, 1), 1300);
}

static void intervals_end_after_their_number(void **state) {
  tool_run_t run = {.args = {STAT_PATH, "-I", "3", "--interval-count", "4",
                             "-x,", "-e", "task-clock", "--", TARGET_PATH,
                             "spin"}};

  support_need_kernel_side(__func__);
  tool_run_exits(&run, 0);
  assert_true(stat_fields_line(run.err, ',', 8, 3, &line));
  assert_false(stat_fields_line(run.err, ',', 8, 4, &line));
}

/* After Ctrl-C, the interval that has begun is printed too. */
static void interrupted_intervals_end_with_a_shorter_one(void **state) {
  tool_run_t run = {.args = {STAT_PATH, "-v", "-I", "100000", "-x,", "-a", "-e",
                             "cpu-clock"}};

  support_need_cpu_wide(__func__);
  run.interrupt_at = "counting";
  tool_run_exits(&run, 0);
  assert_true(stat_fields_line(run.err, ',', 8, 0, &line));
  assert_false(stat_fields_line(run.err, ',', 8, 1, &line));
}

#define HEADING "#           time             counts unit events\n"

static const tool_row_t rows[] = {
    {"table_cannot_go_to_a_file_that_is_closed", NULL,
     "--log-fd 77 -- echo ran", 1, .err = "--log-fd: ", .out = "="},
    /* A name could otherwise change the terminal's title, for example. */
    {"control_characters_are_not_printed", support_need_kernel_side,
     "-v -e task-clock/name=a\033]b/ sh -c 'exit 0 # \033]0;c\a'", 0,
     .err = "a?]b|!\033"},
    /* The heading is printed again after 25 intervals. */
    {"intervals_have_a_heading_and_times", support_need_cpu_wide,
     "-I 2 --interval-count 30 -a -e cpu-clock", 0,
     .err = "^" HEADING "|\n" HEADING "|!seconds time elapsed"},
    /* The run returns when stat has ended, because stat has our pipe. */
    {"reader_that_goes_ends_the_intervals", support_need_cpu_wide,
     "/bin/sh -c '" STAT_PATH " -I 5 -a -e cpu-clock 2>&1 >/dev/null | "
     "head -n 2'",
     0, .out = "cpu-clock"},
    {"reader_that_goes_ends_the_runs", support_need_kernel_side,
     "/bin/sh -c '" STAT_PATH " -r 0 -x, -e task-clock true 2>&1 >/dev/null | "
     "head -n 2'",
     0, .out = "task-clock"},
};

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(fields_have_the_separator_that_is_asked_for),
      cmocka_unit_test(json_is_an_object_a_line),
      cmocka_unit_test(json_of_intervals_and_cpus_is_valid),
      cmocka_unit_test(file_receives_the_table_and_nothing_else),
      cmocka_unit_test(appended_table_stands_behind_the_file),
      cmocka_unit_test(table_goes_to_a_file_that_is_open),
      cmocka_unit_test(intervals_add_up_to_what_the_command_did),
      cmocka_unit_test(summary_follows_the_intervals),
      cmocka_unit_test(command_shorter_than_an_interval_has_one),
      cmocka_unit_test(intervals_of_a_process_end_with_it),
      cmocka_unit_test(intervals_end_after_their_number),
      cmocka_unit_test(interrupted_intervals_end_with_a_shorter_one),
  };

  return tool_rows_main(STAT_PATH, rows, COUNT_OF(rows), tests,
                        COUNT_OF(tests));
}
