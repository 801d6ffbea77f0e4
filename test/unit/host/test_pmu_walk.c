/* SPDX-License-Identifier: MIT */
/* What the public walks over PMUs return, and what they leave out. */
#include "check_pmus.h"
#include "support.h"
#include "make_host.h"
#include "make_tree.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "host/pmu.h"

#define PMUS "/sys/bus/event_source/devices"

/* The last PMU or event, with copies of its strings, and all names. */
typedef struct shown_s {
  check_pmus_t names;
  uvperf_pmu_t pmu;
  uvperf_pmu_format_t format;
  uvperf_pmu_event_t event;
  char text[UVPERF__PMU_TEXT_BYTES];
  char unit[64];
} shown_t;

static int take_pmu(const uvperf_pmu_t *pmu, void *arg) {
  shown_t *shown = arg;

  shown->pmu = *pmu;
  snprintf(shown->text, sizeof(shown->text), "%s",
           pmu->cpus == NULL ? "any" : pmu->cpus);
  return check_pmus_add(pmu->name, &shown->names);
}

static int take_format(const uvperf_pmu_format_t *format, void *arg) {
  shown_t *shown = arg;

  shown->format = *format;
  snprintf(shown->text, sizeof(shown->text), "%s", format->text);
  return check_pmus_add(format->name, &shown->names);
}

static int take_event(const uvperf_pmu_event_t *event, void *arg) {
  shown_t *shown = arg;

  shown->event = *event;
  snprintf(shown->text, sizeof(shown->text), "%s", event->terms);
  snprintf(shown->unit, sizeof(shown->unit), "%s", event->unit);
  return check_pmus_add(event->name, &shown->names);
}

static void pmu_walk_shows_type_cpus_and_skid(void **state) {
  shown_t shown = {0};

  make_host_write(PMUS "/cpu/type", "4\n");
  assert_int_equal(uvperf_pmu_walk(take_pmu, &shown), 0);
  assert_int_equal(shown.pmu.type, 4);
  assert_string_equal(shown.text, "any");
  assert_int_equal(shown.pmu.is_cpumask, 0);
  assert_int_equal(shown.pmu.max_precise, -1);
  make_host_write(PMUS "/cpu/caps/max_precise", "3\n");
  make_host_write(PMUS "/cpu/cpus", "0-7\n");
  assert_int_equal(uvperf_pmu_walk(take_pmu, &shown), 0);
  assert_string_equal(shown.text, "0-7");
  assert_int_equal(shown.pmu.is_cpumask, 0);
  assert_int_equal(shown.pmu.max_precise, 3);
  make_host_write(PMUS "/cpu/cpumask", "0,18\n");
  assert_int_equal(uvperf_pmu_walk(take_pmu, &shown), 0);
  assert_string_equal(shown.text, "0,18");
  assert_int_equal(shown.pmu.is_cpumask, 1);
  assert_int_equal(shown.names.nr, 3);
}

static void pmu_walk_leaves_out_broken_pmus(void **state) {
  shown_t shown = {0};

  make_host_write(PMUS "/typeless/format/event", "config:0\n");
  make_host_write(PMUS "/garbled/type", "abc\n");
  make_host_write(PMUS "/negative/type", "-1\n");
  make_host_write(PMUS "/directory/type/x", "1\n");
  make_host_write(PMUS "/file", "1\n");
  make_host_link(PMUS "/loop", "loop");
  make_host_write(PMUS "/maskless/type", "21\n");
  make_host_write(PMUS "/maskless/cpumask/x", "1\n");
  make_host_write(PMUS "/skidless/type", "22\n");
  make_host_write(PMUS "/skidless/caps/max_precise", "2147483648\n");
  assert_int_equal(uvperf_pmu_walk(take_pmu, &shown), 0);
  assert_string_equal(shown.names.text, " skidless ");
  assert_int_equal(shown.pmu.max_precise, -1);
}

static void pmu_walk_formats_shows_field_and_mask(void **state) {
  shown_t shown = {0};

  make_host_write(PMUS "/cpu/format/umask", "config1:8-15,40-47\n");
  make_host_write(PMUS "/cpu/format/wide", "config:0-64\n");
  make_host_write(PMUS "/cpu/format/empty", "");
  make_host_link(PMUS "/cpu/format/loop", "loop");
  assert_int_equal(uvperf_pmu_walk_formats("cpu", take_format, &shown), 0);
  assert_string_equal(shown.names.text, " umask ");
  assert_string_equal(shown.text, "config1:8-15,40-47");
  assert_int_equal(shown.format.field, UVPERF_ATTR_CONFIG1);
  assert_true(shown.format.mask == 0xff000000ff00);
}

static void pmu_walk_events_shows_terms_and_measure(void **state) {
  shown_t shown = {0};

  make_host_write(PMUS "/power/events/energy", "event=0x2\n");
  make_host_write(PMUS "/power/events/energy.scale", "0.5\n");
  make_host_write(PMUS "/power/events/energy.unit", "Joules\n");
  make_host_write(PMUS "/power/events/energy.per-pkg", "1\n");
  make_host_write(PMUS "/power/events/empty", "");
  make_host_write(PMUS "/power/events/odd", "event=0x3\n");
  make_host_write(PMUS "/power/events/odd.scale", "many\n");
  make_host_write(PMUS "/power/events/directory/x", "event=0x3\n");
  assert_int_equal(uvperf_pmu_walk_events("power", take_event, &shown), 0);
  assert_string_equal(shown.names.text, " energy ");
  assert_string_equal(shown.text, "event=0x2");
  assert_string_equal(shown.unit, "Joules");
  assert_true(shown.event.scale == 0.5);
  assert_int_equal(shown.event.is_per_package, 1);
  assert_int_equal(shown.event.is_snapshot, 0);
  make_host_write(PMUS "/power/events/energy.snapshot", "1\n");
  assert_int_equal(uvperf_pmu_walk_events("power", take_event, &shown), 0);
  assert_int_equal(shown.event.is_snapshot, 1);
}

static int stop_pmu(const uvperf_pmu_t *pmu, void *arg) {
  return ++*(int *)arg;
}

static int stop_format(const uvperf_pmu_format_t *format, void *arg) {
  return ++*(int *)arg;
}

static int stop_event(const uvperf_pmu_event_t *event, void *arg) {
  return ++*(int *)arg;
}

static void pmu_walks_end_with_what_the_callback_returns(void **state) {
  size_t fds = support_count_fds();
  int nr = 41;

  make_host_write(PMUS "/a/type", "1\n");
  make_host_write(PMUS "/b/type", "2\n");
  make_host_write(PMUS "/a/format/x", "config:0\n");
  make_host_write(PMUS "/a/format/y", "config:1\n");
  make_host_write(PMUS "/a/events/x", "x=1\n");
  make_host_write(PMUS "/a/events/y", "y=1\n");
  assert_int_equal(uvperf_pmu_walk(stop_pmu, &nr), 42);
  assert_int_equal(uvperf_pmu_walk_formats("a", stop_format, &nr), 43);
  assert_int_equal(uvperf_pmu_walk_events("a", stop_event, &nr), 44);
  assert_int_equal(support_count_fds(), fds);
}

static void pmu_walk_of_bad_arguments_is_an_error(void **state) {
  shown_t shown = {0};
  uint32_t type = 7;

  assert_int_equal(uvperf_pmu_type("software", NULL), -EINVAL);
  assert_int_equal(uvperf_pmu_type(NULL, &type), -EINVAL);
  assert_int_equal(uvperf_pmu_type("..", &type), -EINVAL);
  assert_int_equal(uvperf_pmu_type("none", &type), -ENOENT);
  assert_int_equal(type, 0);
  assert_int_equal(uvperf_pmu_walk(take_pmu, &shown), -ENOENT);
  assert_int_equal(uvperf_pmu_walk(NULL, NULL), -EINVAL);
  assert_int_equal(uvperf_pmu_walk_formats("software", NULL, NULL), -EINVAL);
  assert_int_equal(uvperf_pmu_walk_formats(NULL, take_format, &shown), -EINVAL);
  assert_int_equal(uvperf_pmu_walk_formats("..", take_format, &shown), -EINVAL);
  assert_int_equal(uvperf_pmu_walk_formats("none", take_format, &shown),
                   -ENOENT);
  assert_int_equal(uvperf_pmu_walk_events("software", NULL, NULL), -EINVAL);
  assert_int_equal(uvperf_pmu_walk_events(NULL, take_event, &shown), -EINVAL);
  assert_int_equal(uvperf_pmu_walk_events("a/b", take_event, &shown), -EINVAL);
  assert_int_equal(uvperf_pmu_walk_events("none", take_event, &shown), -ENOENT);
  assert_int_equal(shown.names.nr, 0);
}

/* With one fd left, for the directory, in a child because of the limit. All
 * PMUs would seem to have no type. */
static int walk_without_fds(void *arg) {
  int next = open("/dev/null", O_RDONLY | O_CLOEXEC);
  struct rlimit limit = {(rlim_t)next + 1, (rlim_t)next + 1};
  shown_t shown = {0};

  close(next);
  if (setrlimit(RLIMIT_NOFILE, &limit) != 0)
    return 1;
  if (uvperf_pmu_walk(take_pmu, &shown) != -EMFILE)
    return 2;
  if (uvperf_pmu_walk_formats("a", take_format, &shown) != -EMFILE)
    return 3;
  if (uvperf_pmu_walk_events("a", take_event, &shown) != -EMFILE)
    return 4;
  return 0;
}

static void pmu_walk_without_fds_is_emfile(void **state) {
  make_host_write(PMUS "/a/type", "1\n");
  make_host_write(PMUS "/a/format/x", "config:0\n");
  make_host_write(PMUS "/a/events/x", "x=1\n");
  assert_int_equal(support_wait(support_fork(walk_without_fds, NULL)), 0);
}

/* Compares with the internal look-ups, which other tests compare with the
 * files. */
static int compare_pmu(const uvperf_pmu_t *pmu, void *arg) {
  check_pmus_t formats = {"", 0}, events = {"", 0};
  shown_t shown = {0};
  uint32_t type;

  assert_int_equal(uvperf_pmu_type(pmu->name, &type), 0);
  assert_int_equal(pmu->type, type);
  uvperf__pmu_each_format(pmu->name, check_pmus_add, &formats);
  assert_int_equal(uvperf_pmu_walk_formats(pmu->name, take_format, &shown), 0);
  assert_string_equal(shown.names.text, formats.text);
  memset(&shown, 0, sizeof(shown));
  uvperf__pmu_each_event(pmu->name, check_pmus_add, &events);
  assert_int_equal(uvperf_pmu_walk_events(pmu->name, take_event, &shown), 0);
  assert_string_equal(shown.names.text, events.text);
  return check_pmus_add(pmu->name, arg);
}

static void live_pmu_walk_shows_every_pmu(void **state) {
  check_pmus_t shown = {"", 0}, all = {"", 0};

  assert_int_equal(uvperf_pmu_walk(compare_pmu, &shown), 0);
  assert_int_equal(uvperf__pmu_each(check_pmus_add, &all), 0);
  assert_string_equal(shown.text, all.text);
  assert_true(check_pmus_has(&shown, "software"));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      MAKE_HOST_TEST(pmu_walk_shows_type_cpus_and_skid),
      MAKE_HOST_TEST(pmu_walk_leaves_out_broken_pmus),
      MAKE_HOST_TEST(pmu_walk_formats_shows_field_and_mask),
      MAKE_HOST_TEST(pmu_walk_events_shows_terms_and_measure),
      MAKE_HOST_TEST(pmu_walks_end_with_what_the_callback_returns),
      MAKE_HOST_TEST(pmu_walk_of_bad_arguments_is_an_error),
      MAKE_HOST_TEST(pmu_walk_without_fds_is_emfile),
      cmocka_unit_test(live_pmu_walk_shows_every_pmu),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
