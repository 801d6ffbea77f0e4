/* SPDX-License-Identifier: MIT */
/* This machine's PMUs, as the library and as the C library read them. */
#include "check_pmus.h"
#include "support.h"

#include <dirent.h>

#include "host/pmu.h"

#define PMUS "/sys/bus/event_source/devices"

/* The first line of a file, by stdio. */
static int read_line(const char *path, char line[256]) {
  FILE *file = fopen(path, "re");
  char *got;

  if (file == NULL)
    return 0;
  got = fgets(line, 256, file);
  fclose(file);
  line[strcspn(line, "\n")] = '\0';
  return got != NULL;
}

/* Each file of a directory of this machine has been named, by readdir(3). */
static void expect_all_named(const char *path, const check_pmus_t *names) {
  DIR *directory = opendir(path);
  struct dirent *entry;
  size_t nr = 0;

  while (directory != NULL && (entry = readdir(directory)) != NULL) {
    if (entry->d_name[0] == '.')
      continue;
    assert_true(check_pmus_has(names, entry->d_name));
    nr++;
  }
  assert_int_equal(nr, names->nr);
  if (directory != NULL)
    closedir(directory);
}

static int compare_format(const char *term, void *data) {
  uvperf__pmu_format_t format;
  char path[1024], line[256], field[16];
  unsigned first, last;
  int nr;

  snprintf(path, sizeof(path), PMUS "/%s/format/%s", (const char *)data, term);
  assert_true(read_line(path, line));
  assert_int_equal(uvperf__pmu_format(data, term, &format), 0);
  nr = sscanf(line, "%15[^:]:%u-%u", field, &first, &last);
  assert_true(nr >= 2);
  assert_true(format.mask >> first & 1);
  assert_int_equal(nr == 3 ? format.mask >> last & 1 : 1, 1);
  if (strcmp(field, "config") == 0)
    assert_int_equal(format.field, UVPERF_ATTR_CONFIG);
  return 0;
}

static int compare_event(const char *event, void *data) {
  char path[1024], line[256], terms[UVPERF__PMU_TEXT_BYTES];
  uvperf__pmu_measure_t measure;

  snprintf(path, sizeof(path), PMUS "/%s/events/%s", (const char *)data, event);
  assert_true(read_line(path, line));
  assert_int_equal(uvperf__pmu_event(data, event, terms), 0);
  assert_string_equal(terms, line);
  assert_int_equal(uvperf__pmu_measure(data, event, &measure), 0);
  return 0;
}

static int compare_pmu(const char *name, void *data) {
  char path[512], line[256], pmu[UVPERF__PMU_NAME_BYTES];
  check_pmus_t formats = {"", 0};
  uint32_t type;

  snprintf(pmu, sizeof(pmu), "%s", name);
  snprintf(path, sizeof(path), PMUS "/%s/type", name);
  assert_true(read_line(path, line));
  assert_int_equal(uvperf_pmu_type(name, &type), 0);
  assert_int_equal(type, strtoul(line, NULL, 10));
  assert_int_equal(uvperf__pmu_name(type, line, sizeof(line)), 0);
  assert_string_equal(line, name);
  snprintf(path, sizeof(path), PMUS "/%s/format", name);
  assert_int_equal(uvperf__pmu_each_format(name, check_pmus_add, &formats), 0);
  expect_all_named(path, &formats);
  assert_int_equal(uvperf__pmu_each_format(name, compare_format, pmu), 0);
  assert_int_equal(uvperf__pmu_each_event(name, compare_event, pmu), 0);
  return check_pmus_add(name, data);
}

static void live_pmus_are_as_their_files_say(void **state) {
  check_pmus_t names = {"", 0};

  assert_int_equal(uvperf__pmu_each(compare_pmu, &names), 0);
  expect_all_named(PMUS, &names);
  assert_true(check_pmus_has(&names, "software"));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(live_pmus_are_as_their_files_say),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
