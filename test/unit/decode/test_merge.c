/* SPDX-License-Identifier: MIT */
/* Several rings in the order of time: each promise of merge.h by itself. Rings
 * that come, go and break are in test_merge_rings.c, runs in test_merge_run.c,
 * random mixtures in test_merge_random.c, real rings in live/test_merge.c.
 *
 * Each call is compared with the model of model_merge.h. This file has only
 * expectations of the model, and what the model does not know. */
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

/* -- order ----------------------------------------------------------------- */

typedef struct sorted_s {
  uint64_t time;
  size_t ring;
  size_t index; /* in its ring */
} sorted_t;

static int compare(const void *one, const void *other) {
  const sorted_t *a = one, *b = other;

  if (a->time != b->time)
    return a->time < b->time ? -1 : 1;
  if (a->ring != b->ring)
    return a->ring < b->ring ? -1 : 1;
  return a->index < b->index ? -1 : 1;
}

/* Merges records of rings whose times only rise, and sorts all of them. */
static void merge_and_sort(size_t nr_rings, size_t nr_records, uint64_t step) {
  sorted_t *sorted = calloc(nr_records, sizeof(*sorted));
  uint64_t random = nr_rings, time = 0;
  uvperf__merged_t merged;
  size_t i;

  for (i = 0; i < nr_rings; i++)
    merge_model_add(&model, 64 * 1024);
  for (i = 0; i < nr_records; i++) {
    merge_ring_t *ring = model.rings[record_random(&random) % nr_rings];

    time += record_random(&random) % step;
    sorted[i].time = time;
    sorted[i].ring = ring->index;
    sorted[i].index = ring->written;
    merge_put(ring, time);
  }
  qsort(sorted, nr_records, sizeof(*sorted), compare);
  uvperf__merge_heads(model.merge);
  uvperf__merge_begin(model.merge, 0, UINT64_MAX);
  for (i = 0; i < nr_records; i++) {
    assert_int_equal(uvperf__merge_next(model.merge, UINT64_MAX, &merged), 1);
    assert_true(merged.time == sorted[i].time);
    assert_int_equal(merged.ring, sorted[i].ring);
    assert_int_equal((uint32_t)((const uint64_t *)merged.bytes)[2],
                     sorted[i].index);
    assert_int_equal(uvperf__merge_consume(model.merge, &merged), 0);
  }
  assert_int_equal(uvperf__merge_next(model.merge, UINT64_MAX, &merged), 0);
  assert_int_equal(uvperf__merge_has_more(model.merge), 0);
  uvperf__merge_end(model.merge);
  free(sorted);
}

static void merge_of_two_rings_is_sorted(void **state) {
  merge_and_sort(2, 2000, 3);
}

static void merge_of_hundreds_of_rings_is_sorted(void **state) {
  merge_and_sort(300, 20000, 2);
}

static void merge_of_one_ring_is_that_ring(void **state) {
  merge_and_sort(1, 1000, 2);
}

/* Runs of one ring, each longer than the one before: also one that ends where
 * another ring's record has the same time. */
static void merge_of_runs_is_sorted(void **state) {
  merge_ring_t *rings[9];
  uint64_t time = 0;
  size_t i, j;

  for (i = 0; i < 9; i++)
    rings[i] = merge_model_add(&model, 16384);
  for (i = 0; i < 90; i++)
    for (j = 0; j < i / 3; j++)
      merge_put(rings[i * 4 % 9], time += j > 0);
  merge_begin(&model);
  assert_int_equal(merge_take(&model, UINT64_MAX, 10000), 1305);
  merge_end(&model);
  assert_int_equal(model.late, 0);
}

/* From one scratch: the first record of both rings wraps. */
static void records_that_wrap_at_once_are_each_whole(void **state) {
  merge_ring_t *rings[2];
  size_t i, lap;

  rings[0] = merge_model_add(&model, 256);
  rings[1] = merge_model_add(&model, 256);
  for (lap = 0; lap < 200; lap++) {
    for (i = 0; i < 2; i++)
      while (merge_write(rings[i], lap % 2 ? MERGE_SIDEBAND : MERGE_SAMPLE, lap,
                         48 + lap % 5 * 8))
        ;
    merge_begin(&model);
    assert_true(merge_take(&model, UINT64_MAX, 1000) >= 4);
    merge_end(&model);
  }
}

/* -- impossible times ------------------------------------------------------ */

/* -- the horizon ----------------------------------------------------------- */

static void ring_more_than_half_full_presses(void **state) {
  merge_ring_t *ring;

  merge_model_add(&model, 4096);
  ring = merge_model_add(&model, 4096);
  assert_int_equal(merge_write(ring, MERGE_SAMPLE, 1, 2048), 1);
  merge_begin(&model);
  assert_int_equal(uvperf__merge_is_pressed(model.merge), 0);
  merge_end(&model);
  assert_int_equal(merge_write(ring, MERGE_SAMPLE, 1, 48), 1);
  merge_begin(&model);
  assert_int_equal(uvperf__merge_is_pressed(model.merge), 1);
  merge_expect(&model, 1, 1);
  assert_int_equal(uvperf__merge_is_pressed(model.merge), 1);
  merge_end(&model);
  merge_begin(&model);
  assert_int_equal(uvperf__merge_is_pressed(model.merge), 0);
  merge_end(&model);
}

/* -- tails ----------------------------------------------------------------- */

/* merge_consume asserts the tail that the kernel sees. */
static void tail_is_published_at_each_quarter_and_at_the_end(void **state) {
  merge_ring_t *ring;
  uint64_t start;
  unsigned i;

  ring = merge_model_add(&model, 4096);
  start = ring->tail;
  for (i = 0; i < 8; i++)
    assert_int_equal(merge_write(ring, MERGE_SAMPLE, i, 480), 1);
  merge_begin(&model);
  assert_int_equal(merge_take(&model, UINT64_MAX, 2), 2);
  assert_true(ring->ring.page->data_tail == start);
  assert_int_equal(merge_take(&model, UINT64_MAX, 1), 1);
  assert_true(ring->ring.page->data_tail == start + 3 * UINT64_C(480));
  assert_int_equal(merge_take(&model, UINT64_MAX, 1), 1);
  merge_end(&model);
  assert_true(ring->ring.page->data_tail == start + 4 * UINT64_C(480));
}

/* A record that is longer than its header says overwrites waiting records. */
static void
record_that_is_overwritten_after_the_check_keeps_its_size(void **state) {
  const uint64_t headers[] = {0, UINT64_MAX};
  merge_ring_t *ring;
  uint64_t header;
  size_t i;

  ring = merge_model_add(&model, 4096);
  merge_model_add(&model, 4096);
  merge_put(ring, 10);
  merge_put(ring, 11);
  merge_begin(&model);
  for (i = 0; i < 2; i++) {
    header = merge_overwrite(ring, headers[i]);
    assert_int_equal(uvperf__merge_next(model.merge, UINT64_MAX, &model.merged),
                     1);
    assert_int_equal(model.merged.size, MERGE_LEAST_BYTES);
    merge_overwrite(ring, header);
    merge_expect(&model, 0, 10 + i);
  }
  merge_end(&model);
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
      TEST(merge_of_two_rings_is_sorted),
      TEST(merge_of_hundreds_of_rings_is_sorted),
      TEST(merge_of_one_ring_is_that_ring),
      TEST(merge_of_runs_is_sorted),
      TEST(records_that_wrap_at_once_are_each_whole),
      TEST(ring_more_than_half_full_presses),
      TEST(tail_is_published_at_each_quarter_and_at_the_end),
      TEST(record_that_is_overwritten_after_the_check_keeps_its_size),
      /* 8 is found after 10. */
      PLAY(record_that_an_interrupt_put_behind_is_late,
           "0+10 0+8 0+12 1+9 1+11 ( 1=9 0=10 late=0 0=8 late=1 1=11 0=12 "
           "late=1 )"),
      /* It becomes visible when younger ones have been given. */
      PLAY(record_that_is_seen_too_late_is_counted,
           "1+100 ( 1=100 ) 0+99 0+100 ( 0=99 0=100 late=1 )"),
      /* Also in the next check; it has no time that could be late. */
      PLAY(record_without_time_comes_after_the_one_before_it,
           "1? 1+10 1? 0+9 0+11 ( 1=0 0=9 1=10 1=10 0=11 ) 1? ( 1=10 late=0 )"),
      /* Of a clock that is far ahead: its ring continues, nothing waits, and
       * nothing after it is late. */
      PLAY(record_of_the_future_comes_after_the_one_before_it,
           "max=20 0+10 0+21 0+18446744073709551615 0+12 1+11 1+20 ( 0=10 "
           "0=10 0=10 1=11 0=12 1=20 ) late=0 bad=2"),
      /* It is not late either. */
      PLAY(record_of_the_past_comes_after_the_one_before_it,
           "min=10 0+12 0~9 0+0 1+10 1+13 ( 1=10 0=12 0=12 0=12 1=13 ) late=0 "
           "bad=2"),
      /* It has no record before it whose time it could take. */
      PLAY(first_record_with_an_impossible_time_comes_first,
           "max=20 0+10 1+30 1+9 ( 1=0 1=9 0=10 ) bad=1"),
      /* Of a clock that is a little ahead: it waits for its own time. */
      /* It is as early as possible. */
      PLAY(first_record_of_the_past_has_the_earliest_time,
           "min=10 0+5 1+10 1+11 ( 0=10 1=10 1=11 ) bad=1"),
      PLAY(record_that_is_possible_by_now_keeps_its_time,
           "max=20 0+21 ( peek ) max=21 1+11 ( 1=11 none<20 0=21 ) bad=0"),
      /* Records from before do not make everything else late. */
      PLAY(rewind_forgets_the_times_from_before,
           "0+100 1+101 ( 0=100 1=101 ) 0+102 1+11 rewind max=20 ( 0=0 1=11 ) "
           "late=0 bad=1"),
      PLAY(record_younger_than_the_horizon_waits,
           "0+10 0+20 1+15 1+21 ( take=0<9 take=1<10 take=2<20 more=1 ) "
           "more=1 ( none<20 1=21 ) more=0"),
      PLAY(record_written_after_begin_waits_for_the_next,
           "0+10 ( 0+11 1+9 0=10 none ) ( 1=9 0=11 )"),
      /* The end of a slice: the rest comes in order among the records since
       * then. */
      PLAY(merge_that_was_cut_goes_on,
           "0+10 0+11 0+12 0+13 ( 0=10 0=11 ) 1+12 1+13 ( 0=12 1=12 0=13 1=13 "
           ") late=0"),
      PLAY(ring_that_is_quiet_holds_nothing_up,
           "ring 2+0 2+1 2+2 ( take=2<1 take=1 )"),
      PLAY(records_of_one_time_come_in_the_order_of_their_rings,
           "ring 2+5 2+5 1+5 1+5 0+5 0+5 ( 0=5 0=5 1=5 1=5 2=5 2=5 )"),
      PLAY(record_that_was_not_consumed_comes_again, "0+10 ( peek ) ( 0=10 )"),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
