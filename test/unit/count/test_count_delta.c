/* SPDX-License-Identifier: MIT */
/* Differences of the counts of one event. */
#include "support.h"

#include "count/count.h"
#include "make_record.h"

/* As it was read, with all fields. */
static uvperf_count_t count_of(uint64_t value, uint64_t enabled,
                               uint64_t running, uint64_t lost) {
  uvperf__value_t read = {.value = value,
                          .enabled = enabled,
                          .running = running,
                          .id = 9,
                          .lost = lost};
  uvperf_count_t count;

  uvperf__count_of_value(&count, BUILD_FORMAT_ALL, &read, 0);
  return count;
}

static void assert_delta(uvperf_count_t older, uvperf_count_t newer,
                         uvperf_count_t expected) {
  uvperf_count_t delta;

  memset(&delta, 0xff, sizeof(delta));
  assert_int_equal(uvperf_count_delta(&older, &newer, &delta), 0);
  assert_memory_equal(&delta, &expected, sizeof(delta));
}

static void delta_of_counts_is_what_was_counted_between(void **state) {
  assert_delta(count_of(10, 200, 100, 1), count_of(17, 230, 120, 3),
               count_of(7, 30, 20, 2));
  assert_delta(count_of(10, 200, 100, 1), count_of(10, 200, 100, 1),
               count_of(0, 0, 0, 0));
  assert_delta(count_of(0, 0, 0, 0),
               count_of(UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX),
               count_of(UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX));
}

static void delta_of_a_count_that_was_reset_begins_there(void **state) {
  /* As after PERF_EVENT_IOC_RESET: the times continue. */
  assert_delta(count_of(10, 200, 100, 3), count_of(4, 230, 120, 5),
               count_of(4, 30, 20, 2));
  assert_delta(count_of(10, 200, 100, 3), count_of(0, 230, 120, 2),
               count_of(0, 30, 20, 2));
}

static void delta_of_times_that_began_again_has_the_new_times(void **state) {
  assert_delta(count_of(10, 200, 100, 0), count_of(17, 190, 120, 0),
               count_of(7, 190, 120, 0));
  assert_delta(count_of(10, 200, 100, 0), count_of(17, 230, 90, 0),
               count_of(7, 230, 90, 0));
}

static void delta_of_counts_may_be_one_of_them(void **state) {
  uvperf_count_t older = count_of(10, 200, 100, 1);
  uvperf_count_t newer = count_of(17, 230, 120, 3);
  uvperf_count_t expected = count_of(7, 30, 20, 2), copy = newer;

  assert_int_equal(uvperf_count_delta(&older, &copy, &copy), 0);
  assert_memory_equal(&copy, &expected, sizeof(copy));
  assert_int_equal(uvperf_count_delta(&older, &newer, &older), 0);
  assert_memory_equal(&older, &expected, sizeof(older));
}

static void delta_of_two_events_is_einval(void **state) {
  uvperf_count_t older = count_of(10, 200, 100, 1);
  uvperf_count_t newer = count_of(17, 230, 120, 3);
  uvperf_count_t delta = count_of(1, 2, 3, 4), untouched = delta;

  newer.id = 8;
  assert_int_equal(uvperf_count_delta(&older, &newer, &delta), -EINVAL);
  assert_memory_equal(&delta, &untouched, sizeof(delta));
  assert_int_equal(uvperf_count_delta(NULL, &newer, &delta), -EINVAL);
  assert_int_equal(uvperf_count_delta(&older, NULL, &delta), -EINVAL);
  assert_int_equal(uvperf_count_delta(&older, &older, NULL), -EINVAL);
  assert_memory_equal(&delta, &untouched, sizeof(delta));
  /* If one has no id, they may be the same event. */
  older.id = 0;
  assert_int_equal(uvperf_count_delta(&older, &newer, &delta), 0);
  assert_int_equal(delta.id, 8);
}

/* It was on a counter for all of the first second, and for a quarter of the
 * next, which has 5 of its events. */
static void delta_of_counts_is_scaled_by_its_own_times(void **state) {
  uvperf_count_t older = count_of(100, 1000, 1000, 0);
  uvperf_count_t newer = count_of(105, 2000, 1250, 0), delta;

  assert_int_equal(uvperf_count_delta(&older, &newer, &delta), 0);
  assert_int_equal(newer.scaled, 168);
  assert_int_equal(delta.scaled, 20);
  assert_true(delta.ratio == 0.25);
  assert_int_equal(delta.state, UVPERF_COUNT_COUNTING);
}

static void delta_of_counts_has_the_state_of_the_interval(void **state) {
  uvperf_count_t older = count_of(100, 1000, 1000, 0), newer, delta;

  newer = count_of(100, 2000, 1000, 0);
  assert_int_equal(uvperf_count_delta(&older, &newer, &delta), 0);
  assert_int_equal(delta.state, UVPERF_COUNT_NEVER_SCHEDULED);
  assert_int_equal(delta.nr_missing, 1);
  assert_int_equal(uvperf_count_delta(&newer, &newer, &delta), 0);
  assert_int_equal(delta.state, UVPERF_COUNT_NOT_ENABLED);
  assert_int_equal(delta.nr_counts, 1);
}

static void delta_without_times_is_counting(void **state) {
  uvperf__value_t read = {.value = 7};
  uvperf_count_t count, delta;

  uvperf__count_of_value(&count, 0, &read, 0);
  assert_int_equal(uvperf_count_delta(&count, &count, &delta), 0);
  assert_int_equal(delta.state, UVPERF_COUNT_COUNTING);
  assert_int_equal(delta.flags, UVPERF_COUNT_UNSCALED);
  assert_int_equal(delta.value, 0);
}

static void
delta_with_a_count_that_could_not_be_read_is_an_error(void **state) {
  uvperf_count_t newer = count_of(105, 2000, 1250, 0), delta;
  uvperf_count_t older = {.state = UVPERF_COUNT_ERROR, .code = -EBADF};

  assert_int_equal(uvperf_count_delta(&older, &newer, &delta), 0);
  assert_int_equal(delta.state, UVPERF_COUNT_ERROR);
  assert_int_equal(delta.code, -EBADF);
  assert_int_equal(delta.value, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(delta_of_counts_is_what_was_counted_between),
      cmocka_unit_test(delta_of_a_count_that_was_reset_begins_there),
      cmocka_unit_test(delta_of_times_that_began_again_has_the_new_times),
      cmocka_unit_test(delta_of_counts_may_be_one_of_them),
      cmocka_unit_test(delta_of_two_events_is_einval),
      cmocka_unit_test(delta_of_counts_is_scaled_by_its_own_times),
      cmocka_unit_test(delta_of_counts_has_the_state_of_the_interval),
      cmocka_unit_test(delta_without_times_is_counting),
      cmocka_unit_test(delta_with_a_count_that_could_not_be_read_is_an_error),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
