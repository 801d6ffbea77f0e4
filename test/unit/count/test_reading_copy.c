/* SPDX-License-Identifier: MIT */
/* A copy of a reading has its values, and keeps them when the original is
 * filled again. */
#include "support.h"

#include "count/reading.h"
#include "fake_kernel.h"

static const uvperf__reading_origin_t origin = {&origin, 17};

/* Each cell has a value that no other has. */
static void fill(uvperf_reading_t *reading, uint64_t now, size_t nr_attrs,
                 size_t nr_places) {
  uvperf__cell_t *cell;
  size_t attr, place;

  assert_int_equal(uvperf__reading_begin(reading, &origin, 0, 0, now, nr_attrs,
                                         NULL, nr_places),
                   0);
  for (place = 0; place < nr_places; place++) {
    uvperf__reading_place(reading, place)->serial = place + 1;
    uvperf__reading_place(reading, place)->cpu = (int32_t)place;
    for (attr = 0; attr < nr_attrs; attr++) {
      cell = uvperf__reading_cell(reading, attr, place);
      cell->value = now * 1000 + place * 10 + attr;
      cell->enabled = cell->running = now;
      cell->state = UVPERF_COUNT_COUNTING;
    }
  }
  uvperf__reading_end(reading);
}

static void expect(const uvperf_reading_t *reading, uint64_t now,
                   size_t nr_attrs, size_t nr_places) {
  uvperf_count_t count;
  size_t attr, place;
  uint64_t sum;

  assert_int_equal(uvperf_reading_info(reading)->time, now);
  assert_int_equal(uvperf_reading_info(reading)->nr_attrs, nr_attrs);
  assert_int_equal(uvperf_reading_info(reading)->nr_places, nr_places);
  for (attr = 0; attr < nr_attrs; attr++) {
    sum = 0;
    for (place = 0; place < nr_places; place++) {
      assert_int_equal(uvperf_reading_place(reading, place)->cpu, place);
      assert_int_equal(
          uvperf_reading_get(reading, attr, UVPERF_ALL, place, &count), 0);
      assert_int_equal(count.value, now * 1000 + place * 10 + attr);
      sum += count.value;
    }
    assert_int_equal(uvperf_reading_total(reading, attr, &count), 0);
    assert_int_equal(count.value, sum);
  }
}

static void make(uvperf_reading_t **one, uvperf_reading_t **other) {
  fake_kernel_reset();
  assert_int_equal(uvperf_reading_new(one), 0);
  assert_int_equal(uvperf_reading_new(other), 0);
}

static void release(uvperf_reading_t *one, uvperf_reading_t *other) {
  uvperf_reading_free(one);
  uvperf_reading_free(other);
  fake_assert_clean();
}

static void reading_copy_stays_when_the_other_is_filled(void **state) {
  uvperf_reading_t *reading, *copy;

  make(&reading, &copy);
  fill(reading, 5, 3, 4);
  assert_int_equal(uvperf_reading_copy(copy, reading), 0);
  fill(reading, 9, 3, 7);
  expect(copy, 5, 3, 4);
  expect(reading, 9, 3, 7);
  /* A larger and a smaller one into the same. */
  assert_int_equal(uvperf_reading_copy(copy, reading), 0);
  expect(copy, 9, 3, 7);
  fill(reading, 11, 1, 0);
  assert_int_equal(uvperf_reading_copy(copy, reading), 0);
  expect(copy, 11, 1, 0);
  release(reading, copy);
}

static void reading_copy_is_as_good_for_a_delta(void **state) {
  uvperf_reading_t *reading, *copy, *delta;
  uvperf_count_t count;

  make(&reading, &copy);
  assert_int_equal(uvperf_reading_new(&delta), 0);
  fill(reading, 5, 2, 2);
  assert_int_equal(uvperf_reading_copy(copy, reading), 0);
  fill(reading, 9, 2, 2);
  assert_int_equal(uvperf_reading_delta(delta, copy, reading), 0);
  assert_int_equal(uvperf_reading_info(delta)->interval, 4);
  assert_int_equal(uvperf_reading_total(delta, 1, &count), 0);
  assert_int_equal(count.value, 8000);
  /* A copy of a delta is a delta. */
  assert_int_equal(uvperf_reading_copy(copy, delta), 0);
  assert_int_equal(uvperf_reading_total(copy, 1, &count), 0);
  assert_int_equal(count.value, 8000);
  assert_int_equal(uvperf_reading_delta(delta, copy, reading), -EINVAL);
  uvperf_reading_free(delta);
  release(reading, copy);
}

static void reading_copy_of_nothing_is_einval(void **state) {
  uvperf_reading_t *reading, *copy;

  make(&reading, &copy);
  fill(copy, 5, 2, 2);
  assert_int_equal(uvperf_reading_copy(copy, reading), -EINVAL);
  assert_int_equal(uvperf_reading_copy(copy, NULL), -EINVAL);
  assert_int_equal(uvperf_reading_copy(NULL, copy), -EINVAL);
  assert_int_equal(uvperf_reading_copy(copy, copy), -EINVAL);
  expect(copy, 5, 2, 2);
  release(reading, copy);
}

static void reading_copy_without_memory_leaves_the_copy(void **state) {
  uvperf_reading_t *reading, *copy;

  make(&reading, &copy);
  fill(copy, 5, 2, 2);
  fill(reading, 9, 9, 9);
  fake_fail(FAKE_CALLOC, 1, -ENOMEM);
  assert_int_equal(uvperf_reading_copy(copy, reading), -ENOMEM);
  expect(copy, 5, 2, 2);
  assert_int_equal(uvperf_reading_copy(copy, reading), 0);
  expect(copy, 9, 9, 9);
  release(reading, copy);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(reading_copy_stays_when_the_other_is_filled),
      cmocka_unit_test(reading_copy_is_as_good_for_a_delta),
      cmocka_unit_test(reading_copy_of_nothing_is_einval),
      cmocka_unit_test(reading_copy_without_memory_leaves_the_copy),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
