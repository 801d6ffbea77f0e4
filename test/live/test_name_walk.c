/* SPDX-License-Identifier: MIT */
/* The walk over event names, compared with what the test itself reads from this
 * machine's sysfs and tracefs, and for a user who may not read them. */
#include "support.h"

#include <dirent.h>
#include <unistd.h>

#include <linux/perf_event.h>

#include "uvperf/attr.h"
#include "uvperf/name.h"

#define PMUS    "/sys/bus/event_source/devices"
#define TRACING "/sys/kernel/tracing"
#define EVENT   "syscalls:sys_enter_getpgid"

/* Files of this machine, and whether the walk has returned them. */
typedef struct files_s {
  char (*paths)[512];
  unsigned char *seen;
  size_t nr;
  size_t capacity;
  size_t nr_cpu_events;
} files_t;

static void add(files_t *files, const char *path) {
  if (access(path, F_OK) != 0)
    return;
  if (files->nr == files->capacity) {
    files->capacity = files->capacity * 2 + 16;
    files->paths = realloc(files->paths, files->capacity * 512);
    files->seen = realloc(files->seen, files->capacity);
  }
  assert_true(files->paths != NULL && files->seen != NULL);
  assert_true(snprintf(files->paths[files->nr], 512, "%s", path) < 512);
  files->seen[files->nr++] = 0;
}

/* Finds above/ANY/middle/ANY/end, by readdir(3). */
static void find(files_t *files, const char *above, const char *middle,
                 const char *end) {
  DIR *outer = opendir(above), *inner;
  struct dirent *one, *two;
  char path[1024];

  memset(files, 0, sizeof(*files));
  while (outer != NULL && (one = readdir(outer)) != NULL) {
    snprintf(path, sizeof(path), "%s/%s%s", above, one->d_name, middle);
    inner = one->d_name[0] == '.' ? NULL : opendir(path);
    while (inner != NULL && (two = readdir(inner)) != NULL) {
      snprintf(path, sizeof(path), "%s/%s%s/%s%s", above, one->d_name, middle,
               two->d_name, end);
      if (two->d_name[0] != '.')
        add(files, path);
    }
    if (inner != NULL)
      closedir(inner);
  }
  if (outer != NULL)
    closedir(outer);
}

static unsigned long long read_number(const char *path) {
  unsigned long long number;
  FILE *file = fopen(path, "re");

  assert_non_null(file);
  assert_int_equal(fscanf(file, "%llu", &number), 1);
  fclose(file);
  return number;
}

/* The path of the returned event. */
static void path_of(const uvperf_event_name_t *name, char path[1024]) {
  if (name->kind == UVPERF_NAME_PMU)
    snprintf(path, 1024, PMUS "/%s/events/%s", name->pmu, name->event);
  else
    snprintf(path, 1024, TRACING "/events/%.*s/%s/id",
             (int)strcspn(name->name, ":"), name->name,
             strchr(name->name, ':') + 1);
}

/* The file of a tracepoint contains its id; a PMU's type is in the file next to
 * it. */
static void compare(const uvperf_event_name_t *name, const char *path) {
  struct perf_event_attr attr;
  char type[1024];

  assert_int_equal(uvperf_attr_parse(&attr, name->name, NULL), 0);
  assert_int_equal(attr.type, name->type);
  if (name->kind == UVPERF_NAME_TRACEPOINT) {
    assert_int_equal(name->type, PERF_TYPE_TRACEPOINT);
    assert_true(name->config == read_number(path));
    assert_true(attr.config == name->config);
    return;
  }
  snprintf(type, sizeof(type), PMUS "/%s/type", name->pmu);
  assert_int_equal(name->type, read_number(type));
}

static int tick_off(const uvperf_event_name_t *name, void *arg) {
  files_t *files = arg;
  char path[1024];
  size_t i = 0;

  path_of(name, path);
  while (i < files->nr && strcmp(files->paths[i], path) != 0)
    i++;
  assert_true(i < files->nr);
  assert_int_equal(files->seen[i], 0);
  files->seen[i] = 1;
  files->nr_cpu_events += 1;
  compare(name, path);
  return 0;
}

static void forget(files_t *files) {
  free(files->paths);
  free(files->seen);
}

static void live_event_name_walk_returns_each_tracepoint_once(void **state) {
  size_t fds = support_count_fds();
  files_t files;

  support_need_tracefs(__func__, EVENT);
  find(&files, TRACING "/events", "", "/id");
  assert_int_equal(
      uvperf_event_name_walk(NULL, UVPERF_NAME_TRACEPOINT, tick_off, &files),
      0);
  assert_true(files.nr > 100);
  assert_int_equal(files.nr_cpu_events, files.nr);
  assert_int_equal(support_count_fds(), fds);
  printf("%zu tracepoints\n", files.nr);
  forget(&files);
}

static int is_beside_an_event(const char *path) {
  static const char *const suffixes[] = {".scale", ".unit", ".per-pkg",
                                         ".snapshot"};
  size_t length = strlen(path), i;

  for (i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++)
    if (length > strlen(suffixes[i]) &&
        strcmp(path + length - strlen(suffixes[i]), suffixes[i]) == 0)
      return 1;
  return 0;
}

static void live_event_name_walk_returns_each_pmus_event_once(void **state) {
  files_t files;
  size_t nr = 0, i;

  find(&files, PMUS, "/events", "");
  assert_int_equal(
      uvperf_event_name_walk(NULL, UVPERF_NAME_PMU, tick_off, &files), 0);
  for (i = 0; i < files.nr; i++)
    nr += !is_beside_an_event(files.paths[i]);
  assert_int_equal(files.nr_cpu_events, nr);
  printf("%zu events of PMUs\n", nr);
  forget(&files);
}

static int note_name(const uvperf_event_name_t *name, void *arg) {
  snprintf(arg, 64, "%s %llu", name->name, (unsigned long long)name->config);
  return 5;
}

static void live_event_name_walk_by_pattern_ends_when_stopped(void **state) {
  uint64_t id = support_need_tracefs(__func__, EVENT);
  char expected[64], line[64] = "";

  snprintf(expected, sizeof(expected), EVENT " %llu", (unsigned long long)id);
  assert_int_equal(
      uvperf_event_name_walk("sys*:sys_enter_getpg?d", 0, note_name, line), 5);
  assert_string_equal(line, expected);
}

static int count_name(const uvperf_event_name_t *name, void *arg) {
  ((size_t *)arg)[name->kind] += 1;
  return 0;
}

#define CANNOT 77

/* The exit status says which check failed. */
static int look_as_nobody(void *arg) {
  size_t nr[UVPERF_NAME_TRACEPOINT + 1] = {0};

  if (setresgid(65534, 65534, 65534) != 0 ||
      setresuid(65534, 65534, 65534) != 0 || access(TRACING, R_OK | X_OK) == 0)
    return CANNOT;
  if (uvperf_event_name_walk(NULL, 0, count_name, nr) != -EACCES)
    return 1;
  if (nr[UVPERF_NAME_HARDWARE] != 10 || nr[UVPERF_NAME_TRACEPOINT] != 0)
    return 2;
  if (uvperf_event_name_walk("cycles", 0, count_name, nr) != 0)
    return 3;
  return uvperf_event_name_walk("sched:*", 0, count_name, nr) != -EACCES;
}

static void
live_event_name_walk_of_a_plain_user_returns_the_rest(void **state) {
  int status;

  support_need_root(__func__);
  support_need_tracefs(__func__, EVENT);
  status = support_wait(support_fork(look_as_nobody, NULL));
  if (status == CANNOT)
    support_skip(__func__, "tracefs that is for root alone");
  assert_int_equal(status, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(live_event_name_walk_returns_each_tracepoint_once),
      cmocka_unit_test(live_event_name_walk_returns_each_pmus_event_once),
      cmocka_unit_test(live_event_name_walk_by_pattern_ends_when_stopped),
      cmocka_unit_test(live_event_name_walk_of_a_plain_user_returns_the_rest),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
