/* SPDX-License-Identifier: MIT */
/* Events with a part for each kind of core: the first part stands for all. */
#include "make_reading.h"

/* Two parts, 0 and 2, and another event between them, at one place. */
#define NR_ATTRS 3

static uvperf_reading_t *reading_at(const uvperf__cell_t *cells, int pid,
                                    int cpu) {
  static const uint8_t flags[NR_ATTRS] = {UVPERF__READING_PART_TIME, 0,
                                          UVPERF__READING_PART_TIME |
                                              UVPERF__READING_PART};
  static const uint32_t next[NR_ATTRS] = {2, 0, 0};
  make_t build = {.nr_attrs = NR_ATTRS,
                  .nr_places = 1,
                  .cells = cells,
                  .attr_flags = flags};
  uvperf_reading_t *reading = make_reading(&build);

  uvperf__reading_set_parts(reading, next);
  uvperf__reading_place(reading, 0)->pid = pid;
  uvperf__reading_place(reading, 0)->cpu = cpu;
  return reading;
}

/* The whole count of a task's event, after a check that its parts are as they
 * were read. */
static uvperf_count_t whole_of_task(uvperf__cell_t one, uvperf__cell_t other) {
  const uvperf__cell_t cells[NR_ATTRS] = {one, make_cell(1, 5, 5), other};
  uvperf_reading_t *reading = reading_at(cells, 17, -1);
  uvperf_count_t whole = make_count(reading, 0, 0), total, part;

  total = make_total(reading, 0);
  assert_memory_equal(&total, &whole, sizeof(total));
  assert_int_equal(uvperf_reading_part(reading, 0, 0, &part), 0);
  assert_int_equal(part.value, one.value);
  assert_int_equal(part.scaled, one.value);
  assert_int_equal(part.time_running, one.running);
  part = make_count(reading, 2, 0);
  assert_int_equal(part.value, other.value);
  assert_int_equal(part.time_enabled, other.enabled);
  assert_int_equal(make_total(reading, 1).value, 1);
  uvperf_reading_free(reading);
  return whole;
}

static void whole_of_a_task_is_as_its_row_says(void **state) {
  const struct {
    uvperf__cell_t one, other;
    const char *text;
  } rows[] = {
      {make_cell(300, 100, 30), make_cell(140, 100, 70),
       "counting 440 440 100/100 1.0000 +2-0"},
      /* A task on one kind of core: the other part has counted nothing. */
      {make_cell(0, 100, 0), make_cell(140, 100, 100),
       "counting 140 140 100/100 1.0000 +2-0"},
      /* The second is enabled some time after the first. */
      {make_cell(0, 100, 0), make_cell(140, 50, 50),
       "counting 140 140 100/100 1.0000 +2-0"},
      /* 40 of 100 ns are nowhere: the PMUs were shared. */
      {make_cell(300, 100, 20), make_cell(120, 100, 40),
       "counting 420 700 100/60 0.6000 +2-0"},
      /* The count on the other cores is not known, and not guessed. */
      {make_cell(300, 100, 20), make_failed(UVPERF_COUNT_NOT_AVAILABLE, -2),
       "counting 300 300 100/20 0.2000 +1-1 code -2"},
      {make_cell(0, 100, 0), make_cell(0, 100, 0),
       "never scheduled 0 0 100/0 0.0000 +0-2"},
      {make_cell(0, 0, 0), make_cell(0, 0, 0),
       "did not run 0 0 0/0 0.0000 +2-0"},
  };
  const char *text;
  size_t i;

  for (i = 0; i < COUNT_OF(rows); i++) {
    text = make_text(whole_of_task(rows[i].one, rows[i].other));
    if (strcmp(text, rows[i].text) != 0)
      fail_msg("row %zu: %s, not %s", i, text, rows[i].text);
  }
}

/* One part is measured there, and scaled as ever. */
static void whole_on_a_cpu_is_the_part_of_its_kind(void **state) {
  const uvperf__cell_t cells[NR_ATTRS] = {make_failed(UVPERF_COUNT_NONE, 0),
                                          make_cell(1, 5, 5),
                                          make_cell(10, 300, 100)};
  uvperf_reading_t *reading = reading_at(cells, -1, 3);

  assert_counted(make_count(reading, 0, 0), UVPERF_COUNT_COUNTING, 10, 30, 300,
                 100);
  assert_int_equal(make_count(reading, 0, 0).nr_missing, 0);
  uvperf_reading_free(reading);
}

static void parts_are_kept_by_copies_and_differences(void **state) {
  const uvperf__cell_t cells[NR_ATTRS] = {
      make_cell(300, 100, 30), make_cell(1, 5, 5), make_cell(140, 100, 70)};
  uvperf_reading_t *reading = reading_at(cells, 17, -1);
  uvperf_reading_t *delta;

  assert_int_equal(uvperf_reading_new(&delta), 0);
  assert_int_equal(uvperf_reading_delta(delta, NULL, reading), 0);
  assert_int_equal(make_total(delta, 0).value, 440);
  uvperf_reading_free(delta);
  uvperf_reading_free(reading);
}

static void part_that_is_not_there_is_einval(void **state) {
  const uvperf__cell_t cells[NR_ATTRS] = {
      make_cell(3, 1, 1), make_cell(1, 5, 5), make_cell(14, 1, 1)};
  uvperf_reading_t *reading = reading_at(cells, 17, -1);
  uvperf_count_t count;

  assert_int_equal(uvperf_reading_part(reading, NR_ATTRS, 0, &count), -EINVAL);
  assert_int_equal(uvperf_reading_part(reading, 0, 1, &count), -EINVAL);
  assert_int_equal(uvperf_reading_part(reading, 0, 0, NULL), -EINVAL);
  uvperf_reading_free(reading);
}

int main(void) {
  static const struct CMUnitTest tests[] = {
      cmocka_unit_test(whole_of_a_task_is_as_its_row_says),
      cmocka_unit_test(whole_on_a_cpu_is_the_part_of_its_kind),
      cmocka_unit_test(parts_are_kept_by_copies_and_differences),
      cmocka_unit_test(part_that_is_not_there_is_einval),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
