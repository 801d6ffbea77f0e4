/* SPDX-License-Identifier: MIT */
/* Every tracepoint, software event and PMU event of this machine, by name,
 * equals what tracefs, the kernel's header and sysfs say, which the test reads
 * without the library; and its label is also a name of it. */
#include "support.h"
#include "make_host.h"

#include <dirent.h>
#include <limits.h>
#include <linux/perf_event.h>
#include <sys/stat.h>
#include <unistd.h>

#include "attr/attr.h"
#include "name/label.h"
#include "name/parse.h"

#define EVENTS "/sys/kernel/tracing/events"
#define PMUS   "/sys/bus/event_source/devices"

/* The first line of a file; 0 if there is no such file. */
static int read_line(const char *path, char *line, int size) {
  FILE *file = fopen(path, "re");
  int is_read;

  if (file == NULL)
    return 0;
  is_read = fgets(line, size, file) != NULL;
  fclose(file);
  line[is_read ? strcspn(line, "\n") : 0] = '\0';
  return 1;
}

/* The name is of an event with exactly this type and these configs; its label
 * below a root is also a name of it. */
static void expect_event(const char *name, uint32_t type,
                         const uint64_t configs[3]) {
  struct perf_event_attr attr, wanted, again;
  char label[512];
  size_t size = sizeof(label);
  uvperf_error_t error;

  uvperf_attr_init(&wanted, type, configs[0]);
  wanted.config1 = configs[1];
  wanted.config2 = configs[2];
  if (uvperf_attr_parse(&attr, name, &error) != 0)
    fail_msg("%s: %s", name, error.reason);
  if (memcmp(&attr, &wanted, sizeof(attr)) != 0)
    fail_msg("%s: type %u, config %#llx", name, attr.type,
             (unsigned long long)attr.config);
  assert_int_equal(uvperf_attr_label(&attr, label, &size), 0);
  if (uvperf_attr_parse(&again, label, &error) != 0)
    fail_msg("label %s of %s: %s", label, name, error.reason);
  assert_memory_equal(&again, &attr, sizeof(attr));
}

/* Calls a function with each entry of a directory. */
static void each_entry(const char *path, void (*each)(const char *, void *),
                       void *data) {
  DIR *directory = opendir(path);
  struct dirent *entry;

  if (directory == NULL)
    return;
  while ((entry = readdir(directory)) != NULL)
    if (entry->d_name[0] != '.')
      each(entry->d_name, data);
  closedir(directory);
}

/* A walk over categories of tracepoints, or over PMUs. */
typedef struct walk_s {
  const char *name; /* of the category or PMU */
  uint32_t type;
  unsigned int nr;    /* of the events so far */
  unsigned int first; /* nr when the category began */
} walk_t;

static void check_tracepoint(const char *event, void *data) {
  char path[PATH_MAX], line[32], name[2 * NAME_MAX + 2];
  uint64_t configs[3] = {0, 0, 0};
  walk_t *walk = data;

  snprintf(path, sizeof(path), EVENTS "/%s/%s/id", walk->name, event);
  if (!read_line(path, line, sizeof(line)))
    return;
  configs[0] = strtoull(line, NULL, 10);
  snprintf(name, sizeof(name), "%s:%s", walk->name, event);
  expect_event(name, PERF_TYPE_TRACEPOINT, configs);
  if (walk->nr++ == walk->first) {
    fake_host_set(NULL);
    expect_event(name, PERF_TYPE_TRACEPOINT, configs);
    fake_host_set(make_host_root());
  }
}

/* The label of a tracepoint is found by reading the files of tracefs one by
 * one, which would take a minute for all of them. So the host has
 * one category at a time. The first tracepoint of each is found among all. */
static void check_category(const char *name, void *data) {
  char link[PATH_MAX], target[PATH_MAX];
  walk_t *walk = data;

  walk->name = name;
  walk->first = walk->nr;
  snprintf(target, sizeof(target), EVENTS "/%s", name);
  snprintf(link, sizeof(link), "%s" EVENTS "/%s", make_host_root(), name);
  assert_int_equal(symlink(target, link), 0);
  each_entry(target, check_tracepoint, walk);
  assert_int_equal(unlink(link), 0);
}

static void each_tracepoint_is_what_tracefs_says(void **state) {
  walk_t walk = {NULL, 0, 0, 0};

  support_need_tracefs(__func__, "sched:sched_switch");
  make_host_write(EVENTS "/.keep", "");
  each_entry(EVENTS, check_category, &walk);
  print_message("%u tracepoints\n", walk.nr);
  assert_true(walk.nr > 100);
}

static void each_software_event_is_what_the_kernel_says(void **state) {
  static const char *const names[] = {
      "cpu-clock",        "task-clock",   "page-faults",  "context-switches",
      "cpu-migrations",   "minor-faults", "major-faults", "alignment-faults",
      "emulation-faults", "dummy",        "bpf-output",   "cgroup-switches",
  };
  uint64_t configs[3] = {0, 0, 0};

  for (; configs[0] < sizeof(names) / sizeof(names[0]); configs[0]++)
    expect_event(names[configs[0]], PERF_TYPE_SOFTWARE, configs);
}

/* Puts the bits of a value where a format such as "config1:0-7,32-35" says. */
static void spread(const char *format, uint64_t value, uint64_t configs[3]) {
  unsigned int field = 0, first, last;
  int used;

  assert_memory_equal(format, "config", 6);
  format += 6;
  if (*format != ':')
    field = (unsigned int)(*format++ - '0');
  assert_true(field < 3 && *format == ':');
  while (*format == ':' || *format == ',') {
    assert_int_equal(sscanf(++format, "%u%n", &first, &used), 1);
    format += used;
    last = first;
    if (*format == '-') {
      assert_int_equal(sscanf(++format, "%u%n", &last, &used), 1);
      format += used;
    }
    for (; first <= last; first++, value >>= 1)
      configs[field] |= (value & 1) << first;
  }
}

/* Adds the value of a term such as "umask=0x1". */
static void add_term(const walk_t *walk, char *term, uint64_t configs[3]) {
  char *value = strchr(term, '=');
  char path[PATH_MAX], format[256];

  if (value != NULL)
    *value++ = '\0';
  snprintf(path, sizeof(path), PMUS "/%s/format/%s", walk->name, term);
  assert_true(read_line(path, format, sizeof(format)));
  spread(format, value == NULL ? 1 : strtoull(value, NULL, 0), configs);
}

static int is_event_file(const char *name) {
  const char *dot = strrchr(name, '.');

  return dot == NULL ||
         (strcmp(dot, ".scale") != 0 && strcmp(dot, ".unit") != 0 &&
          strcmp(dot, ".per-pkg") != 0 && strcmp(dot, ".snapshot") != 0);
}

static void check_pmu_event(const char *event, void *data) {
  char path[PATH_MAX], terms[4096], name[2 * NAME_MAX + 3];
  uint64_t configs[3] = {0, 0, 0};
  walk_t *walk = data;
  char *term, *save;

  snprintf(path, sizeof(path), PMUS "/%s/events/%s", walk->name, event);
  if (!is_event_file(event) || !read_line(path, terms, sizeof(terms)) ||
      strchr(terms, '?') != NULL) /* the user has to give it */
    return;
  for (term = strtok_r(terms, ",", &save); term != NULL;
       term = strtok_r(NULL, ",", &save))
    add_term(walk, term, configs);
  snprintf(name, sizeof(name), "%s/%s/", walk->name, event);
  expect_event(name, walk->type, configs);
  walk->nr++;
}

static void check_pmu(const char *pmu, void *data) {
  char path[PATH_MAX], line[32];
  walk_t *walk = data;

  snprintf(path, sizeof(path), PMUS "/%s/type", pmu);
  if (!read_line(path, line, sizeof(line)))
    return;
  walk->name = pmu;
  walk->type = (uint32_t)strtoul(line, NULL, 10);
  snprintf(path, sizeof(path), PMUS "/%s/events", pmu);
  each_entry(path, check_pmu_event, walk);
}

static void each_pmu_event_is_what_sysfs_says(void **state) {
  walk_t walk = {NULL, 0, 0, 0};

  each_entry(PMUS, check_pmu, &walk);
  print_message("%u events of PMUs\n", walk.nr);
  if (walk.nr == 0)
    support_skip(__func__, "a PMU with named events");
}

int main(void) {
  static const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(each_tracepoint_is_what_tracefs_says,
                                      make_host_setup, make_host_teardown),
      cmocka_unit_test(each_software_event_is_what_the_kernel_says),
      cmocka_unit_test(each_pmu_event_is_what_sysfs_says),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
