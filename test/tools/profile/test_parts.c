/* SPDX-License-Identifier: MIT */
/* The parts of the profiler that need no kernel: tasks, their maps and
 * names. */
#include "support.h"

#include <time.h>

#include "common/text.h"
#include "profile/members.h"
#include "profile/tasks.h"

static void expect_clean(const char *name, const char *expected) {
  char clean[32];

  common_text_clean(clean, sizeof(clean), name);
  assert_string_equal(clean, expected);
}

static void name_with_control_characters_becomes_safe(void **state) {
  expect_clean("a\033[2Jb\n\x7f", "a?[2Jb??");
  expect_clean("\xc2\x9b"
               "0m",
               "??0m"); /* CSI, a C1 control */
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

  common_text_clean(clean, sizeof(clean), "ab\xc3\xa9");
  assert_string_equal(clean, "ab");
}

static profile_tasks_t tasks; /* of the last begin() */

static void begin(void) {
  profile_tasks_free(&tasks);
  memset(&tasks, 0, sizeof(tasks));
}

static void expect_map(uint32_t pid, uint64_t address, uint32_t object,
                       uint64_t offset) {
  const profile_map_t *map = profile_tasks_find(&tasks, pid, address);

  assert_non_null(map);
  assert_int_equal(map->object, object);
  assert_int_equal(address - map->start + map->pgoff, offset);
}

static void map_over_another_keeps_its_ends(void **state) {
  const profile_map_t big = {0x1000, 0x9000, 0x100000, 1};
  const profile_map_t hole = {0x3000, 0x5000, 0x200000, 2};
  const profile_map_t over = {0x4000, 0xa000, 0, 3};

  begin();
  profile_tasks_map(&tasks, 7, &big);
  profile_tasks_map(&tasks, 7, &hole);
  expect_map(7, 0x2fff, 1, 0x101fff);
  expect_map(7, 0x3000, 2, 0x200000);
  expect_map(7, 0x5000, 1, 0x104000);
  expect_map(7, 0x8fff, 1, 0x107fff);
  assert_null(profile_tasks_find(&tasks, 7, 0x9000));
  profile_tasks_map(&tasks, 7, &over);
  expect_map(7, 0x3fff, 2, 0x200fff);
  expect_map(7, 0x4000, 3, 0);
  expect_map(7, 0x9fff, 3, 0x5fff);
  assert_null(profile_tasks_find(&tasks, 7, 0xfff));
  assert_null(profile_tasks_find(&tasks, 8, 0x2000));
}

static double map_many(int32_t step) {
  profile_map_t map = {0x80000000, 0x80001000, 0, 0};
  clock_t begun = clock();
  uint32_t i;

  begin();
  for (i = 0; i < 60000; i++) {
    map.object = i;
    profile_tasks_map(&tasks, 7, &map);
    map.start += (uint64_t)(int64_t)step;
    map.end += (uint64_t)(int64_t)step;
  }
  begun = clock() - begun;
  for (i = 0; i < 60000; i++)
    expect_map(7, 0x80000800 + (uint64_t)(i * (int64_t)step), i, 0x800);
  return (double)begun / CLOCKS_PER_SEC;
}

/* The kernel looks for free addresses from the top down. */
static void maps_are_added_downwards_as_fast_as_upwards(void **state) {
  double up = map_many(0x1000), down = map_many(-0x1000);

  assert_true(down < 0.1 + 10 * up);
}

static void forked_process_has_its_parents_maps_until_exec(void **state) {
  const profile_map_t map = {0x1000, 0x2000, 0, 1};
  uint32_t comm = 0;

  begin();
  profile_tasks_name(&tasks, 7, 70);
  profile_tasks_map(&tasks, 7, &map);
  profile_tasks_fork(&tasks, 8, 8, 7, 7, 1);
  expect_map(8, 0x1800, 1, 0x800);
  assert_int_equal(profile_tasks_comm(&tasks, 8, 8, &comm), 0);
  assert_int_equal(comm, 70);
  profile_tasks_exec(&tasks, 8, 1);
  assert_null(profile_tasks_find(&tasks, 8, 0x1800));
  expect_map(7, 0x1800, 1, 0x800);
}

static void dead_task_is_known_until_it_is_reaped(void **state) {
  uint32_t comm = 0;

  begin();
  profile_tasks_name(&tasks, 7, 70);
  profile_tasks_exit(&tasks, 7, 100);
  profile_tasks_reap(&tasks, 100);
  assert_int_equal(profile_tasks_comm(&tasks, 7, 7, &comm), 0);
  profile_tasks_reap(&tasks, 101);
  assert_int_equal(profile_tasks_comm(&tasks, 7, 7, &comm), -1);
}

/* The maps of the first thread belong to the other threads, too. */
static void first_thread_that_ends_is_kept_for_the_others(void **state) {
  const profile_map_t map = {0x1000, 0x2000, 0, 1};

  begin();
  profile_tasks_map(&tasks, 7, &map);
  profile_tasks_fork(&tasks, 7, 8, 7, 7, 1);
  profile_tasks_thread(&tasks, 7, 8);
  profile_tasks_thread(&tasks, 7, 9);
  profile_tasks_exit(&tasks, 7, 100);
  profile_tasks_exit(&tasks, 8, 200);
  profile_tasks_reap(&tasks, 201);
  expect_map(7, 0x1800, 1, 0x800);
  profile_tasks_exit(&tasks, 9, 300);
  profile_tasks_reap(&tasks, 300);
  expect_map(7, 0x1800, 1, 0x800);
  profile_tasks_reap(&tasks, 301);
  assert_null(profile_tasks_find(&tasks, 7, 0x1800));
}

/* The thread that calls execve(2) gets the tid of the first thread. No record
 * reports the old tid again. */
static void process_lives_after_an_exec_by_another_thread(void **state) {
  const profile_map_t map = {0x1000, 0x2000, 0, 1};

  begin();
  profile_tasks_fork(&tasks, 7, 8, 7, 7, 1);
  profile_tasks_exit(&tasks, 7, 100);
  profile_tasks_exec(&tasks, 7, 1);
  profile_tasks_map(&tasks, 7, &map);
  profile_tasks_reap(&tasks, 1000);
  expect_map(7, 0x1800, 1, 0x800);
  profile_tasks_exit(&tasks, 7, 1000);
  profile_tasks_reap(&tasks, 1001);
  assert_null(profile_tasks_find(&tasks, 7, 0x1800));
}

static uvperf_record_t fork_of(uint32_t pid, uint32_t ppid) {
  uvperf_record_t record;

  memset(&record, 0, sizeof(record));
  record.type = PERF_RECORD_FORK;
  record.task.pid = record.task.tid = pid;
  record.task.ppid = record.task.ptid = ppid;
  return record;
}

static int takes(profile_members_t *members, uint32_t pid) {
  uvperf_record_t record;

  memset(&record, 0, sizeof(record));
  record.type = PERF_RECORD_SAMPLE;
  record.pid = pid;
  return profile_members_take(members, &record);
}

static void samples_of_a_process_and_its_children_are_taken(void **state) {
  const uvperf_record_t child = fork_of(9, 7), grandchild = fork_of(4194303, 9);
  const uvperf_record_t thread = fork_of(7, 7), reused = fork_of(9, 1);
  profile_members_t members = {0};
  int32_t id = 7;
  const common_ids_t ids = {&id, 1, 1};

  assert_true(takes(&members, 8));
  profile_members_init(&members, &ids);
  assert_false(takes(&members, 8));
  assert_false(takes(&members, 9));
  profile_members_take(&members, &child);
  profile_members_take(&members, &grandchild);
  profile_members_take(&members, &thread);
  assert_true(takes(&members, 7));
  assert_true(takes(&members, 9));
  assert_true(takes(&members, 4194303));
  profile_members_take(&members, &reused);
  assert_false(takes(&members, 9));
  assert_false(takes(&members, UINT32_MAX));
  profile_members_free(&members);
}

/* With -a the profiler's own processes are left out, and the command is not. */
static void samples_of_the_profiler_are_left_out(void **state) {
  const uint32_t self = (uint32_t)getpid(), command = 4194301;
  const uvperf_record_t worker = fork_of(4194302, self);
  const uvperf_record_t child = fork_of(4194303, command);
  profile_members_t members = {0};
  uvperf_record_t other;

  profile_members_init_self(&members);
  profile_members_take(&members, &worker);
  profile_members_take(&members, &child);
  assert_false(takes(&members, self));
  assert_false(takes(&members, 4194302));
  assert_true(takes(&members, command));
  assert_true(takes(&members, 4194303));
  assert_true(takes(&members, (uint32_t)getppid()));
  memset(&other, 0, sizeof(other));
  other.type = PERF_RECORD_SWITCH;
  other.pid = self;
  assert_false(profile_members_take(&members, &other));
  other.type = PERF_RECORD_COMM;
  assert_true(profile_members_take(&members, &other));
  profile_members_free(&members);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(samples_of_the_profiler_are_left_out),
      cmocka_unit_test(name_with_control_characters_becomes_safe),
      cmocka_unit_test(long_name_is_cut_between_characters),
      cmocka_unit_test(map_over_another_keeps_its_ends),
      cmocka_unit_test(maps_are_added_downwards_as_fast_as_upwards),
      cmocka_unit_test(forked_process_has_its_parents_maps_until_exec),
      cmocka_unit_test(dead_task_is_known_until_it_is_reaped),
      cmocka_unit_test(first_thread_that_ends_is_kept_for_the_others),
      cmocka_unit_test(samples_of_a_process_and_its_children_are_taken),
      cmocka_unit_test(process_lives_after_an_exec_by_another_thread),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
