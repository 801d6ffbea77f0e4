/* SPDX-License-Identifier: MIT */
/* The values of the counts of a reading. */
#include "make_reading.h"

static const uvperf__reading_origin_t origin = {&origin, 1};

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
  count = make_count(reading, 0, 0);
  total = make_total(reading, 0);
  assert_memory_equal(&total, &count, sizeof(count));
  uvperf_reading_free(reading);
  return count;
}

/* A cell in full: value, enabled, running, lost, state, code. */
#define CELL(...) ((uvperf__cell_t){__VA_ARGS__})
#define PART      UVPERF__READING_PART_TIME

static void count_of_each_cell_is_as_its_row_says(void **state) {
  const struct {
    int pid, cpu;
    uint8_t flags;
    uvperf__cell_t cell;
    const char *text;
  } rows[] = {
      /* On a CPU, of every task. */
      {-1, 0, 0, CELL(10, 300, 100, 4, UVPERF_COUNT_COUNTING, 0),
       "counting 10 30 300/100 0.3333 +1-0 lost 4"},
      {-1, 0, 0, make_cell(10, 300, 300), "counting 10 10 300/300 1.0000 +1-0"},
      {-1, 0, 0, make_cell(10, 300, 301), "counting 10 10 300/301 1.0000 +1-0"},
      {-1, 0, 0, make_cell(UINT64_MAX, 300, 299),
       "counting 18446744073709551615 18446744073709551615 300/299 0.9967 "
       "+1-0"},
      {-1, 0, 0, make_cell(0, 300, 0), "never scheduled 0 0 300/0 0.0000 +0-1"},
      {-1, 0, 0, make_cell(0, 0, 0), "did not run 0 0 0/0 0.0000 +1-0"},
      /* The kernel takes the times before the value. */
      {-1, 0, 0, make_cell(3, 300, 0), "counting 3 3 300/0 0.0000 +1-0"},
      {-1, 0, 0, make_cell(3, 0, 0), "counting 3 3 0/0 0.0000 +1-0"},
      {-1, 0, 0, make_gone(10, 300, 100), "gone 10 30 300/100 0.3333 +1-0"},
      {-1, 0, 0, make_gone(0, 0, 0), "gone 0 0 0/0 0.0000 +1-0"},
      {-1, 0, 0, make_gone(0, 300, 0), "never scheduled 0 0 300/0 0.0000 +0-1"},
      /* What was not read has a code and no numbers. */
      {-1, 0, 0, CELL(1, 2, 3, 4, UVPERF_COUNT_NOT_AVAILABLE, -9),
       "not available 0 0 0/0 0.0000 +0-1 code -9"},
      {-1, 0, 0, CELL(1, 2, 3, 4, UVPERF_COUNT_ERROR, -9),
       "error 0 0 0/0 0.0000 +0-1 code -9"},
      {-1, 0, 0, CELL(0, 0, 0, 0, UVPERF_COUNT_NONE, 0),
       "none 0 0 0/0 0.0000 +0-0"},
      /* A task on one CPU may run elsewhere, so it is not scaled. */
      {17, 0, 0, make_cell(10, 300, 100), "counting 10 10 300/100 0.3333 +1-0"},
      {17, 1, 0, make_gone(10, 300, 100), "gone 10 10 300/100 0.3333 +1-0"},
      {17, -1, 0, make_cell(10, 300, 100),
       "counting 10 30 300/100 0.3333 +1-0"},
      {-1, 1, 0, make_cell(10, 300, 100), "counting 10 30 300/100 0.3333 +1-0"},
      {17, 0, 0, make_cell(0, 300, 0), "did not run 0 0 300/0 0.0000 +1-0"},
      {17, 0, 0, make_gone(0, 300, 0), "gone 0 0 300/0 0.0000 +1-0"},
      /* A PMU of some CPUs. For every task it is only opened on its CPUs. */
      {17, -1, PART, make_cell(10, 300, 100),
       "counting 10 10 300/100 0.3333 +1-0"},
      {17, -1, PART, make_cell(0, 300, 0), "did not run 0 0 300/0 0.0000 +1-0"},
      {-1, 3, PART, make_cell(10, 300, 100),
       "counting 10 30 300/100 0.3333 +1-0"},
      {-1, 3, PART, make_cell(0, 300, 0),
       "never scheduled 0 0 300/0 0.0000 +0-1"},
      {17, -1, UVPERF__READING_SNAPSHOT, make_cell(10, 300, 100),
       "counting 10 30 300/100 0.3333 +1-0"},
  };
  const char *text;
  size_t i;

  for (i = 0; i < COUNT_OF(rows); i++) {
    text = make_text(
        count_at(rows[i].pid, rows[i].cpu, rows[i].flags, rows[i].cell));
    if (strcmp(text, rows[i].text) != 0)
      fail_msg("row %zu: %s, not %s", i, text, rows[i].text);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(count_of_each_cell_is_as_its_row_says),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
