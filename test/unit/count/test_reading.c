/* SPDX-License-Identifier: MIT */
/* Readings: what they hold, and memory. */
#include "make_reading.h"

#include "fake_kernel.h"

#define NR(array) (COUNT_OF(array))

static const uvperf__reading_origin_t origin = {&origin, 1};

/* -- contents ------------------------------------------------------------- */

static void reading_never_filled_has_nothing(void **state) {
  uvperf_count_t count;
  uvperf_reading_t *reading;

  assert_int_equal(uvperf_reading_new(&reading), 0);
  assert_int_equal(uvperf_reading_info(reading)->nr_attrs, 0);
  assert_int_equal(uvperf_reading_info(reading)->nr_places, 0);
  assert_int_equal(uvperf_reading_info(reading)->time, 0);
  assert_int_equal(uvperf_reading_info(reading)->interval, 0);
  assert_int_equal(uvperf_reading_total(reading, 0, &count), -EINVAL);
  assert_int_equal(uvperf_reading_get(reading, 0, UVPERF_ALL, 0, &count),
                   -EINVAL);
  assert_null(uvperf_reading_place(reading, 0));
  uvperf_reading_free(reading);
}

static void reading_half_filled_has_nothing(void **state) {
  const uvperf__cell_t cell = make_cell(1, 2, 2);
  make_t build = {.time = 9, .nr_attrs = 1, .nr_places = 1, .cells = &cell};
  uvperf_reading_t *reading = make_reading(&build);
  uvperf_count_t count;

  assert_int_equal(uvperf__reading_begin(reading, &origin, 0, 0, 1, 1, NULL, 1),
                   0);
  assert_int_equal(uvperf_reading_info(reading)->nr_attrs, 0);
  assert_int_equal(uvperf_reading_info(reading)->nr_places, 0);
  assert_int_equal(uvperf_reading_info(reading)->time, 0);
  assert_int_equal(uvperf_reading_info(reading)->interval, 0);
  assert_int_equal(uvperf_reading_total(reading, 0, &count), -EINVAL);
  assert_null(uvperf_reading_place(reading, 0));
  uvperf_reading_free(reading);
}

static void reading_has_each_count_at_its_place(void **state) {
  static const uint64_t serials[] = {3, 8, 20};
  uvperf__cell_t cells[6];
  make_t build = {.resets = 4,
                  .since = 100,
                  .time = 150,
                  .nr_attrs = 2,
                  .nr_places = 3,
                  .cells = cells,
                  .serials = serials};
  uvperf_reading_t *reading;
  uint64_t i;

  for (i = 0; i < 6; i++)
    cells[i] = make_cell(10 + i, 30, 30);
  reading = make_reading(&build);
  assert_int_equal(uvperf_reading_info(reading)->nr_attrs, 2);
  assert_int_equal(uvperf_reading_info(reading)->nr_places, 3);
  assert_int_equal(uvperf_reading_info(reading)->time, 150);
  assert_int_equal(uvperf_reading_info(reading)->interval, 50);
  for (i = 0; i < 6; i++) {
    const uvperf_place_t *place = uvperf_reading_place(reading, (size_t)i / 2);

    assert_int_equal(make_count(reading, i % 2, (size_t)i / 2).value, 10 + i);
    assert_int_equal(place->serial, serials[i / 2]);
    assert_int_equal(place->cpu, serials[i / 2]);
    assert_int_equal(place->pid, -1);
    assert_int_equal(place->target, serials[i / 2] + 100);
  }
  assert_int_equal(make_total(reading, 0).value, 10 + 12 + 14);
  assert_int_equal(make_total(reading, 1).value, 11 + 13 + 15);
  uvperf_reading_free(reading);
}

static void reading_of_what_it_has_not_is_einval(void **state) {
  const uvperf__cell_t cell = make_cell(1, 2, 2);
  make_t build = {.nr_attrs = 1, .nr_places = 1, .cells = &cell};
  uvperf_reading_t *reading = make_reading(&build);
  uvperf_count_t count = {.value = 77};

  assert_int_equal(uvperf_reading_total(reading, 1, &count), -EINVAL);
  assert_int_equal(uvperf_reading_total(reading, 0, NULL), -EINVAL);
  assert_int_equal(uvperf_reading_get(reading, 1, UVPERF_ALL, 0, &count),
                   -EINVAL);
  assert_int_equal(uvperf_reading_get(reading, 0, UVPERF_ALL, 1, &count),
                   -EINVAL);
  assert_int_equal(uvperf_reading_get(reading, 0, UVPERF_ALL, 0, NULL),
                   -EINVAL);
  assert_int_equal(uvperf_reading_get(reading, 1, 0, UVPERF_ALL, &count),
                   -EINVAL);
  assert_int_equal(uvperf_reading_get(reading, 0, 0, UVPERF_ALL, NULL),
                   -EINVAL);
  assert_int_equal(uvperf_reading_get(reading, 0, 9, UVPERF_ALL, &count),
                   -ENOENT);
  assert_int_equal(count.value, 77);
  assert_null(uvperf_reading_place(reading, 1));
  assert_int_equal(uvperf_reading_new(NULL), -EINVAL);
  uvperf_reading_free(reading);
  uvperf_reading_free(NULL);
}

static void reading_without_places_has_sums_of_none(void **state) {
  make_t build = {.nr_attrs = 2};
  uvperf_reading_t *reading = make_reading(&build);

  assert_int_equal(uvperf_reading_info(reading)->nr_attrs, 2);
  assert_counted(make_total(reading, 1), UVPERF_COUNT_NONE, 0, 0, 0, 0);
  build.nr_attrs = 0;
  build.nr_places = 0;
  make_fill(reading, &build);
  assert_int_equal(uvperf_reading_info(reading)->nr_attrs, 0);
  uvperf_reading_free(reading);
}

static void reading_before_its_reset_has_an_interval_of_0(void **state) {
  make_t build = {.since = 11, .time = 10};
  uvperf_reading_t *reading = make_reading(&build);

  assert_int_equal(uvperf_reading_info(reading)->interval, 0);
  uvperf_reading_free(reading);
}

static void state_names_are_those_of_the_header(void **state) {
  static const char *const names[] = {
      "none",          "counting", "did not run", "never scheduled",
      "not available", "gone",     "error",       "unknown"};
  uint32_t i;

  for (i = 0; i < NR(names); i++)
    assert_string_equal(uvperf_count_state_name(i), names[i]);
  assert_string_equal(uvperf_count_state_name(UINT32_MAX), "unknown");
}

/* -- memory --------------------------------------------------------------- */

static void reading_filled_again_takes_no_memory(void **state) {
  uvperf__cell_t cells[12];
  make_t build = {.nr_attrs = 3, .nr_places = 4, .cells = cells};
  uvperf_reading_t *reading;
  unsigned int calls;
  size_t i;

  for (i = 0; i < NR(cells); i++)
    cells[i] = make_cell(i, 9, 9);
  reading = make_reading(&build);
  calls = fake_count(FAKE_CALLOC);
  for (i = 0; i <= 4; i++) {
    build.nr_places = i;
    make_fill(reading, &build);
  }
  assert_int_equal(make_total(reading, 2).value, 2 + 5 + 8 + 11);
  assert_int_equal(fake_count(FAKE_CALLOC), calls);
  uvperf_reading_free(reading);
  fake_assert_clean();
}

static void reading_filled_again_has_nothing_of_before(void **state) {
  static const uint8_t flags[] = {UVPERF__READING_PART_TIME};
  const uvperf__cell_t cells[] = {make_cell(10, 300, 100)};
  make_t build = {
      .nr_attrs = 1, .nr_places = 1, .cells = cells, .attr_flags = flags};
  uvperf_reading_t *reading = make_reading(&build);

  /* Of a task: for every task it would be scaled anyway. */
  uvperf__reading_place(reading, 0)->pid = 17;
  uvperf__reading_end(reading);
  assert_int_equal(make_count(reading, 0, 0).scaled, 10);
  assert_int_equal(uvperf__reading_begin(reading, &origin, 0, 0, 1, 1, NULL, 1),
                   0);
  assert_int_equal(uvperf__reading_cell(reading, 0, 0)->value, 0);
  assert_int_equal(uvperf__reading_place(reading, 0)->serial, 0);
  uvperf__reading_end(reading);
  assert_counted(make_total(reading, 0), UVPERF_COUNT_NONE, 0, 0, 0, 0);
  build.attr_flags = NULL;
  make_fill(reading, &build);
  assert_int_equal(make_count(reading, 0, 0).scaled, 30);
  uvperf_reading_free(reading);
}

static void reading_that_cannot_grow_is_as_it_was(void **state) {
  const uvperf__cell_t cells[] = {make_cell(1, 2, 2), make_cell(3, 4, 4)};
  make_t build = {.time = 9, .nr_attrs = 1, .nr_places = 1, .cells = cells};
  uvperf_reading_t *reading = make_reading(&build);
  uvperf_reading_t *same = make_reading(&build), *none = reading;

  fake_fail(FAKE_CALLOC, 1, 0);
  assert_int_equal(uvperf__reading_begin(reading, &origin, 1, 2, 3, 1, NULL, 2),
                   -ENOMEM);
  assert_same_reading(reading, same);
  build.nr_places = 2;
  make_fill(reading, &build);
  assert_int_equal(make_total(reading, 0).value, 4);
  fake_fail(FAKE_CALLOC, 1, 0);
  assert_int_equal(uvperf_reading_new(&none), -ENOMEM);
  assert_null(none);
  uvperf_reading_free(reading);
  uvperf_reading_free(same);
  fake_assert_clean();
}

static void reading_of_more_than_memory_can_be_is_enomem(void **state) {
  /* The lower half of its square is 0 in a size_t. */
  const size_t root = (size_t)1 << (sizeof(size_t) * 4 + 1);
  const size_t sizes[][2] = {{root, root},
                             {SIZE_MAX, 1},
                             {1, SIZE_MAX},
                             {SIZE_MAX, SIZE_MAX},
                             {SIZE_MAX / 2 + 1, 2},
                             {SIZE_MAX / sizeof(uvperf__cell_t), 1},
                             {1, SIZE_MAX / sizeof(uvperf__cell_t)},
                             {SIZE_MAX, 0},
                             {0, SIZE_MAX}};
  uvperf_reading_t *reading;
  unsigned int calls;
  size_t i;

  assert_int_equal(uvperf_reading_new(&reading), 0);
  calls = fake_count(FAKE_CALLOC);
  for (i = 0; i < NR(sizes); i++)
    assert_int_equal(uvperf__reading_begin(reading, &origin, 0, 0, 0,
                                           sizes[i][0], NULL, sizes[i][1]),
                     -ENOMEM);
  assert_int_equal(fake_count(FAKE_CALLOC), calls);
  uvperf_reading_free(reading);
}

#define SCRIPTED(f) cmocka_unit_test_setup(f, fake_kernel_setup)

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(reading_never_filled_has_nothing),
      cmocka_unit_test(reading_half_filled_has_nothing),
      cmocka_unit_test(reading_has_each_count_at_its_place),
      cmocka_unit_test(reading_of_what_it_has_not_is_einval),
      cmocka_unit_test(reading_without_places_has_sums_of_none),
      cmocka_unit_test(reading_before_its_reset_has_an_interval_of_0),
      cmocka_unit_test(state_names_are_those_of_the_header),
      SCRIPTED(reading_filled_again_takes_no_memory),
      cmocka_unit_test(reading_filled_again_has_nothing_of_before),
      SCRIPTED(reading_that_cannot_grow_is_as_it_was),
      SCRIPTED(reading_of_more_than_memory_can_be_is_enomem),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
