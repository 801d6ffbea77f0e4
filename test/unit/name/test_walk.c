/* SPDX-License-Identifier: MIT */
/* The walk over names of events, under scripted roots. */
#include "support.h"
#include "make_host.h"
#include "make_tree.h"

#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include <linux/perf_event.h>

#include "host/pmu.h"
#include "name/parse.h"
#include "uvperf/name.h"

#define PMUS   "/sys/bus/event_source/devices"
#define EVENTS "/sys/kernel/tracing/events"

/* The results: each name between blanks, and the last one with its strings. */
typedef struct walked_s {
  char text[8192];
  size_t nr;
  size_t end_at; /* 0: never */
  int end_with;
  uvperf_event_name_t last;
  char name[8192];
  char alias[64];
  char pmu[64];
  char event[64];
  char terms[UVPERF__PMU_TEXT_BYTES];
  char unit[64];
  char cpus[64];
} walked_t;

static void copy(char *to, size_t size, const char *text) {
  assert_true(snprintf(to, size, "%s", text == NULL ? "NULL" : text) <
              (int)size);
}

static int take(const uvperf_event_name_t *name, void *arg) {
  walked_t *walked = arg;
  size_t at = strlen(walked->text);

  assert_true(at + strlen(name->name) + 3 < sizeof(walked->text));
  sprintf(walked->text + at, " %s ", name->name);
  walked->last = *name;
  copy(walked->name, sizeof(walked->name), name->name);
  copy(walked->alias, sizeof(walked->alias), name->alias);
  copy(walked->pmu, sizeof(walked->pmu), name->pmu);
  copy(walked->event, sizeof(walked->event), name->event);
  copy(walked->terms, sizeof(walked->terms), name->terms);
  copy(walked->unit, sizeof(walked->unit), name->unit);
  copy(walked->cpus, sizeof(walked->cpus), name->cpus);
  walked->nr += 1;
  return walked->nr == walked->end_at ? walked->end_with : 0;
}

static walked_t walked;

static int try_walk(const char *pattern, uint32_t kinds) {
  memset(&walked, 0, sizeof(walked));
  return uvperf_event_name_walk(pattern, kinds, take, &walked);
}

static void walk(const char *pattern, uint32_t kinds) {
  assert_int_equal(try_walk(pattern, kinds), 0);
}

static int has(const char *name) {
  char blank[512];

  snprintf(blank, sizeof(blank), " %s ", name);
  return strstr(walked.text, blank) != NULL;
}

/* The same, and how many names there are. */
static void walk_nr(const char *pattern, uint32_t kinds, size_t nr) {
  walk(pattern, kinds);
  assert_int_equal(walked.nr, nr);
}

/* A machine with a PMU of the CPU, one outside the CPUs, and tracepoints. */
static void make_machine(void) {
  make_host_write(PMUS "/cpu/type", "4\n");
  make_host_write(PMUS "/cpu/cpus", "0-3\n");
  make_host_write(PMUS "/cpu/events/cpu-cycles", "event=0x3c\n");
  make_host_write(PMUS "/power/type", "21\n");
  make_host_write(PMUS "/power/cpumask", "0,64\n");
  make_host_write(PMUS "/power/events/energy-pkg", "event=0x02\n");
  make_host_write(PMUS "/power/events/energy-pkg.scale", "0.25\n");
  make_host_write(PMUS "/power/events/energy-pkg.unit", "Joules\n");
  make_host_write(PMUS "/software/type", "1\n");
  make_host_write(EVENTS "/sched/sched_switch/id", "316\n");
  make_host_write(EVENTS "/sched/sched_waking/id", "317\n");
  make_host_write(EVENTS "/irq/irq_handler_entry/id", "99\n");
  make_host_write(EVENTS "/ftrace/bprint/format", "no id\n");
}

/* -- reports -------------------------------------------------------------- */

typedef struct kinds_s {
  size_t nr[PERF_TYPE_MAX];
} kinds_t;

static int parse_back(const uvperf_event_name_t *name, void *arg) {
  kinds_t *kinds = arg;
  struct perf_event_attr attr;

  assert_int_equal(uvperf_attr_parse(&attr, name->name, NULL), 0);
  assert_int_equal(attr.type, name->type);
  assert_true(attr.config == name->config);
  if (name->alias != NULL) {
    assert_string_not_equal(name->alias, name->name);
    assert_int_equal(uvperf_attr_parse(&attr, name->alias, NULL), 0);
    assert_int_equal(attr.type, name->type);
    assert_true(attr.config == name->config);
  }
  assert_true(name->scale == 1);
  assert_null(name->pmu);
  assert_null(name->event);
  assert_null(name->terms);
  assert_null(name->unit);
  assert_null(name->cpus);
  kinds->nr[name->type] += 1;
  return 0;
}

static void event_name_walk_returns_generic_names_that_parse(void **state) {
  uint32_t kinds =
      UVPERF_NAME_HARDWARE | UVPERF_NAME_SOFTWARE | UVPERF_NAME_CACHE;
  kinds_t seen = {{0}};

  assert_int_equal(uvperf_event_name_walk(NULL, kinds, parse_back, &seen), 0);
  assert_int_equal(seen.nr[PERF_TYPE_HARDWARE], 10);
  assert_int_equal(seen.nr[PERF_TYPE_SOFTWARE], 12);
  /* Four caches with three operations, three with one or two; hits and
   * misses. */
  assert_int_equal(seen.nr[PERF_TYPE_HW_CACHE], (4 * 3 + 2 + 1 + 1) * 2);
}

static void event_name_walk_returns_the_other_spelling(void **state) {
  walk("cpu-cycles", UVPERF_NAME_HARDWARE);
  assert_string_equal(walked.alias, "cycles");
  walk("context-switches", UVPERF_NAME_SOFTWARE);
  assert_string_equal(walked.alias, "cs");
  walk("instructions", UVPERF_NAME_HARDWARE);
  assert_string_equal(walked.alias, "NULL");
  walk("LLC-loads", UVPERF_NAME_CACHE);
  assert_string_equal(walked.alias, "NULL");
}

static void event_name_walk_returns_all_of_a_pmus_event(void **state) {
  make_machine();
  make_host_write(PMUS "/power/events/energy-pkg.per-pkg", "1\n");
  walk_nr("energy-pkg", 0, 1);
  assert_string_equal(walked.name, "power/energy-pkg/");
  assert_int_equal(walked.last.kind, UVPERF_NAME_PMU);
  assert_int_equal(walked.last.type, 21);
  assert_string_equal(walked.alias, "NULL");
  assert_string_equal(walked.pmu, "power");
  assert_string_equal(walked.event, "energy-pkg");
  assert_string_equal(walked.terms, "event=0x02");
  assert_string_equal(walked.unit, "Joules");
  assert_true(walked.last.scale == 0.25);
  assert_string_equal(walked.cpus, "0,64");
  assert_int_equal(walked.last.is_per_package, 1);
  assert_int_equal(walked.last.is_snapshot, 0);
  assert_int_equal(walked.last.needs_value, 0);
}

/* Their list says which CPUs have the PMU: an event moves with its task. */
static void event_name_walk_of_a_cpus_own_pmu_has_no_cpus(void **state) {
  make_machine();
  make_host_write(PMUS "/cpu/events/count.snapshot", "1\n");
  make_host_write(PMUS "/cpu/events/count", "event=0x1\n");
  walk_nr("cpu/*", UVPERF_NAME_PMU, 2);
  assert_true(has("cpu/cpu-cycles/"));
  assert_string_equal(walked.cpus, "NULL");
  assert_string_equal(walked.unit, "");
  assert_true(walked.last.scale == 1);
  walk("count", UVPERF_NAME_PMU);
  assert_int_equal(walked.last.is_snapshot, 1);
}

static void event_name_walk_shows_terms_that_need_a_value(void **state) {
  static const char *const terms[][2] = {
      {"request=0x10,core=?,offset=8", "hv/tb,core=?/"},
      {"core=?", "hv/tb,core=?/"},
      {"a=?,b=0,c=?", "hv/tb,a=?,c=?/"},
  };
  size_t i;

  make_host_write(PMUS "/hv/type", "30\n");
  for (i = 0; i < COUNT_OF(terms); i++) {
    make_host_write(PMUS "/hv/events/tb", terms[i][0]);
    walk(NULL, UVPERF_NAME_PMU);
    assert_string_equal(walked.name, terms[i][1]);
    assert_int_equal(walked.last.needs_value, 1);
    assert_string_equal(walked.terms, terms[i][0]);
  }
  make_host_write(PMUS "/hv/events/tb", "a=1,b,");
  walk(NULL, UVPERF_NAME_PMU);
  assert_string_equal(walked.name, "hv/tb/");
  assert_int_equal(walked.last.needs_value, 0);
}

static int measure(const uvperf_event_name_t *name, void *arg) {
  *(size_t *)arg = strlen(name->name);
  assert_string_equal(name->name + strlen(name->name) - 3, "=?/");
  return 0;
}

/* The longest of everything: 255, 255 and 4096 bytes. */
static void event_name_walk_has_room_for_the_longest_name(void **state) {
  char pmu[256] = "", event[256] = "", terms[UVPERF__PMU_TEXT_BYTES] = "";
  char path[PATH_MAX];
  size_t length = 0;

  memset(pmu, 'p', 255);
  memset(event, 'e', 255);
  memset(terms, 't', 4094);
  strcat(terms, "=?");
  snprintf(path, sizeof(path), PMUS "/%s/type", pmu);
  make_host_write(path, "30\n");
  snprintf(path, sizeof(path), PMUS "/%s/events/%s", pmu, event);
  make_host_write(path, terms);
  assert_int_equal(
      uvperf_event_name_walk(NULL, UVPERF_NAME_PMU, measure, &length), 0);
  assert_int_equal(length, 255 + 1 + 255 + 1 + 4096 + 1);
}

static void event_name_walk_leaves_out_unparsable_names(void **state) {
  static const char *const odd[] = {"a,b", "a:b", "a b",  "a{b",
                                    "a}b", "a=b", "a\"b", "a'b"};
  char path[128];
  size_t i;

  make_machine();
  for (i = 0; i < COUNT_OF(odd); i++) {
    snprintf(path, sizeof(path), PMUS "/cpu/events/%s", odd[i]);
    make_host_write(path, "event=1\n");
    snprintf(path, sizeof(path), PMUS "/%s/type", odd[i]);
    make_host_write(path, "40\n");
    snprintf(path, sizeof(path), PMUS "/%s/events/x", odd[i]);
    make_host_write(path, "event=1\n");
    snprintf(path, sizeof(path), EVENTS "/sched/%s/id", odd[i]);
    make_host_write(path, "7\n");
    snprintf(path, sizeof(path), EVENTS "/%s/x/id", odd[i]);
    make_host_write(path, "7\n");
  }
  walk_nr(NULL, UVPERF_NAME_PMU | UVPERF_NAME_TRACEPOINT, 5);
}

/* Such names are patterns, which may match several. */
static void event_name_walk_leaves_out_patterns(void **state) {
  make_machine();
  make_host_write(PMUS "/a*/type", "40\n");
  make_host_write(PMUS "/a*/events/x", "event=1\n");
  make_host_write(PMUS "/cpu/events/y?", "event=1\n");
  make_host_write(EVENTS "/sched/x?/id", "7\n");
  make_host_write(EVENTS "/s[a]/x/id", "7\n");
  walk_nr(NULL, UVPERF_NAME_PMU | UVPERF_NAME_TRACEPOINT, 6);
  assert_true(has("cpu/y?/"));
}

static void event_name_walk_returns_tracepoints_with_an_id(void **state) {
  make_machine();
  walk_nr(NULL, UVPERF_NAME_TRACEPOINT, 3);
  assert_true(has("sched:sched_switch"));
  assert_true(has("sched:sched_waking"));
  assert_true(has("irq:irq_handler_entry"));
  walk("irq:*", 0);
  assert_int_equal(walked.last.kind, UVPERF_NAME_TRACEPOINT);
  assert_int_equal(walked.last.type, PERF_TYPE_TRACEPOINT);
  assert_int_equal(walked.last.config, 99);
}

/* -- which ---------------------------------------------------------------- */

static void event_name_walk_returns_the_requested_kinds(void **state) {
  static const struct {
    uint32_t kinds;
    size_t nr;
  } cases[] = {
      {UVPERF_NAME_HARDWARE, 10},
      {UVPERF_NAME_SOFTWARE, 12},
      {UVPERF_NAME_CACHE, 32},
      {UVPERF_NAME_PMU, 2},
      {UVPERF_NAME_TRACEPOINT, 3},
      {UVPERF_NAME_PMU | UVPERF_NAME_SOFTWARE, 14},
      {0, 59},
  };
  size_t i;

  make_machine();
  for (i = 0; i < COUNT_OF(cases); i++) {
    walk(NULL, cases[i].kinds);
    assert_int_equal(walked.nr, cases[i].nr);
  }
}

static void event_name_walk_by_pattern_returns_what_matches(void **state) {
  static const struct {
    const char *pattern;
    const char *names;
  } cases[] = {
      {"cycles", " cpu-cycles "},
      {"cyc*", " cpu-cycles "},
      {"*-cycles", " cpu-cycles  bus-cycles  ref-cycles  cpu/cpu-cycles/ "},
      {"cpu-cycles", " cpu-cycles  cpu/cpu-cycles/ "},
      {"cycle", ""},
      {"CYCLES", ""},
      {"power/*/", " power/energy-pkg/ "},
      {"energy-???", " power/energy-pkg/ "},
      {"sched:sched_switch", " sched:sched_switch "},
      {"sched:*_switch", " sched:sched_switch "},
      {"*:sched_switch", " sched:sched_switch "},
      {"*:*_entry", " irq:irq_handler_entry "},
      {"irq*", " irq:irq_handler_entry "},
      {"*q:i*", " irq:irq_handler_entry "},
      {"[i]rq:*", " irq:irq_handler_entry "},
      {"irq[:]irq*", " irq:irq_handler_entry "},
      {"irq[a:b]irq*", " irq:irq_handler_entry "},
      {"sched:", ""},
      {":sched_switch", ""},
      {"sched_switch", ""},
      {"sched:sched:switch", ""},
      {"*:*:*", ""},
      {"", ""},
      {":", ""},
  };
  size_t i;

  make_machine();
  for (i = 0; i < COUNT_OF(cases); i++) {
    walk(cases[i].pattern, 0);
    assert_string_equal(walked.text, cases[i].names);
  }
}

static void event_name_walk_takes_patterns_of_any_length(void **state) {
  char pattern[1024];

  make_machine();
  memset(pattern, '*', sizeof(pattern));
  strcpy(pattern + 600, ":irq_*");
  walk(pattern, 0);
  assert_string_equal(walked.text, " irq:irq_handler_entry ");
}

static void event_name_walk_ends_when_the_callback_stops_it(void **state) {
  size_t at;

  make_machine();
  /* One of each source, and codes that look like an error of a source. */
  for (at = 1; at <= 59; at += 29) {
    memset(&walked, 0, sizeof(walked));
    walked.end_at = at;
    walked.end_with = at == 1 ? 7 : -ENOENT;
    assert_int_equal(uvperf_event_name_walk(NULL, 0, take, &walked),
                     walked.end_with);
    assert_int_equal(walked.nr, at);
  }
}

static void event_name_walk_ends_among_events_of_pmus(void **state) {
  memset(&walked, 0, sizeof(walked));
  walked.end_at = 1;
  walked.end_with = -ENOENT;
  make_machine();
  assert_int_equal(
      uvperf_event_name_walk(NULL, UVPERF_NAME_PMU | UVPERF_NAME_TRACEPOINT,
                             take, &walked),
      -ENOENT);
  assert_int_equal(walked.nr, 1);
  assert_int_equal(walked.last.kind, UVPERF_NAME_PMU);
}

/* -- unreadable events ---------------------------------------------------- */

static void event_name_walk_without_tracefs_returns_the_rest(void **state) {
  make_host_write(PMUS "/msr/type", "9\n");
  make_host_write(PMUS "/msr/events/tsc", "event=0x00\n");
  assert_int_equal(try_walk(NULL, 0), -ENODEV);
  assert_int_equal(walked.nr, 55);
  assert_true(has("msr/tsc/"));
  walk("tsc", 0);
  walk("cycles", 0);
  assert_int_equal(try_walk("*cycles", 0), -ENODEV);
  assert_int_equal(try_walk("sched:sched_switch", 0), -ENODEV);
}

static void event_name_walk_without_pmus_returns_the_rest(void **state) {
  make_host_write(EVENTS "/sched/sched_switch/id", "316\n");
  assert_int_equal(try_walk(NULL, 0), -ENOENT);
  assert_int_equal(walked.nr, 55);
  assert_true(has("sched:sched_switch"));
}

static void event_name_walk_returns_the_first_of_two_errors(void **state) {
  assert_int_equal(try_walk(NULL, 0), -ENOENT);
  assert_int_equal(walked.nr, 54);
}

static void event_name_walk_names_the_pmu_that_cannot_be_read(void **state) {
  make_machine();
  make_host_write(PMUS "/loop/type", "50\n");
  make_host_link(PMUS "/loop/events", "events");
  assert_int_equal(try_walk(NULL, UVPERF_NAME_PMU), -ELOOP);
  assert_int_equal(walked.nr, 2);
}

/* Waits until the type of the PMU is read, and then removes the PMU. */
static int remove_power(void *arg) {
  char here[128], away[128], type[160];
  int fd;

  alarm(60);
  snprintf(here, sizeof(here), "%s" PMUS "/power", make_host_root());
  snprintf(away, sizeof(away), "%s/away", make_host_root());
  snprintf(type, sizeof(type), "%s/type", here);
  fd = open(type, O_WRONLY);
  if (fd < 0 || rename(here, away) != 0 || write(fd, "21\n", 3) != 3)
    return 1;
  return close(fd);
}

static void event_name_walk_leaves_out_a_pmu_that_goes(void **state) {
  char type[160];
  pid_t child;

  make_machine();
  snprintf(type, sizeof(type), "%s" PMUS "/power/type", make_host_root());
  assert_int_equal(unlink(type), 0);
  assert_int_equal(mkfifo(type, 0600), 0);
  child = support_fork(remove_power, NULL);
  walk(NULL, UVPERF_NAME_PMU);
  assert_int_equal(support_wait(child), 0);
  assert_string_equal(walked.text, " cpu/cpu-cycles/ ");
}

static void event_name_walk_skips_broken_files(void **state) {
  make_machine();
  make_host_write(PMUS "/typeless/events/x", "event=1\n");
  make_host_write(PMUS "/cpu/events/empty", "");
  make_host_write(PMUS "/cpu/events/scaled", "event=1\n");
  make_host_write(PMUS "/cpu/events/scaled.scale", "much\n");
  make_host_write(EVENTS "/sched/odd/id", "x\n");
  walk_nr(NULL, 0, 59);
}

static void event_name_walk_refuses_bad_arguments(void **state) {
  assert_int_equal(uvperf_event_name_walk(NULL, 0, NULL, NULL), -EINVAL);
  assert_int_equal(try_walk(NULL, 32), -EINVAL);
  assert_int_equal(walked.nr, 0);
  assert_int_equal(try_walk(NULL, UINT32_MAX), -EINVAL);
  assert_int_equal(walked.nr, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      MAKE_HOST_TEST(event_name_walk_returns_generic_names_that_parse),
      MAKE_HOST_TEST(event_name_walk_returns_the_other_spelling),
      MAKE_HOST_TEST(event_name_walk_returns_all_of_a_pmus_event),
      MAKE_HOST_TEST(event_name_walk_of_a_cpus_own_pmu_has_no_cpus),
      MAKE_HOST_TEST(event_name_walk_shows_terms_that_need_a_value),
      MAKE_HOST_TEST(event_name_walk_has_room_for_the_longest_name),
      MAKE_HOST_TEST(event_name_walk_leaves_out_unparsable_names),
      MAKE_HOST_TEST(event_name_walk_leaves_out_patterns),
      MAKE_HOST_TEST(event_name_walk_returns_tracepoints_with_an_id),
      MAKE_HOST_TEST(event_name_walk_returns_the_requested_kinds),
      MAKE_HOST_TEST(event_name_walk_by_pattern_returns_what_matches),
      MAKE_HOST_TEST(event_name_walk_takes_patterns_of_any_length),
      MAKE_HOST_TEST(event_name_walk_ends_when_the_callback_stops_it),
      MAKE_HOST_TEST(event_name_walk_ends_among_events_of_pmus),
      MAKE_HOST_TEST(event_name_walk_without_tracefs_returns_the_rest),
      MAKE_HOST_TEST(event_name_walk_without_pmus_returns_the_rest),
      MAKE_HOST_TEST(event_name_walk_returns_the_first_of_two_errors),
      MAKE_HOST_TEST(event_name_walk_names_the_pmu_that_cannot_be_read),
      MAKE_HOST_TEST(event_name_walk_leaves_out_a_pmu_that_goes),
      MAKE_HOST_TEST(event_name_walk_skips_broken_files),
      cmocka_unit_test(event_name_walk_refuses_bad_arguments),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
