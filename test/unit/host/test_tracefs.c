/* SPDX-License-Identifier: MIT */
/* Tracepoints and their ids, under a scripted root and under the real one. */
#include "support.h"
#include "make_host.h"
#include "make_tree.h"

#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/tracefs.h"

#define TRACING "/sys/kernel/tracing"
#define DEBUG   "/sys/kernel/debug/tracing"
#define EVENTS  TRACING "/events"
#define MOUNTS  "/proc/self/mounts"

/* The events of a small tracefs, with the other files of their directories. */
static int tracefs_setup(void **state) {
  if (make_host_setup(state) != 0)
    return -1;
  make_host_write(EVENTS "/enable", "0\n");
  make_host_write(EVENTS "/header_page", "\tfield: u64 timestamp;\n");
  make_host_write(EVENTS "/ftrace/print/format", "ID: 5\n");
  make_host_write(EVENTS "/irq/irq_handler_entry/id", "32\n");
  make_host_write(EVENTS "/sched/enable", "0\n");
  make_host_write(EVENTS "/sched/sched_switch/id", "316\n");
  make_host_write(EVENTS "/sched/sched_switch/format", "ID: 317\n");
  make_host_write(EVENTS "/sched/sched_waking/id", "318\n");
  make_host_write(EVENTS "/sched/odd/id", "x\n");
  return 0;
}

/* -- its place ------------------------------------------------------------ */

static void expect_path(int rc, const char *path) {
  char text[64] = "";
  size_t size = sizeof(text);

  assert_int_equal(uvperf_tracefs_path(text, &size), rc);
  assert_string_equal(text, path);
}

static void tracefs_path_is_the_new_one_before_the_old(void **state) {
  expect_path(-ENODEV, "");
  make_host_write(MOUNTS, "t /mnt tracefs rw 0 0\n");
  make_host_write("/mnt/events/enable", "0\n");
  expect_path(0, "/mnt");
  make_host_write(DEBUG "/events/enable", "0\n");
  expect_path(0, DEBUG);
  make_host_write(EVENTS "/enable", "0\n");
  expect_path(0, TRACING);
}

static void tracefs_path_of_an_empty_mount_point_is_enodev(void **state) {
  make_host_write(TRACING "/other", "");
  make_host_write(DEBUG "/events", "a file\n");
  make_host_write(MOUNTS,
                  "t /gone tracefs rw 0 0\nd /sys/kernel/debug debugfs rw\n");
  expect_path(-ENODEV, "");
}

static void tracefs_path_comes_from_the_mounts(void **state) {
  make_host_write(MOUNTS, "tracefs /covered tracefs rw 0 0\n"
                          "tracefs /ext4/events ext4 rw 0 0\n"
                          "none /my\\040own\\134place debugfs rw 0 0\n");
  make_host_write("/ext4/events/enable", "0\n");
  expect_path(-ENODEV, "");
  make_host_write("/my own\\place/events/enable", "not here\n");
  expect_path(-ENODEV, "");
  make_host_write("/my own\\place/tracing/events/enable", "0\n");
  expect_path(0, "/my own\\place/tracing");
  make_host_write("/covered/events/enable", "0\n");
  expect_path(0, "/covered");
}

/* A place that cannot be read is the reason, and the first one of several. */
static void
tracefs_path_that_cannot_be_read_is_the_first_failure(void **state) {
  char name[301];

  memset(name, 'x', sizeof(name) - 1);
  name[sizeof(name) - 1] = '\0';
  make_host_link(EVENTS, "events"); /* to itself */
  expect_path(-ELOOP, "");
  make_host_link(DEBUG "/events", name);
  expect_path(-ELOOP, "");
}

static void tracefs_path_without_room_is_enobufs(void **state) {
  char path[sizeof(TRACING)] = "left";
  size_t size = sizeof(path);

  assert_int_equal(uvperf_tracefs_path(path, &size), 0);
  assert_int_equal(size, sizeof(path));
  assert_string_equal(path, TRACING);
  size = sizeof(path) - 1;
  path[0] = '!';
  assert_int_equal(uvperf_tracefs_path(path, &size), -ENOBUFS);
  assert_int_equal(size, sizeof(path));
  assert_int_equal(path[0], '!');
}

/* -- ids ------------------------------------------------------------------ */

static void expect_id(const char *category, const char *name, int rc,
                      uint64_t expected) {
  uint64_t id = 99;

  assert_int_equal(uvperf_tracefs_id(category, name, &id), rc);
  assert_true(id == expected);
}

static void tracefs_id_is_the_files(void **state) {
  expect_id("sched", "sched_switch", 0, 316);
  expect_id("irq", "irq_handler_entry", 0, 32);
}

static void tracefs_id_of_no_tracepoint_is_enoent(void **state) {
  static char name[PATH_MAX + 1];

  expect_id("sched", "sched_swich", -ENOENT, 0);
  expect_id("scheduler", "sched_switch", -ENOENT, 0);
  expect_id("sched", "enable", -ENOENT, 0);
  expect_id("enable", "id", -ENOENT, 0);
  expect_id("ftrace", "print", -ENOENT, 0);
  expect_id("sched", "odd", -ENOENT, 0);
  make_host_write(EVENTS "/sched/odd/id", "-1\n");
  expect_id("sched", "odd", -ENOENT, 0);
  memset(name, 'x', 300);
  expect_id("sched", name, -ENOENT, 0);
  memset(name, 'x', PATH_MAX);
  expect_id("sched", name, -ENOENT, 0);
}

static void tracefs_id_of_another_directory_is_einval(void **state) {
  const char *const bad[] = {"", ".", "..", "/", "sched/sched_switch", "a/"};
  size_t i;

  for (i = 0; i < COUNT_OF(bad); i++) {
    expect_id("sched", bad[i], -EINVAL, 0);
    expect_id(bad[i], "sched_switch", -EINVAL, 0);
  }
}

/* -- walks ---------------------------------------------------------------- */

/* The results of a walk, sorted, because the order of a temporary directory is
 * not known. */
typedef struct seen_s {
  int nr;
  char lines[8][40];
} seen_t;

static void add_line(seen_t *seen, const char *line) {
  int at = seen->nr++;

  assert_in_range(at, 0, 7);
  while (at > 0 && strcmp(seen->lines[at - 1], line) > 0) {
    strcpy(seen->lines[at], seen->lines[at - 1]);
    at -= 1;
  }
  snprintf(seen->lines[at], sizeof(seen->lines[at]), "%s", line);
}

static int note_name(const char *name, void *data) {
  add_line(data, name);
  return 0;
}

static int note_event(const char *category, const char *name, uint64_t id,
                      void *data) {
  char line[40];

  snprintf(line, sizeof(line), "%s:%s=%d", category, name, (int)id);
  add_line(data, line);
  return 0;
}

static void expect_seen(const seen_t *seen, const char *expected) {
  char text[sizeof(seen->lines)] = "";
  int i;

  for (i = 0; i < seen->nr; i++) {
    strcat(text, seen->lines[i]);
    strcat(text, " ");
  }
  assert_string_equal(text, expected);
}

static void expect_walk(const char *category, const char *name,
                        const char *expected) {
  seen_t seen = {0};

  assert_int_equal(uvperf_tracefs_walk(category, name, note_event, &seen), 0);
  expect_seen(&seen, expected);
}

static void tracefs_each_category_leaves_files_out(void **state) {
  seen_t seen = {0};

  assert_int_equal(uvperf_tracefs_walk_categories(note_name, &seen), 0);
  expect_seen(&seen, "ftrace irq sched ");
}

static void tracefs_walk_returns_what_matches(void **state) {
  expect_walk(NULL, NULL,
              "irq:irq_handler_entry=32 sched:sched_switch=316 "
              "sched:sched_waking=318 ");
  expect_walk("sched", NULL, "sched:sched_switch=316 sched:sched_waking=318 ");
  expect_walk("ftrace", NULL, "");
  expect_walk("enable", NULL, "");
  expect_walk("sched", "*_w*", "sched:sched_waking=318 ");
  expect_walk("*r*", NULL, "irq:irq_handler_entry=32 ");
  expect_walk("sched", "sched_switch", "sched:sched_switch=316 ");
  expect_walk("sched", "switch", "");
  expect_walk("..", NULL, "");
  expect_walk("", "", "");
}

static int stop(const char *category, const char *name, uint64_t id,
                void *data) {
  *(int *)data += 1;
  return -ENOTDIR;
}

static int stop_name(const char *name, void *data) {
  *(int *)data += 1;
  return -ENOENT;
}

static void tracefs_walks_end_when_the_callback_says_so(void **state) {
  size_t fds = support_count_fds();
  int calls = 0;

  assert_int_equal(uvperf_tracefs_walk(NULL, NULL, stop, &calls), -ENOTDIR);
  assert_int_equal(calls, 1);
  assert_int_equal(uvperf_tracefs_walk_categories(stop_name, &calls), -ENOENT);
  assert_int_equal(calls, 2);
  assert_int_equal(support_count_fds(), fds);
}

static void tracefs_walks_without_tracefs_are_enodev(void **state) {
  seen_t seen = {0};

  expect_id("sched", "sched_switch", -ENODEV, 0);
  assert_int_equal(uvperf_tracefs_walk_categories(note_name, &seen), -ENODEV);
  assert_int_equal(uvperf_tracefs_walk(NULL, NULL, note_event, &seen), -ENODEV);
  assert_int_equal(seen.nr, 0);
}

/* -- names of ids --------------------------------------------------------- */

static void expect_name(uint64_t id, int rc, const char *name) {
  char text[32] = "left";

  assert_int_equal(uvperf__tracefs_name(id, text, sizeof(text)), rc);
  assert_string_equal(text, name);
}

static void tracefs_name_is_found_by_id(void **state) {
  char text[8];

  expect_name(316, 0, "sched:sched_switch");
  expect_name(32, 0, "irq:irq_handler_entry");
  expect_name(317, -ENOENT, "");
  expect_name(0, -ENOENT, "");
  expect_name(UINT64_C(1) << 32 | 316, -ENOENT, "");
  assert_int_equal(uvperf__tracefs_name(316, text, 8), 0);
  assert_string_equal(text, "sched:s");
}

static void tracefs_name_without_tracefs_is_enodev(void **state) {
  expect_name(316, -ENODEV, "");
}

static void tracefs_name_is_found_in_debugfs_too(void **state) {
  make_host_write(DEBUG "/events/sched/sched_switch/id", "316\n");
  expect_name(316, 0, "sched:sched_switch");
  expect_name(1, -ENOENT, "");
}

static void tracefs_name_of_the_real_root_is_the_kernels(void **state) {
  uint64_t id = support_need_tracefs(__func__, "syscalls:sys_enter_getpgid");

  expect_name(id, 0, "syscalls:sys_enter_getpgid");
  expect_name(65000000, -ENOENT, "");
}

static void expect_found(uvperf__tracefs_ids_t *ids, uint64_t id, int rc,
                         int of_ftrace) {
  int is_ftrace = -1;

  assert_int_equal(uvperf__tracefs_find(ids, id, &is_ftrace), rc);
  assert_int_equal(is_ftrace, of_ftrace);
}

static void tracefs_find_returns_ids_as_of_its_first_walk(void **state) {
  uvperf__tracefs_ids_t ids = {0}, later = {0};

  make_host_write(EVENTS "/ftrace/function/id", "1\n");
  make_host_write(EVENTS "/sched/last/id", "65535\n");
  make_host_write(EVENTS "/sched/none/id", "65536\n");
  expect_found(&ids, 316, 0, 0);
  expect_found(&ids, 1, 0, 1);
  expect_found(&ids, 65535, 0, 0);
  expect_found(&ids, 317, -ENOENT, 0);
  expect_found(&ids, 65536, -ENOENT, 0);
  expect_found(&ids, UINT64_C(1) << 32 | 1, -ENOENT, 0);
  make_host_write(EVENTS "/sched/late/id", "317\n");
  expect_found(&ids, 317, -ENOENT, 0);
  expect_found(&later, 317, 0, 0);
}

static void tracefs_find_without_tracefs_is_enodev(void **state) {
  uvperf__tracefs_ids_t ids = {0};

  expect_found(&ids, 316, -ENODEV, 0);
}

/* -- unreadable places ---------------------------------------------------- */

static void set_mode(const char *path, mode_t mode) {
  char full[PATH_MAX];

  snprintf(full, sizeof(full), "%s%s", make_host_root(), path);
  assert_int_equal(chmod(full, mode), 0);
}

/* File modes do not restrict root. */
static int be_nobody(void) {
  return geteuid() == 0 ? setuid(65534) : 0;
}

/* Checks in a child that is not root; its exit status says which check
 * failed. */
static void expect_as_nobody(support_child_fn look) {
  set_mode("", 0755);
  assert_int_equal(support_wait(support_fork(look, NULL)), 0);
}

static int count_event(const char *category, const char *name, uint64_t id,
                       void *data) {
  *(int *)data += strcmp(category, "sched") == 0 &&
                          strcmp(name, "sched_switch") == 0 && id == 316
                      ? 1
                      : 1000;
  return 0;
}

static int count_name(const char *name, void *data) {
  *(int *)data += 1;
  return 0;
}

static int sees_nothing(void *arg) {
  char path[64];
  size_t size = sizeof(path);
  int calls = 0;
  uint64_t id;

  if (be_nobody() != 0)
    return 1;
  if (uvperf_tracefs_path(path, &size) != -EACCES)
    return 2;
  if (uvperf_tracefs_id("sched", "sched_switch", &id) != -EACCES)
    return 3;
  if (uvperf_tracefs_walk(NULL, NULL, count_event, &calls) != -EACCES ||
      calls != 0)
    return 4;
  return 0;
}

static void tracefs_that_may_not_be_read_is_eacces(void **state) {
  set_mode(TRACING, 0);
  expect_as_nobody(sees_nothing);
  set_mode(TRACING, 0755);
}

static int sees_debugfs(void *arg) {
  char path[64];
  size_t size = sizeof(path);

  if (be_nobody() != 0)
    return 1;
  return uvperf_tracefs_path(path, &size) != 0 || strcmp(path, DEBUG) != 0 ? 2
                                                                           : 0;
}

static void tracefs_that_may_be_read_is_preferred(void **state) {
  make_host_write(DEBUG "/events/enable", "0\n");
  set_mode(TRACING, 0);
  expect_as_nobody(sees_debugfs);
  set_mode(TRACING, 0755);
}

static int sees_a_part(void *arg) {
  uvperf__tracefs_ids_t ids = {0};
  int is_ftrace;
  int calls = 0;
  uint64_t id;

  if (be_nobody() != 0)
    return 1;
  if (uvperf_tracefs_walk(NULL, NULL, count_event, &calls) != -EACCES ||
      calls != 1)
    return 2;
  if (uvperf_tracefs_walk("sched", "sched_s*", count_event, &calls) != 0 ||
      calls != 2)
    return 3;
  if (uvperf_tracefs_walk_categories(count_name, &calls) != 0 || calls != 5)
    return 4;
  if (uvperf_tracefs_walk("sched", NULL, count_event, &calls) != -EACCES ||
      calls != 6)
    return 5;
  if (uvperf_tracefs_walk("irq", NULL, count_event, &calls) != -EACCES ||
      calls != 6)
    return 6;
  if (uvperf_tracefs_id("sched", "sched_waking", &id) != -EACCES)
    return 7;
  if (uvperf__tracefs_find(&ids, 316, &is_ftrace) != 0 ||
      uvperf__tracefs_find(&ids, 317, &is_ftrace) != -EACCES)
    return 8;
  return 0;
}

static void tracefs_walk_skips_unreadable_directories(void **state) {
  set_mode(EVENTS "/irq", 0);
  set_mode(EVENTS "/sched/sched_waking/id", 0);
  expect_as_nobody(sees_a_part);
  set_mode(EVENTS "/irq", 0755);
}

#define WITH_EVENTS(test)                                                      \
  cmocka_unit_test_setup_teardown(test, tracefs_setup, make_host_teardown)

int main(void) {
  const struct CMUnitTest tests[] = {
      MAKE_HOST_TEST(tracefs_path_is_the_new_one_before_the_old),
      MAKE_HOST_TEST(tracefs_path_of_an_empty_mount_point_is_enodev),
      MAKE_HOST_TEST(tracefs_path_comes_from_the_mounts),
      MAKE_HOST_TEST(tracefs_path_that_cannot_be_read_is_the_first_failure),
      WITH_EVENTS(tracefs_path_without_room_is_enobufs),
      WITH_EVENTS(tracefs_id_is_the_files),
      WITH_EVENTS(tracefs_id_of_no_tracepoint_is_enoent),
      WITH_EVENTS(tracefs_id_of_another_directory_is_einval),
      WITH_EVENTS(tracefs_each_category_leaves_files_out),
      WITH_EVENTS(tracefs_walk_returns_what_matches),
      WITH_EVENTS(tracefs_walks_end_when_the_callback_says_so),
      MAKE_HOST_TEST(tracefs_walks_without_tracefs_are_enodev),
      WITH_EVENTS(tracefs_name_is_found_by_id),
      MAKE_HOST_TEST(tracefs_name_without_tracefs_is_enodev),
      MAKE_HOST_TEST(tracefs_name_is_found_in_debugfs_too),
      cmocka_unit_test(tracefs_name_of_the_real_root_is_the_kernels),
      WITH_EVENTS(tracefs_find_returns_ids_as_of_its_first_walk),
      MAKE_HOST_TEST(tracefs_find_without_tracefs_is_enodev),
      WITH_EVENTS(tracefs_that_may_not_be_read_is_eacces),
      WITH_EVENTS(tracefs_that_may_be_read_is_preferred),
      WITH_EVENTS(tracefs_walk_skips_unreadable_directories),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
