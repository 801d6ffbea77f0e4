/* SPDX-License-Identifier: MIT */
#include "support.h"

#include "fake_kernel.h"
#include "util/alloc.h"
#include "util/grow.h"

static void array_grows_by_doubling_and_keeps_its_items(void **state) {
  uint64_t *items = NULL;
  size_t room = 0;
  size_t i;

  for (i = 0; i < 100; i++) {
    items = uvperf__grow(items, i, &room, 3, sizeof(items[0]));
    assert_non_null(items);
    assert_true(i < room);
    assert_int_equal(items[i], 0);
    items[i] = i + 1;
  }
  assert_int_equal(room, 192);
  assert_int_equal(fake_count(FAKE_CALLOC), 7);
  for (i = 0; i < 100; i++)
    assert_int_equal(items[i], i + 1);
  uvperf__free(items);
  fake_assert_clean();
}

static void array_without_memory_stays_as_it_was(void **state) {
  uint64_t *items;
  size_t room = 0;

  items = uvperf__grow(NULL, 0, &room, 1, sizeof(items[0]));
  items[0] = 7;
  fake_fail(FAKE_CALLOC, 1, 0);
  assert_null(uvperf__grow(items, 1, &room, 1, sizeof(items[0])));
  assert_int_equal(room, 1);
  assert_int_equal(items[0], 7);
  uvperf__free(items);
  fake_assert_clean();
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup(array_grows_by_doubling_and_keeps_its_items,
                             fake_kernel_setup),
      cmocka_unit_test_setup(array_without_memory_stays_as_it_was,
                             fake_kernel_setup),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
