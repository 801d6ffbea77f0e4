/* SPDX-License-Identifier: MIT */
/* The parts of the profiler that need no kernel: names, maps of
 * tasks, counters. */
#include "support.h"

#include "common/text.h"
#include "profile/names.h"
#include "profile/tally.h"
#include "profile/tasks.h"

static void expect_clean(const char *name, const char *expected) {
  char clean[32];

  common_text_clean(clean, sizeof(clean), name);
  assert_string_equal(clean, expected);
}

static void name_with_control_characters_becomes_safe(void **state) {
  (void)state;
  expect_clean("a\033[2Jb\n\x7f", "a?[2Jb??");
  expect_clean("\xc2\x9b"
               "0m",
               "??0m"); /* CSI as a C1 control */
  expect_clean("\x9b"
               "0m",
               "?0m");                 /* the same as a raw byte */
  expect_clean("\xe0\x82\x9b", "???"); /* overlong */
  expect_clean("caf\xc3\xa9 \xe2\x82\xac", "caf\xc3\xa9 \xe2\x82\xac");
  expect_clean("cut \xe2\x82", "cut ??");
  expect_clean("\xed\xa0\x80", "???");   /* a surrogate */
  expect_clean("\xe2\x80\xae.", "???."); /* right to left from here on */
}

static void long_name_is_cut_between_characters(void **state) {
  char clean[4];

  (void)state;
  common_text_clean(clean, sizeof(clean), "ab\xc3\xa9");
  assert_string_equal(clean, "ab");
}

static void same_name_has_one_id(void **state) {
  profile_names_t names;
  uint32_t first, i;
  char name[16];

  (void)state;
  profile_names_init(&names);
  first = profile_names_add(&names, "first");
  for (i = 0; i < 5000; i++) {
    snprintf(name, sizeof(name), "name %u", i);
    profile_names_add(&names, name);
  }
  assert_int_equal(profile_names_add(&names, "first"), first);
  assert_string_equal(profile_names_get(&names, first), "first");
  assert_int_equal(names.nr, 5002);
  profile_names_free(&names);
}

static void expect_map(const profile_tasks_t *tasks, uint32_t pid,
                       uint64_t address, uint32_t object, uint64_t offset) {
  const profile_map_t *map = profile_tasks_find(tasks, pid, address);

  assert_non_null(map);
  assert_int_equal(map->object, object);
  assert_int_equal(address - map->start + map->pgoff, offset);
}

static void map_over_another_leaves_what_sticks_out(void **state) {
  profile_tasks_t *tasks = calloc(1, sizeof(*tasks));
  const profile_map_t big = {0x1000, 0x9000, 0x100000, 1};
  const profile_map_t hole = {0x3000, 0x5000, 0x200000, 2};
  const profile_map_t over = {0x4000, 0xa000, 0, 3};

  (void)state;
  assert_non_null(tasks);
  profile_tasks_map(tasks, 7, &big);
  profile_tasks_map(tasks, 7, &hole);
  expect_map(tasks, 7, 0x2fff, 1, 0x101fff);
  expect_map(tasks, 7, 0x3000, 2, 0x200000);
  expect_map(tasks, 7, 0x5000, 1, 0x104000);
  expect_map(tasks, 7, 0x8fff, 1, 0x107fff);
  assert_null(profile_tasks_find(tasks, 7, 0x9000));
  profile_tasks_map(tasks, 7, &over);
  expect_map(tasks, 7, 0x3fff, 2, 0x200fff);
  expect_map(tasks, 7, 0x4000, 3, 0);
  expect_map(tasks, 7, 0x9fff, 3, 0x5fff);
  assert_null(profile_tasks_find(tasks, 7, 0xfff));
  assert_null(profile_tasks_find(tasks, 8, 0x2000));
  profile_tasks_free(tasks);
  free(tasks);
}

static void forked_process_has_its_parents_maps_until_exec(void **state) {
  profile_tasks_t *tasks = calloc(1, sizeof(*tasks));
  const profile_map_t map = {0x1000, 0x2000, 0, 1};
  uint32_t comm = 0;

  (void)state;
  assert_non_null(tasks);
  profile_tasks_name(tasks, 7, 70);
  profile_tasks_map(tasks, 7, &map);
  profile_tasks_fork(tasks, 8, 8, 7, 7);
  expect_map(tasks, 8, 0x1800, 1, 0x800);
  assert_int_equal(profile_tasks_comm(tasks, 8, 8, &comm), 0);
  assert_int_equal(comm, 70);
  profile_tasks_exec(tasks, 8);
  assert_null(profile_tasks_find(tasks, 8, 0x1800));
  expect_map(tasks, 7, 0x1800, 1, 0x800);
  profile_tasks_free(tasks);
  free(tasks);
}

static void dead_task_is_known_until_it_is_reaped(void **state) {
  profile_tasks_t *tasks = calloc(1, sizeof(*tasks));
  uint32_t comm = 0;

  (void)state;
  assert_non_null(tasks);
  profile_tasks_name(tasks, 7, 70);
  profile_tasks_exit(tasks, 7, 100);
  profile_tasks_reap(tasks, 100);
  assert_int_equal(profile_tasks_comm(tasks, 7, 7, &comm), 0);
  profile_tasks_reap(tasks, 101);
  assert_int_equal(profile_tasks_comm(tasks, 7, 7, &comm), -1);
  profile_tasks_free(tasks);
  free(tasks);
}

static void tally_tells_keys_apart_and_sorts_by_weight(void **state) {
  profile_tally_t tally;
  profile_entry_t **sorted;
  uint64_t key[2];
  size_t nr, i;

  (void)state;
  profile_tally_init(&tally);
  for (i = 0; i < 5000; i++) {
    key[0] = i / 2;
    key[1] = 1;
    profile_tally_add(&tally, key, 2, i);
  }
  profile_tally_add(&tally, key, 1, 1000000);
  sorted = profile_tally_sorted(&tally, &nr);
  assert_int_equal(nr, 2501);
  assert_int_equal(sorted[0]->nr, 1);
  assert_int_equal(sorted[0]->samples, 1);
  assert_int_equal(sorted[1]->words[0], 2499);
  assert_int_equal(sorted[1]->samples, 2);
  assert_int_equal(sorted[1]->weight, 4998 + 4999);
  assert_int_equal(sorted[2500]->words[0], 0);
  free(sorted);
  profile_tally_free(&tally);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(name_with_control_characters_becomes_safe),
      cmocka_unit_test(long_name_is_cut_between_characters),
      cmocka_unit_test(same_name_has_one_id),
      cmocka_unit_test(map_over_another_leaves_what_sticks_out),
      cmocka_unit_test(forked_process_has_its_parents_maps_until_exec),
      cmocka_unit_test(dead_task_is_known_until_it_is_reaped),
      cmocka_unit_test(tally_tells_keys_apart_and_sorts_by_weight),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
