/* SPDX-License-Identifier: MIT */
/* Lines of cores (--per-core) and of threads (--per-thread). */
#include <stdlib.h>

#include "call_server.h"
#include "stat/lines.h"
#include "stat/places.h"
#include "stat_fields.h"
#include "stat_table.h"

/* -- threads --------------------------------------------------------------- */

static void serve_100(tool_run_t *run) {
  call_server_calls(run->data, 100);
}

/* Expects that line `index` is of the thread with this name or this id. */
static void expect_thread(const char *text, size_t index, const char *name,
                          const char *id, const char *value) {
  stat_fields_t line;

  assert_true(stat_fields_line(text, ',', 8, index, &line));
  if (id != NULL)
    assert_non_null(strstr(line.field[0], id));
  if (name != NULL)
    assert_int_equal(strncmp(line.field[0], name, strlen(name)), 0);
  assert_string_equal(line.field[1], value);
  assert_string_equal(line.field[3], CALL_SERVER_EVENT);
}

static call_server_t serve;

/* Runs it with a team of threads, which make 100 calls each while it counts. */
static void run_with_team(tool_run_t *run) {
  call_server_start_team(&serve, TARGET_PATH);
  run->interrupt_at = "counting";
  run->work = serve_100;
  run->data = &serve;
  tool_run(run);
  call_server_end(&serve);
  tool_run_expect_status(run, 0);
}

/* A thread that was created after counting began is added to its creator's
 * line. */
static void threads_of_a_process_have_a_line_each(void **state) {
  tool_run_t run = {.args = {STAT_PATH, "--per-thread", "-v", "-x,", "-e",
                             CALL_SERVER_EVENT, "-p", serve.id}};

  support_need_tracepoint(__func__, CALL_SERVER_EVENT);
  run_with_team(&run);
  expect_thread(run.err, 0, NULL, serve.id, "300");
  expect_thread(run.err, 1, "two-", NULL, "200");
  expect_thread(run.err, 2, "one-", NULL, "100");
}

static void serve_100_and_end(tool_run_t *run) {
  call_server_calls(run->data, 100);
  call_server_end(run->data);
}

/* Threads keep their names after they have ended. */
static void threads_that_end_keep_their_lines(void **state) {
  tool_run_t run = {.args = {STAT_PATH, "--per-thread", "-v", "-x,", "-I",
                             "20000", "-e", CALL_SERVER_EVENT, "-p", serve.id}};
  const char *text;

  support_need_tracepoint(__func__, CALL_SERVER_EVENT);
  call_server_start_team(&serve, TARGET_PATH);
  tool_run_calls(&run, "counting", serve_100_and_end, &serve);
  tool_run_exits(&run, 0);
  text = strstr(run.err, ",two-");
  assert_non_null(text);
  text = strchr(text + 1, ',');
  assert_int_equal(strncmp(text, ",200,,", 6), 0);
  tool_run_expect_text(run.err, ",one-");
}

/* Only threads with a count have a line. */
static void threads_of_the_machine_are_counted(void **state) {
  tool_run_t run = {.args = {STAT_PATH, "--per-thread", "-v", "-j", "-e",
                             CALL_SERVER_EVENT ",software/config=99/"}};
  const char *line;
  size_t nr = 0;

  support_need_cpu_wide(__func__);
  support_need_tracepoint(__func__, CALL_SERVER_EVENT);
  run_with_team(&run);
  for (line = run.err; (line = strstr(line, "{\"thread\":")) != NULL; line++)
    nr++;
  assert_int_equal(nr, 3);
  tool_run_expect_text(run.err, "{\"thread\":\"two-");
  tool_run_expect_text(run.err, "\"counter-value\":\"300.000000\"");
}

/* -- cores ----------------------------------------------------------------- */

static void cores_add_up_to_what_the_command_did(void **state) {
  tool_run_t run = {.args = {STAT_PATH, "-a", "--per-core", "-x,", "-e",
                             CALL_SERVER_EVENT, TARGET_PATH, "children", "20",
                             "50"}};
  stat_fields_t line;

  support_need_cpu_wide(__func__);
  support_need_tracepoint(__func__, CALL_SERVER_EVENT);
  tool_run_exits(&run, 0);
  assert_int_equal(stat_fields_sum(run.err, CALL_SERVER_EVENT, 2), 1000);
  assert_true(stat_fields_line(run.err, ',', 9, 0, &line));
  assert_int_equal(line.field[0][0], 'S');
  assert_true(strtoul(line.field[1], NULL, 10) >= 1);
}

/* The id of a CPU does not show which core it belongs to. */
static stat_cpu_t cpus[] = {
    {0, 0, 0, 0, 0}, {4, 0, 0, 0, 0}, {2, 0, 1, 0, 1}, {1, 1, 0, 0, 2}};

static void place_belongs_to_the_core_of_its_cpu(void **state) {
  const stat_places_t places = {.cpus = cpus, .nr_cpus = 4};
  uvperf_place_t place = {.pid = 17, .cpu = 4};

  assert_int_equal(stat_places_id(&places, STAT_BY_CORE, &place), 0);
  place.cpu = 1;
  assert_int_equal(stat_places_id(&places, STAT_BY_CORE, &place), 2);
  place.cpu = 9;
  assert_int_equal(stat_places_id(&places, STAT_BY_CORE, &place), -1);
  assert_int_equal(stat_places_id(&places, STAT_BY_THREAD, &place), 17);
  assert_int_equal(stat_places_id(NULL, STAT_BY_CPU, &place), 9);
}

/* -- order and output ------------------------------------------------------ */

static void sort(stat_table_t *table, enum stat_by by) {
  stat_lines_t lines = {.lines = table->lines, .nr = table->report.nr_lines};

  table->report.by = by;
  stat_lines_sort(&lines, by);
}

static void cores_have_all_their_events_together(void **state) {
  static const stat_place_t places[] = {{0, "S0-D0-C0"}, {1, "S0-D0-C12"}};
  stat_table_t table;
  size_t i;

  stat_table_init(&table);
  stat_table_add(&table, "a", 1)->place = 0;
  stat_table_line(&table, 0, 1, 2);
  stat_table_add(&table, "b", 3)->place = 0;
  stat_table_line(&table, 1, 1, 4);
  for (i = 0; i < 4; i++)
    table.lines[i].nr_cpus = 2;
  table.report.places = places;
  table.report.nr_places = 2;
  sort(&table, STAT_BY_CORE);
  stat_table_expect(&table, stat_text_lines,
                    "S0-D0-C0           2                  1      a\n"
                    "S0-D0-C0           2                  3      b\n"
                    "S0-D0-C12          2                  2      a\n"
                    "S0-D0-C12          2                  4      b\n");
  stat_table_expect_part(&table, stat_json_lines,
                         "{\"core\":\"S0-D0-C12\",\"aggregate-number\":2,"
                         "\"counter-value\":\"2.000000\"",
                         1);
  table.report.is_interval = 1;
  stat_table_expect(&table, stat_text_head,
                    "#           time core            cpus             counts "
                    "unit events\n");
}

static void each_group_of_cpus_has_its_columns(void **state) {
  static const struct {
    enum stat_by by;
    const char *head, *line, *object;
  } groups[] = {{STAT_BY_DIE, " die          cpus ",
                 "x               4        ",
                 "{\"interval\":0.000000000,\"die\":\"x\","},
                {STAT_BY_SOCKET, " socket cpus ", "x         4        ",
                 "{\"interval\":0.000000000,\"socket\":\"x\","},
                {STAT_BY_NODE, " node   cpus ", "x         4        ",
                 "{\"interval\":0.000000000,\"node\":\"x\","}};
  static const stat_place_t place = {0, "x"};
  stat_table_t table;
  size_t i;

  stat_table_init(&table);
  table.report.is_interval = 1;
  table.report.places = &place;
  table.report.nr_places = 1;
  stat_table_add(&table, "a", 1)->place = 0;
  table.lines[0].nr_cpus = 4;
  for (i = 0; i < COUNT_OF(groups); i++) {
    table.report.by = groups[i].by;
    stat_table_expect_part(&table, stat_text_head, groups[i].head, 1);
    stat_table_expect_part(&table, stat_text_lines, groups[i].line, 1);
    stat_table_expect_part(&table, stat_json_lines, groups[i].object, 1);
  }
}

/* A thread that was not counted comes after one that counted 0. A thread that
 * has ended is <not counted>, not <not supported>. */
static void threads_that_did_most_come_first(void **state) {
  static const stat_place_t places[] = {{7, "a\033b"}, {20, "two"}};
  stat_table_t table;

  stat_table_init(&table);
  stat_table_add(&table, "a", 0)->place = 30;
  table.lines[0].count.state = UVPERF_COUNT_NOT_AVAILABLE;
  table.lines[0].count.code = UV_ESRCH;
  stat_table_line(&table, 0, 7, 0);
  stat_table_line(&table, 0, 20, 5);
  table.report.places = places;
  table.report.nr_places = 2;
  sort(&table, STAT_BY_THREAD);
  stat_table_expect(&table, stat_text_lines,
                    "             two-20                        5      a\n"
                    "             a?b-7                         0      a\n"
                    "                -30            <not counted>      a\n");
  table.report.hide_idle = 1;
  stat_table_expect(&table, stat_text_lines,
                    "             two-20                        5      a\n");
  table.report.is_interval = 1;
  stat_table_expect(&table, stat_text_head,
                    "#           time             comm-pid                  "
                    "counts unit events\n");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(threads_of_a_process_have_a_line_each),
      cmocka_unit_test(threads_that_end_keep_their_lines),
      cmocka_unit_test(threads_of_the_machine_are_counted),
      cmocka_unit_test(cores_add_up_to_what_the_command_did),
      cmocka_unit_test(place_belongs_to_the_core_of_its_cpu),
      cmocka_unit_test(cores_have_all_their_events_together),
      cmocka_unit_test(each_group_of_cpus_has_its_columns),
      cmocka_unit_test(threads_that_did_most_come_first),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
