/* SPDX-License-Identifier: MIT */
/* How stat prints counts for people, and the metrics that it derives from them.
 * perf-stat(1) of Linux 6.1 prints the same columns and numbers for the same
 * counts, except for blanks at the end of lines. */
#include "stat_table.h"
#include "support.h"

#include "stat/lines.h"

static double deviation_of(const double *values, size_t nr, double *mean) {
  stat_series_t series = {0, 0, 0};
  size_t i;

  for (i = 0; i < nr; i++)
    stat_series_add(&series, values[i]);
  *mean = series.mean;
  return stat_series_deviation_percent(&series);
}

static void expect_near(double value, double expected) {
  if (value < expected * (1 - 1e-12) || value > expected * (1 + 1e-12))
    fail_msg("%.17g is not %.17g", value, expected);
}

/* `forks` has the counts of three runs for which perf-stat(1) printed
 * 26.24%. */
static void series_gives_mean_and_its_deviation(void **state) {
  static const double eight[] = {2, 4, 4, 4, 5, 5, 7, 9};
  static const double large[] = {1e15 + 1, 1e15 + 2, 1e15 + 3};
  static const double forks[] = {32, 12, 22};
  char text[16];
  double mean;

  /* squares of differences: 32; variance of the mean: 32 / 7 / 8 */
  expect_near(deviation_of(eight, 8, &mean), 15.118578920369089);
  expect_near(mean, 5);
  /* 1 / sqrt(3) */
  expect_near(deviation_of(large, 3, &mean) * mean / 100, 0.57735026918962576);
  expect_near(mean, 1e15 + 2);
  snprintf(text, sizeof(text), "%.2f", deviation_of(forks, 3, &mean));
  assert_string_equal(text, "26.24");
}

static void series_without_spread_deviates_by_0(void **state) {
  static const double zeros[] = {0, 0}, alike[] = {7, 7, 7}, around[] = {-1, 1};
  double mean;

  assert_true(deviation_of(alike, 0, &mean) <= 0);
  assert_true(deviation_of(alike, 1, &mean) <= 0);
  assert_true(deviation_of(alike, 3, &mean) <= 0);
  expect_near(mean, 7);
  assert_true(deviation_of(zeros, 2, &mean) <= 0);
  assert_true(deviation_of(around, 2, &mean) <= 0);
}

static stat_table_t table; /* each test makes a new one */

static void expect_lines(const char *lines) {
  stat_table_expect(&table, stat_text_lines, lines);
}

static void expect_part(const char *part, size_t times) {
  stat_table_expect_part(&table, stat_text_lines, part, times);
}

static void software_events_are_printed_per_second(void **state) {
  stat_table_init(&table);
  stat_table_add(&table, "task-clock", 1500000000);
  stat_table_add(&table, "context-switches", 1500);
  stat_table_add(&table, "page-faults", 1501);
  stat_table_add(&table, "a", 1501000000);
  stat_table_add(&table, "b", 1501000000000);
  stat_table_add(&table, "c", 1501000000000000);
  stat_table_add(&table, "d", 0);
  expect_lines(
      "           1500.00 msec task-clock                       #    0.750 "
      "CPUs utilized\n"
      "              1500      context-switches                 # 1000.000 "
      "/sec\n"
      "              1501      page-faults                      #    1.001 "
      "K/sec\n"
      "        1501000000      a                                #    1.001 "
      "G/sec\n"
      "     1501000000000      b                                # 1000.667 "
      "G/sec\n"
      "  1501000000000000      c                                # 1000666.667 "
      "G/sec\n"
      "                 0      d                                #    0.000 "
      "/sec\n");
}

static void without_a_clock_nothing_is_printed_per_second(void **state) {
  stat_table_init(&table);
  stat_table_add(&table, "page-faults", 48);
  stat_table_add(&table, "cycles", 9);
  expect_lines("                48      page-faults\n"
               "                 9      cycles\n");
}

static void hardware_events_are_compared(void **state) {
  stat_line_t *line;

  stat_table_init(&table);
  stat_table_add(&table, "task-clock", 1500000000);
  stat_table_add(&table, "cycles", 3000000000);
  line = stat_table_add(&table, "instructions", 5142857142);
  line->count.time_running = 1312500000;
  stat_table_add(&table, "branches", 600000000);
  stat_table_add(&table, "branch-misses", 6000000);
  stat_table_add(&table, "stalled-cycles-frontend", 600000000);
  stat_table_add(&table, "stalled-cycles-backend", 900000000);
  stat_table_add(&table, "cache-references", 1000);
  stat_table_add(&table, "cache-misses", 37);
  expect_lines(
      "           1500.00 msec task-clock                       #    0.750 "
      "CPUs utilized\n"
      "        3000000000      cycles                           #    2.000 "
      "GHz\n"
      "        5142857142      instructions                     #    1.71  "
      "insn per cycle\n"
      "                                                         #    0.18  "
      "stalled cycles per insn  (87.50%)\n"
      "         600000000      branches                         #  400.000 "
      "M/sec\n"
      "           6000000      branch-misses                    #    1.00% of "
      "all branches\n"
      "         600000000      stalled-cycles-frontend          #   20.00% "
      "frontend cycles idle\n"
      "         900000000      stalled-cycles-backend           #   30.00% "
      "backend cycles idle\n"
      "              1000      cache-references                 #  666.667 "
      "/sec\n"
      "                37      cache-misses                     #    3.700 % "
      "of all cache refs\n");
}

static void misses_of_each_cache_are_compared(void **state) {
  static const char *const units[] = {
      "of all L1-dcache accesses", "of all L1-icache accesses",
      "of all LL-cache accesses", "of all dTLB cache accesses",
      "of all iTLB cache accesses"};
  uint64_t cache;
  size_t i;

  for (cache = 0; cache < 5; cache++) {
    stat_table_init(&table);
    stat_table_add(&table, "misses", 20);
    stat_table_add(&table, "stores", 30);
    stat_table_add(&table, "loads", 1000);
    for (i = 0; i < 3; i++)
      table.attrs[i].type = PERF_TYPE_HW_CACHE;
    table.attrs[0].config = cache | 1 << 16;
    table.attrs[1].config = cache | 1 << 8;
    table.attrs[2].config = cache;
    expect_part("#    2.00% ", 1);
    expect_part(units[cache], 1);
  }
}

/* A metric needs two counts of the same side, the same kind of cores and the
 * same CPU. For example, user instructions divided by the cycles of both sides
 * mean nothing. */
static void what_is_not_alike_is_not_compared(void **state) {
  stat_line_t *line;

  stat_table_init(&table);
  stat_table_add(&table, "cycles", 10);
  line = stat_table_add(&table, "instructions", 30);
  expect_part("   3.00  insn per cycle", 1);
  table.attrs[1].exclude_kernel = 1;
  expect_part("#", 0);
  table.attrs[0].exclude_kernel = 1;
  expect_part("insn per cycle", 1);
  table.attrs[0].exclude_user = 1;
  expect_part("#", 0);
  table.attrs[1].exclude_user = table.attrs[1].exclude_hv = 1;
  expect_part("#", 0);
  table.attrs[0].exclude_hv = table.attrs[0].exclude_host = 1;
  expect_part("#", 0);
  table.attrs[1].exclude_host = table.attrs[1].exclude_idle = 1;
  expect_part("#", 0);
  table.attrs[0].exclude_idle = 1;
  expect_part("insn per cycle", 1);
  table.attrs[0].config |= UINT64_C(4) << 32;
  expect_part("#", 0);
  table.attrs[1].config |= UINT64_C(4) << 32;
  expect_part("insn per cycle", 1);
  line->place = 1;
  expect_part("#", 0);
  line->place = -1;
  table.lines[0].count.state = UVPERF_COUNT_NOT_AVAILABLE;
  expect_part("#", 0);
}

static void cgroup_stands_behind_its_events(void **state) {
  static const char one[] = "/", other[] = "sys\ttem.slice";
  size_t i;

  stat_table_init(&table);
  stat_table_add(&table, "cpu-clock", 1000000000);
  for (i = 0; i < 2; i++)
    stat_table_add(&table, "stalled-cycles-backend", 8);
  stat_table_add(&table, "instructions", 16);
  stat_table_add(&table, "cycles", 32);
  table.events[0].cgroup = table.events[1].cgroup = one;
  for (i = 2; i < 5; i++)
    table.events[i].cgroup = other;
  expect_lines(
      "           1000.00 msec cpu-clock                        /             "
      "#    0.500 CPUs utilized\n"
      "                 8      stalled-cycles-backend           /\n"
      "                 8      stalled-cycles-backend           sys?tem.slice "
      "#   25.00% backend cycles idle\n"
      "                16      instructions                     sys?tem.slice "
      "#    0.50  insn per cycle\n"
      "                                                                       "
      "#    0.50  stalled cycles per insn\n"
      "                32      cycles                           "
      "sys?tem.slice\n");
}

static void metric_beyond_all_bounds_is_left_out(void **state) {
  stat_table_init(&table);
  table.report.elapsed_ns = 0;
  stat_table_add(&table, "task-clock", 1);
  expect_part("#", 0);
  stat_table_init(&table);
  stat_table_add(&table, "cycles", 1)->mean = 1e-300;
  stat_table_add(&table, "instructions", 1)->mean = 1e300;
  expect_part("#", 0);
}

static void event_of_other_cpus_has_no_line(void **state) {
  stat_table_init(&table);
  table.report.by = STAT_BY_CPU;
  stat_table_add(&table, "cycles", 5)->place = 0;
  stat_table_line(&table, 0, 1, 0)->count.state = UVPERF_COUNT_NONE;
  expect_lines("CPU0                        5      cycles\n");
}

/* A line is divided by the clock of its own CPU, whatever the order of the
 * lines is. */
static void intervals_by_cpu_have_both_columns(void **state) {
  stat_table_init(&table);
  table.report.is_interval = 1;
  table.report.by = STAT_BY_CPU;
  table.report.at_ns = UINT64_C(1234567890123);
  table.report.elapsed_ns = 100000000;
  stat_table_add(&table, "cpu-clock", 100000000)->place = 0;
  stat_table_add(&table, "page-faults", 5)->place = 0;
  stat_table_line(&table, 0, 12, 50000000);
  stat_table_line(&table, 1, 12, 5);
  stat_table_expect(
      &table, stat_text_head,
      "#           time CPU                    counts unit events\n");
  expect_lines("  1234.567890123 CPU0                   100.00 msec "
               "cpu-clock                        #    1.000 CPUs utilized\n"
               "  1234.567890123 CPU0                        5      "
               "page-faults                      #   50.000 /sec\n"
               "  1234.567890123 CPU12                   50.00 msec "
               "cpu-clock                        #    0.500 CPUs utilized\n"
               "  1234.567890123 CPU12                       5      "
               "page-faults                      #  100.000 /sec\n");
  stat_table_expect(&table, stat_text_tail, "");
  table.report.by = STAT_BY_NONE;
  stat_table_expect(&table, stat_text_head,
                    "#           time             counts unit events\n");
}

static void long_unit_moves_all_columns_alike(void **state) {
  stat_table_init(&table);
  table.report.is_interval = 1;
  stat_table_add(&table, "power/energy-pkg/", 0)->mean = 1234.5678;
  table.events[0].unit = "Joules";
  table.events[0].scale = 0.25;
  stat_table_add(&table, "dummy", 3);
  stat_table_expect(&table, stat_text_head,
                    "#           time             counts   unit events\n");
  expect_lines("     0.000000000            1234.57 Joules power/energy-pkg/\n"
               "     0.000000000                  3        dummy\n");
}

static void several_runs_tell_how_far_they_differ(void **state) {
  stat_line_t *line;

  stat_table_init(&table);
  table.report.nr_runs = 3;
  table.report.elapsed_ns = 725600;
  table.report.elapsed_deviation = 2.48;
  line = stat_table_add(&table, "task-clock", 400000);
  line->deviation = 3.55;
  stat_table_add(&table, "page-faults", 49);
  stat_table_expect(&table, stat_text_head,
                    "\n Performance counter stats for 'true' (3 runs):\n\n");
  expect_lines(
      "              0.40 msec task-clock                       #    0.551 "
      "CPUs utilized            ( +-  3.55% )\n"
      "                49      page-faults                      #  122.500 "
      "K/sec\n");
  stat_table_expect(
      &table, stat_text_tail,
      "\n         0.0007256 +- 0.0000180 seconds time elapsed  ( +-  2.48% )\n"
      "\n");
}

static void digits_of_the_elapsed_time_follow_its_deviation(void **state) {
  static const struct {
    uint64_t ns;
    double percent;
    const char *expected;
  } times[] = {
      {UINT64_C(100000000000), 20, "            100.00 +- 20.00 seconds"},
      {UINT64_C(100000000000), 0.5, "           100.000 +- 0.500 seconds"},
      {1000000000, 1, "            1.0000 +- 0.0100 seconds"},
      {1000, 1e-9, "       0.000001000 +- 0.000000000 seconds"},
      {1000000000, 0, "       1.000000000 +- 0.000000000 seconds"},
  };
  size_t i;

  for (i = 0; i < COUNT_OF(times); i++) {
    stat_table_init(&table);
    table.report.nr_runs = 2;
    table.report.elapsed_ns = times[i].ns;
    table.report.elapsed_deviation = times[i].percent;
    stat_table_expect_part(&table, stat_text_tail, times[i].expected, 1);
    stat_table_expect_part(&table, stat_text_tail, "( +-",
                           times[i].percent > 0);
  }
}

static void one_run_ends_with_its_times(void **state) {
  stat_table_init(&table);
  stat_table_expect(&table, stat_text_head,
                    "\n Performance counter stats for 'true':\n\n");
  stat_table_expect(&table, stat_text_tail,
                    "\n       2.000000000 seconds time elapsed\n\n");
  table.report.has_times = 1;
  table.report.user_ns = 1234567000;
  table.report.system_ns = UINT64_C(98765432109000);
  stat_table_expect(&table, stat_text_tail,
                    "\n       2.000000000 seconds time elapsed\n"
                    "\n       1.234567000 seconds user\n"
                    "   98765.432109000 seconds sys\n\n");
}

/* Names that users choose are printed without control characters. */
static void names_are_cleaned_for_terminals(void **state) {
  stat_table_init(&table);
  table.report.title = "'\033]0;x\a \xc2\x9b"
                       "1m \xe2\x80\xae y\n \xff'";
  stat_table_expect(&table, stat_text_head,
                    "\n Performance counter stats for '?]0;x? ??1m ??? y? ?':"
                    "\n\n");
  stat_table_add(&table, "u\tn\xc3\xa4me", 1);
  stat_table_add(&table, "task-clock", 1000000000);
  table.events[0].unit = "\r\n";
  expect_lines(
      "                 1 ??   u?n\xc3\xa4me                           #    "
      "1.000 /sec\n"
      "           1000.00 msec task-clock                       #    0.500 "
      "CPUs utilized\n");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(series_gives_mean_and_its_deviation),
      cmocka_unit_test(series_without_spread_deviates_by_0),
      cmocka_unit_test(software_events_are_printed_per_second),
      cmocka_unit_test(without_a_clock_nothing_is_printed_per_second),
      cmocka_unit_test(hardware_events_are_compared),
      cmocka_unit_test(misses_of_each_cache_are_compared),
      cmocka_unit_test(what_is_not_alike_is_not_compared),
      cmocka_unit_test(cgroup_stands_behind_its_events),
      cmocka_unit_test(metric_beyond_all_bounds_is_left_out),
      cmocka_unit_test(event_of_other_cpus_has_no_line),
      cmocka_unit_test(intervals_by_cpu_have_both_columns),
      cmocka_unit_test(long_unit_moves_all_columns_alike),
      cmocka_unit_test(several_runs_tell_how_far_they_differ),
      cmocka_unit_test(digits_of_the_elapsed_time_follow_its_deviation),
      cmocka_unit_test(one_run_ends_with_its_times),
      cmocka_unit_test(names_are_cleaned_for_terminals),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
