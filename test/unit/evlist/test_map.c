/* SPDX-License-Identifier: MIT */
/* Scripted: BPF maps that the library keeps filled with the events of an attr,
 * while targets and CPUs come and go. */
#include "evlist_follow.h"
#include "host_tree.h"
#include "fake_map.h"

#include <errno.h>
#include <fcntl.h>

#include "name/list.h"

#define PMUS "/sys/bus/event_source/devices"

static fake_map_t *map;
static int map_fd;

/* The CPUs of these entries, as in "0 1 . 3": their ids are their keys. */
static const char *entries(void) {
  static char text[64];
  size_t used = 0;
  uint32_t key;
  int cpu;

  for (key = 0; key < map->info.max_entries; key++) {
    cpu = fake_map_at(map, key);
    assert_true(cpu < 0 || cpu == (int)key);
    used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%c",
                             key == 0 ? "" : " ",
                             cpu >= 0    ? '0' + cpu
                             : cpu == -1 ? '.'
                                         : 'x');
  }
  return text;
}

/* Attrs on these CPUs (NULL: all that come), and a map with nr_entries. */
static uvperf__evlist_t *begin(const char *cpus, uint32_t nr_entries) {
  uvperf__evlist_t *evlist;
  evlist_make_t make;

  evlist_make(&make, 2);
  evlist_add_cpus(&make, cpus);
  evlist = evlist_follow_open(&make);
  map = fake_map_add(nr_entries);
  map_fd = fake_map_open(map);
  return evlist;
}

static void end(uvperf__evlist_t *evlist) {
  uvperf__evlist_leave_maps(evlist);
  fake_map_close(map_fd);
  assert_int_equal(map->files, 0);
  evlist_follow_end(evlist);
}

static void fill(uvperf__evlist_t *evlist) {
  uvperf_error_t error;

  error.reason[0] = '\0';
  if (uvperf__evlist_fill_map(evlist, 1, map_fd, &error) != 0)
    fail_msg("%s", error.reason);
}

static int add_target(uvperf__evlist_t *evlist, uint32_t type, const char *cpus,
                      uint32_t *index, uvperf_error_t *error) {
  uvperf_target_t target = UVPERF_TARGET_INIT;

  target.type = type;
  target.cpus = cpus;
  return uvperf__evlist_add_target(evlist, &target, index, error);
}

/* -- entries --------------------------------------------------------------- */

static void map_has_the_event_of_each_cpu_until_close(void **state) {
  uvperf__evlist_t *evlist;

  (void)state;
  evlist = begin("0,2", 4);
  fill(evlist);
  assert_string_equal(entries(), "0 . 2 .");
  uvperf__evlist_leave_maps(evlist);
  assert_string_equal(entries(), ". . . .");
  end(evlist);
}

/* The kernel keeps entries of other files. */
static void close_leaves_the_events_of_another_reader(void **state) {
  uvperf__evlist_t *evlist;

  (void)state;
  evlist = begin("0-2", 3);
  fill(evlist);
  fake_map_put_foreign(map, 1);
  uvperf__evlist_leave_maps(evlist);
  assert_string_equal(entries(), ". x .");
  fake_map_clear(map, 1);
  end(evlist);
}

static void close_of_a_map_that_keeps_entries_deletes_them(void **state) {
  uvperf__evlist_t *evlist;

  (void)state;
  evlist = begin("0-2", 3);
  map->info.map_flags = 1u << 11; /* BPF_F_PRESERVE_ELEMS */
  fill(evlist);
  assert_string_equal(entries(), "0 1 2");
  end(evlist);
  assert_string_equal(entries(), ". . .");
}

static void close_in_a_forked_child_leaves_the_entries(void **state) {
  uvperf__evlist_t *evlist;

  (void)state;
  evlist = begin("0-1", 2);
  map->info.map_flags = 1u << 11;
  fill(evlist);
  fake_process(4711);
  fake_log_clear();
  assert_int_equal(uvperf__evlist_fill_map(evlist, 0, map_fd, NULL), -EPERM);
  uvperf__evlist_leave_maps(evlist);
  assert_null(strstr(fake_log(), "delete"));
  assert_string_equal(entries(), "0 1");
  fake_process(0);
  fake_map_close(map_fd);
  evlist_follow_end(evlist);
}

/* -- targets --------------------------------------------------------------- */

/* Tasks have no entries. Of two events at a CPU the second one takes the place
 * of the first when that goes. */
static void map_follows_targets_that_come_and_go(void **state) {
  uvperf__evlist_t *evlist;
  uint32_t index;

  (void)state;
  evlist = begin("0", 3);
  fill(evlist);
  assert_int_equal(add_target(evlist, UVPERF_TARGET_SELF, NULL, NULL, NULL), 0);
  assert_string_equal(entries(), "0 . .");
  assert_int_equal(add_target(evlist, UVPERF_TARGET_CPUS, "0-1", &index, NULL),
                   0);
  assert_string_equal(entries(), "0 1 .");
  fake_log_clear();
  assert_int_equal(uvperf__evlist_remove_target(evlist, 0, NULL, NULL), 0);
  assert_non_null(strstr(fake_log(), "bpf delete"));
  assert_non_null(strstr(fake_log(), "bpf update"));
  assert_string_equal(entries(), "0 1 .");
  assert_int_equal(uvperf__evlist_remove_target(evlist, index, NULL, NULL), 0);
  assert_string_equal(entries(), ". . .");
  end(evlist);
}

static void map_follows_a_target_that_was_opened_elsewhere(void **state) {
  uvperf_target_t target = UVPERF_TARGET_INIT;
  uvperf__evlist_t *evlist, *made;
  uvperf__adding_t adding;
  uvperf_error_t error;
  size_t i;

  (void)state;
  evlist = begin("0", 2);
  fill(evlist);
  target.type = UVPERF_TARGET_CPUS;
  for (i = 0; i < 2; i++) {
    target.cpus = i == 0 ? "1" : "2";
    assert_int_equal(
        uvperf__evlist_new_for_target(&made, evlist, &target, &adding, &error),
        0);
    while (uvperf__adding_step(&adding, 0))
      continue;
    assert_int_equal(uvperf__adding_end(&adding, &error), 0);
    assert_string_equal(entries(), i == 0 ? "0 ." : "0 1");
    assert_int_equal(uvperf__evlist_take_target(evlist, made, &error),
                     i == 0 ? 0 : -E2BIG);
    uvperf__evlist_free(made);
    assert_string_equal(entries(), "0 1");
  }
  assert_int_equal(uvperf__evlist_nr_open(evlist), 4);
  end(evlist);
}

static void map_of_a_set_without_targets_waits_for_them(void **state) {
  uvperf__evlist_t *evlist;

  (void)state;
  evlist = begin("0", 3);
  assert_int_equal(uvperf__evlist_remove_target(evlist, 0, NULL, NULL), 0);
  fill(evlist);
  assert_string_equal(entries(), ". . .");
  assert_int_equal(add_target(evlist, UVPERF_TARGET_CPUS, "2", NULL, NULL), 0);
  assert_string_equal(entries(), ". . 2");
  end(evlist);
}

static void target_beyond_the_map_is_not_added(void **state) {
  uvperf__evlist_t *evlist;
  uvperf_error_t error;
  size_t nr;

  (void)state;
  evlist = begin("0", 1);
  fill(evlist);
  nr = uvperf__evlist_nr_open(evlist);
  assert_int_equal(add_target(evlist, UVPERF_TARGET_CPUS, "1", NULL, &error),
                   -E2BIG);
  assert_string_equal(error.reason,
                      "the map has no entry for CPU 1, only 1 entries; create "
                      "it with max_entries for each possible CPU");
  assert_int_equal(error.attr_index, 1);
  assert_int_equal(uvperf__evlist_nr_open(evlist), nr);
  assert_string_equal(entries(), "0");
  end(evlist);
}

/* -- CPUs ------------------------------------------------------------------ */

/* The event that is put there is the one that was opened then. */
static void map_follows_cpus_that_come(void **state) {
  uvperf__evlist_t *evlist;

  (void)state;
  evlist = begin(NULL, 4);
  fill(evlist);
  assert_string_equal(entries(), "0 1 2 .");
  fake_log_clear();
  evlist_follow_come_back(evlist, 1);
  assert_non_null(
      strstr(fake_log(), "bpf delete 1, close, open, open, bpf update 1"));
  assert_string_equal(entries(), "0 1 2 .");
  end(evlist);
}

/* The event counts all the same. */
static void cpu_that_comes_beyond_the_map_is_reported(void **state) {
  uvperf__evlist_t *evlist;
  uvperf_error_t error;
  size_t nr;

  (void)state;
  evlist = begin(NULL, 3);
  fill(evlist);
  nr = uvperf__evlist_nr_open(evlist);
  cpu_tree_bring_up(3);
  assert_int_equal(uvperf__evlist_cpu_come(evlist, 3, &error), -E2BIG);
  assert_non_null(strstr(error.reason, "no entry for CPU 3"));
  assert_int_equal(uvperf__evlist_nr_open(evlist), nr + 2);
  assert_string_equal(entries(), "0 1 2");
  end(evlist);
}

/* -- failures -------------------------------------------------------------- */

static void expect_refused(uvperf__evlist_t *evlist, size_t attr, int fd,
                           int code, int cause, const char *reason) {
  uvperf_error_t error;

  memset(&error, 0, sizeof(error));
  assert_int_equal(uvperf__evlist_fill_map(evlist, attr, fd, &error), code);
  assert_int_equal(error.code, code);
  assert_int_equal(error.cause, cause);
  if (strstr(error.reason, reason) == NULL)
    fail_msg("%s", error.reason);
}

/* And nothing of it is left in the map. */
static void fill_that_cannot_be_is_refused(void **state) {
  uvperf__evlist_t *evlist;
  evlist_make_t make;

  (void)state;
  evlist = begin("0-2", 2);
  expect_refused(evlist, 2, map_fd, -EINVAL, UVPERF_CAUSE_ARGUMENT,
                 "there is no attr 2; the set has 2");
  expect_refused(evlist, 1, map_fd, -E2BIG, UVPERF_CAUSE_ARGUMENT,
                 "no entry for CPU 2");
  assert_string_equal(entries(), ". .");
  expect_refused(evlist, 1, -1, -EBADF, UVPERF_CAUSE_ARGUMENT,
                 "is not an open fd");
  map->info.type = 27;
  expect_refused(evlist, 1, map_fd, -EINVAL, UVPERF_CAUSE_ARGUMENT,
                 "BPF_MAP_TYPE_PERF_EVENT_ARRAY");
  map->info.type = 4;
  map->info.max_entries = 3;
  fake_fail(FAKE_BPF_UPDATE, 2, -EOPNOTSUPP);
  expect_refused(evlist, 1, map_fd, -EOPNOTSUPP, UVPERF_CAUSE_NOT_SUPPORTED,
                 "attr.inherit");
  assert_string_equal(entries(), ". . .");
  fake_fail(FAKE_CALLOC, 1, -ENOMEM);
  expect_refused(evlist, 1, map_fd, -ENOMEM, UVPERF_CAUSE_MEMORY,
                 "out of memory");
  fill(evlist);
  expect_refused(evlist, 1, map_fd, -EEXIST, UVPERF_CAUSE_EXISTS,
                 "another set for another map");
  assert_string_equal(entries(), "0 1 2");
  end(evlist);

  evlist_make(&make, 1);
  evlist_add(&make, UVPERF_TARGET_SELF);
  evlist = evlist_follow_open(&make);
  expect_refused(evlist, 0, 0, -EINVAL, UVPERF_CAUSE_ARGUMENT,
                 "UVPERF_TARGET_CPUS");
  evlist_follow_end(evlist);
}

/* Each kind of core has a part, with a map of its own. */
static void fill_that_one_part_refuses_can_be_repeated(void **state) {
  uvperf__evlist_t *evlist;
  uvperf_event_list_t *list;
  evlist_make_t make;

  (void)state;
  host_tree_write(PMUS "/cpu_core/type", "4\n");
  host_tree_write(PMUS "/cpu_core/cpus", "0-1\n");
  host_tree_write(PMUS "/cpu_atom/type", "10\n");
  host_tree_write(PMUS "/cpu_atom/cpus", "2\n");
  assert_int_equal(uvperf__event_list_parse(&list, "cycles", NULL), 0);
  evlist_make(&make, 0);
  make.options.events = list;
  evlist_add_cpus(&make, "0-2");
  evlist = evlist_follow_open(&make);
  uvperf_event_list_free(list);
  map = fake_map_add(3);
  map_fd = fake_map_open(map);
  fake_fail(FAKE_BPF_UPDATE, 3, -EOPNOTSUPP);
  expect_refused(evlist, 0, map_fd, -EOPNOTSUPP, UVPERF_CAUSE_NOT_SUPPORTED,
                 "attr.inherit");
  assert_string_equal(entries(), ". . .");
  assert_int_equal(uvperf__evlist_fill_map(evlist, 0, map_fd, NULL), 0);
  assert_string_equal(entries(), "0 1 2");
  end(evlist);
}

#define TEST(f)                                                                \
  cmocka_unit_test_setup_teardown(f, evlist_follow_setup,                      \
                                  evlist_follow_teardown)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(map_has_the_event_of_each_cpu_until_close),
      TEST(close_leaves_the_events_of_another_reader),
      TEST(close_of_a_map_that_keeps_entries_deletes_them),
      TEST(close_in_a_forked_child_leaves_the_entries),
      TEST(map_follows_targets_that_come_and_go),
      TEST(map_follows_a_target_that_was_opened_elsewhere),
      TEST(map_of_a_set_without_targets_waits_for_them),
      TEST(target_beyond_the_map_is_not_added),
      TEST(map_follows_cpus_that_come),
      TEST(cpu_that_comes_beyond_the_map_is_reported),
      TEST(fill_that_cannot_be_is_refused),
      TEST(fill_that_one_part_refuses_can_be_repeated),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
