/* SPDX-License-Identifier: MIT */
/* Several rings in the order of time: each promise of merge.h by itself. Any
 * mixture of them is in test_merge_random.c, real rings in test_merge_live.c.
 *
 * Each call is compared with the model of merge_world.h; here is only what the
 * model must say, and what it does not know. */
#include "support.h"

#include <errno.h>

#include "fake_kernel.h"
#include "merge_world.h"
#include "record_builder.h"

static merge_world_t world;

static int setup(void **state) {
  (void)state;
  fake_kernel_reset();
  merge_world_init(&world);
  return 0;
}

static int teardown(void **state) {
  (void)state;
  merge_world_free(&world);
  fake_assert_clean();
  return 0;
}

/* Asserts that the next is the record with this time, of this ring. */
static void expect(size_t ring, uint64_t time) {
  assert_int_equal(merge_next(&world, UINT64_MAX), 1);
  assert_int_equal(world.given->index, ring);
  assert_true(world.given->records[world.given->consumed].time == time);
  merge_consume(&world);
}

static void expect_nothing(uint64_t horizon) {
  assert_int_equal(merge_next(&world, horizon), 0);
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
    merge_world_add(&world, 64 * 1024);
  for (i = 0; i < nr_records; i++) {
    merge_ring_t *ring = world.rings[record_random(&random) % nr_rings];

    time += record_random(&random) % step;
    sorted[i].time = time;
    sorted[i].ring = ring->index;
    sorted[i].index = ring->written;
    merge_put(ring, time);
  }
  qsort(sorted, nr_records, sizeof(*sorted), compare);
  uvperf__merge_begin(world.merge);
  for (i = 0; i < nr_records; i++) {
    assert_int_equal(uvperf__merge_next(world.merge, UINT64_MAX, &merged), 1);
    assert_true(merged.time == sorted[i].time);
    assert_int_equal(merged.ring, sorted[i].ring);
    assert_int_equal((uint32_t)((const uint64_t *)merged.bytes)[2],
                     sorted[i].index);
    assert_int_equal(uvperf__merge_consume(world.merge, &merged), 0);
  }
  assert_int_equal(uvperf__merge_next(world.merge, UINT64_MAX, &merged), 0);
  assert_int_equal(uvperf__merge_has_more(world.merge), 0);
  uvperf__merge_end(world.merge);
  free(sorted);
}

static void merge_of_two_rings_is_sorted(void **state) {
  (void)state;
  merge_and_sort(2, 2000, 3);
}

static void merge_of_hundreds_of_rings_is_sorted(void **state) {
  (void)state;
  merge_and_sort(300, 20000, 2);
}

static void merge_of_one_ring_is_that_ring(void **state) {
  (void)state;
  merge_and_sort(1, 1000, 2);
}

/* Runs of one ring, each longer than the one before: also one that ends where
 * another ring's record has the same time. */
static void merge_of_runs_is_sorted(void **state) {
  merge_ring_t *rings[9];
  uint64_t time = 0;
  size_t i, j;

  (void)state;
  for (i = 0; i < 9; i++)
    rings[i] = merge_world_add(&world, 16384);
  for (i = 0; i < 90; i++)
    for (j = 0; j < i / 3; j++)
      merge_put(rings[i * 4 % 9], time += j > 0);
  merge_begin(&world);
  assert_int_equal(merge_take(&world, UINT64_MAX, 10000), 1305);
  merge_end(&world);
  assert_int_equal(world.late, 0);
}

static void records_of_one_time_come_in_the_order_of_their_rings(void **state) {
  merge_ring_t *ring[3];
  size_t i, j;

  (void)state;
  for (i = 0; i < 3; i++)
    ring[i] = merge_world_add(&world, 4096);
  for (i = 3; i > 0; i--)
    for (j = 0; j < 2; j++)
      merge_put(ring[i - 1], 5);
  merge_begin(&world);
  for (i = 0; i < 3; i++)
    for (j = 0; j < 2; j++)
      expect(i, 5);
  merge_end(&world);
}

/* From one scratch: the first record of both rings wraps. */
static void records_that_wrap_at_once_are_each_whole(void **state) {
  merge_ring_t *rings[2];
  size_t i, lap;

  (void)state;
  rings[0] = merge_world_add(&world, 256);
  rings[1] = merge_world_add(&world, 256);
  for (lap = 0; lap < 200; lap++) {
    for (i = 0; i < 2; i++)
      while (merge_write(rings[i], lap % 2 ? MERGE_SIDEBAND : MERGE_SAMPLE, lap,
                         48 + lap % 5 * 8))
        ;
    merge_begin(&world);
    assert_true(merge_take(&world, UINT64_MAX, 1000) >= 4);
    merge_end(&world);
  }
}

static void record_that_an_interrupt_put_behind_is_given_late(void **state) {
  merge_ring_t *first, *second;

  (void)state;
  first = merge_world_add(&world, 4096);
  second = merge_world_add(&world, 4096);
  merge_put(first, 10);
  merge_put(first, 8); /* found after 10 */
  merge_put(first, 12);
  merge_put(second, 9);
  merge_put(second, 11);
  merge_begin(&world);
  expect(1, 9);
  expect(0, 10);
  assert_int_equal(world.late, 0);
  expect(0, 8);
  assert_int_equal(world.late, 1);
  expect(1, 11);
  expect(0, 12);
  assert_int_equal(world.late, 1);
  merge_end(&world);
}

/* A record becomes visible when others that are younger have been given. */
static void record_that_is_seen_too_late_is_counted(void **state) {
  merge_ring_t *first, *second;

  (void)state;
  first = merge_world_add(&world, 4096);
  second = merge_world_add(&world, 4096);
  merge_put(second, 100);
  merge_begin(&world);
  expect(1, 100);
  merge_end(&world);
  merge_put(first, 99);
  merge_put(first, 100);
  merge_begin(&world);
  expect(0, 99);
  expect(0, 100);
  assert_int_equal(world.late, 1);
  merge_end(&world);
}

static void record_without_time_comes_after_the_one_before_it(void **state) {
  merge_ring_t *first, *second;

  (void)state;
  first = merge_world_add(&world, 4096);
  second = merge_world_add(&world, 4096);
  assert_int_equal(merge_write(second, MERGE_TIMELESS, 77, 48), 1);
  merge_put(second, 10);
  assert_int_equal(merge_write(second, MERGE_TIMELESS, 77, 48), 1);
  merge_put(first, 9);
  merge_put(first, 11);
  merge_begin(&world);
  expect(1, 0);
  expect(0, 9);
  expect(1, 10);
  expect(1, 10);
  expect(0, 11);
  merge_end(&world);
  /* Also in the next look; it has no time that could be late. */
  assert_int_equal(merge_write(second, MERGE_TIMELESS, 77, 48), 1);
  merge_begin(&world);
  expect(1, 10);
  assert_int_equal(world.late, 0);
  merge_end(&world);
}

/* -- the horizon ----------------------------------------------------------- */

static void what_is_younger_than_the_horizon_waits(void **state) {
  merge_ring_t *first, *second;

  (void)state;
  first = merge_world_add(&world, 4096);
  second = merge_world_add(&world, 4096);
  merge_put(first, 10);
  merge_put(first, 20);
  merge_put(second, 15);
  merge_put(second, 21);
  merge_begin(&world);
  assert_int_equal(merge_take(&world, 9, 10), 0);
  assert_int_equal(merge_take(&world, 10, 10), 1);
  assert_int_equal(merge_take(&world, 20, 10), 2);
  assert_int_equal(uvperf__merge_has_more(world.merge), 1);
  merge_end(&world);
  assert_int_equal(uvperf__merge_has_more(world.merge), 1);
  merge_begin(&world);
  expect_nothing(20);
  expect(1, 21);
  merge_end(&world);
  assert_int_equal(uvperf__merge_has_more(world.merge), 0);
}

static void ring_that_is_quiet_holds_nothing_up(void **state) {
  merge_ring_t *busy;
  uint64_t time;

  (void)state;
  merge_world_add(&world, 4096);
  busy = merge_world_add(&world, 4096);
  merge_world_add(&world, 4096);
  for (time = 0; time < 30; time++)
    merge_put(busy, time);
  merge_begin(&world);
  assert_int_equal(merge_take(&world, 29, 100), 30);
  merge_end(&world);
}

static void what_is_written_after_begin_waits_for_the_next(void **state) {
  merge_ring_t *first, *second;

  (void)state;
  first = merge_world_add(&world, 4096);
  second = merge_world_add(&world, 4096);
  merge_put(first, 10);
  merge_begin(&world);
  merge_put(first, 11);
  merge_put(second, 9);
  expect(0, 10);
  expect_nothing(UINT64_MAX);
  merge_end(&world);
  merge_begin(&world);
  expect(1, 9);
  expect(0, 11);
  merge_end(&world);
}

static void ring_more_than_half_full_presses(void **state) {
  merge_ring_t *ring;

  (void)state;
  merge_world_add(&world, 4096);
  ring = merge_world_add(&world, 4096);
  assert_int_equal(merge_write(ring, MERGE_SAMPLE, 1, 2048), 1);
  merge_begin(&world);
  assert_int_equal(uvperf__merge_is_pressed(world.merge), 0);
  merge_end(&world);
  assert_int_equal(merge_write(ring, MERGE_SAMPLE, 1, 48), 1);
  merge_begin(&world);
  assert_int_equal(uvperf__merge_is_pressed(world.merge), 1);
  expect(1, 1);
  assert_int_equal(uvperf__merge_is_pressed(world.merge), 1);
  merge_end(&world);
  merge_begin(&world);
  assert_int_equal(uvperf__merge_is_pressed(world.merge), 0);
  merge_end(&world);
}

/* -- tails ----------------------------------------------------------------- */

/* merge_consume asserts what the kernel sees. */
static void tail_is_published_at_each_quarter_and_at_the_end(void **state) {
  merge_ring_t *ring;
  uint64_t start;
  unsigned i;

  (void)state;
  ring = merge_world_add(&world, 4096);
  start = ring->tail;
  for (i = 0; i < 8; i++)
    assert_int_equal(merge_write(ring, MERGE_SAMPLE, i, 480), 1);
  merge_begin(&world);
  assert_int_equal(merge_take(&world, UINT64_MAX, 2), 2);
  assert_true(ring->ring.page->data_tail == start);
  assert_int_equal(merge_take(&world, UINT64_MAX, 1), 1);
  assert_true(ring->ring.page->data_tail == start + 3 * UINT64_C(480));
  assert_int_equal(merge_take(&world, UINT64_MAX, 1), 1);
  merge_end(&world);
  assert_true(ring->ring.page->data_tail == start + 4 * UINT64_C(480));
}

static void record_that_was_not_consumed_comes_again(void **state) {
  merge_ring_t *ring;

  (void)state;
  ring = merge_world_add(&world, 4096);
  merge_put(ring, 10);
  merge_begin(&world);
  assert_int_equal(merge_next(&world, UINT64_MAX), 1);
  merge_end(&world);
  assert_true(ring->ring.page->data_tail == ring->tail);
  merge_begin(&world);
  expect(0, 10);
  merge_end(&world);
}

/* The end of a slice: the rest comes in its place among what came since. */
static void merge_that_was_cut_goes_on(void **state) {
  merge_ring_t *first, *second;
  uint64_t time;

  (void)state;
  first = merge_world_add(&world, 4096);
  second = merge_world_add(&world, 4096);
  for (time = 10; time < 20; time++)
    merge_put(first, time);
  merge_begin(&world);
  assert_int_equal(merge_take(&world, UINT64_MAX, 5), 5);
  merge_end(&world);
  for (time = 15; time < 20; time++)
    merge_put(second, time);
  merge_begin(&world);
  for (time = 15; time < 20; time++) {
    expect(0, time);
    expect(1, time);
  }
  merge_end(&world);
  assert_int_equal(world.late, 0);
}

/* -- rings that come, go and break ----------------------------------------- */

static void ring_added_meanwhile_takes_part_from_the_next_begin(void **state) {
  merge_ring_t *ring;
  size_t i;

  (void)state;
  ring = merge_world_add(&world, 4096);
  merge_put(ring, 10);
  merge_put(ring, 20);
  merge_begin(&world);
  assert_int_equal(merge_next(&world, UINT64_MAX), 1);
  for (i = 0; i < 100; i++) /* and all arrays move */
    merge_put(merge_world_add(&world, 4096), 5);
  merge_consume(&world);
  expect(0, 20);
  expect_nothing(UINT64_MAX);
  merge_end(&world);
  merge_begin(&world);
  assert_int_equal(merge_take(&world, UINT64_MAX, 1000), 100);
  merge_end(&world);
  assert_int_equal(world.late, 100);
}

static void ring_that_breaks_in_the_middle_is_told_once(void **state) {
  merge_ring_t *broken, *sound;

  (void)state;
  broken = merge_world_add(&world, 4096);
  sound = merge_world_add(&world, 4096);
  merge_put(broken, 10);
  merge_write(broken, MERGE_BROKEN, 11, 48);
  merge_put(broken, 12);
  merge_put(sound, 10);
  merge_put(sound, 11);
  merge_begin(&world);
  expect(0, 10);
  assert_int_equal(merge_next(&world, UINT64_MAX), -EPROTO);
  expect(1, 10);
  expect(1, 11);
  expect_nothing(UINT64_MAX);
  merge_end(&world);
  merge_put(sound, 13);
  merge_begin(&world);
  expect(1, 13);
  expect_nothing(UINT64_MAX);
  merge_end(&world);
}

static void ring_whose_head_cannot_be_right_is_told_once(void **state) {
  merge_ring_t *spoilt, *sound;

  (void)state;
  spoilt = merge_world_add(&world, 4096);
  sound = merge_world_add(&world, 4096);
  merge_put(spoilt, 1);
  merge_spoil(spoilt);
  merge_put(sound, 10);
  merge_begin(&world);
  assert_int_equal(uvperf__merge_is_pressed(world.merge), 0);
  assert_int_equal(merge_next(&world, 0), -EPROTO); /* whatever the horizon */
  expect_nothing(0);
  expect(1, 10);
  merge_end(&world);
  merge_begin(&world);
  expect_nothing(UINT64_MAX);
  merge_end(&world);
}

/* Also by the callback for its own record: it may be unmapped at once. */
static void ring_that_was_dropped_is_not_touched(void **state) {
  merge_ring_t *first, *second;

  (void)state;
  first = merge_world_add(&world, 4096);
  second = merge_world_add(&world, 4096);
  merge_put(first, 10);
  merge_put(first, 11);
  merge_put(second, 12);
  merge_put(second, 13);
  merge_begin(&world);
  assert_int_equal(merge_next(&world, UINT64_MAX), 1);
  merge_drop(&world, first);
  uvperf__merge_drop(world.merge, first->index); /* twice is nothing */
  uvperf__merge_drop(world.merge, 2);            /* as is one that is not */
  free(first->ring.page);
  first->ring.page = NULL;
  assert_int_equal(uvperf__merge_consume(world.merge, &world.merged), 0);
  world.newest = 10;
  expect(1, 12);
  merge_drop(&world, second);
  expect_nothing(UINT64_MAX);
  uvperf__merge_end(world.merge);
  assert_true(second->ring.page->data_tail == second->published);
  uvperf__merge_begin(world.merge);
  assert_int_equal(uvperf__merge_has_more(world.merge), 0);
  uvperf__merge_end(world.merge);
}

/* By the callback for a record of another: before its turn comes, and when the
 * ring that it would have come after is gone. */
static void rings_that_are_not_next_may_go(void **state) {
  merge_ring_t *rings[11];
  size_t i, j;

  (void)state;
  for (i = 0; i < 11; i++)
    rings[i] = merge_world_add(&world, 4096);
  for (j = 0; j < 20; j++)
    for (i = 0; i < 11; i++)
      merge_put(rings[i], 1000 - i + 20 * j);
  merge_begin(&world);
  for (i = 0; i < 10; i++) {
    assert_int_equal(merge_take(&world, UINT64_MAX, 7), 7);
    assert_int_equal(merge_next(&world, UINT64_MAX), 1);
    merge_drop(&world, rings[i * 3 % 11]);
    merge_consume(&world);
  }
  assert_true(merge_take(&world, UINT64_MAX, 1000) > 0);
  assert_int_equal(uvperf__merge_has_more(world.merge), 0);
  merge_end(&world);
}

/* The child has not got the mappings; here neither. */
static void forked_child_forgets_all_rings(void **state) {
  uvperf__merged_t merged;
  merge_ring_t *ring;

  (void)state;
  ring = merge_world_add(&world, 4096);
  merge_put(ring, 10);
  merge_put(ring, 11);
  merge_begin(&world);
  assert_int_equal(merge_next(&world, UINT64_MAX), 1);
  uvperf__merge_forget(world.merge);
  free(ring->ring.page);
  ring->ring.page = NULL;
  assert_int_equal(uvperf__merge_consume(world.merge, &world.merged), 0);
  assert_int_equal(uvperf__merge_has_more(world.merge), 0);
  assert_int_equal(uvperf__merge_next(world.merge, UINT64_MAX, &merged), 0);
  uvperf__merge_end(world.merge);
  uvperf__merge_begin(world.merge);
  assert_int_equal(uvperf__merge_is_pressed(world.merge), 0);
  assert_int_equal(uvperf__merge_next(world.merge, UINT64_MAX, &merged), 0);
  uvperf__merge_end(world.merge);
}

static void merge_of_no_rings_gives_nothing(void **state) {
  (void)state;
  merge_begin(&world);
  expect_nothing(UINT64_MAX);
  merge_end(&world);
}

static void shortage_of_memory_is_enomem(void **state) {
  uvperf__ring_t rings[9];
  uvperf__merge_t *merge;
  unsigned nth;
  size_t i;

  (void)state;
  fake_fail(FAKE_CALLOC, 1, 0);
  assert_int_equal(uvperf__merge_new(&merge, world.decoder, world.scratch),
                   -ENOMEM);
  assert_null(merge);
  assert_int_equal(uvperf__merge_new(&merge, world.decoder, world.scratch), 0);
  memset(rings, 0, sizeof(rings));
  for (i = 0; i < 9; i++) {
    for (nth = 1; nth <= 2 && i % 8 == 0; nth++) {
      fake_fail(FAKE_CALLOC, 1, 0);
      assert_int_equal(uvperf__merge_add(merge, &rings[i], NULL), -ENOMEM);
      if (nth == 1) { /* the other array */
        fake_fail(FAKE_CALLOC, 2, 0);
        assert_int_equal(uvperf__merge_add(merge, &rings[i], NULL), -ENOMEM);
      }
    }
    assert_int_equal(uvperf__merge_add(merge, &rings[i], NULL), 0);
  }
  uvperf__merge_free(merge);
  uvperf__merge_free(NULL);
}

/* After a shortage all goes on with the rings that are there. */
static void add_that_failed_leaves_the_others_as_they_were(void **state) {
  uvperf__ring_t more = {0};
  merge_ring_t *rings[8];
  size_t i;

  (void)state;
  for (i = 0; i < 8; i++)
    rings[i] = merge_world_add(&world, 4096);
  for (i = 0; i < 8; i++)
    merge_put(rings[i], 20 - i);
  merge_begin(&world);
  expect(7, 13);
  fake_fail(FAKE_CALLOC, 2, 0);
  assert_int_equal(uvperf__merge_add(world.merge, &more, NULL), -ENOMEM);
  for (i = 7; i > 0; i--)
    expect(i - 1, 21 - i);
  merge_end(&world);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(merge_of_two_rings_is_sorted),
      TEST(merge_of_hundreds_of_rings_is_sorted),
      TEST(merge_of_one_ring_is_that_ring),
      TEST(merge_of_runs_is_sorted),
      TEST(records_of_one_time_come_in_the_order_of_their_rings),
      TEST(records_that_wrap_at_once_are_each_whole),
      TEST(record_that_an_interrupt_put_behind_is_given_late),
      TEST(record_that_is_seen_too_late_is_counted),
      TEST(record_without_time_comes_after_the_one_before_it),
      TEST(what_is_younger_than_the_horizon_waits),
      TEST(ring_that_is_quiet_holds_nothing_up),
      TEST(what_is_written_after_begin_waits_for_the_next),
      TEST(ring_more_than_half_full_presses),
      TEST(tail_is_published_at_each_quarter_and_at_the_end),
      TEST(record_that_was_not_consumed_comes_again),
      TEST(merge_that_was_cut_goes_on),
      TEST(ring_added_meanwhile_takes_part_from_the_next_begin),
      TEST(ring_that_breaks_in_the_middle_is_told_once),
      TEST(ring_whose_head_cannot_be_right_is_told_once),
      TEST(ring_that_was_dropped_is_not_touched),
      TEST(rings_that_are_not_next_may_go),
      TEST(forked_child_forgets_all_rings),
      TEST(merge_of_no_rings_gives_nothing),
      TEST(shortage_of_memory_is_enomem),
      TEST(add_that_failed_leaves_the_others_as_they_were),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
