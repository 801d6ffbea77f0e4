/* SPDX-License-Identifier: MIT */
/* Counts from values in the format of read(2). */
#include "support.h"

#include "decode/read_format.h"
#include "make_record.h"
#include "uvperf/count.h"

#define TIMES (PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING)

static uvperf_count_t count_of(uint64_t format, const uint64_t *words,
                               size_t nr) {
  uvperf_values_t values;
  uvperf_count_t count;
  size_t used;

  memset(&count, 0xff, sizeof(count));
  assert_int_equal(
      uvperf__read_format_parse(format, words, 8 * nr, &used, &values), 0);
  assert_int_equal(uvperf_values_get(&values, values.nr - 1, &count), 0);
  assert_int_equal(uvperf_values_get(&values, values.nr, &count), -EINVAL);
  return count;
}

static void value_with_times_is_scaled(void **state) {
  const uint64_t words[] = {2, 300, 100, 21, 22, 23, 31, 32, 33};
  uvperf_count_t count = count_of(BUILD_FORMAT_ALL, words, 9);
  uvperf_count_t expected = {.state = UVPERF_COUNT_COUNTING,
                             .value = 31,
                             .scaled = 93,
                             .time_enabled = 300,
                             .time_running = 100,
                             .id = 32,
                             .lost = 33,
                             .ratio = 100.0 / 300,
                             .nr_counts = 1};

  assert_memory_equal(&count, &expected, sizeof(count));
}

static void value_of_an_event_that_never_ran_is_none(void **state) {
  const uint64_t words[] = {0, 300, 0};
  uvperf_count_t count = count_of(TIMES, words, 3);

  assert_int_equal(count.state, UVPERF_COUNT_NEVER_SCHEDULED);
  assert_int_equal(count.nr_missing, 1);
  assert_int_equal(count.time_enabled, 300);
}

/* It may have been multiplexed: that is not known. */
static void value_without_both_times_is_unscaled(void **state) {
  const uint64_t words[] = {11, 300};
  uvperf_count_t count, expected = {.state = UVPERF_COUNT_COUNTING,
                                    .value = 11,
                                    .scaled = 11,
                                    .nr_counts = 1,
                                    .flags = UVPERF_COUNT_UNSCALED};

  count = count_of(0, words, 1);
  assert_memory_equal(&count, &expected, sizeof(count));
  expected.time_enabled = 300;
  count = count_of(PERF_FORMAT_TOTAL_TIME_ENABLED, words, 2);
  assert_memory_equal(&count, &expected, sizeof(count));
}

static void value_is_found_by_its_id(void **state) {
  const uint64_t words[] = {2, 300, 100, 21, 22, 23, 31, 32, 33};
  uvperf_values_t values;
  uvperf_count_t count;
  size_t used;

  uvperf__read_format_parse(BUILD_FORMAT_ALL, words, 72, &used, &values);
  assert_int_equal(uvperf_values_find(&values, 32, &count), 0);
  assert_int_equal(count.value, 31);
  assert_int_equal(count.scaled, 93);
  assert_int_equal(uvperf_values_find(&values, 31, &count), -ENOENT);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(value_with_times_is_scaled),
      cmocka_unit_test(value_of_an_event_that_never_ran_is_none),
      cmocka_unit_test(value_without_both_times_is_unscaled),
      cmocka_unit_test(value_is_found_by_its_id),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
