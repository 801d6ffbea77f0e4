/* SPDX-License-Identifier: MIT */
/* Invalid differences, and readings of deltas. */
#include "make_reading.h"

#include "fake_kernel.h"

typedef struct refusal_s {
  uvperf_reading_t *older;
  uvperf_reading_t *newer;
  uvperf_reading_t *delta;
  uvperf_reading_t *copy; /* of delta */
} refusal_t;

static refusal_t it;

static void refusal_begin(void) {
  const uvperf__cell_t cells[] = {make_cell(10, 300, 100)};
  make_t build = {.time = 9, .nr_attrs = 1, .nr_places = 1, .cells = cells};

  it.older = make_reading(&build);
  build.time = 10;
  it.newer = make_reading(&build);
  assert_int_equal(uvperf_reading_new(&it.delta), 0);
  assert_int_equal(uvperf_reading_new(&it.copy), 0);
  assert_int_equal(uvperf_reading_delta(it.delta, it.older, it.newer), 0);
  assert_int_equal(uvperf_reading_delta(it.copy, it.older, it.newer), 0);
}

static void refusal_end(void) {
  assert_same_reading(it.delta, it.copy);
  uvperf_reading_free(it.older);
  uvperf_reading_free(it.newer);
  uvperf_reading_free(it.delta);
  uvperf_reading_free(it.copy);
}

static void delta_into_one_of_the_two_is_einval(void **state) {
  refusal_begin();
  assert_int_equal(uvperf_reading_delta(it.older, it.older, it.newer), -EINVAL);
  assert_int_equal(uvperf_reading_delta(it.newer, it.older, it.newer), -EINVAL);
  assert_int_equal(uvperf_reading_delta(it.newer, NULL, it.newer), -EINVAL);
  assert_int_equal(uvperf_reading_delta(NULL, it.older, it.newer), -EINVAL);
  assert_int_equal(uvperf_reading_delta(it.delta, it.older, NULL), -EINVAL);
  assert_int_equal(make_total(it.older, 0).value, 10);
  assert_int_equal(make_total(it.newer, 0).value, 10);
  refusal_end();
}

static void delta_of_deltas_is_einval(void **state) {
  uvperf_reading_t *other;

  refusal_begin();
  assert_int_equal(uvperf_reading_new(&other), 0);
  assert_int_equal(uvperf_reading_delta(other, it.delta, it.newer), -EINVAL);
  assert_int_equal(uvperf_reading_delta(other, it.older, it.delta), -EINVAL);
  assert_int_equal(uvperf_reading_delta(other, NULL, it.delta), -EINVAL);
  assert_int_equal(uvperf_reading_info(other)->nr_attrs, 0);
  assert_int_equal(uvperf_reading_delta(it.delta, it.older, other), -EINVAL);
  assert_int_equal(uvperf_reading_delta(it.delta, NULL, other), -EINVAL);
  uvperf_reading_free(other);
  refusal_end();
}

static void delta_that_is_filled_by_a_set_is_one_no_more(void **state) {
  const uvperf__cell_t cells[] = {make_cell(14, 500, 300)};
  make_t build = {.time = 11, .nr_attrs = 1, .nr_places = 1, .cells = cells};
  uvperf_reading_t *other;

  refusal_begin();
  assert_int_equal(uvperf_reading_new(&other), 0);
  assert_int_equal(uvperf_reading_delta(other, it.older, it.newer), 0);
  make_fill(other, &build);
  assert_int_equal(uvperf_reading_delta(it.delta, it.newer, other), 0);
  assert_int_equal(make_total(it.delta, 0).value, 4);
  assert_int_equal(uvperf_reading_delta(it.copy, it.newer, other), 0);
  uvperf_reading_free(other);
  refusal_end();
}

static void delta_in_the_wrong_order_is_einval(void **state) {
  refusal_begin();
  assert_int_equal(uvperf_reading_delta(it.delta, it.newer, it.older), -EINVAL);
  it.older->info.time = it.newer->info.time;
  it.older->resets++;
  assert_int_equal(uvperf_reading_delta(it.delta, it.older, it.newer), -EINVAL);
  refusal_end();
}

static void delta_of_two_sets_is_einval(void **state) {
  refusal_begin();
  /* At the address of one that is freed. */
  it.older->origin.born++;
  assert_int_equal(uvperf_reading_delta(it.delta, it.older, it.newer), -EINVAL);
  it.older->origin.born--;
  it.older->origin.owner = &it;
  assert_int_equal(uvperf_reading_delta(it.delta, it.older, it.newer), -EINVAL);
  refusal_end();
}

static void delta_without_memory_is_as_it_was(void **state) {
  const uvperf__cell_t cells[] = {make_cell(1, 2, 2), make_cell(3, 4, 4)};
  make_t build = {.time = 12, .nr_attrs = 1, .nr_places = 2, .cells = cells};
  unsigned int calls;

  refusal_begin();
  make_fill(it.newer, &build);
  fake_fail(FAKE_CALLOC, 1, 0);
  assert_int_equal(uvperf_reading_delta(it.delta, it.older, it.newer), -ENOMEM);
  assert_same_reading(it.delta, it.copy);
  assert_int_equal(uvperf_reading_delta(it.delta, it.older, it.newer), 0);
  /* And once there is room it needs no allocation. */
  calls = fake_count(FAKE_CALLOC);
  assert_int_equal(uvperf_reading_delta(it.delta, it.older, it.newer), 0);
  assert_int_equal(fake_count(FAKE_CALLOC), calls);
  assert_int_equal(uvperf_reading_delta(it.copy, it.older, it.newer), 0);
  refusal_end();
  fake_assert_clean();
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(delta_into_one_of_the_two_is_einval),
      cmocka_unit_test(delta_of_deltas_is_einval),
      cmocka_unit_test(delta_that_is_filled_by_a_set_is_one_no_more),
      cmocka_unit_test(delta_in_the_wrong_order_is_einval),
      cmocka_unit_test(delta_of_two_sets_is_einval),
      cmocka_unit_test_setup(delta_without_memory_is_as_it_was,
                             fake_kernel_setup),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
