/* SPDX-License-Identifier: MIT */
/* --metric-only: rows of metrics. Most test machines have no hardware events,
 * so the reports are made up. */
#include "json_check.h"
#include "stat/columns.h"
#include "stat_table.h"
#include "tool_run.h"

#include <stdlib.h>

/* CPU 0 has counted everything, and CPU 1 no branches. There are no stalls. */
static void fill(stat_table_t *table) {
  static const struct {
    const char *label;
    uint64_t value;
  } events[] = {{"cycles", 400},
                {"instructions", 300},
                {"branches", 40},
                {"branch-misses", 5}};
  stat_line_t *line;
  size_t i;

  stat_table_init(table);
  table->report.by = STAT_BY_CPU;
  for (i = 0; i < 4; i++) {
    stat_table_add(table, events[i].label, events[i].value)->place = 0;
    line = stat_table_line(table, i, 1, 2 * events[i].value);
    if (i >= 2)
      line->count.state = UVPERF_COUNT_NOT_ENABLED;
  }
  stat_table_add(table, "stalled-cycles-frontend", 0)->count.state =
      UVPERF_COUNT_NOT_AVAILABLE;
  table->lines[table->report.nr_lines - 1].place = 0;
  stat_table_add(table, "page-faults", 9)->place = 0;
  stat_table_add(table, "cpu-clock", 100)->place = 0;
  stat_table_line(table, 6, 1, 400);
}

static stat_columns_t columns;

static void print_text(FILE *file, const stat_report_t *report) {
  stat_columns_find(&columns, report);
  stat_text_metrics_head(file, report, &columns);
  stat_text_metrics(file, report, &columns);
  stat_columns_free(&columns);
}

static void print_fields(FILE *file, const stat_report_t *report) {
  stat_columns_find(&columns, report);
  stat_csv_metrics_head(file, ",", report, &columns);
  stat_csv_metrics(file, ",", report, &columns);
  stat_columns_free(&columns);
}

static void print_objects(FILE *file, const stat_report_t *report) {
  stat_columns_find(&columns, report);
  stat_json_metrics(file, report, &columns);
  stat_columns_free(&columns);
}

/* The clock is needed for GHz; rates per second are left out. A name that is
 * wider than others has a wider column. */
static void row_has_the_metrics_of_its_cpu(void **state) {
  stat_table_t table;

  fill(&table);
  stat_table_expect(
      &table, print_text,
      "                            GHz       insn per cycle branch-misses of "
      "all branches\n"
      "CPU0                      4.000                0.75                    "
      "     12.50%\n"
      "CPU1                      2.000                0.75\n");
  table.report.is_interval = 1;
  table.report.at_ns = 1500000000;
  stat_table_expect_part(&table, print_text,
                         "#           time CPU                         GHz  ",
                         1);
  stat_table_expect_part(&table, print_text,
                         "     1.500000000 CPU1                      2.000  ",
                         1);
}

static void fields_and_objects_have_the_same_columns(void **state) {
  stat_table_t table;
  char *text, *line;

  fill(&table);
  stat_table_expect(&table, print_fields,
                    "cpu,GHz,insn per cycle,branch-misses of all branches,\n"
                    "CPU0,4.000,0.75,12.50,\n"
                    "CPU1,2.000,0.75,,\n");
  stat_table_expect(&table, print_objects,
                    "{\"cpu\":\"0\",\"GHz\":\"4.000\",\"insn per cycle\":"
                    "\"0.75\",\"branch-misses of all branches\":\"12.50\"}\n"
                    "{\"cpu\":\"1\",\"GHz\":\"2.000\",\"insn per cycle\":"
                    "\"0.75\"}\n");
  text = stat_table_print(&table, print_objects);
  line = strtok(text, "\n");
  assert_true(json_is_object(line));
  free(text);
}

static void columns_of_cgroups_name_them(void **state) {
  stat_table_t table;

  fill(&table);
  table.events[0].cgroup = table.events[1].cgroup = table.events[6].cgroup =
      "a,b";
  stat_table_expect_part(&table, print_fields,
                         "cpu,\"GHz a,b\",\"insn per cycle a,b\",", 1);
}

/* perf stat prints empty lines. */
static void software_events_alone_have_nothing_to_show(void **state) {
  tool_run_t run = {.args = {STAT_PATH, "--metric-only", "-j", "-e",
                             "page-faults,task-clock", "sh", "-c", "exit 3"}};

  support_need_own_events(__func__);
  tool_run_ends(&run, 3, "{}\n");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(row_has_the_metrics_of_its_cpu),
      cmocka_unit_test(fields_and_objects_have_the_same_columns),
      cmocka_unit_test(columns_of_cgroups_name_them),
      cmocka_unit_test(software_events_alone_have_nothing_to_show),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
