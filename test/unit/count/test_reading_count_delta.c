/* SPDX-License-Identifier: MIT */
/* Differences of the counts of one event. */
#include "support.h"

#include <errno.h>

#include <linux/perf_event.h>

#include "record_builder.h"
#include "uvperf/count.h"

#define ALL                                                                    \
  (PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING |           \
   PERF_FORMAT_ID | BUILD_FORMAT_LOST)

static uvperf_count_t count_of(uint64_t value, uint64_t enabled,
                               uint64_t running, uint64_t lost) {
  uvperf_count_t count = {.present = ALL,
                          .value = value,
                          .time_enabled = enabled,
                          .time_running = running,
                          .id = 9,
                          .lost = lost};

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
  (void)state;
  assert_delta(count_of(10, 200, 100, 1), count_of(17, 230, 120, 3),
               count_of(7, 30, 20, 2));
  assert_delta(count_of(10, 200, 100, 1), count_of(10, 200, 100, 1),
               count_of(0, 0, 0, 0));
  assert_delta(count_of(0, 0, 0, 0),
               count_of(UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX),
               count_of(UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX));
}

static void delta_of_a_count_that_was_reset_begins_there(void **state) {
  (void)state;
  /* As PERF_EVENT_IOC_RESET does it: the times go on. */
  assert_delta(count_of(10, 200, 100, 3), count_of(4, 230, 120, 5),
               count_of(4, 30, 20, 2));
  assert_delta(count_of(10, 200, 100, 3), count_of(0, 230, 120, 2),
               count_of(0, 30, 20, 2));
}

static void delta_of_times_that_began_again_has_both_anew(void **state) {
  (void)state;
  assert_delta(count_of(10, 200, 100, 0), count_of(17, 190, 120, 0),
               count_of(7, 190, 120, 0));
  assert_delta(count_of(10, 200, 100, 0), count_of(17, 230, 90, 0),
               count_of(7, 230, 90, 0));
}

static void delta_of_counts_may_be_one_of_them(void **state) {
  uvperf_count_t older = count_of(10, 200, 100, 1);
  uvperf_count_t newer = count_of(17, 230, 120, 3);
  uvperf_count_t expected = count_of(7, 30, 20, 2), copy = newer;

  (void)state;
  assert_int_equal(uvperf_count_delta(&older, &copy, &copy), 0);
  assert_memory_equal(&copy, &expected, sizeof(copy));
  assert_int_equal(uvperf_count_delta(&older, &newer, &older), 0);
  assert_memory_equal(&older, &expected, sizeof(older));
}

static void delta_of_two_events_is_einval(void **state) {
  uvperf_count_t older = count_of(10, 200, 100, 1);
  uvperf_count_t newer = count_of(17, 230, 120, 3);
  uvperf_count_t delta = count_of(1, 2, 3, 4), untouched = delta;

  (void)state;
  newer.id = 8;
  assert_int_equal(uvperf_count_delta(&older, &newer, &delta), -EINVAL);
  assert_memory_equal(&delta, &untouched, sizeof(delta));
  assert_int_equal(uvperf_count_delta(NULL, &newer, &delta), -EINVAL);
  assert_int_equal(uvperf_count_delta(&older, NULL, &delta), -EINVAL);
  assert_int_equal(uvperf_count_delta(&older, &older, NULL), -EINVAL);
  assert_memory_equal(&delta, &untouched, sizeof(delta));
  /* Where one has no id it is not known that they differ. */
  older.present &= ~(uint64_t)PERF_FORMAT_ID;
  older.id = 0;
  assert_int_equal(uvperf_count_delta(&older, &newer, &delta), 0);
  assert_int_equal(delta.id, 8);
  assert_int_equal(delta.present, ALL);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(delta_of_counts_is_what_was_counted_between),
      cmocka_unit_test(delta_of_a_count_that_was_reset_begins_there),
      cmocka_unit_test(delta_of_times_that_began_again_has_both_anew),
      cmocka_unit_test(delta_of_counts_may_be_one_of_them),
      cmocka_unit_test(delta_of_two_events_is_einval),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
