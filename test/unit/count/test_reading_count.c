/* SPDX-License-Identifier: MIT */
/* The values of the counts of a reading. */
#include "reading_builder.h"

#include <errno.h>

#define NR(array) (sizeof(array) / sizeof((array)[0]))

static const uvperf__reading_origin_t origin = {&origin, 1};

/* -- one count ------------------------------------------------------------ */

/* A reading of one count, at a place. */
static uvperf_count_t count_at(int pid, int cpu, uint8_t flags,
                               uvperf__cell_t cell) {
  uvperf_reading_t *reading;
  uvperf_count_t count, total;

  assert_int_equal(uvperf_reading_new(&reading), 0);
  assert_int_equal(
      uvperf__reading_begin(reading, &origin, 0, 0, 1, 1, &flags, 1), 0);
  uvperf__reading_place(reading, 0)->pid = pid;
  uvperf__reading_place(reading, 0)->cpu = cpu;
  *uvperf__reading_cell(reading, 0, 0) = cell;
  uvperf__reading_end(reading);
  count = build_count(reading, 0, 0);
  total = build_total(reading, 0);
  assert_memory_equal(&total, &count, sizeof(count));
  uvperf_reading_free(reading);
  return count;
}

/* On a CPU, of every task. */
static uvperf_count_t count_of(uvperf__cell_t cell) {
  return count_at(-1, 0, 0, cell);
}

static void count_is_scaled_by_its_times(void **state) {
  uvperf__cell_t cell = build_cell(10, 300, 100);
  uvperf_count_t count;

  (void)state;
  cell.lost = 4;
  count = count_of(cell);
  assert_counted(count, UVPERF_COUNT_COUNTING, 10, 30, 300, 100);
  assert_true(count.ratio > 0.3333 && count.ratio < 0.3334);
  assert_int_equal(count.lost, 4);
  assert_int_equal(count.code, 0);
  assert_int_equal(count.nr_counts, 1);
  assert_int_equal(count.nr_missing, 0);
  count = count_of(build_cell(10, 300, 300));
  assert_counted(count, UVPERF_COUNT_COUNTING, 10, 10, 300, 300);
  assert_true(count.ratio == 1);
  assert_true(count_of(build_cell(10, 300, 301)).ratio == 1);
  count = count_of(build_cell(UINT64_MAX, 300, 299));
  assert_int_equal(count.scaled, UINT64_MAX);
}

static void count_that_never_ran_has_no_value(void **state) {
  uvperf_count_t count = count_of(build_cell(0, 300, 0));

  (void)state;
  assert_counted(count, UVPERF_COUNT_NEVER_SCHEDULED, 0, 0, 300, 0);
  assert_true(count.ratio == 0);
  assert_int_equal(count.nr_counts, 0);
  assert_int_equal(count.nr_missing, 1);
}

static void count_that_was_not_enabled_is_0(void **state) {
  uvperf_count_t count = count_of(build_cell(0, 0, 0));

  (void)state;
  assert_counted(count, UVPERF_COUNT_NOT_ENABLED, 0, 0, 0, 0);
  assert_true(count.ratio == 0);
  assert_int_equal(count.nr_counts, 1);
  assert_int_equal(count.nr_missing, 0);
}

/* The kernel takes the times before the value. */
static void count_newer_than_its_times_is_a_value(void **state) {
  (void)state;
  assert_counted(count_of(build_cell(3, 300, 0)), UVPERF_COUNT_COUNTING, 3, 3,
                 300, 0);
  assert_counted(count_of(build_cell(3, 0, 0)), UVPERF_COUNT_COUNTING, 3, 3, 0,
                 0);
}

static void count_of_a_task_that_is_gone_is_its_last(void **state) {
  uvperf_count_t count = count_of(build_gone(10, 300, 100));

  (void)state;
  assert_counted(count, UVPERF_COUNT_GONE, 10, 30, 300, 100);
  assert_int_equal(count.nr_counts, 1);
  count = count_of(build_gone(0, 0, 0));
  assert_counted(count, UVPERF_COUNT_GONE, 0, 0, 0, 0);
  assert_int_equal(count.nr_counts, 1);
}

static void count_that_never_ran_before_its_task_went_has_none(void **state) {
  uvperf_count_t count = count_of(build_gone(0, 300, 0));

  (void)state;
  assert_counted(count, UVPERF_COUNT_NEVER_SCHEDULED, 0, 0, 300, 0);
  assert_int_equal(count.nr_missing, 1);
}

static void count_that_was_not_read_has_a_code_and_no_numbers(void **state) {
  static const uint32_t states[] = {UVPERF_COUNT_NOT_AVAILABLE,
                                    UVPERF_COUNT_ERROR};
  uvperf__cell_t cell = {1, 2, 3, 4, 0, -EBADF};
  size_t i;

  (void)state;
  for (i = 0; i < NR(states); i++) {
    uvperf_count_t count;

    cell.state = states[i];
    count = count_of(cell);
    assert_counted(count, states[i], 0, 0, 0, 0);
    assert_int_equal(count.code, -EBADF);
    assert_int_equal(count.lost, 0);
    assert_int_equal(count.nr_counts, 0);
    assert_int_equal(count.nr_missing, 1);
  }
}

static void count_of_none_is_neither_there_nor_missing(void **state) {
  uvperf_count_t count = count_of(build_failed(UVPERF_COUNT_NONE, 0));

  (void)state;
  assert_counted(count, UVPERF_COUNT_NONE, 0, 0, 0, 0);
  assert_int_equal(count.nr_counts, 0);
  assert_int_equal(count.nr_missing, 0);
}

/* -- of tasks that run elsewhere too -------------------------------------- */

static void count_of_a_task_on_one_cpu_is_not_scaled(void **state) {
  uvperf_count_t count = count_at(17, 0, 0, build_cell(10, 300, 100));

  (void)state;
  assert_counted(count, UVPERF_COUNT_COUNTING, 10, 10, 300, 100);
  assert_true(count.ratio > 0.33 && count.ratio < 0.34);
  assert_counted(count_at(17, 1, 0, build_gone(10, 300, 100)),
                 UVPERF_COUNT_GONE, 10, 10, 300, 100);
  /* On any CPU, and of any task, it is. */
  assert_int_equal(count_at(17, -1, 0, build_cell(10, 300, 100)).scaled, 30);
  assert_int_equal(count_at(-1, 1, 0, build_cell(10, 300, 100)).scaled, 30);
}

static void count_of_a_task_on_a_cpu_it_never_was_on_is_0(void **state) {
  uvperf_count_t count = count_at(17, 0, 0, build_cell(0, 300, 0));

  (void)state;
  assert_counted(count, UVPERF_COUNT_NOT_ENABLED, 0, 0, 300, 0);
  assert_int_equal(count.nr_counts, 1);
  count = count_at(17, 0, 0, build_gone(0, 300, 0));
  assert_counted(count, UVPERF_COUNT_GONE, 0, 0, 300, 0);
  assert_int_equal(count.nr_counts, 1);
}

static void count_of_a_pmu_of_some_cpus_is_not_scaled(void **state) {
  uint8_t flags = UVPERF__READING_PART_TIME;

  (void)state;
  assert_counted(count_at(17, -1, flags, build_cell(10, 300, 100)),
                 UVPERF_COUNT_COUNTING, 10, 10, 300, 100);
  assert_counted(count_at(17, -1, flags, build_cell(0, 300, 0)),
                 UVPERF_COUNT_NOT_ENABLED, 0, 0, 300, 0);
  /* For every task it is only opened on its PMU's CPUs. */
  assert_counted(count_at(-1, 3, flags, build_cell(10, 300, 100)),
                 UVPERF_COUNT_COUNTING, 10, 30, 300, 100);
  assert_int_equal(count_at(-1, 3, flags, build_cell(0, 300, 0)).state,
                   UVPERF_COUNT_NEVER_SCHEDULED);
  flags = UVPERF__READING_SNAPSHOT;
  assert_int_equal(count_at(17, -1, flags, build_cell(10, 300, 100)).scaled,
                   30);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(count_is_scaled_by_its_times),
      cmocka_unit_test(count_that_never_ran_has_no_value),
      cmocka_unit_test(count_that_was_not_enabled_is_0),
      cmocka_unit_test(count_newer_than_its_times_is_a_value),
      cmocka_unit_test(count_of_a_task_that_is_gone_is_its_last),
      cmocka_unit_test(count_that_never_ran_before_its_task_went_has_none),
      cmocka_unit_test(count_that_was_not_read_has_a_code_and_no_numbers),
      cmocka_unit_test(count_of_none_is_neither_there_nor_missing),
      cmocka_unit_test(count_of_a_task_on_one_cpu_is_not_scaled),
      cmocka_unit_test(count_of_a_task_on_a_cpu_it_never_was_on_is_0),
      cmocka_unit_test(count_of_a_pmu_of_some_cpus_is_not_scaled),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
