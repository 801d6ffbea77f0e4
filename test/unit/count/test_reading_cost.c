/* SPDX-License-Identifier: MIT */
/* The cost of measuring: subtracting it, and the smallest one. */
#include "reading_builder.h"

#include <errno.h>

static void subtract_stops_at_0_and_scales_again(void **state) {
  const uvperf__cell_t cells[] = {build_cell(10, 300, 100),
                                  build_cell(3, 100, 100)};
  const uvperf__cell_t costs[] = {build_cell(4, 30, 30), build_cell(5, 30, 30)};
  build_t build = {.nr_attrs = 1, .nr_places = 2, .cells = cells};
  build_t cost = {.nr_attrs = 1, .nr_places = 2, .cells = costs};
  uvperf_reading_t *reading = build_reading(&build);
  uvperf_reading_t *overhead = build_reading(&cost);

  (void)state;
  reading->cells[0].lost = 2;
  overhead->cells[0].lost = 1;
  assert_int_equal(uvperf_reading_subtract(reading, overhead), 0);
  assert_counted(build_count(reading, 0, 0), UVPERF_COUNT_COUNTING, 6, 18, 300,
                 100);
  assert_int_equal(build_count(reading, 0, 0).lost, 2);
  assert_counted(build_count(reading, 0, 1), UVPERF_COUNT_COUNTING, 0, 0, 100,
                 100);
  assert_counted(build_total(reading, 0), UVPERF_COUNT_COUNTING, 6, 18, 400,
                 200);
  uvperf_reading_free(reading);
  uvperf_reading_free(overhead);
}

static void subtract_of_a_reading_from_itself_is_0(void **state) {
  const uvperf__cell_t cells[] = {build_cell(10, 300, 100)};
  build_t build = {.nr_attrs = 1, .nr_places = 1, .cells = cells};
  uvperf_reading_t *reading = build_reading(&build);

  (void)state;
  assert_int_equal(uvperf_reading_subtract(reading, reading), 0);
  assert_counted(build_total(reading, 0), UVPERF_COUNT_COUNTING, 0, 0, 300,
                 100);
  uvperf_reading_free(reading);
}

static void subtract_leaves_what_has_no_value_alone(void **state) {
  static const uint8_t flags[] = {0, UVPERF__READING_SNAPSHOT};
  static const uint64_t serials[] = {2, 3};
  const uvperf__cell_t cells[] = {
      build_cell(10, 3, 3), build_cell(10, 3, 3), /* of place 1 */
      build_cell(0, 3, 0),  build_cell(11, 3, 3), /* 2 */
      build_cell(12, 3, 3), build_cell(12, 3, 3)};
  const uvperf__cell_t costs[] = {build_cell(5, 3, 3), build_cell(5, 3, 3),
                                  build_failed(UVPERF_COUNT_ERROR, -EBADF),
                                  build_cell(5, 3, 3)};
  build_t build = {
      .nr_attrs = 2, .nr_places = 3, .cells = cells, .attr_flags = flags};
  build_t cost = {.nr_attrs = 2,
                  .nr_places = 2,
                  .cells = costs,
                  .serials = serials,
                  .attr_flags = flags};
  uvperf_reading_t *reading = build_reading(&build);
  uvperf_reading_t *overhead = build_reading(&cost);
  uvperf_reading_t *same = build_reading(&build);

  (void)state;
  overhead->cells[2].value = 7; /* of an error: it has no meaning */
  assert_int_equal(uvperf_reading_subtract(reading, overhead), 0);
  assert_same_reading(reading, same);
  assert_int_equal(build_total(reading, 1).value, 10 + 11 + 12);
  uvperf_reading_free(reading);
  uvperf_reading_free(overhead);
  uvperf_reading_free(same);
}

static void subtract_of_another_set_is_einval(void **state) {
  const uvperf__cell_t cells[] = {build_cell(10, 300, 100)};
  build_t build = {.nr_attrs = 1, .nr_places = 1, .cells = cells};
  uvperf_reading_t *reading = build_reading(&build);
  uvperf_reading_t *same = build_reading(&build);
  uvperf_reading_t *other = build_reading(&build), *empty;

  (void)state;
  other->origin.born++;
  assert_int_equal(uvperf_reading_new(&empty), 0);
  assert_int_equal(uvperf_reading_subtract(NULL, same), -EINVAL);
  assert_int_equal(uvperf_reading_subtract(reading, NULL), -EINVAL);
  assert_int_equal(uvperf_reading_subtract(reading, empty), -EINVAL);
  assert_int_equal(uvperf_reading_subtract(empty, reading), -EINVAL);
  assert_int_equal(uvperf_reading_subtract(reading, other), -EINVAL);
  other->origin.born--;
  other->is_filled = 0; /* only begun */
  assert_int_equal(uvperf_reading_subtract(reading, other), -EINVAL);
  assert_same_reading(reading, same);
  uvperf_reading_free(reading);
  uvperf_reading_free(same);
  uvperf_reading_free(other);
  uvperf_reading_free(empty);
}

static void least_is_the_smaller_of_each_that_counted(void **state) {
  const uvperf__cell_t not_enabled = build_cell(0, 0, 0);
  const uvperf__cell_t never = build_cell(0, 9, 0);
  const uvperf__cell_t error = build_failed(UVPERF_COUNT_ERROR, -EBADF);
  const uvperf__cell_t cells[] = {
      build_cell(5, 20, 20), build_cell(8, 20, 20), not_enabled, error,
      build_cell(9, 20, 20), build_cell(9, 20, 20), never,       error};
  const uvperf__cell_t others[] = {build_cell(6, 10, 10), build_cell(7, 10, 5),
                                   build_cell(9, 10, 10), build_cell(9, 10, 10),
                                   not_enabled,           error,
                                   not_enabled,           never};
  static const uint64_t expected[] = {5, 7, 9, 9, 9, 9, 0, 0};
  build_t build = {.nr_attrs = 4, .nr_places = 2, .cells = cells};
  build_t other = {.nr_attrs = 4, .nr_places = 2, .cells = others};
  uvperf_reading_t *least = build_reading(&build);
  uvperf_reading_t *more = build_reading(&other);
  size_t i;

  (void)state;
  assert_int_equal(uvperf__reading_least(least, more), 0);
  for (i = 0; i < 8; i++)
    assert_int_equal(build_count(least, i % 4, i / 4).value, expected[i]);
  /* With the times that belong to it. */
  assert_counted(build_count(least, 1, 0), UVPERF_COUNT_COUNTING, 7, 14, 10, 5);
  assert_counted(build_total(least, 1), UVPERF_COUNT_COUNTING, 16, 23, 30, 25);
  assert_int_equal(build_count(least, 3, 1).state, UVPERF_COUNT_ERROR);
  more->origin.born++;
  assert_int_equal(uvperf__reading_least(least, more), -EINVAL);
  uvperf_reading_free(least);
  uvperf_reading_free(more);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(subtract_stops_at_0_and_scales_again),
      cmocka_unit_test(subtract_of_a_reading_from_itself_is_0),
      cmocka_unit_test(subtract_leaves_what_has_no_value_alone),
      cmocka_unit_test(subtract_of_another_set_is_einval),
      cmocka_unit_test(least_is_the_smaller_of_each_that_counted),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
