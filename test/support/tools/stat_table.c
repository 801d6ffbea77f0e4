/* SPDX-License-Identifier: MIT */
/* Makes reports. It does not know how they are printed. */
#include "stat_table.h"

#include <stdlib.h>
#include <string.h>

#include "support.h"

void stat_table_init(stat_table_t *table) {
  memset(table, 0, sizeof(*table));
  table->report.events = table->events;
  table->report.lines = table->lines;
  table->report.elapsed_ns = 2000000000;
  table->report.nr_runs = 1;
  table->report.title = "'true'";
}

stat_line_t *stat_table_line(stat_table_t *table, size_t event, int32_t cpu,
                             uint64_t value) {
  stat_line_t *line = &table->lines[table->report.nr_lines++];

  assert_true(table->report.nr_lines <=
              sizeof(table->lines) / sizeof(table->lines[0]));
  memset(line, 0, sizeof(*line));
  line->event = event;
  line->place = cpu;
  line->mean = (double)value;
  line->count.state = UVPERF_COUNT_COUNTING;
  line->count.value = line->count.scaled = value;
  line->count.time_enabled = line->count.time_running = 1500000000;
  line->count.nr_counts = 1;
  return line;
}

stat_line_t *stat_table_add(stat_table_t *table, const char *label,
                            uint64_t value) {
  size_t event = table->report.nr_events++;
  struct perf_event_attr attr;

  assert_true(table->report.nr_events <=
              sizeof(table->events) / sizeof(table->events[0]));
  if (uvperf_attr_parse(&attr, label, NULL) != 0)
    uvperf_attr_raw(&attr, 1);
  table->attrs[event].type = attr.type;
  table->attrs[event].config = attr.config;
  table->events[event].label = label;
  table->events[event].unit = strstr(label, "clock") != NULL ? "ns" : "";
  table->events[event].scale = 1;
  table->events[event].attr = &table->attrs[event];
  return stat_table_line(table, event, -1, value);
}

char *stat_table_print(const stat_table_t *table, stat_table_print_fn print) {
  char *text = NULL;
  size_t size;
  FILE *file = open_memstream(&text, &size);

  assert_non_null(file);
  print(file, &table->report);
  assert_int_equal(fclose(file), 0);
  return text;
}

void stat_table_expect(const stat_table_t *table, stat_table_print_fn print,
                       const char *expected) {
  char *text = stat_table_print(table, print);

  if (strcmp(text, expected) != 0)
    fail_msg("printed:\n%s\nexpected:\n%s\n", text, expected);
  free(text);
}

void stat_table_expect_part(const stat_table_t *table,
                            stat_table_print_fn print, const char *part,
                            size_t times) {
  char *text = stat_table_print(table, print), *at = text;
  size_t nr = 0;

  while ((at = strstr(at, part)) != NULL) {
    nr++;
    at++;
  }
  if (nr != times)
    fail_msg("%zu times, expected %zu times '%s' in:\n%s", nr, times, part,
             text);
  free(text);
}
