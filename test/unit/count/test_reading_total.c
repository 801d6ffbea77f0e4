/* SPDX-License-Identifier: MIT */
/* Sums of counts. */
#include "make_reading.h"

#include "make_record.h"

#define NR(array) (COUNT_OF(array))

static uvperf_count_t total_of(const uvperf__cell_t *cells, size_t nr) {
  make_t build = {.nr_attrs = 1, .nr_places = nr, .cells = cells};
  uvperf_reading_t *reading = make_reading(&build);
  uvperf_count_t total = make_total(reading, 0);

  uvperf_reading_free(reading);
  return total;
}

static void total_is_the_sum_of_what_was_scaled(void **state) {
  /* 10 * 3 and 10 * 3 / 2 rounded down: all in one it would be 20 * 9 / 5. */
  const uvperf__cell_t cells[] = {make_cell(10, 300, 100),
                                  make_cell(9, 600, 400), make_cell(0, 100, 0)};
  uvperf_count_t total = total_of(cells, 3);

  assert_counted(total, UVPERF_COUNT_COUNTING, 19, 30 + 13, 1000, 500);
  assert_true(total.ratio == 0.5);
  assert_int_equal(total.nr_counts, 2);
  assert_int_equal(total.nr_missing, 1);
}

static void total_beyond_64_bits_is_the_greatest(void **state) {
  const uint64_t half = UINT64_C(1) << 63;
  uvperf__cell_t cells[] = {make_cell(half, 4, 4), make_cell(half, 6, 6),
                            make_cell(1, 8, 2)};
  uvperf_count_t total;

  cells[0].lost = half;
  cells[1].lost = half;
  total = total_of(cells, 3);
  assert_counted(total, UVPERF_COUNT_COUNTING, UINT64_MAX, UINT64_MAX, 18, 12);
  assert_int_equal(total.lost, UINT64_MAX);
  cells[0].value = half - 1;
  assert_counted(total_of(cells, 2), UVPERF_COUNT_COUNTING, UINT64_MAX,
                 UINT64_MAX, 10, 10);
  assert_int_equal(total_of(&cells[1], 2).scaled, half + 4);
}

/* Like a thousand CPUs for two years, each on a counter half of the time. */
static void total_of_times_beyond_64_bits_keeps_the_ratio(void **state) {
  uvperf__cell_t cells[1000];
  uvperf_count_t total;
  size_t i;

  for (i = 0; i < NR(cells); i++)
    cells[i] =
        make_cell(5, UINT64_C(63000000000000000), UINT64_C(31500000000000000));
  total = total_of(cells, NR(cells));
  assert_counted(total, UVPERF_COUNT_COUNTING, 5000, 10000, UINT64_MAX,
                 UINT64_MAX);
  assert_true(total.ratio > 0.499 && total.ratio < 0.501);
}

/* The order of states in the header: the first that any is. */
static void total_of_two_states_is_the_more_specific_one(void **state) {
  const uvperf__cell_t cells[MAKE_STATES] = {
      make_cell(7, 9, 9),
      make_gone(7, 9, 9),
      make_failed(UVPERF_COUNT_ERROR, -EBADF),
      make_cell(0, 9, 0),
      make_failed(UVPERF_COUNT_NOT_AVAILABLE, -ENODEV),
      make_cell(0, 0, 0),
      make_failed(UVPERF_COUNT_NONE, 0)};
  size_t i, j;

  for (i = 0; i < MAKE_STATES; i++) {
    for (j = 0; j < MAKE_STATES; j++) {
      const uvperf__cell_t pair[] = {cells[i], cells[j]};
      uvperf_count_t total = total_of(pair, 2);

      assert_int_equal(total.state, cells[i < j ? i : j].state);
      assert_int_equal(total.code,
                       cells[i].code != 0 ? cells[i].code : cells[j].code);
      assert_int_equal(total.value, (i < 2 ? 7 : 0) + (j < 2 ? 7 : 0));
      assert_int_equal(total.nr_counts, (i < 2 || i == 5) + (j < 2 || j == 5));
      assert_int_equal(total.nr_missing,
                       (i >= 2 && i <= 4) + (j >= 2 && j <= 4));
    }
  }
}

static uvperf__cell_t random_cell(uint64_t *random) {
  uint64_t shift = record_random(random) % 64;
  uint64_t enabled = record_random(random) >> shift;
  uvperf__cell_t cell = make_cell(record_random(random) >> shift, enabled,
                                  enabled >> record_random(random) % 3);

  cell.lost = record_random(random) % 3;
  if (record_random(random) % 4 == 0)
    return make_failed((uint32_t)(record_random(random) % MAKE_STATES), -EIO);
  return cell;
}

static void count_add_makes_the_sum_that_the_total_is(void **state) {
  uint64_t random = 1;
  int i;

  for (i = 0; i < 1000; i++) {
    size_t nr = (size_t)(record_random(&random) % 9), place;
    uvperf__cell_t cells[8];
    make_t build = {.nr_attrs = 1, .nr_places = nr, .cells = cells};
    uvperf_count_t sum, total;
    uvperf_reading_t *reading;

    for (place = 0; place < nr; place++)
      cells[place] = random_cell(&random);
    reading = make_reading(&build);
    memset(&sum, 0, sizeof(sum));
    for (place = 0; place < nr; place++) {
      uvperf_count_t count = make_count(reading, 0, place);

      assert_int_equal(uvperf_count_add(&sum, &count), 0);
    }
    total = make_total(reading, 0);
    assert_memory_equal(&sum, &total, sizeof(sum));
    uvperf_reading_free(reading);
  }
}

static void count_add_of_sums_is_the_sum_of_all(void **state) {
  const uvperf__cell_t cells[] = {make_cell(10, 300, 100),
                                  make_failed(UVPERF_COUNT_ERROR, -EBADF),
                                  make_gone(9, 600, 400), make_cell(0, 100, 0)};
  uvperf_count_t first = total_of(cells, 2), second = total_of(cells + 2, 2);
  uvperf_count_t all = total_of(cells, 4);

  assert_int_equal(uvperf_count_add(&first, &second), 0);
  assert_memory_equal(&first, &all, sizeof(all));
}

static void count_add_to_itself_is_twice_of_it(void **state) {
  const uvperf__cell_t cells[] = {make_cell(10, 300, 100),
                                  make_failed(UVPERF_COUNT_ERROR, -EBADF)};
  uvperf_count_t sum = total_of(cells, 2);

  assert_int_equal(uvperf_count_add(&sum, &sum), 0);
  assert_counted(sum, UVPERF_COUNT_COUNTING, 20, 60, 600, 200);
  assert_int_equal(sum.nr_counts, 2);
  assert_int_equal(sum.nr_missing, 2);
  sum.nr_counts = UINT32_MAX - 1;
  sum.nr_missing = UINT32_MAX;
  assert_int_equal(uvperf_count_add(&sum, &sum), 0);
  assert_int_equal(sum.nr_counts, UINT32_MAX);
  assert_int_equal(sum.nr_missing, UINT32_MAX);
}

static void count_add_of_what_is_no_count_is_einval(void **state) {
  uvperf_count_t sum = {.value = 3}, count = {.state = MAKE_STATES};
  uvperf_count_t untouched = sum;

  assert_int_equal(uvperf_count_add(NULL, &count), -EINVAL);
  assert_int_equal(uvperf_count_add(&sum, NULL), -EINVAL);
  assert_int_equal(uvperf_count_add(&sum, &count), -EINVAL);
  assert_memory_equal(&sum, &untouched, sizeof(sum));
  assert_int_equal(uvperf_count_add(&count, &sum), -EINVAL);
  assert_int_equal(count.value, 0);
}

static void total_of_a_target_is_the_sum_of_its_places(void **state) {
  const uvperf__cell_t cells[] = {make_cell(10, 30, 30), make_cell(20, 30, 30),
                                  make_cell(40, 30, 30)};
  make_t build = {.nr_attrs = 1, .nr_places = 3, .cells = cells};
  uvperf_reading_t *reading = make_reading(&build);
  uvperf_count_t count;

  reading->places[0].target = 7;
  reading->places[1].target = 0;
  reading->places[2].target = 7;
  assert_int_equal(uvperf_reading_get(reading, 0, 7, UVPERF_ALL, &count), 0);
  assert_counted(count, UVPERF_COUNT_COUNTING, 50, 50, 60, 60);
  assert_int_equal(uvperf_reading_get(reading, 0, 0, UVPERF_ALL, &count), 0);
  assert_counted(count, UVPERF_COUNT_COUNTING, 20, 20, 30, 30);
  uvperf_reading_free(reading);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(total_of_a_target_is_the_sum_of_its_places),
      cmocka_unit_test(total_is_the_sum_of_what_was_scaled),
      cmocka_unit_test(total_beyond_64_bits_is_the_greatest),
      cmocka_unit_test(total_of_times_beyond_64_bits_keeps_the_ratio),
      cmocka_unit_test(total_of_two_states_is_the_more_specific_one),
      cmocka_unit_test(count_add_makes_the_sum_that_the_total_is),
      cmocka_unit_test(count_add_of_sums_is_the_sum_of_all),
      cmocka_unit_test(count_add_to_itself_is_twice_of_it),
      cmocka_unit_test(count_add_of_what_is_no_count_is_einval),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
