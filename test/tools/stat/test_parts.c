/* SPDX-License-Identifier: MIT */
/* An event can have a part for each kind of cores. On a made-up machine, stat
 * shows the sum of the parts, or with --no-merge each part. */
#include "make_host.h"
#include "support.h"

#include <stdio.h>
#include <stdlib.h>

#include "count/reading.h"
#include "name/list.h"
#include "stat/lines.h"
#include "stat/report.h"

#define PMUS "/sys/bus/event_source/devices"

/* cycles, page-faults, instructions; and the second parts of two of these. */
#define NR_ATTRS 5

static int setup(void **state) {
  if (make_host_setup(state) != 0)
    return -1;
  make_host_write(PMUS "/cpu_core/type", "4\n");
  make_host_write(PMUS "/cpu_core/cpus", "0-1\n");
  make_host_write(PMUS "/cpu_atom/type", "10\n");
  make_host_write(PMUS "/cpu_atom/cpus", "2-3\n");
  return 0;
}

static uvperf_event_list_t *parse(void) {
  uvperf_event_list_t *list;

  assert_int_equal(
      uvperf_event_list_parse(&list, "cycles,page-faults,instructions", NULL),
      0);
  assert_int_equal(uvperf_event_list_count(list), NR_ATTRS);
  return list;
}

typedef struct place_s {
  int32_t pid;
  int32_t cpu;
  uvperf__cell_t cells[NR_ATTRS];
} place_t;

static uvperf_reading_t *read_places(const place_t *places, size_t nr) {
  static const uvperf__reading_origin_t origin = {&origin, 1};
  static const uint8_t flags[NR_ATTRS] = {
      UVPERF__READING_PART_TIME, 0, UVPERF__READING_PART_TIME,
      UVPERF__READING_PART_TIME | UVPERF__READING_PART,
      UVPERF__READING_PART_TIME | UVPERF__READING_PART};
  static const uint32_t next[NR_ATTRS] = {3, 0, 4, 0, 0};
  uvperf_reading_t *reading;
  size_t i, attr;

  assert_int_equal(uvperf_reading_new(&reading), 0);
  assert_int_equal(
      uvperf__reading_begin(reading, &origin, 0, 0, 100, NR_ATTRS, flags, nr),
      0);
  uvperf__reading_set_parts(reading, next);
  for (i = 0; i < nr; i++) {
    uvperf__reading_place(reading, i)->serial = i + 1;
    uvperf__reading_place(reading, i)->pid = places[i].pid;
    uvperf__reading_place(reading, i)->cpu = places[i].cpu;
    for (attr = 0; attr < NR_ATTRS; attr++)
      *uvperf__reading_cell(reading, attr, i) = places[i].cells[attr];
  }
  uvperf__reading_end(reading);
  return reading;
}

#define COUNTED(value, running)                                                \
  { value, 1000000, running, 0, UVPERF_COUNT_COUNTING, 0 }
#define NONE                                                                   \
  { 0, 0, 0, 0, UVPERF_COUNT_NONE, 0 }

static void expect(const place_t *places, size_t nr, enum stat_by by,
                   int no_merge, const char *wanted) {
  uvperf_event_list_t *list = parse();
  uvperf_reading_t *reading = read_places(places, nr);
  stat_event_t events[NR_ATTRS];
  stat_sums_t sums = {events, 1, by, list, no_merge, NULL};
  stat_lines_t lines = {NULL, NULL, 0, 0};
  stat_report_t report;
  char *text = NULL;
  size_t size, i;
  FILE *file;

  for (i = 0; i < NR_ATTRS; i++) {
    const uvperf_event_item_t *item = uvperf_event_list_get(list, i);
    int is_part = no_merge && item->part != NULL;

    events[i] = (stat_event_t){is_part ? item->part : item->label,
                               "",
                               1,
                               item->attr,
                               NULL,
                               STAT_TOOL_NONE};
  }
  stat_lines_read(&lines, &sums, reading);
  memset(&report, 0, sizeof(report));
  report.events = events;
  report.nr_events = NR_ATTRS;
  report.lines = lines.lines;
  report.nr_lines = lines.nr;
  report.by = by;
  report.nr_runs = 1;
  file = open_memstream(&text, &size);
  assert_non_null(file);
  stat_csv_lines(file, ",", &report);
  assert_int_equal(fclose(file), 0);
  assert_string_equal(text, wanted);
  free(text);
  stat_lines_free(&lines);
  uvperf_reading_free(reading);
  uvperf_event_list_free(list);
}

/* The task was on cpu_core for 0.3 ms, on cpu_atom for 0.7 ms. */
static const place_t task[] = {
    {17,
     -1,
     {COUNTED(300, 300000), COUNTED(4, 1000000), COUNTED(600, 300000),
      COUNTED(100, 700000), COUNTED(200, 700000)}},
};

static void parts_of_a_task_are_one_line_with_their_sum(void **state) {
  expect(task, 1, 0, 0,
         "400,,cycles,1000000,100.00,,\n"
         "4,,page-faults,1000000,100.00,,\n"
         "800,,instructions,1000000,100.00,2.00,insn per cycle\n");
}

static void parts_of_a_task_are_lines_if_asked_for(void **state) {
  expect(task, 1, 0, 1,
         "300,,cpu_core/cycles/,300000,30.00,,\n"
         "4,,page-faults,1000000,100.00,,\n"
         "600,,cpu_core/instructions/,300000,30.00,2.00,insn per cycle\n"
         "100,,cpu_atom/cycles/,700000,70.00,,\n"
         "200,,cpu_atom/instructions/,700000,70.00,2.00,insn per cycle\n");
}

static const place_t cpus[] = {
    {-1,
     1,
     {COUNTED(30, 1000000), COUNTED(1, 1000000), COUNTED(60, 1000000), NONE,
      NONE}},
    {-1,
     2,
     {NONE, COUNTED(2, 1000000), NONE, COUNTED(10, 500000),
      COUNTED(40, 500000)}},
};

static void parts_on_cpus_are_scaled_and_added(void **state) {
  expect(cpus, 2, 0, 0,
         "50,,cycles,1500000,75.00,,\n"
         "3,,page-faults,2000000,100.00,,\n"
         "140,,instructions,1500000,75.00,2.80,insn per cycle\n");
}

static void each_cpu_has_the_part_of_its_kind(void **state) {
  expect(cpus, 2, 1, 0,
         "CPU1,30,,cycles,1000000,100.00,,\n"
         "CPU2,20,,cycles,500000,50.00,,\n"
         "CPU1,1,,page-faults,1000000,100.00,,\n"
         "CPU2,2,,page-faults,1000000,100.00,,\n"
         "CPU1,60,,instructions,1000000,100.00,2.00,insn per cycle\n"
         "CPU2,80,,instructions,500000,50.00,4.00,insn per cycle\n");
  expect(cpus, 2, 1, 1,
         "CPU1,30,,cpu_core/cycles/,1000000,100.00,,\n"
         "CPU1,1,,page-faults,1000000,100.00,,\n"
         "CPU2,2,,page-faults,1000000,100.00,,\n"
         "CPU1,60,,cpu_core/instructions/,1000000,100.00,2.00,insn per cycle\n"
         "CPU2,20,,cpu_atom/cycles/,500000,50.00,,\n"
         "CPU2,80,,cpu_atom/instructions/,500000,50.00,4.00,insn per cycle\n");
}

int main(void) {
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, make_host_teardown)
  static const struct CMUnitTest tests[] = {
      TEST(parts_of_a_task_are_one_line_with_their_sum),
      TEST(parts_of_a_task_are_lines_if_asked_for),
      TEST(parts_on_cpus_are_scaled_and_added),
      TEST(each_cpu_has_the_part_of_its_kind),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
