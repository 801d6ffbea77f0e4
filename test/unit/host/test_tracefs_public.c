/* SPDX-License-Identifier: MIT */
/* The functions of include/uvperf/system.h, compared with what the test itself
 * reads from tracefs; tracers below a scripted root. */
#include "support.h"
#include "make_host.h"

#include <dirent.h>
#include <limits.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/tracefs.h"
#include "uvperf/system.h"

#define TRACING "/sys/kernel/tracing"
#define DEBUG   "/sys/kernel/debug"
#define EVENT   "syscalls:sys_enter_getpgid"

/* -- the whole of tracefs ------------------------------------------------- */

/* Lines "category:name id", as the library and as the test sees them. */
typedef struct lines_s {
  char *text;
  size_t length;
  size_t size;
  size_t nr;
} lines_t;

static void add_line(lines_t *lines, const char *category, const char *name,
                     uint64_t id) {
  int length;

  if (lines->size - lines->length < 1024) {
    lines->size = lines->size * 2 + 1024;
    lines->text = realloc(lines->text, lines->size);
    assert_non_null(lines->text);
  }
  length = snprintf(lines->text + lines->length, 1024, "%s:%s %llu\n", category,
                    name, (unsigned long long)id);
  assert_in_range(length, 1, 1023);
  lines->length += (size_t)length;
  lines->nr += 1;
}

static int add_event(const char *category, const char *name, uint64_t id,
                     void *arg) {
  add_line(arg, category, name, id);
  return 0;
}

static void add_if_it_has_an_id(const char *events, const char *category,
                                const char *name, lines_t *lines) {
  unsigned long long id;
  char path[PATH_MAX + 2 * NAME_MAX + 8];
  FILE *file;

  snprintf(path, sizeof(path), "%s/%s/%s/id", events, category, name);
  file = fopen(path, "re");
  if (file == NULL)
    return;
  assert_int_equal(fscanf(file, "%llu", &id), 1);
  fclose(file);
  add_line(lines, category, name, id);
}

/* Reads tracefs by readdir(3). */
static void read_all(const char *events, lines_t *lines) {
  DIR *categories = opendir(events);
  struct dirent *category, *name;
  char path[PATH_MAX + NAME_MAX + 2];
  DIR *names;

  assert_non_null(categories);
  while ((category = readdir(categories)) != NULL) {
    snprintf(path, sizeof(path), "%s/%s", events, category->d_name);
    names = category->d_name[0] == '.' ? NULL : opendir(path);
    while (names != NULL && (name = readdir(names)) != NULL)
      if (name->d_name[0] != '.')
        add_if_it_has_an_id(events, category->d_name, name->d_name, lines);
    if (names != NULL)
      closedir(names);
  }
  closedir(categories);
}

/* Below /sys/kernel/tracing/events a directory is a category. */
static int count_category(const char *category, void *arg) {
  char path[PATH_MAX];
  struct stat status;

  snprintf(path, sizeof(path), TRACING "/events/%s", category);
  assert_int_equal(stat(path, &status), 0);
  assert_true(S_ISDIR(status.st_mode));
  *(size_t *)arg += 1;
  return strcmp(category, "sched") == 0 ? 5 : 0;
}

static void
live_tracefs_walk_categories_returns_each_until_stopped(void **state) {
  size_t nr = 0, more = 0;
  struct dirent *entry;
  DIR *events;

  support_need_tracefs(__func__, EVENT);
  events = opendir(TRACING "/events");
  if (events == NULL)
    skip();
  assert_int_equal(uvperf_tracefs_walk_categories(count_category, &nr), 5);
  while ((entry = readdir(events)) != NULL) {
    if (entry->d_type != DT_DIR || entry->d_name[0] == '.')
      continue;
    more++;
    if (strcmp(entry->d_name, "sched") == 0)
      break;
  }
  closedir(events);
  assert_int_equal(nr, more);
}

static int same_id(const char *category, const char *name, uint64_t id,
                   void *arg) {
  uint64_t other;

  assert_int_equal(uvperf_tracefs_id(category, name, &other), 0);
  assert_true(other == id);
  *(size_t *)arg += 1;
  return 0;
}

static void live_tracefs_walk_returns_each_tracepoint_and_its_id(void **state) {
  size_t fds = support_count_fds();
  lines_t ours = {0}, theirs = {0};
  size_t size = 0, nr = 0;
  char path[PATH_MAX];

  support_need_tracefs(__func__, EVENT);
  assert_int_equal(uvperf_tracefs_path(NULL, &size), -ENOBUFS);
  assert_int_equal(uvperf_tracefs_path(path, &size), 0);
  strcat(path, "/events");
  read_all(path, &theirs);
  assert_int_equal(uvperf_tracefs_walk(NULL, NULL, add_event, &ours), 0);
  assert_true(ours.nr > 100);
  assert_int_equal(ours.nr, theirs.nr);
  assert_string_equal(ours.text, theirs.text);
  assert_int_equal(uvperf_tracefs_walk("*", "*", same_id, &nr), 0);
  assert_int_equal(nr, theirs.nr);
  assert_int_equal(support_count_fds(), fds);
  printf("%zu tracepoints\n", nr);
  free(ours.text);
  free(theirs.text);
}

static int note_line(const char *category, const char *name, uint64_t id,
                     void *arg) {
  snprintf(arg, 64, "%s:%s %llu", category, name, (unsigned long long)id);
  return 7;
}

static void live_tracefs_walk_by_pattern_returns_what_matches(void **state) {
  uint64_t id = support_need_tracefs(__func__, EVENT);
  char line[64] = "", expected[64];

  snprintf(expected, sizeof(expected), EVENT " %llu", (unsigned long long)id);
  assert_int_equal(
      uvperf_tracefs_walk("sys?all[a-z]", "*_enter_g?tpgid", note_line, line),
      7);
  assert_string_equal(line, expected);
  line[0] = '\0';
  assert_int_equal(
      uvperf_tracefs_walk("syscalls", "sys_enter_ge", note_line, line), 0);
  assert_string_equal(line, "");
}

static void live_tracefs_id_of_no_tracepoint_is_enoent(void **state) {
  uint64_t id = 5;

  support_need_tracefs(__func__, EVENT);
  assert_int_equal(uvperf_tracefs_id("syscalls", "sys_enter_no", &id), -ENOENT);
  assert_true(id == 0);
  assert_int_equal(uvperf_tracefs_id("syscalls", "../sched", &id), -EINVAL);
}

/* -- other places and other users ----------------------------------------- */

/* What the child with mounts of its own has to find, and where. */
typedef struct place_s {
  char path[96];
  uint64_t id;
} place_t;

#define CANNOT_MOUNT 77

static int mount_elsewhere(const char *path) {
  if (unshare(CLONE_NEWNS) != 0 ||
      mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
      mount("tracefs", path, "tracefs", 0, NULL) != 0)
    return -1;
  /* Both usual places become empty. */
  if (mount("none", TRACING, "tmpfs", 0, NULL) != 0)
    return -1;
  return mount("none", DEBUG, "tmpfs", 0, NULL) != 0 && errno != ENOENT ? -1
                                                                        : 0;
}

/* The exit status says which check failed. */
static int look_elsewhere(void *arg) {
  const place_t *place = arg;
  char path[96];
  size_t size = sizeof(path);
  uint64_t id;

  if (mount_elsewhere(place->path) != 0)
    return CANNOT_MOUNT;
  if (uvperf_tracefs_path(path, &size) != 0 || strcmp(path, place->path) != 0)
    return 1;
  if (size != strlen(place->path) + 1)
    return 2;
  if (uvperf_tracefs_id("syscalls", "sys_enter_getpgid", &id) != 0 ||
      id != place->id)
    return 3;
  if (umount(place->path) != 0)
    return CANNOT_MOUNT;
  if (uvperf_tracefs_path(path, &size) != -ENODEV ||
      size != strlen(place->path) + 1)
    return 4;
  return uvperf_tracefs_id("syscalls", "sys_enter_getpgid", &id) != -ENODEV;
}

static void live_tracefs_mounted_elsewhere_is_found(void **state) {
  place_t place;
  int status;

  support_need_root(__func__);
  fake_host_set(NULL);
  place.id = support_need_tracefs(__func__, EVENT);
  snprintf(place.path, sizeof(place.path), "%s/a b\\c\td", make_host_root());
  assert_int_equal(mkdir(place.path, 0755), 0);
  status = support_wait(support_fork(look_elsewhere, &place));
  if (status == CANNOT_MOUNT)
    support_skip(__func__, "mounts of its own");
  assert_int_equal(status, 0);
}

static int look_as_nobody(void *arg) {
  int expected = *(const int *)arg;
  char path[96];
  size_t size = sizeof(path);
  uint64_t id;

  if (geteuid() == 0 && setuid(65534) != 0)
    return 1;
  if (uvperf_tracefs_path(path, &size) != expected)
    return 2;
  return uvperf_tracefs_id("syscalls", "sys_enter_getpgid", &id) == 0
             ? expected != 0
             : expected == 0;
}

static void live_tracefs_of_root_alone_is_eacces(void **state) {
  struct stat status;
  int expected;

  support_need_root(__func__);
  support_need_tracefs(__func__, EVENT);
  if (stat(TRACING, &status) != 0 || (status.st_mode & 07) != 0)
    support_skip(__func__, TRACING " that is root's alone");
  expected = -EACCES;
  assert_int_equal(support_wait(support_fork(look_as_nobody, &expected)), 0);
}

/* -- arguments ------------------------------------------------------------ */

static void tracefs_null_arguments_are_einval(void **state) {
  size_t size = 1;
  uint64_t id = 1;

  assert_int_equal(uvperf_tracefs_path(NULL, &size), -EINVAL);
  assert_int_equal(uvperf_tracefs_path((char *)&size, NULL), -EINVAL);
  assert_int_equal(uvperf_tracefs_current_tracer(NULL, &size), -EINVAL);
  assert_int_equal(uvperf_tracefs_current_tracer((char *)&size, NULL), -EINVAL);
  assert_int_equal(size, 1);
  assert_int_equal(uvperf_tracefs_id("sched", "sched_switch", NULL), -EINVAL);
  assert_int_equal(uvperf_tracefs_id(NULL, "sched_switch", &id), -EINVAL);
  assert_int_equal(id, 0);
  assert_int_equal(uvperf_tracefs_id("sched", NULL, &id), -EINVAL);
  assert_int_equal(uvperf_tracefs_walk(NULL, NULL, NULL, NULL), -EINVAL);
  assert_int_equal(uvperf_tracefs_walk_tracers(NULL, NULL), -EINVAL);
  assert_int_equal(uvperf_tracefs_walk_categories(NULL, NULL), -EINVAL);
}

/* -- tracers -------------------------------------------------------------- */

static int append_tracer(const char *tracer, void *arg) {
  strcat(arg, tracer);
  strcat(arg, ";");
  return strcmp(tracer, "stop") == 0 ? -7 : 0;
}

static void expect_tracers(const char *text, int rc, const char *expected) {
  char seen[128] = "";

  make_host_write(TRACING "/available_tracers", text);
  assert_int_equal(uvperf_tracefs_walk_tracers(append_tracer, seen), rc);
  assert_string_equal(seen, expected);
}

static void tracers_are_the_words_of_a_line(void **state) {
  char seen[8] = "";

  assert_int_equal(uvperf_tracefs_walk_tracers(append_tracer, seen), -ENODEV);
  make_host_write(TRACING "/events/enable", "0\n");
  assert_int_equal(uvperf_tracefs_walk_tracers(append_tracer, seen), -ENOENT);
  expect_tracers("blk function nop\n", 0, "blk;function;nop;");
  expect_tracers(" blk  nop \n", 0, "blk;nop;");
  expect_tracers("nop", 0, "nop;");
  expect_tracers("\n", 0, "");
  expect_tracers("", -ENOENT, "");
  expect_tracers("blk stop nop\n", -7, "blk;stop;");
}

static void tracers_without_end_are_efbig(void **state) {
  static char text[8000];

  make_host_write(TRACING "/events/enable", "0\n");
  memset(text, 'x', sizeof(text) - 1);
  expect_tracers(text, -EFBIG, "");
}

static void current_tracer_is_the_files(void **state) {
  char tracer[16] = "left";
  size_t size = sizeof(tracer);

  make_host_write(TRACING "/events/enable", "0\n");
  assert_int_equal(uvperf_tracefs_current_tracer(tracer, &size), -ENOENT);
  assert_int_equal(size, sizeof(tracer));
  assert_string_equal(tracer, "left");
  make_host_write(TRACING "/current_tracer", "function\n");
  size = 8;
  assert_int_equal(uvperf_tracefs_current_tracer(tracer, &size), -ENOBUFS);
  assert_int_equal(size, 9);
  assert_string_equal(tracer, "left");
  assert_int_equal(uvperf_tracefs_current_tracer(tracer, &size), 0);
  assert_int_equal(size, 9);
  assert_string_equal(tracer, "function");
}

static int is_current(const char *tracer, void *arg) {
  return strcmp(tracer, arg) == 0;
}

static void live_current_tracer_is_an_available_one(void **state) {
  char tracer[128];
  size_t size = sizeof(tracer);

  support_need_tracefs(__func__, EVENT);
  assert_int_equal(uvperf_tracefs_current_tracer(tracer, &size), 0);
  assert_int_equal(size, strlen(tracer) + 1);
  assert_int_equal(uvperf_tracefs_walk_tracers(is_current, tracer), 1);
  assert_int_equal(uvperf_tracefs_walk_tracers(is_current, (char[]){"nop"}), 1);
  assert_int_equal(uvperf_tracefs_walk_tracers(is_current, (char[]){""}), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(live_tracefs_walk_returns_each_tracepoint_and_its_id),
      cmocka_unit_test(live_tracefs_walk_by_pattern_returns_what_matches),
      cmocka_unit_test(live_tracefs_walk_categories_returns_each_until_stopped),
      cmocka_unit_test(live_tracefs_id_of_no_tracepoint_is_enoent),
      MAKE_HOST_TEST(live_tracefs_mounted_elsewhere_is_found),
      cmocka_unit_test(live_tracefs_of_root_alone_is_eacces),
      cmocka_unit_test(tracefs_null_arguments_are_einval),
      MAKE_HOST_TEST(tracers_are_the_words_of_a_line),
      MAKE_HOST_TEST(tracers_without_end_are_efbig),
      MAKE_HOST_TEST(current_tracer_is_the_files),
      cmocka_unit_test(live_current_tracer_is_an_available_one),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
