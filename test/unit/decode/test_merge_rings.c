/* SPDX-License-Identifier: MIT */
/* A merge of rings that come, go and break, and of no rings; and lack of
 * memory. As test_merge.c. */
#include "support.h"

#include "fake_kernel.h"
#include "model_merge.h"

static merge_model_t model;

static int setup(void **state) {
  merge_model_init(&model);
  return 0;
}

static int teardown(void **state) {
  merge_model_free(&model);
  return 0;
}

/* -- rings that come, go and break ----------------------------------------- */

static void ring_added_meanwhile_takes_part_from_the_next_begin(void **state) {
  merge_ring_t *ring;
  size_t i;

  ring = merge_model_add(&model, 4096);
  merge_put(ring, 10);
  merge_put(ring, 20);
  merge_begin(&model);
  assert_int_equal(merge_next(&model, UINT64_MAX), 1);
  for (i = 0; i < 100; i++) /* and all arrays move */
    merge_put(merge_model_add(&model, 4096), 5);
  merge_consume(&model);
  merge_expect(&model, 0, 20);
  merge_expect_nothing(&model, UINT64_MAX);
  merge_end(&model);
  merge_begin(&model);
  assert_int_equal(merge_take(&model, UINT64_MAX, 1000), 100);
  merge_end(&model);
  assert_int_equal(model.late, 100);
}

/* Its owner may drop it later: the others continue meanwhile. */
static void ring_that_breaks_is_out_before_it_is_dropped(void **state) {
  merge_ring_t *broken, *sound;
  uvperf__merged_t merged;

  broken = merge_model_add(&model, 4096);
  sound = merge_model_add(&model, 4096);
  merge_write(broken, MERGE_BROKEN, 10, 48);
  merge_put(sound, 11);
  merge_begin(&model);
  assert_int_equal(uvperf__merge_next(model.merge, UINT64_MAX, &merged),
                   -EPROTO);
  assert_int_equal(merged.ring, broken->index);
  assert_int_equal(uvperf__merge_next(model.merge, UINT64_MAX, &merged), 1);
  assert_int_equal(merged.ring, sound->index);
  uvperf__merge_end(model.merge);
}

/* Also by the callback for its own record: it may be unmapped at once. */
static void ring_that_was_dropped_is_not_touched(void **state) {
  merge_ring_t *first, *second;

  first = merge_model_add(&model, 4096);
  second = merge_model_add(&model, 4096);
  merge_put(first, 10);
  merge_put(first, 11);
  merge_put(second, 12);
  merge_put(second, 13);
  merge_begin(&model);
  assert_int_equal(merge_next(&model, UINT64_MAX), 1);
  merge_drop(&model, first);
  uvperf__merge_drop(model.merge, first->index); /* twice is nothing */
  uvperf__merge_drop(model.merge, 2);            /* as is one that is not */
  free(first->ring.page);
  first->ring.page = NULL;
  assert_int_equal(uvperf__merge_consume(model.merge, &model.merged), 0);
  model.newest = 10;
  merge_expect(&model, 1, 12);
  merge_drop(&model, second);
  merge_expect_nothing(&model, UINT64_MAX);
  uvperf__merge_end(model.merge);
  assert_true(second->ring.page->data_tail == second->published);
  uvperf__merge_heads(model.merge);
  uvperf__merge_begin(model.merge, 0, UINT64_MAX);
  assert_int_equal(uvperf__merge_has_more(model.merge), 0);
  uvperf__merge_end(model.merge);
}

/* By the callback for a record of another ring: before its turn, and after the
 * ring before it has gone. */
static void rings_that_are_not_next_may_go(void **state) {
  merge_ring_t *rings[11];
  size_t i, j;

  for (i = 0; i < 11; i++)
    rings[i] = merge_model_add(&model, 4096);
  for (j = 0; j < 20; j++)
    for (i = 0; i < 11; i++)
      merge_put(rings[i], 1000 - i + 20 * j);
  merge_begin(&model);
  for (i = 0; i < 10; i++) {
    assert_int_equal(merge_take(&model, UINT64_MAX, 7), 7);
    assert_int_equal(merge_next(&model, UINT64_MAX), 1);
    merge_drop(&model, rings[i * 3 % 11]);
    merge_consume(&model);
  }
  assert_true(merge_take(&model, UINT64_MAX, 1000) > 0);
  assert_int_equal(uvperf__merge_has_more(model.merge), 0);
  merge_end(&model);
}

/* The child has not got the mappings; here neither. */
static void forked_child_forgets_all_rings(void **state) {
  uvperf__merged_t merged;
  merge_ring_t *ring;

  ring = merge_model_add(&model, 4096);
  merge_put(ring, 10);
  merge_put(ring, 11);
  merge_begin(&model);
  assert_int_equal(merge_next(&model, UINT64_MAX), 1);
  uvperf__merge_forget(model.merge);
  free(ring->ring.page);
  ring->ring.page = NULL;
  assert_int_equal(uvperf__merge_consume(model.merge, &model.merged), 0);
  assert_int_equal(uvperf__merge_has_more(model.merge), 0);
  assert_int_equal(uvperf__merge_next(model.merge, UINT64_MAX, &merged), 0);
  uvperf__merge_end(model.merge);
  uvperf__merge_heads(model.merge);
  uvperf__merge_begin(model.merge, 0, UINT64_MAX);
  assert_int_equal(uvperf__merge_is_pressed(model.merge), 0);
  assert_int_equal(uvperf__merge_next(model.merge, UINT64_MAX, &merged), 0);
  uvperf__merge_end(model.merge);
}

static void merge_of_no_rings_returns_nothing(void **state) {
  merge_begin(&model);
  merge_expect_nothing(&model, UINT64_MAX);
  merge_end(&model);
}

static void shortage_of_memory_is_enomem(void **state) {
  uvperf__ring_t rings[9];
  uvperf__merge_t *merge;
  unsigned nth;
  size_t i;

  fake_fail(FAKE_CALLOC, 1, 0);
  assert_int_equal(uvperf__merge_new(&merge, model.decoder), -ENOMEM);
  assert_null(merge);
  assert_int_equal(uvperf__merge_new(&merge, model.decoder), 0);
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

/* After a failed allocation it continues with the existing rings. */
static void add_that_failed_leaves_the_others_as_they_were(void **state) {
  uvperf__ring_t more = {0};
  merge_ring_t *rings[8];
  size_t i;

  for (i = 0; i < 8; i++)
    rings[i] = merge_model_add(&model, 4096);
  for (i = 0; i < 8; i++)
    merge_put(rings[i], 20 - i);
  merge_begin(&model);
  merge_expect(&model, 7, 13);
  fake_fail(FAKE_CALLOC, 2, 0);
  assert_int_equal(uvperf__merge_add(model.merge, &more, NULL), -ENOMEM);
  for (i = 7; i > 0; i--)
    merge_expect(&model, i - 1, 21 - i);
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
      TEST(ring_added_meanwhile_takes_part_from_the_next_begin),
      TEST(ring_that_breaks_is_out_before_it_is_dropped),
      TEST(ring_that_was_dropped_is_not_touched),
      TEST(rings_that_are_not_next_may_go),
      TEST(forked_child_forgets_all_rings),
      TEST(merge_of_no_rings_returns_nothing),
      TEST(shortage_of_memory_is_enomem),
      TEST(add_that_failed_leaves_the_others_as_they_were),
      PLAY(ring_that_breaks_in_the_middle_is_reported_once,
           "0+10 0! 0+12 1+10 1+11 ( 0=10 broken 1=10 1=11 none ) 1+13 ( 1=13 "
           "none )"),
      PLAY(ring_whose_head_cannot_be_right_is_reported_once,
           "0+1 0* 1+10 ( broken none<0 1=10 ) ( none )"),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
