/* SPDX-License-Identifier: MIT */
/* Scripted: a reader that is opened on libuv's pool touches the map when it is
 * started. Its opening itself is in live/test_life_opening.c. */
#include "life.h"

static void expect_entries(const life_t *life, int is_in) {
  uint32_t key;

  for (key = 0; key < 2; key++)
    assert_int_equal(fake_map_at(life->map, key),
                     is_in ? (int)key : FAKE_MAP_EMPTY);
  assert_int_equal(fake_map_at(life->map, 2), FAKE_MAP_EMPTY);
}

static void reader_opened_on_the_pool_is_put_in_by_its_start(life_t *life) {
  assert_int_equal(life_begin(life), 0);
  fake_pool_finish();
  life_expect(life, "open");
  expect_entries(life, 0);
  life_start(life);
  expect_entries(life, 1);
  life_close(life);
  expect_entries(life, 0);
}

static void reader_closed_while_it_is_opened_touches_no_map(life_t *life) {
  life_reach(life, LIFE_OPENING_WORKED);
  life_close(life);
  fake_pool_finish();
  expect_entries(life, 0);
  assert_null(strstr(fake_log(), "bpf update"));
}

int main(void) {
  const unsigned int kinds = LIFE_READER | LIFE_SCRIPTED;
  const life_test_t tests[] = {
      LIFE_TEST(reader_opened_on_the_pool_is_put_in_by_its_start, kinds),
      LIFE_TEST(reader_closed_while_it_is_opened_touches_no_map, kinds),
  };

  return life_main(tests, sizeof(tests) / sizeof(tests[0]));
}
