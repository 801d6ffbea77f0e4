/* SPDX-License-Identifier: MIT */
/* How stat prints counts for programs: as the fields of `perf stat -x` and the
 * objects of `perf stat -j`, of Linux 6.1. */
#include <locale.h>

#include "json_check.h"
#include "stat_table.h"
#include "support.h"
#include "make_tree.h"

static void print_commas(FILE *file, const stat_report_t *report) {
  stat_csv_lines(file, ",", report);
}

static void print_tabs(FILE *file, const stat_report_t *report) {
  stat_csv_lines(file, "\t", report);
}

static void print_dots(FILE *file, const stat_report_t *report) {
  stat_csv_lines(file, ".", report);
}

static void print_words(FILE *file, const stat_report_t *report) {
  stat_csv_lines(file, ", ", report);
}

static stat_table_t table; /* each test makes a new one */

/* Fails unless each line is an object of its own. */
static void expect_objects(size_t nr) {
  char *text = stat_table_print(&table, stat_json_lines), *line, *end;
  size_t found = 0;

  for (line = text; *line != '\0'; line = end + 1) {
    end = strchr(line, '\n');
    assert_non_null(end);
    *end = '\0';
    if (!json_is_object(line))
      fail_msg("this is no object: %s", line);
    found++;
  }
  assert_int_equal(found, nr);
  free(text);
}

/* Fills a table with counts for which perf-stat(1) printed the lines that are
 * expected below. */
static void fill_software(void) {
  stat_line_t *line;

  stat_table_init(&table);
  table.report.elapsed_ns = 866000;
  line = stat_table_add(&table, "task-clock", 462457);
  line->count.time_enabled = line->count.time_running = 462457;
  line = stat_table_add(&table, "context-switches", 0);
  line->count.time_enabled = line->count.time_running = 462457;
  line = stat_table_add(&table, "cycles", 0);
  line->count.time_enabled = line->count.time_running = 0;
  line->count.state = UVPERF_COUNT_NOT_AVAILABLE;
  line->count.nr_counts = 0;
  line->count.nr_missing = 1;
  line->why = "there is no PMU";
  line = stat_table_add(&table, "page-faults", 49);
  line->count.time_enabled = line->count.time_running = 462457;
}

static void fields_are_those_of_perf_stat(void **state) {
  fill_software();
  stat_table_expect(&table, print_commas,
                    "0.46,msec,task-clock,462457,100.00,0.534,CPUs utilized\n"
                    "0,,context-switches,462457,100.00,0.000,/sec\n"
                    "<not supported>,,cycles,0,100.00,,\n"
                    "49,,page-faults,462457,100.00,105.956,K/sec\n");
}

static void fields_of_runs_have_the_deviation(void **state) {
  size_t i;

  fill_software();
  table.report.nr_runs = 3;
  table.lines[0].deviation = 1.9;
  for (i = 0; i < 4; i++) /* a sum over the runs */
    table.lines[i].count.time_running = table.lines[i].count.time_enabled *= 3;
  stat_table_expect(
      &table, print_commas,
      "0.46,msec,task-clock,1.90%,462457,100.00,0.534,CPUs utilized\n"
      "0,,context-switches,0.00%,462457,100.00,0.000,/sec\n"
      "<not supported>,,cycles,0.00%,0,100.00,,\n"
      "49,,page-faults,0.00%,462457,100.00,105.956,K/sec\n");
}

static void fields_of_an_interval_begin_with_time_and_cpu(void **state) {
  fill_software();
  table.report.is_interval = 1;
  table.report.by = STAT_BY_CPU;
  table.report.at_ns = 1000000001;
  table.report.nr_lines = 0;
  stat_table_line(&table, 3, 0, 7);
  stat_table_line(&table, 3, 1, 0)->count.state = UVPERF_COUNT_NONE;
  stat_table_line(&table, 3, 12, 8);
  stat_table_line(&table, 3, -1, 9);
  stat_table_expect(
      &table, print_tabs,
      "1.000000001\tCPU0\t7\t\tpage-faults\t1500000000\t100.00\t\t\n"
      "1.000000001\tCPU12\t8\t\tpage-faults\t1500000000\t100.00\t\t\n"
      "1.000000001\t\t9\t\tpage-faults\t1500000000\t100.00\t\t\n");
  stat_table_expect_part(&table, stat_json_lines,
                         "{\"interval\":1.000000001,\"cpu\":\"12\",", 1);
  stat_table_expect_part(&table, stat_json_lines,
                         "{\"interval\":1.000000001,\"counter-value\":\"9", 1);
  expect_objects(3);
}

static void fields_and_objects_of_a_cgroup_name_it(void **state) {
  stat_table_init(&table);
  stat_table_add(&table, "stalled-cycles-backend", 50);
  stat_table_add(&table, "instructions", 100);
  table.events[0].cgroup = table.events[1].cgroup = "a,b";
  stat_table_expect(
      &table, print_commas,
      "50,,stalled-cycles-backend,\"a,b\",1500000000,100.00,,\n"
      "100,,instructions,\"a,b\",1500000000,100.00,0.50,stalled cycles per "
      "insn\n");
  stat_table_expect_part(&table, stat_json_lines,
                         "\"event\":\"instructions\",\"cgroup\":\"a,b\",", 1);
  stat_table_add(&table, "cycles", 200);
  table.events[2].cgroup = table.events[0].cgroup;
  stat_table_expect_part(&table, print_commas,
                         "\n,,,,,,0.50,stalled cycles per insn\n", 1);
  stat_table_expect_part(&table, stat_json_lines,
                         "\n{\"event\":\"instructions\",\"cgroup\":\"a,b\","
                         "\"metric-value\":0.500000,",
                         1);
  expect_objects(4);
}

/* The line of a second metric has a separator that perf-stat(1) forgets. */
static void second_metric_is_a_line_of_empty_fields(void **state) {
  stat_table_init(&table);
  stat_table_add(&table, "cycles", 200);
  stat_table_add(&table, "stalled-cycles-backend", 50);
  stat_table_add(&table, "instructions", 100)->count.time_running = 750000000;
  stat_table_expect(
      &table, print_commas,
      "200,,cycles,1500000000,100.00,,\n"
      "50,,stalled-cycles-backend,1500000000,100.00,25.00,backend cycles idle\n"
      "100,,instructions,750000000,50.00,0.50,insn per cycle\n"
      ",,,,,0.50,stalled cycles per insn\n");
  stat_table_expect_part(
      &table, stat_json_lines,
      "\n{\"event\":\"instructions\",\"metric-value\":0.500000,"
      "\"metric-unit\":\"stalled cycles per insn\"}\n",
      1);
  expect_objects(4);
  table.lines[2].count.nr_missing = 1;
  stat_table_expect_part(&table, print_commas,
                         "0.50,insn per cycle,1 of 2 missing\n"
                         ",,,,,0.50,stalled cycles per insn\n",
                         1);
  table.report.nr_runs = 2;
  table.report.is_interval = 1;
  stat_table_expect_part(&table, print_commas,
                         "\n0.000000000,,,,,,,0.50,stalled cycles per insn\n",
                         1);
}

static void fields_with_the_separator_are_quoted(void **state) {
  stat_table_init(&table);
  stat_table_add(&table, "cpu/event=1,umask=\"2\"/", 5);
  stat_table_add(&table, "a b.c", 6);
  stat_table_add(&table, "d\r\n\033e", 7);
  stat_table_expect(&table, print_commas,
                    "5,,\"cpu/event=1,umask=\"\"2\"\"/\",1500000000,100.00,,\n"
                    "6,,a b.c,1500000000,100.00,,\n"
                    "7,,d???e,1500000000,100.00,,\n");
  stat_table_expect_part(&table, print_dots,
                         "6..\"a b.c\".1500000000.\"100.00\"..\n", 1);
  stat_table_expect_part(&table, print_words,
                         "5, , \"cpu/event=1,umask=\"\"2\"\"/\", 15", 1);
}

static void incomplete_value_has_one_more_field(void **state) {
  stat_line_t *line;

  stat_table_init(&table);
  line = stat_table_add(&table, "a", 5);
  line->count.nr_counts = 6;
  line->count.nr_missing = 2;
  line = stat_table_add(&table, "b", 0);
  line->count.state = UVPERF_COUNT_ERROR;
  line->count.code = UV_EBADF;
  line->why = "pinned, and no counter was free";
  line = stat_table_add(&table, "c", 0);
  line->count.state = UVPERF_COUNT_NEVER_SCHEDULED;
  line->count.time_running = 0;
  stat_table_expect(&table, print_commas,
                    "5,,a,1500000000,100.00,,,2 of 8 missing\n"
                    "<not counted>,,b,1500000000,100.00,,,"
                    "\"pinned, and no counter was free\"\n"
                    "<not counted>,,c,0,0.00,,\n");
  line->why = "busy";
  stat_table_expect(
      &table, stat_json_lines,
      "{\"counter-value\":\"5.000000\",\"unit\":\"\",\"event\":\"a\","
      "\"event-runtime\":1500000000,\"pcnt-running\":100.00,"
      "\"state\":\"counting\",\"counts\":6,\"missing\":2}\n"
      "{\"counter-value\":\"<not counted>\",\"unit\":\"\",\"event\":\"b\","
      "\"event-runtime\":1500000000,\"pcnt-running\":100.00,"
      "\"state\":\"error\",\"error\":\"pinned, and no counter was free\"}\n"
      "{\"counter-value\":\"<not counted>\",\"unit\":\"\",\"event\":\"c\","
      "\"event-runtime\":0,\"pcnt-running\":0.00,"
      "\"state\":\"never scheduled\",\"error\":\"busy\"}\n");
}

static void objects_have_the_keys_of_perf_stat(void **state) {
  fill_software();
  table.report.nr_runs = 2;
  table.lines[3].deviation = 0.675;
  stat_table_expect(
      &table, stat_json_lines,
      "{\"counter-value\":\"0.462457\",\"unit\":\"msec\","
      "\"event\":\"task-clock\",\"variance\":0.00,\"event-runtime\":231228,"
      "\"pcnt-running\":100.00,\"metric-value\":0.534015,"
      "\"metric-unit\":\"CPUs utilized\",\"state\":\"counting\"}\n"
      "{\"counter-value\":\"0.000000\",\"unit\":\"\","
      "\"event\":\"context-switches\",\"variance\":0.00,"
      "\"event-runtime\":231228,\"pcnt-running\":100.00,"
      "\"metric-value\":0.000000,\"metric-unit\":\"/sec\","
      "\"state\":\"counting\"}\n"
      "{\"counter-value\":\"<not supported>\",\"unit\":\"\","
      "\"event\":\"cycles\",\"variance\":0.00,\"event-runtime\":0,"
      "\"pcnt-running\":100.00,\"state\":\"not available\","
      "\"error\":\"there is no PMU\"}\n"
      "{\"counter-value\":\"49.000000\",\"unit\":\"\","
      "\"event\":\"page-faults\",\"variance\":0.68,\"event-runtime\":231228,"
      "\"pcnt-running\":100.00,\"metric-value\":105.955797,"
      "\"metric-unit\":\"K/sec\",\"state\":\"counting\"}\n");
  expect_objects(4);
}

/* Every byte, alone and after a lead byte of UTF-8, in all texts. */
static void names_of_any_bytes_are_one_line(void **state) {
  static const char *const leads[] = {"", "\xc2", "\xe2\x80", "\xf0\x9f\x98"};
  stat_line_t *line;
  char name[16];
  size_t i;
  int byte;

  stat_table_init(&table);
  line = stat_table_add(&table, name, 5);
  line->count.state = UVPERF_COUNT_ERROR;
  line->why = name;
  table.events[0].unit = name;
  for (i = 0; i < 4; i++) {
    for (byte = 1; byte < 256; byte++) {
      snprintf(name, sizeof(name), "a%s%cz", leads[i], byte);
      expect_objects(1);
      stat_table_expect_part(&table, print_commas, "\n", 1);
      stat_table_expect_part(&table, print_commas, "\033", 0);
    }
  }
}

static void number_that_is_none_is_not_counted(void **state) {
  stat_table_init(&table);
  stat_table_add(&table, "a", 0)->mean = 1e308 * 10;
  stat_table_add(&table, "b", 0)->mean = 1e308;
  stat_table_add(&table, "c", 0)->count.time_enabled = 0;
  stat_table_expect_part(&table, print_commas, "<not counted>,,a", 1);
  stat_table_expect_part(&table, print_commas, ",c,1500000000,100.00,", 1);
  expect_objects(3);
}

/* A locale with a decimal comma and a point between thousands, xx_XX. */
static void make_comma_locale(const make_tree_t *tree) {
  char command[512];
  int rc;

  make_tree_write(tree, "/ascii",
                  "CHARMAP\n<U0000>..<U007F> /x00 x\nEND CHARMAP\n");
  make_tree_write(tree, "/comma",
                  "LC_NUMERIC\ndecimal_point \",\"\nthousands_sep \".\"\n"
                  "grouping 3;3\nEND LC_NUMERIC\n");
  snprintf(command, sizeof(command),
           "localedef -c -f %s/ascii -i %s/comma %s/xx_XX >%s/said 2>&1",
           tree->root, tree->root, tree->root, tree->root);
  rc = system(command); /* it warns of everything that the locale lacks */
  (void)rc;
}

#define NO_LOCALE 77

/* Returns whether a report is printed as expected. It does not assert, because
 * it runs in a child. */
static int prints(stat_table_print_fn print, const char *expected) {
  char *text = stat_table_print(&table, print);
  int is_same = strcmp(text, expected) == 0;

  if (!is_same)
    print_error("printed:\n%s\n", text);
  free(text);
  return is_same;
}

/* This runs in a child, because glibc leaks the memory that it allocates for
 * LOCPATH. */
static int print_with_comma(void *arg) {
  const make_tree_t *tree = arg;

  setenv("LOCPATH", tree->root, 1);
  if (setlocale(LC_NUMERIC, "xx_XX") == NULL || strtod("0,5", NULL) < 0.5)
    return NO_LOCALE;
  stat_table_init(&table);
  stat_table_add(&table, "task-clock", UINT64_C(1234567891000));
  stat_table_add(&table, "x", 1234567);
  if (!prints(stat_text_lines,
              "      1.234.567,89 msec task-clock                       #  "
              "617,284 CPUs utilized\n"
              "         1.234.567      x                                #  "
              "999,999 /sec\n") ||
      !prints(print_commas,
              "1234567.89,msec,task-clock,1500000000,100.00,617.284,"
              "CPUs utilized\n"
              "1234567,,x,1500000000,100.00,999.999,/sec\n"))
    return 1;
  table.report.nr_lines = 1;
  table.report.nr_runs = 2;
  return !prints(stat_json_lines,
                 "{\"counter-value\":\"1234567.891000\",\"unit\":\"msec\","
                 "\"event\":\"task-clock\",\"variance\":0.00,"
                 "\"event-runtime\":750000000,\"pcnt-running\":100.00,"
                 "\"metric-value\":617.283945,"
                 "\"metric-unit\":\"CPUs utilized\",\"state\":\"counting\"}\n");
}

static void only_text_is_in_the_numbers_of_the_locale(void **state) {
  make_tree_t *tree = *state;
  int rc;

  make_comma_locale(tree);
  rc = support_wait(support_fork(print_with_comma, tree));
  if (rc == NO_LOCALE)
    support_skip(__func__, "localedef(1), for a locale with a decimal comma");
  assert_int_equal(rc, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(fields_are_those_of_perf_stat),
      cmocka_unit_test(fields_of_runs_have_the_deviation),
      cmocka_unit_test(fields_of_an_interval_begin_with_time_and_cpu),
      cmocka_unit_test(fields_and_objects_of_a_cgroup_name_it),
      cmocka_unit_test(second_metric_is_a_line_of_empty_fields),
      cmocka_unit_test(fields_with_the_separator_are_quoted),
      cmocka_unit_test(incomplete_value_has_one_more_field),
      cmocka_unit_test(objects_have_the_keys_of_perf_stat),
      cmocka_unit_test(names_of_any_bytes_are_one_line),
      cmocka_unit_test(number_that_is_none_is_not_counted),
      cmocka_unit_test_setup_teardown(only_text_is_in_the_numbers_of_the_locale,
                                      make_tree_setup, make_tree_teardown),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
