/* SPDX-License-Identifier: MIT */
/* How stat reports that an event was not counted, or only in part, and why. */
#include "stat_table.h"
#include "support.h"

static stat_table_t table; /* each test makes a new one */

static void what_was_not_counted_is_not_0(void **state) {
  uint32_t count_state;
  stat_line_t *line;

  stat_table_init(&table);
  for (count_state = 0; count_state <= UVPERF_COUNT_ERROR; count_state++) {
    line = stat_table_add(&table, uvperf_count_state_name(count_state), 5);
    line->count.state = count_state;
  }
  line = stat_table_add(&table, "x", 0);
  line->count.state = UVPERF_COUNT_NEVER_SCHEDULED;
  line->count.time_running = 0;
  line = stat_table_add(&table, "y", 0);
  line->count.time_running = line->count.time_enabled = 0;
  stat_table_add(&table, "z", 6)->count.time_enabled = 0;
  stat_table_expect(
      &table, stat_text_lines,
      "     <not counted>      none\n"
      "                 5      counting\n"
      "     <not counted>      did not run\n"
      "     <not counted>      never scheduled\n"
      "   <not supported>      not available\n"
      "                 5      gone\n"
      "     <not counted>      error\n"
      "     <not counted>      x                                             "
      "                       (0.00%)\n"
      "     <not counted>      y\n"
      "                 6      z\n");
}

static void missing_part_is_printed_beside_the_value(void **state) {
  stat_line_t *line;

  stat_table_init(&table);
  table.report.is_interval = 1;
  line = stat_table_add(&table, "dummy", 7);
  line->count.nr_counts = 2;
  line->count.nr_missing = 1;
  line->why = "CPU 3 is offline";
  stat_table_expect(&table, stat_text_lines,
                    "     0.000000000                  7      dummy            "
                    "               "
                    "                                     (1 of 3 missing)\n");
  stat_table_expect(&table, stat_text_tail,
                    " dummy: counted in part: CPU 3 is offline\n");
  line->why = NULL;
  stat_table_expect(&table, stat_text_tail, "");
  line->count.code = UV_EBADF;
  stat_table_expect(&table, stat_text_tail,
                    " dummy: counted in part: bad file descriptor\n");
  line->count.nr_missing = 0;
  stat_table_expect(&table, stat_text_tail, "");
}

static void reason_is_printed_once_after_its_events(void **state) {
  static const char *const labels[] = {"a", "b", "c", "d", "e",
                                       "f", "g", "h", "i", "j"};
  stat_line_t *line;
  char same[] = "no PMU";
  size_t i;

  stat_table_init(&table);
  table.report.is_interval = 1;
  for (i = 0; i < 10; i++) {
    line = stat_table_add(&table, labels[i], 0);
    line->count.state = UVPERF_COUNT_NOT_AVAILABLE;
    line->why = i % 2 == 0 ? "no PMU" : same;
    *stat_table_line(&table, i, 1, 0) = *line;
  }
  stat_table_expect(
      &table, stat_text_tail,
      " a, b, c, d, e, f, g, h and 2 more: not supported: no PMU\n");
  table.events[1].cgroup = "x\ny";
  stat_table_expect_part(&table, stat_text_tail, " a, b (x?y), c, d, e", 1);
  table.events[1].cgroup = NULL;
  table.lines[2].why = table.lines[3].why = "a\033b";
  table.lines[4].count.state = UVPERF_COUNT_ERROR;
  table.lines[5].count.state = UVPERF_COUNT_NEVER_SCHEDULED;
  table.lines[5].why = NULL;
  table.report.nr_lines = 8;
  stat_table_expect(
      &table, stat_text_tail,
      " a, d: not supported: no PMU\n"
      " b: not supported: a?b\n"
      " c: not counted: no PMU\n"
      " c: not counted: no counter was free for it; count fewer hardware "
      "events "
      "at once, or turn off other users of the PMU (kernel.nmi_watchdog)\n");
}

static void reasons_beyond_the_bound_are_counted(void **state) {
  char whys[20][8];
  stat_line_t *line;
  size_t i;

  stat_table_init(&table);
  table.report.is_interval = 1;
  for (i = 0; i < 20; i++) {
    snprintf(whys[i], sizeof(whys[i]), "why%zu", i);
    line = i == 0 ? stat_table_add(&table, "x", 0)
                  : stat_table_line(&table, 0, -1, 0);
    line->count.state = UVPERF_COUNT_NOT_AVAILABLE;
    line->why = whys[i];
  }
  stat_table_expect_part(&table, stat_text_tail, " x: not supported: why", 16);
  stat_table_expect_part(&table, stat_text_tail,
                         "\n and 4 more lines, for other reasons\n", 1);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_was_not_counted_is_not_0),
      cmocka_unit_test(missing_part_is_printed_beside_the_value),
      cmocka_unit_test(reason_is_printed_once_after_its_events),
      cmocka_unit_test(reasons_beyond_the_bound_are_counted),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
