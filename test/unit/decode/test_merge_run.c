/* SPDX-License-Identifier: MIT */
/* Runs of a merge: each promise of uvperf__merge_run by itself. As
 * test_merge.c. */
#include "support.h"

#include "model_merge.h"
#include "make_record.h"

static merge_model_t model;

static int setup(void **state) {
  merge_model_init(&model);
  return 0;
}

static int teardown(void **state) {
  merge_model_free(&model);
  return 0;
}

static void write_in_turns(size_t nr_rings, size_t nr_records) {
  uint64_t random = nr_rings, time = 0;
  size_t i;

  for (i = 0; i < nr_rings; i++)
    merge_model_add(&model, 64 * 1024);
  for (i = 0; i < nr_records; i++)
    merge_put(model.rings[record_random(&random) % nr_rings],
              time += record_random(&random) % 3);
}

/* -- results --------------------------------------------------------------- */

static void run_of_any_number_of_rings_delivers_all_in_order(void **state) {
  static const size_t sizes[][2] = {
      {1, 1000}, {2, 2000}, {3, 3000}, {300, 20000}};
  size_t i;

  for (i = 0; i < 4; i++) {
    teardown(state);
    setup(state);
    write_in_turns(sizes[i][0], sizes[i][1]);
    merge_begin(&model);
    if (merge_run_all(&model) != sizes[i][1])
      fail_msg("%zu rings", sizes[i][0]);
    assert_int_equal(uvperf__merge_has_more(model.merge), 0);
    merge_end(&model);
    assert_int_equal(model.late, 0);
  }
}

/* Each is of another ring, and there is nothing between that ends a run. */
static void run_goes_on_from_ring_to_ring(void **state) {
  size_t i;

  for (i = 0; i < 3; i++)
    merge_model_add(&model, 64 * 1024);
  for (i = 0; i < 60; i++)
    merge_put(model.rings[i % 3], i);
  merge_begin(&model);
  /* The last of a ring ends it, too. */
  assert_int_equal(merge_run(&model, UINT64_MAX, 1000, UINT64_MAX, NULL), 58);
  assert_int_equal(merge_run_all(&model), 2);
  merge_end(&model);
}

/* -- its bounds ------------------------------------------------------------ */

static void run_keeps_its_bounds(void **state) {
  write_in_turns(2, 200);
  merge_begin(&model);
  assert_int_equal(merge_run(&model, UINT64_MAX, 1, UINT64_MAX, NULL), 1);
  assert_int_equal(merge_run(&model, UINT64_MAX, 20, UINT64_MAX, NULL), 20);
  assert_int_equal(
      merge_run(&model, UINT64_MAX, 20, 3 * MERGE_LEAST_BYTES, NULL), 3);
  assert_int_equal(
      merge_run(&model, UINT64_MAX, 20, 3 * MERGE_LEAST_BYTES + 1, NULL), 4);
  assert_int_equal(merge_run(&model, UINT64_MAX, 20, 1, NULL), 1);
  assert_int_equal(merge_run_all(&model), 200 - 29);
  merge_end(&model);
}

/* -- left for next --------------------------------------------------------- */

static void record_that_wraps_is_for_next(void **state) {
  merge_ring_t *ring;
  unsigned lap, wrapped = 0;

  ring = merge_model_add(&model, 1024);
  for (lap = 0; lap < 100; lap++) {
    merge_put(ring, lap);
    merge_put(ring, lap);
    merge_begin(&model);
    if (merge_run_all(&model) < 2) {
      assert_int_equal(merge_next(&model, UINT64_MAX), 1);
      assert_ptr_equal(model.merged.bytes, model.scratch);
      merge_consume(&model);
      merge_run_all(&model);
      wrapped++;
    }
    assert_int_equal(uvperf__merge_has_more(model.merge), 0);
    merge_end(&model);
  }
  assert_true(wrapped > 3);
}

/* -- calls in callbacks ---------------------------------------------------- */

static unsigned countdown;

static int refuse(void) {
  return --countdown > 0 ? 1 : -1;
}

static void sample_that_is_not_taken_is_for_next(void **state) {
  write_in_turns(2, 20);
  merge_begin(&model);
  countdown = 5;
  assert_int_equal(merge_run(&model, UINT64_MAX, 100, UINT64_MAX, refuse), 4);
  countdown = 1;
  assert_int_equal(merge_run(&model, UINT64_MAX, 100, UINT64_MAX, refuse), 0);
  assert_int_equal(merge_take(&model, UINT64_MAX, 1), 1);
  assert_int_equal(merge_run_all(&model), 15);
  merge_end(&model);
}

static int end_it(void) {
  return --countdown > 0;
}

/* The record is consumed, and the records after it come after the next
 * begin. */
static void run_ends_after_a_record_whose_callback_says_so(void **state) {
  write_in_turns(2, 20);
  merge_begin(&model);
  countdown = 5;
  assert_int_equal(merge_run(&model, UINT64_MAX, 100, UINT64_MAX, end_it), 5);
  merge_end(&model);
  merge_begin(&model);
  assert_int_equal(merge_run_all(&model), 15);
  merge_end(&model);
}

static int drop_given(void) {
  if (--countdown == 0)
    merge_drop(&model, model.given);
  return 1;
}

/* It may be unmapped at once. */
static void ring_may_be_dropped_by_its_own_record(void **state) {
  merge_ring_t *first, *second;

  first = merge_model_add(&model, 4096);
  second = merge_model_add(&model, 4096);
  merge_put(first, 10);
  merge_put(first, 11);
  merge_put(second, 12);
  merge_begin(&model);
  countdown = 1;
  assert_int_equal(merge_run(&model, UINT64_MAX, 9, UINT64_MAX, drop_given), 1);
  assert_int_equal(merge_run_all(&model), 1);
  merge_end(&model);
  assert_true(first->ring.page->data_tail == first->published);
}

static int drop_last_and_add(void) {
  size_t i;

  if (--countdown == 0) {
    merge_drop(&model, model.rings[2]);
    for (i = 0; i < 40; i++) /* and all arrays move */
      merge_put(merge_model_add(&model, 4096), 1);
  }
  return 1;
}

static void other_rings_may_come_and_go_meanwhile(void **state) {
  uint64_t time;

  merge_model_add(&model, 4096);
  merge_model_add(&model, 4096);
  merge_model_add(&model, 4096);
  for (time = 10; time < 40; time++)
    merge_put(model.rings[time % 3], time);
  merge_begin(&model);
  countdown = 4;
  while (merge_run(&model, UINT64_MAX, 100, UINT64_MAX, drop_last_and_add) > 0)
    ;
  assert_true(model.newest == 39 || model.newest == 38);
  assert_int_equal(model.rings[2]->consumed, 1);
  merge_end(&model);
}

/* -- tails ----------------------------------------------------------------- */

static void run_publishes_at_each_quarter(void **state) {
  merge_ring_t *ring;
  uint64_t start;
  unsigned i;

  ring = merge_model_add(&model, 4096);
  start = ring->tail;
  for (i = 0; i < 8; i++)
    assert_int_equal(merge_write(ring, MERGE_SAMPLE, i, 512), 1);
  merge_begin(&model);
  assert_int_equal(merge_run(&model, UINT64_MAX, 1, UINT64_MAX, NULL), 1);
  assert_true(ring->ring.page->data_tail == start);
  assert_int_equal(merge_run(&model, UINT64_MAX, 9, UINT64_MAX, NULL), 1);
  assert_true(ring->ring.page->data_tail == start + 1024);
  assert_int_equal(merge_run(&model, UINT64_MAX, 1, UINT64_MAX, NULL), 1);
  assert_true(ring->ring.page->data_tail == start + 1024);
  merge_end(&model);
  assert_true(ring->ring.page->data_tail == start + 1536);
}

/* Accepts only records that have the size they had at the check. */
static int take_least(void *user, void *owner, const uint8_t *bytes,
                      uint64_t header) {
  return uvperf__header_size(header) == MERGE_LEAST_BYTES ? 1 : -1;
}

/* A record that is longer than its header says overwrites waiting records. */
static void
record_that_is_overwritten_after_the_check_keeps_its_size(void **state) {
  uint64_t bytes, size;
  size_t i;

  write_in_turns(2, 20);
  merge_begin(&model);
  for (i = 0; i < 2; i++)
    merge_overwrite(model.rings[i], i == 0 ? 0 : UINT64_MAX);
  size = 0;
  while (uvperf__merge_run(model.merge, UINT64_MAX, 100, UINT64_MAX, take_least,
                           NULL, &bytes) > 0)
    size += bytes;
  assert_int_equal(size, 20 * MERGE_LEAST_BYTES);
  for (i = 0; i < 2; i++)
    assert_true(model.rings[i]->ring.tail == model.rings[i]->ring.head);
  uvperf__merge_end(model.merge);
}

/* -- scripts --------------------------------------------------------------- */

static void play(void **state) {
  merge_play(&model, *state);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
#define PLAY(name, steps)                                                      \
  { #name, play, setup, teardown, (void *)(steps) }

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(run_of_any_number_of_rings_delivers_all_in_order),
      TEST(run_goes_on_from_ring_to_ring),
      TEST(run_keeps_its_bounds),
      TEST(record_that_wraps_is_for_next),
      TEST(sample_that_is_not_taken_is_for_next),
      TEST(run_ends_after_a_record_whose_callback_says_so),
      TEST(ring_may_be_dropped_by_its_own_record),
      TEST(other_rings_may_come_and_go_meanwhile),
      TEST(run_publishes_at_each_quarter),
      TEST(record_that_is_overwritten_after_the_check_keeps_its_size),
      PLAY(run_leaves_what_is_younger_than_the_horizon,
           "0+10 1+11 0+12 1+13 0+14 1+15 0+16 1+17 0+18 1+19 ( run=0<9 "
           "run=5<14 run=0<14 none<14 1=15 )"),
      /* No ring at all has that time. */
      PLAY(record_at_the_end_of_time_is_for_next,
           "0+18446744073709551614 1+18446744073709551615 ( runs=1 "
           "1=18446744073709551615 runs=0 none )"),
      PLAY(record_that_is_no_sample_is_for_next,
           "0+10 0~11 1+12 1? 1+13 ( runs=1 0=11 runs=1 1=12 runs=1 )"),
      /* 8 is found after 10; the last 11 is late from the start. */
      PLAY(late_record_is_for_next,
           "0+10 0+8 0+12 1+11 ( runs=1 0=8 late=1 runs=2 ) 0+11 ( runs=0 "
           "0=11 late=2 )"),
      PLAY(record_with_an_impossible_time_is_for_next,
           "min=10 max=20 0+10 0+21 0+20 1+11 1+9 1+12 ( runs=1 0=10 runs=1 "
           "1=11 runs=2 ) bad=2 late=0"),
      PLAY(ring_that_breaks_is_for_next,
           "0+10 0! 1+12 ( runs=1 broken runs=1 )"),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
