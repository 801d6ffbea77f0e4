/* SPDX-License-Identifier: MIT */
/* Readings: what they hold, what each count is worth, sums, and memory. */
#include "reading_builder.h"

#include <errno.h>

#include "fake_kernel.h"
#include "record_builder.h"

#define NR(array) (sizeof(array) / sizeof((array)[0]))

static const uvperf__reading_origin_t origin = {&origin, 1};

/* -- one count ------------------------------------------------------------ */

/* A reading of one count, at a place. */
static uvperf_set_count_t count_at(int pid, int cpu, uint8_t flags,
                                   uvperf__cell_t cell) {
  uvperf_reading_t *reading;
  uvperf_set_count_t count, total;

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
static uvperf_set_count_t count_of(uvperf__cell_t cell) {
  return count_at(-1, 0, 0, cell);
}

static void count_is_scaled_by_its_times(void **state) {
  uvperf__cell_t cell = build_cell(10, 300, 100);
  uvperf_set_count_t count;

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
  count = count_of(build_cell(UINT64_MAX, 300, 299));
  assert_int_equal(count.scaled, UINT64_MAX);
}

static void count_that_never_ran_has_no_value(void **state) {
  uvperf_set_count_t count = count_of(build_cell(0, 300, 0));

  (void)state;
  assert_counted(count, UVPERF_COUNT_NEVER_SCHEDULED, 0, 0, 300, 0);
  assert_true(count.ratio == 0);
  assert_int_equal(count.nr_counts, 0);
  assert_int_equal(count.nr_missing, 1);
}

static void count_that_was_not_enabled_is_0(void **state) {
  uvperf_set_count_t count = count_of(build_cell(0, 0, 0));

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
  uvperf_set_count_t count = count_of(build_gone(10, 300, 100));

  (void)state;
  assert_counted(count, UVPERF_COUNT_GONE, 10, 30, 300, 100);
  assert_int_equal(count.nr_counts, 1);
  count = count_of(build_gone(0, 0, 0));
  assert_counted(count, UVPERF_COUNT_GONE, 0, 0, 0, 0);
  assert_int_equal(count.nr_counts, 1);
}

static void count_that_never_ran_before_its_task_went_has_none(void **state) {
  uvperf_set_count_t count = count_of(build_gone(0, 300, 0));

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
    uvperf_set_count_t count;

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
  uvperf_set_count_t count = count_of(build_failed(UVPERF_COUNT_NONE, 0));

  (void)state;
  assert_counted(count, UVPERF_COUNT_NONE, 0, 0, 0, 0);
  assert_int_equal(count.nr_counts, 0);
  assert_int_equal(count.nr_missing, 0);
}

/* -- of tasks that run elsewhere too -------------------------------------- */

static void count_of_a_task_on_one_cpu_is_not_scaled(void **state) {
  uvperf_set_count_t count = count_at(17, 0, 0, build_cell(10, 300, 100));

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
  uvperf_set_count_t count = count_at(17, 0, 0, build_cell(0, 300, 0));

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
  flags = UVPERF__READING_SNAPSHOT;
  assert_int_equal(count_at(17, -1, flags, build_cell(10, 300, 100)).scaled,
                   30);
}

/* -- what a reading holds ------------------------------------------------- */

static void reading_never_filled_has_nothing(void **state) {
  uvperf_set_count_t count;
  uvperf_reading_t *reading;

  (void)state;
  assert_int_equal(uvperf_reading_new(&reading), 0);
  assert_int_equal(uvperf_reading_nr_attrs(reading), 0);
  assert_int_equal(uvperf_reading_nr_places(reading), 0);
  assert_int_equal(uvperf_reading_time(reading), 0);
  assert_int_equal(uvperf_reading_interval(reading), 0);
  assert_int_equal(uvperf_reading_total(reading, 0, &count), -EINVAL);
  assert_int_equal(uvperf_reading_count(reading, 0, 0, &count), -EINVAL);
  assert_null(uvperf_reading_place(reading, 0));
  uvperf_reading_free(reading);
}

static void reading_half_filled_has_nothing(void **state) {
  const uvperf__cell_t cell = build_cell(1, 2, 2);
  build_t build = {.time = 9, .nr_attrs = 1, .nr_places = 1, .cells = &cell};
  uvperf_reading_t *reading = build_reading(&build);
  uvperf_set_count_t count;

  (void)state;
  assert_int_equal(uvperf__reading_begin(reading, &origin, 0, 0, 1, 1, NULL, 1),
                   0);
  assert_int_equal(uvperf_reading_nr_attrs(reading), 0);
  assert_int_equal(uvperf_reading_nr_places(reading), 0);
  assert_int_equal(uvperf_reading_time(reading), 0);
  assert_int_equal(uvperf_reading_interval(reading), 0);
  assert_int_equal(uvperf_reading_total(reading, 0, &count), -EINVAL);
  assert_null(uvperf_reading_place(reading, 0));
  uvperf_reading_free(reading);
}

static void reading_has_each_count_at_its_place(void **state) {
  static const uint64_t serials[] = {3, 8, 20};
  uvperf__cell_t cells[6];
  build_t build = {.resets = 4,
                   .since = 100,
                   .time = 150,
                   .nr_attrs = 2,
                   .nr_places = 3,
                   .cells = cells,
                   .serials = serials};
  uvperf_reading_t *reading;
  uint64_t i;

  (void)state;
  for (i = 0; i < 6; i++)
    cells[i] = build_cell(10 + i, 30, 30);
  reading = build_reading(&build);
  assert_int_equal(uvperf_reading_nr_attrs(reading), 2);
  assert_int_equal(uvperf_reading_nr_places(reading), 3);
  assert_int_equal(uvperf_reading_time(reading), 150);
  assert_int_equal(uvperf_reading_interval(reading), 50);
  for (i = 0; i < 6; i++) {
    const uvperf_place_t *place = uvperf_reading_place(reading, i / 2);

    assert_int_equal(build_count(reading, i % 2, i / 2).value, 10 + i);
    assert_int_equal(place->serial, serials[i / 2]);
    assert_int_equal(place->cpu, serials[i / 2]);
    assert_int_equal(place->pid, -1);
    assert_int_equal(place->target, serials[i / 2] + 100);
  }
  assert_int_equal(build_total(reading, 0).value, 10 + 12 + 14);
  assert_int_equal(build_total(reading, 1).value, 11 + 13 + 15);
  uvperf_reading_free(reading);
}

static void reading_of_what_it_has_not_is_einval(void **state) {
  const uvperf__cell_t cell = build_cell(1, 2, 2);
  build_t build = {.nr_attrs = 1, .nr_places = 1, .cells = &cell};
  uvperf_reading_t *reading = build_reading(&build);
  uvperf_set_count_t count = {.value = 77};

  (void)state;
  assert_int_equal(uvperf_reading_total(reading, 1, &count), -EINVAL);
  assert_int_equal(uvperf_reading_total(reading, 0, NULL), -EINVAL);
  assert_int_equal(uvperf_reading_count(reading, 1, 0, &count), -EINVAL);
  assert_int_equal(uvperf_reading_count(reading, 0, 1, &count), -EINVAL);
  assert_int_equal(uvperf_reading_count(reading, 0, 0, NULL), -EINVAL);
  assert_int_equal(count.value, 77);
  assert_null(uvperf_reading_place(reading, 1));
  assert_int_equal(uvperf_reading_new(NULL), -EINVAL);
  uvperf_reading_free(reading);
  uvperf_reading_free(NULL);
}

static void reading_without_places_has_sums_of_none(void **state) {
  build_t build = {.nr_attrs = 2};
  uvperf_reading_t *reading = build_reading(&build);

  (void)state;
  assert_int_equal(uvperf_reading_nr_attrs(reading), 2);
  assert_counted(build_total(reading, 1), UVPERF_COUNT_NONE, 0, 0, 0, 0);
  build.nr_attrs = 0;
  build.nr_places = 0;
  build_fill(reading, &build);
  assert_int_equal(uvperf_reading_nr_attrs(reading), 0);
  uvperf_reading_free(reading);
}

static void reading_before_its_reset_has_an_interval_of_0(void **state) {
  build_t build = {.since = 11, .time = 10};
  uvperf_reading_t *reading = build_reading(&build);

  (void)state;
  assert_int_equal(uvperf_reading_interval(reading), 0);
  uvperf_reading_free(reading);
}

static void state_names_are_those_of_the_header(void **state) {
  static const char *const names[] = {
      "none",          "counting", "not enabled", "never scheduled",
      "not available", "gone",     "error",       "unknown"};
  uint32_t i;

  (void)state;
  for (i = 0; i < NR(names); i++)
    assert_string_equal(uvperf_count_state_name(i), names[i]);
  assert_string_equal(uvperf_count_state_name(UINT32_MAX), "unknown");
}

/* -- sums ----------------------------------------------------------------- */

static uvperf_set_count_t total_of(const uvperf__cell_t *cells, size_t nr) {
  build_t build = {.nr_attrs = 1, .nr_places = nr, .cells = cells};
  uvperf_reading_t *reading = build_reading(&build);
  uvperf_set_count_t total = build_total(reading, 0);

  uvperf_reading_free(reading);
  return total;
}

static void total_is_the_sum_of_what_was_scaled(void **state) {
  /* 10 * 3 and 10 * 3 / 2 rounded down: all in one it would be 20 * 9 / 5. */
  const uvperf__cell_t cells[] = {
      build_cell(10, 300, 100), build_cell(9, 600, 400), build_cell(0, 100, 0)};
  uvperf_set_count_t total = total_of(cells, 3);

  (void)state;
  assert_counted(total, UVPERF_COUNT_COUNTING, 19, 30 + 13, 1000, 500);
  assert_true(total.ratio == 0.5);
  assert_int_equal(total.nr_counts, 2);
  assert_int_equal(total.nr_missing, 1);
}

static void total_beyond_64_bits_is_the_greatest(void **state) {
  const uint64_t half = UINT64_C(1) << 63;
  uvperf__cell_t cells[] = {build_cell(half, 4, 4), build_cell(half, 6, 6),
                            build_cell(1, 8, 2)};
  uvperf_set_count_t total;

  (void)state;
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

/* As of a thousand CPUs for two years, each on a counter half of the time. */
static void total_of_times_beyond_64_bits_keeps_the_ratio(void **state) {
  uvperf__cell_t cells[1000];
  uvperf_set_count_t total;
  size_t i;

  (void)state;
  for (i = 0; i < NR(cells); i++)
    cells[i] =
        build_cell(5, UINT64_C(63000000000000000), UINT64_C(31500000000000000));
  total = total_of(cells, NR(cells));
  assert_counted(total, UVPERF_COUNT_COUNTING, 5000, 10000, UINT64_MAX,
                 UINT64_MAX);
  assert_true(total.ratio > 0.499 && total.ratio < 0.501);
}

/* The order of states in the header: the first that any is. */
static void total_of_two_states_is_the_one_that_tells_more(void **state) {
  const uvperf__cell_t cells[BUILD_STATES] = {
      build_cell(7, 9, 9),
      build_gone(7, 9, 9),
      build_failed(UVPERF_COUNT_ERROR, -EBADF),
      build_cell(0, 9, 0),
      build_failed(UVPERF_COUNT_NOT_AVAILABLE, -ENODEV),
      build_cell(0, 0, 0),
      build_failed(UVPERF_COUNT_NONE, 0)};
  size_t i, j;

  (void)state;
  for (i = 0; i < BUILD_STATES; i++) {
    for (j = 0; j < BUILD_STATES; j++) {
      const uvperf__cell_t pair[] = {cells[i], cells[j]};
      uvperf_set_count_t total = total_of(pair, 2);

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
  uvperf__cell_t cell = build_cell(record_random(random) >> shift, enabled,
                                   enabled >> record_random(random) % 3);

  cell.lost = record_random(random) % 3;
  if (record_random(random) % 4 == 0)
    return build_failed((uint32_t)(record_random(random) % BUILD_STATES), -EIO);
  return cell;
}

static void count_add_makes_the_sum_that_the_total_is(void **state) {
  uint64_t random = 1;
  int i;

  (void)state;
  for (i = 0; i < 1000; i++) {
    size_t nr = (size_t)(record_random(&random) % 9), place;
    uvperf__cell_t cells[8];
    build_t build = {.nr_attrs = 1, .nr_places = nr, .cells = cells};
    uvperf_set_count_t sum, total;
    uvperf_reading_t *reading;

    for (place = 0; place < nr; place++)
      cells[place] = random_cell(&random);
    reading = build_reading(&build);
    memset(&sum, 0, sizeof(sum));
    for (place = 0; place < nr; place++) {
      uvperf_set_count_t count = build_count(reading, 0, place);

      assert_int_equal(uvperf_set_count_add(&sum, &count), 0);
    }
    total = build_total(reading, 0);
    assert_memory_equal(&sum, &total, sizeof(sum));
    uvperf_reading_free(reading);
  }
}

static void count_add_of_sums_is_the_sum_of_all(void **state) {
  const uvperf__cell_t cells[] = {
      build_cell(10, 300, 100), build_failed(UVPERF_COUNT_ERROR, -EBADF),
      build_gone(9, 600, 400), build_cell(0, 100, 0)};
  uvperf_set_count_t first = total_of(cells, 2),
                     second = total_of(cells + 2, 2);
  uvperf_set_count_t all = total_of(cells, 4);

  (void)state;
  assert_int_equal(uvperf_set_count_add(&first, &second), 0);
  assert_memory_equal(&first, &all, sizeof(all));
}

static void count_add_to_itself_is_twice_of_it(void **state) {
  const uvperf__cell_t cells[] = {build_cell(10, 300, 100),
                                  build_failed(UVPERF_COUNT_ERROR, -EBADF)};
  uvperf_set_count_t sum = total_of(cells, 2);

  (void)state;
  assert_int_equal(uvperf_set_count_add(&sum, &sum), 0);
  assert_counted(sum, UVPERF_COUNT_COUNTING, 20, 60, 600, 200);
  assert_int_equal(sum.nr_counts, 2);
  assert_int_equal(sum.nr_missing, 2);
  sum.nr_counts = UINT32_MAX - 1;
  sum.nr_missing = UINT32_MAX;
  assert_int_equal(uvperf_set_count_add(&sum, &sum), 0);
  assert_int_equal(sum.nr_counts, UINT32_MAX);
  assert_int_equal(sum.nr_missing, UINT32_MAX);
}

static void count_add_of_what_is_no_count_is_einval(void **state) {
  uvperf_set_count_t sum = {.value = 3}, count = {.state = BUILD_STATES};
  uvperf_set_count_t untouched = sum;

  (void)state;
  assert_int_equal(uvperf_set_count_add(NULL, &count), -EINVAL);
  assert_int_equal(uvperf_set_count_add(&sum, NULL), -EINVAL);
  assert_int_equal(uvperf_set_count_add(&sum, &count), -EINVAL);
  assert_memory_equal(&sum, &untouched, sizeof(sum));
  assert_int_equal(uvperf_set_count_add(&count, &sum), -EINVAL);
  assert_int_equal(count.value, 0);
}

/* -- memory --------------------------------------------------------------- */

static void reading_filled_again_takes_no_memory(void **state) {
  uvperf__cell_t cells[12];
  build_t build = {.nr_attrs = 3, .nr_places = 4, .cells = cells};
  uvperf_reading_t *reading;
  unsigned int calls;
  size_t i;

  (void)state;
  for (i = 0; i < NR(cells); i++)
    cells[i] = build_cell(i, 9, 9);
  reading = build_reading(&build);
  calls = fake_count(FAKE_CALLOC);
  for (i = 0; i <= 4; i++) {
    build.nr_places = i;
    build_fill(reading, &build);
  }
  assert_int_equal(build_total(reading, 2).value, 2 + 5 + 8 + 11);
  assert_int_equal(fake_count(FAKE_CALLOC), calls);
  uvperf_reading_free(reading);
  fake_assert_clean();
}

static void reading_filled_again_has_nothing_of_before(void **state) {
  static const uint8_t flags[] = {UVPERF__READING_PART_TIME};
  const uvperf__cell_t cells[] = {build_cell(10, 300, 100)};
  build_t build = {
      .nr_attrs = 1, .nr_places = 1, .cells = cells, .attr_flags = flags};
  uvperf_reading_t *reading = build_reading(&build);

  (void)state;
  assert_int_equal(build_count(reading, 0, 0).scaled, 10);
  assert_int_equal(uvperf__reading_begin(reading, &origin, 0, 0, 1, 1, NULL, 1),
                   0);
  assert_int_equal(uvperf__reading_cell(reading, 0, 0)->value, 0);
  assert_int_equal(uvperf__reading_place(reading, 0)->serial, 0);
  uvperf__reading_end(reading);
  assert_counted(build_total(reading, 0), UVPERF_COUNT_NONE, 0, 0, 0, 0);
  build.attr_flags = NULL;
  build_fill(reading, &build);
  assert_int_equal(build_count(reading, 0, 0).scaled, 30);
  uvperf_reading_free(reading);
}

static void reading_that_cannot_grow_is_as_it_was(void **state) {
  const uvperf__cell_t cells[] = {build_cell(1, 2, 2), build_cell(3, 4, 4)};
  build_t build = {.time = 9, .nr_attrs = 1, .nr_places = 1, .cells = cells};
  uvperf_reading_t *reading = build_reading(&build);
  uvperf_reading_t *same = build_reading(&build), *none = reading;

  (void)state;
  fake_fail(FAKE_CALLOC, 1, 0);
  assert_int_equal(uvperf__reading_begin(reading, &origin, 1, 2, 3, 1, NULL, 2),
                   -ENOMEM);
  assert_same_reading(reading, same);
  build.nr_places = 2;
  build_fill(reading, &build);
  assert_int_equal(build_total(reading, 0).value, 4);
  fake_fail(FAKE_CALLOC, 1, 0);
  assert_int_equal(uvperf_reading_new(&none), -ENOMEM);
  assert_null(none);
  uvperf_reading_free(reading);
  uvperf_reading_free(same);
  fake_assert_clean();
}

static void reading_of_more_than_memory_can_be_is_enomem(void **state) {
  static const size_t sizes[][2] = {{SIZE_MAX, 1},
                                    {1, SIZE_MAX},
                                    {SIZE_MAX, SIZE_MAX},
                                    {SIZE_MAX / 2 + 1, 2},
                                    {SIZE_MAX / sizeof(uvperf__cell_t), 1},
                                    {1, SIZE_MAX / sizeof(uvperf__cell_t)},
                                    {SIZE_MAX / sizeof(uvperf_set_count_t), 0},
                                    {SIZE_MAX, 0},
                                    {0, SIZE_MAX}};
  uvperf_reading_t *reading;
  unsigned int calls;
  size_t i;

  (void)state;
  assert_int_equal(uvperf_reading_new(&reading), 0);
  calls = fake_count(FAKE_CALLOC);
  for (i = 0; i < NR(sizes); i++)
    assert_int_equal(uvperf__reading_begin(reading, &origin, 0, 0, 0,
                                           sizes[i][0], NULL, sizes[i][1]),
                     -ENOMEM);
  assert_int_equal(fake_count(FAKE_CALLOC), calls);
  uvperf_reading_free(reading);
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
      cmocka_unit_test(reading_never_filled_has_nothing),
      cmocka_unit_test(reading_half_filled_has_nothing),
      cmocka_unit_test(reading_has_each_count_at_its_place),
      cmocka_unit_test(reading_of_what_it_has_not_is_einval),
      cmocka_unit_test(reading_without_places_has_sums_of_none),
      cmocka_unit_test(reading_before_its_reset_has_an_interval_of_0),
      cmocka_unit_test(state_names_are_those_of_the_header),
      cmocka_unit_test(total_is_the_sum_of_what_was_scaled),
      cmocka_unit_test(total_beyond_64_bits_is_the_greatest),
      cmocka_unit_test(total_of_times_beyond_64_bits_keeps_the_ratio),
      cmocka_unit_test(total_of_two_states_is_the_one_that_tells_more),
      cmocka_unit_test(count_add_makes_the_sum_that_the_total_is),
      cmocka_unit_test(count_add_of_sums_is_the_sum_of_all),
      cmocka_unit_test(count_add_to_itself_is_twice_of_it),
      cmocka_unit_test(count_add_of_what_is_no_count_is_einval),
      cmocka_unit_test_setup(reading_filled_again_takes_no_memory,
                             fake_kernel_setup),
      cmocka_unit_test(reading_filled_again_has_nothing_of_before),
      cmocka_unit_test_setup(reading_that_cannot_grow_is_as_it_was,
                             fake_kernel_setup),
      cmocka_unit_test_setup(reading_of_more_than_memory_can_be_is_enomem,
                             fake_kernel_setup),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
