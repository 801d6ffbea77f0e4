/* SPDX-License-Identifier: MIT */
/* Live: the names of the CPU's PMU, in sysfs and generic: all names of one
 * event count the same, and each listed event opens or is known to be missing
 * here. */
#include "live_hardware.h"
#include "live_measure.h"

/* The PMU in whose list an event of this name is. */
typedef struct cycles_s {
  const char *event;
  char pmu[64];
  char terms[256];
} cycles_t;

static int note_event(const uvperf_pmu_event_t *event, void *arg) {
  cycles_t *cycles = arg;

  if (strcmp(event->name, cycles->event) != 0)
    return 0;
  snprintf(cycles->terms, sizeof(cycles->terms), "%s", event->terms);
  return 1;
}

static int note_pmu(const uvperf_pmu_t *pmu, void *arg) {
  cycles_t *cycles = arg;

  snprintf(cycles->pmu, sizeof(cycles->pmu), "%s", pmu->name);
  return uvperf_pmu_walk_events(pmu->name, note_event, cycles);
}

/* x86 and s390 write it in one way, arm in another. */
static void need_cycles(const char *test, cycles_t *cycles) {
  static const char *const names[] = {"cpu-cycles", "cpu_cycles"};
  size_t i;

  support_need_hardware(test, PERF_COUNT_HW_CPU_CYCLES, 0);
  live_need_loop(test);
  for (i = 0; i < COUNT_OF(names); i++) {
    cycles->event = names[i];
    if (uvperf_pmu_walk(note_pmu, cycles) == 1)
      return;
  }
  support_skip(test, "cycles in the events of a PMU in sysfs");
}

static void loop(void *arg) {
  live_loop(*(const uint64_t *)arg);
}

static void names_of_one_event_count_the_same(void **state) {
  uint64_t iterations = 500000;
  struct perf_event_attr attr;
  char names[1024], label[128];
  size_t size = sizeof(label);
  live_measure_run_t run;
  uint64_t count;
  cycles_t cycles;
  size_t i;

  need_cycles(__func__, &cycles);
  snprintf(names, sizeof(names), "%s/%s/", cycles.pmu, cycles.terms);
  assert_int_equal(uvperf_attr_parse(&attr, names, NULL), 0);
  snprintf(names, sizeof(names), "{cycles:u,%s/%s/u,%s/%s/u,r%llx:u}",
           cycles.pmu, cycles.event, cycles.pmu, cycles.terms,
           (unsigned long long)attr.config);
  live_measure_open(*state, &run, names, NULL);
  live_measure_do(&run, loop, &iterations);
  count = live_measure_total(&run, 0).value;
  assert_true(count > 100000);
  for (i = 0; i < 4; i++)
    assert_in_range(live_measure_total(&run, i).value, count - count / 1000,
                    count + count / 1000);
  live_measure_close(&run);
  /* And back to the name in sysfs. */
  assert_int_equal(uvperf_attr_label(&attr, label, &size), 0);
  snprintf(names, sizeof(names), "%s/%s/", cycles.pmu, cycles.event);
  assert_string_equal(label, names);
}

/* -- listed events -------------------------------------------------------- */

typedef struct listed_s {
  uv_loop_t *loop;
  const char *pmu;
  size_t opened, absent;
  size_t of_pmu; /* those of the PMU that opened */
} listed_t;

static int try_name(const uvperf_event_name_t *name, void *arg) {
  listed_t *listed = arg;
  struct perf_event_attr attr;
  uvperf_event_t event;
  uvperf_error_t error;

  if (name->kind == UVPERF_NAME_PMU && strcmp(name->pmu, listed->pmu) != 0)
    return 0;
  assert_int_equal(uvperf_attr_parse(&attr, name->name, NULL), 0);
  attr.exclude_kernel = 1;
  attr.exclude_hv = 1;
  if (uvperf_event_init(listed->loop, &event, &attr, NULL, &error) == 0) {
    uvperf_close(&event.handle, NULL);
    listed->opened++;
    listed->of_pmu += name->kind == UVPERF_NAME_PMU;
  } else {
    if (error.cause != UVPERF_CAUSE_NO_EVENT || error.reason[0] == '\0')
      fail_msg("%s: %d, %s", name->name, error.cause, error.reason);
    listed->absent++;
  }
  uv_run(listed->loop, UV_RUN_DEFAULT);
  return 0;
}

static int count_event(const uvperf_pmu_event_t *event, void *arg) {
  *(size_t *)arg += 1;
  return 0;
}

/* The kernel lists for a PMU only the CPU's events. Generic events are in every
 * list. */
static void listed_event_opens_or_is_none_of_this_cpu(void **state) {
  listed_t listed = {*state, NULL, 0, 0, 0};
  cycles_t cycles;
  size_t nr = 0;

  need_cycles(__func__, &cycles);
  listed.pmu = cycles.pmu;
  assert_int_equal(
      uvperf_event_name_walk(
          NULL, UVPERF_NAME_HARDWARE | UVPERF_NAME_CACHE | UVPERF_NAME_PMU,
          try_name, &listed),
      0);
  assert_int_equal(uvperf_pmu_walk_events(cycles.pmu, count_event, &nr), 0);
  print_message("%s: %zu of %zu events, %zu opened, %zu absent\n", cycles.pmu,
                listed.of_pmu, nr, listed.opened, listed.absent);
  assert_int_equal(listed.of_pmu, nr);
  assert_true(listed.opened > nr); /* cycles */
}

int main(void) {
  const struct CMUnitTest tests[] = {
      support_loop_test(names_of_one_event_count_the_same),
      support_loop_test(listed_event_opens_or_is_none_of_this_cpu),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
