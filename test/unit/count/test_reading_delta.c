/* SPDX-License-Identifier: MIT */
/* Differences of readings. */
#include "make_reading.h"

#include "make_record.h"

/* An older reading, a newer one, and the difference. */
typedef struct pair_s {
  uvperf_reading_t *older;
  uvperf_reading_t *newer;
  uvperf_reading_t *delta;
} pair_t;

static void pair_free(pair_t *pair) {
  uvperf_reading_free(pair->older);
  uvperf_reading_free(pair->newer);
  uvperf_reading_free(pair->delta);
}

static pair_t pair_of(const make_t *older, const make_t *newer) {
  pair_t pair = {make_reading(older), make_reading(newer), NULL};

  assert_int_equal(uvperf_reading_new(&pair.delta), 0);
  assert_int_equal(uvperf_reading_delta(pair.delta, pair.older, pair.newer), 0);
  return pair;
}

/* The difference of two cells. */
static uvperf_count_t delta_of(uvperf__cell_t before, uvperf__cell_t after) {
  make_t older = {.nr_attrs = 1, .nr_places = 1, .cells = &before};
  make_t newer = {.time = 1, .nr_attrs = 1, .nr_places = 1, .cells = &after};
  pair_t pair = pair_of(&older, &newer);
  uvperf_count_t count = make_count(pair.delta, 0, 0);
  uvperf_count_t total = make_total(pair.delta, 0);

  assert_memory_equal(&total, &count, sizeof(count));
  pair_free(&pair);
  return count;
}

/* -- one count ------------------------------------------------------------ */

static void delta_of_two_cells_is_as_its_row_says(void **state) {
  const struct {
    uvperf__cell_t before, after;
    const char *text;
  } rows[] = {
      {{1000, 900, 900, 3, UVPERF_COUNT_COUNTING, 0},
       {1010, 1200, 1000, 5, UVPERF_COUNT_COUNTING, 0},
       "counting 10 30 300/100 0.3333 +1-0 lost 2"},
      /* It did not run in the interval. */
      {make_cell(10, 300, 100), make_cell(10, 400, 100),
       "never scheduled 0 0 100/0 0.0000 +0-1"},
      {make_cell(10, 300, 100), make_cell(10, 300, 100),
       "did not run 0 0 0/0 0.0000 +1-0"},
      /* It ran for the first time. */
      {make_cell(0, 300, 0), make_cell(10, 500, 100),
       "counting 10 20 200/100 0.5000 +1-0"},
      /* As after PERF_EVENT_IOC_RESET by others; and of another event. */
      {make_cell(10, 300, 100), make_cell(4, 400, 150),
       "counting 4 8 100/50 0.5000 +1-0"},
      {make_cell(10, 300, 100), make_cell(4, 200, 150),
       "counting 4 5 200/150 0.7500 +1-0"},
      {make_cell(10, 300, 100), make_cell(4, 400, 50),
       "counting 4 32 400/50 0.1250 +1-0"},
      /* A task that went: its last count, and then 0, unless children
       * continue. */
      {make_cell(10, 300, 100), make_gone(15, 500, 200),
       "gone 5 10 200/100 0.5000 +1-0"},
      {make_gone(15, 500, 200), make_gone(15, 500, 200),
       "gone 0 0 0/0 0.0000 +1-0"},
      {make_gone(15, 500, 200), make_gone(17, 600, 300),
       "gone 2 2 100/100 1.0000 +1-0"},
      /* It went without running. The interval after it is fully known. */
      {make_cell(0, 300, 0), make_gone(0, 500, 0),
       "never scheduled 0 0 200/0 0.0000 +0-1"},
      {make_cell(7, 300, 50), make_gone(7, 500, 50),
       "never scheduled 0 0 200/0 0.0000 +0-1"},
      {make_gone(0, 500, 0), make_gone(0, 500, 0), "gone 0 0 0/0 0.0000 +1-0"},
      /* A pinned event that was in error and is enabled again continues from
       * its old count: what it gained is not known. */
      {make_failed(UVPERF_COUNT_ERROR, -9), make_cell(1000000, 400, 400),
       "error 0 0 0/0 0.0000 +0-1 code -9"},
      {make_cell(1000000, 400, 400), make_failed(UVPERF_COUNT_ERROR, -9),
       "error 0 0 0/0 0.0000 +0-1 code -9"},
      {make_cell(1000000, 400, 400), make_cell(1000005, 500, 500),
       "counting 5 5 100/100 1.0000 +1-0"},
  };
  const char *text;
  size_t i;

  for (i = 0; i < COUNT_OF(rows); i++) {
    text = make_text(delta_of(rows[i].before, rows[i].after));
    if (strcmp(text, rows[i].text) != 0)
      fail_msg("row %zu: %s, not %s", i, text, rows[i].text);
  }
}

/* The difference of two states, as in the table in lib/count/reading.c; the
 * newer state selects the row. */
enum result {
  NEWER,
  DIFFERENCE,
  OLDER_ERROR
};

static void delta_of_each_two_states_is_as_the_table_says(void **state) {
  static const enum result results[MAKE_STATES][MAKE_STATES] = {
      [UVPERF_COUNT_NONE] = {NEWER},
      [UVPERF_COUNT_NOT_AVAILABLE] = {NEWER},
      [UVPERF_COUNT_ERROR] = {NEWER},
      /* NONE, COUNTING, NOT_ENABLED, NEVER_SCHEDULED, NOT_AVAILABLE, … */
      [UVPERF_COUNT_COUNTING] = {NEWER, DIFFERENCE, DIFFERENCE, DIFFERENCE,
                                 NEWER, DIFFERENCE, OLDER_ERROR},
      [UVPERF_COUNT_NOT_ENABLED] = {NEWER, DIFFERENCE, DIFFERENCE, DIFFERENCE,
                                    NEWER, DIFFERENCE, OLDER_ERROR},
      [UVPERF_COUNT_NEVER_SCHEDULED] = {NEWER, DIFFERENCE, DIFFERENCE,
                                        DIFFERENCE, NEWER, DIFFERENCE,
                                        OLDER_ERROR},
      [UVPERF_COUNT_GONE] = {NEWER, DIFFERENCE, DIFFERENCE, DIFFERENCE, NEWER,
                             DIFFERENCE, OLDER_ERROR}};
  uvperf__cell_t before[MAKE_STATES] = {
      [UVPERF_COUNT_NONE] = make_failed(UVPERF_COUNT_NONE, 0),
      [UVPERF_COUNT_COUNTING] = make_cell(3, 4, 4),
      [UVPERF_COUNT_NOT_ENABLED] = make_cell(0, 0, 0),
      [UVPERF_COUNT_NEVER_SCHEDULED] = make_cell(0, 5, 0),
      [UVPERF_COUNT_NOT_AVAILABLE] =
          make_failed(UVPERF_COUNT_NOT_AVAILABLE, -ENODEV),
      [UVPERF_COUNT_GONE] = make_gone(3, 4, 4),
      [UVPERF_COUNT_ERROR] = make_failed(UVPERF_COUNT_ERROR, -EBADF)};
  uvperf__cell_t after[MAKE_STATES];
  uint32_t older, newer;

  memcpy(after, before, sizeof(after));
  /* What was not read may have meaningless numbers. */
  before[UVPERF_COUNT_NONE].value = 2;
  before[UVPERF_COUNT_NOT_AVAILABLE].value = 2;
  before[UVPERF_COUNT_ERROR].value = 2;
  after[UVPERF_COUNT_COUNTING] = make_cell(30, 40, 40);
  after[UVPERF_COUNT_NEVER_SCHEDULED] = make_cell(0, 50, 0);
  after[UVPERF_COUNT_NOT_AVAILABLE].code = -ENOENT;
  after[UVPERF_COUNT_GONE] = make_gone(30, 40, 40);
  after[UVPERF_COUNT_ERROR].code = -EIO;
  for (newer = 0; newer < MAKE_STATES; newer++) {
    for (older = 0; older < MAKE_STATES; older++) {
      uvperf__cell_t from = before[older], to = after[newer];
      uvperf_count_t count = delta_of(from, to);

      assert_int_equal(to.state, newer);
      if (results[newer][older] == OLDER_ERROR) {
        assert_counted(count, UVPERF_COUNT_ERROR, 0, 0, 0, 0);
        assert_int_equal(count.code, -EBADF);
        assert_int_equal(count.nr_missing, 1);
        continue;
      }
      assert_int_equal(count.code, to.code);
      if (results[newer][older] == DIFFERENCE) {
        /* Some go back, as nothing does: a reset. */
        int went_on = to.enabled >= from.enabled && to.running >= from.running;

        to.value -= to.value >= from.value ? from.value : 0;
        to.enabled -= went_on ? from.enabled : 0;
        to.running -= went_on ? from.running : 0;
      }
      assert_counted(count, newer, to.value, to.value, to.enabled, to.running);
    }
  }
}

static void delta_of_a_task_by_cpu_is_not_scaled(void **state) {
  static const uvperf__cell_t cells[] = {
      {.value = 10, .enabled = 300, .running = 100, .state = 1},
      {.value = 14, .enabled = 500, .running = 200, .state = 1},
      {.value = 14, .enabled = 900, .running = 200, .state = 1}};
  static const uvperf__reading_origin_t origin = {&origin, 1};
  uvperf_reading_t *readings[3], *delta;
  size_t i;

  assert_int_equal(uvperf_reading_new(&delta), 0);
  for (i = 0; i < 3; i++) {
    assert_int_equal(uvperf_reading_new(&readings[i]), 0);
    assert_int_equal(
        uvperf__reading_begin(readings[i], &origin, 0, 0, i, 1, NULL, 1), 0);
    uvperf__reading_place(readings[i], 0)->pid = 17;
    *uvperf__reading_cell(readings[i], 0, 0) = cells[i];
    uvperf__reading_end(readings[i]);
  }
  assert_int_equal(uvperf_reading_delta(delta, readings[0], readings[1]), 0);
  assert_counted(make_count(delta, 0, 0), UVPERF_COUNT_COUNTING, 4, 4, 200,
                 100);
  /* It was elsewhere all the time. */
  assert_int_equal(uvperf_reading_delta(delta, readings[1], readings[2]), 0);
  assert_counted(make_count(delta, 0, 0), UVPERF_COUNT_NOT_ENABLED, 0, 0, 400,
                 0);
  assert_int_equal(make_total(delta, 0).nr_missing, 0);
  for (i = 0; i < 3; i++)
    uvperf_reading_free(readings[i]);
  uvperf_reading_free(delta);
}

/* -- a reading ------------------------------------------------------------ */

static void delta_matches_places_by_their_serials(void **state) {
  static const uint64_t before[] = {1, 2, 5, 7}, after[] = {2, 3, 7, 9};
  uvperf__cell_t old[4], new[4];
  make_t older = {.time = 10, .nr_attrs = 1, .nr_places = 4};
  make_t newer = {.time = 30, .nr_attrs = 1, .nr_places = 4};
  static const uint64_t expected[] = {50 - 2, 51, 52 - 4, 53};
  pair_t pair;
  size_t i;

  for (i = 0; i < 4; i++) {
    old[i] = make_cell(1 + i, 10, 10);
    new[i] = make_cell(50 + i, 20, 20);
  }
  older.cells = old;
  older.serials = before;
  newer.cells = new;
  newer.serials = after;
  pair = pair_of(&older, &newer);
  assert_int_equal(uvperf_reading_info(pair.delta)->nr_places, 4);
  for (i = 0; i < 4; i++) {
    assert_int_equal(uvperf_reading_place(pair.delta, i)->serial, after[i]);
    assert_int_equal(uvperf_reading_place(pair.delta, i)->target,
                     after[i] + 100);
    assert_int_equal(make_count(pair.delta, 0, i).value, expected[i]);
  }
  assert_int_equal(make_total(pair.delta, 0).value, 48 + 51 + 48 + 53);
  assert_int_equal(uvperf_reading_info(pair.delta)->time, 30);
  assert_int_equal(uvperf_reading_info(pair.delta)->interval, 20);
  pair_free(&pair);
}

static void delta_over_a_reset_is_the_newer(void **state) {
  const uvperf__cell_t cells[] = {make_cell(10, 300, 300),
                                  make_failed(UVPERF_COUNT_ERROR, -EBADF)};
  const uvperf__cell_t more[] = {make_cell(50, 600, 600),
                                 make_cell(60, 600, 600)};
  make_t older = {
      .resets = 3, .time = 100, .nr_attrs = 2, .nr_places = 1, .cells = cells};
  make_t newer = {.resets = 4,
                  .since = 130,
                  .time = 150,
                  .nr_attrs = 2,
                  .nr_places = 1,
                  .cells = more};
  pair_t pair = pair_of(&older, &newer);

  assert_same_reading(pair.delta, pair.newer);
  assert_int_equal(uvperf_reading_info(pair.delta)->interval, 20);
  assert_int_equal(make_count(pair.delta, 1, 0).value, 60);
  pair_free(&pair);
}

static void delta_of_snapshots_is_the_newer(void **state) {
  static const uint8_t flags[] = {0, UVPERF__READING_SNAPSHOT};
  const uvperf__cell_t cells[] = {make_cell(10, 300, 300),
                                  make_cell(10, 300, 300)};
  const uvperf__cell_t more[] = {make_cell(12, 500, 400),
                                 make_cell(12, 500, 400)};
  make_t older = {
      .nr_attrs = 2, .nr_places = 1, .cells = cells, .attr_flags = flags};
  make_t newer = {
      .nr_attrs = 2, .nr_places = 1, .cells = more, .attr_flags = flags};
  pair_t pair = pair_of(&older, &newer);

  assert_counted(make_count(pair.delta, 0, 0), UVPERF_COUNT_COUNTING, 2, 4, 200,
                 100);
  assert_counted(make_count(pair.delta, 1, 0), UVPERF_COUNT_COUNTING, 12, 15,
                 500, 400);
  pair_free(&pair);
}

static void delta_without_an_older_is_the_newer(void **state) {
  const uvperf__cell_t cells[] = {make_cell(10, 300, 100),
                                  make_failed(UVPERF_COUNT_ERROR, -EBADF)};
  make_t build = {
      .since = 5, .time = 9, .nr_attrs = 1, .nr_places = 2, .cells = cells};
  uvperf_reading_t *newer = make_reading(&build), *empty, *delta;

  assert_int_equal(uvperf_reading_new(&empty), 0);
  assert_int_equal(uvperf_reading_new(&delta), 0);
  assert_int_equal(uvperf_reading_delta(delta, NULL, newer), 0);
  assert_same_reading(delta, newer);
  assert_int_equal(uvperf_reading_delta(delta, empty, newer), 0);
  assert_same_reading(delta, newer);
  uvperf_reading_free(newer);
  uvperf_reading_free(empty);
  uvperf_reading_free(delta);
}

static void delta_of_a_reading_with_itself_is_nothing(void **state) {
  const uvperf__cell_t cells[] = {make_cell(10, 300, 100)};
  make_t build = {.time = 9, .nr_attrs = 1, .nr_places = 1, .cells = cells};
  uvperf_reading_t *reading = make_reading(&build), *delta;

  assert_int_equal(uvperf_reading_new(&delta), 0);
  assert_int_equal(uvperf_reading_delta(delta, reading, reading), 0);
  assert_int_equal(uvperf_reading_info(delta)->interval, 0);
  assert_counted(make_total(delta, 0), UVPERF_COUNT_NOT_ENABLED, 0, 0, 0, 0);
  uvperf_reading_free(reading);
  uvperf_reading_free(delta);
}

/* -- many ----------------------------------------------------------------- */

#define ATTRS  3
#define PLACES 8

/* What the kernel would count, at places that come and go. */
typedef struct model_s {
  uint64_t random;
  uvperf__cell_t cells[PLACES * ATTRS];
  uint64_t serials[PLACES];
  size_t nr_places;
  uint64_t next_serial;
  uint64_t sums[ATTRS]; /* of everything ever counted */
  uint64_t time;
} model_t;

static void model_count(model_t *model) {
  size_t i;

  for (i = 0; i < model->nr_places * ATTRS; i++) {
    uvperf__cell_t *cell = &model->cells[i];
    uint64_t ran = record_random(&model->random) % 3 * 100;
    uint64_t more = ran != 0 ? record_random(&model->random) % 1000 : 0;

    *cell =
        make_cell(cell->value + more, cell->enabled + 200, cell->running + ran);
    model->sums[i % ATTRS] += more;
  }
  model->time++;
}

/* Removes or adds a place. Its count was read before. */
static void model_change(model_t *model) {
  size_t place;

  if (model->nr_places == PLACES ||
      (model->nr_places > 0 && record_random(&model->random) % 2 == 0)) {
    place = (size_t)(record_random(&model->random) % model->nr_places);
    model->nr_places--;
    memmove(&model->serials[place], &model->serials[place + 1],
            (model->nr_places - place) * sizeof(model->serials[0]));
    memmove(&model->cells[place * ATTRS], &model->cells[(place + 1) * ATTRS],
            (model->nr_places - place) * ATTRS * sizeof(model->cells[0]));
    return;
  }
  place = model->nr_places++;
  model->serials[place] = model->next_serial++;
  memset(&model->cells[place * ATTRS], 0, ATTRS * sizeof(model->cells[0]));
}

static void model_read(const model_t *model, uvperf_reading_t *reading) {
  make_t build = {.time = model->time,
                  .nr_attrs = ATTRS,
                  .nr_places = model->nr_places,
                  .cells = model->cells,
                  .serials = model->serials};

  make_fill(reading, &build);
}

/* The sum of all differences is the total count: nothing is lost, and nothing
 * is counted twice. */
static void deltas_in_a_row_are_all_that_was_counted(void **state) {
  model_t model = {.random = 1, .next_serial = 1};
  uvperf_reading_t *readings[2], *delta;
  uint64_t reported[ATTRS] = {0};
  size_t i, attr;

  assert_int_equal(uvperf_reading_new(&readings[0]), 0);
  assert_int_equal(uvperf_reading_new(&readings[1]), 0);
  assert_int_equal(uvperf_reading_new(&delta), 0);
  for (i = 0; i < 2000; i++) {
    model_change(&model);
    model_count(&model);
    model_read(&model, readings[i % 2]);
    assert_int_equal(
        uvperf_reading_delta(delta, readings[1 - i % 2], readings[i % 2]), 0);
    for (attr = 0; attr < ATTRS; attr++)
      reported[attr] += make_total(delta, attr).value;
  }
  for (attr = 0; attr < ATTRS; attr++) {
    assert_int_equal(reported[attr], model.sums[attr]);
    assert_int_not_equal(reported[attr], 0);
  }
  uvperf_reading_free(readings[0]);
  uvperf_reading_free(readings[1]);
  uvperf_reading_free(delta);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(delta_of_two_cells_is_as_its_row_says),
      cmocka_unit_test(delta_of_each_two_states_is_as_the_table_says),
      cmocka_unit_test(delta_of_a_task_by_cpu_is_not_scaled),
      cmocka_unit_test(delta_matches_places_by_their_serials),
      cmocka_unit_test(delta_over_a_reset_is_the_newer),
      cmocka_unit_test(delta_of_snapshots_is_the_newer),
      cmocka_unit_test(delta_without_an_older_is_the_newer),
      cmocka_unit_test(delta_of_a_reading_with_itself_is_nothing),
      cmocka_unit_test(deltas_in_a_row_are_all_that_was_counted),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
