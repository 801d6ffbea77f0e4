/* SPDX-License-Identifier: MIT */
/* Scripted: attrs without names on a machine with two kinds of cores. They are
 * opened on the CPUs of their PMU, and a task's time on other cores does not
 * make them look multiplexed. */
#include "evlist_make.h"
#include "host_tree.h"
#include "temp_tree.h"

#include <errno.h>
#include <unistd.h>

#include "evlist/attrs.h"

#define PMUS   "/sys/bus/event_source/devices"
#define EVENTS 16

enum {
  CORE_CYCLES, /* PERF_TYPE_HARDWARE, on CPUs 0 and 1 */
  ATOM_RAW,    /* of the PMU's own type, on CPUs 2 and 3 */
  PLAIN        /* PERF_TYPE_HW_CACHE: the kernel chooses */
};

typedef struct machine_s {
  fake_event_t *events[EVENTS];
  evlist_make_t make;
} machine_t;

static int setup(void **state) {
  static machine_t machine;

  if (host_tree_setup(state) != 0)
    return -1;
  host_tree_write(PMUS "/cpu_core/type", "4\n");
  host_tree_write(PMUS "/cpu_core/cpus", "0-1\n");
  host_tree_write(PMUS "/cpu_atom/type", "6\n");
  host_tree_write(PMUS "/cpu_atom/cpus", "2-3\n");
  memset(&machine, 0, sizeof(machine));
  evlist_make_setup(NULL);
  counters_script(machine.events, EVENTS);
  evlist_make(&machine.make, 3);
  uvperf_attr_init(&machine.make.attrs[CORE_CYCLES], PERF_TYPE_HARDWARE,
                   UINT64_C(4) << 32);
  uvperf_attr_init(&machine.make.attrs[ATOM_RAW], 6, 0x3c);
  uvperf_attr_init(&machine.make.attrs[PLAIN], PERF_TYPE_HW_CACHE, 0);
  *state = &machine;
  return 0;
}

static void attrs_are_opened_on_the_cpus_of_their_pmu(void **state) {
  static const struct {
    int cpu;
    uint32_t type;
  } wanted[] = {{0, 0}, {0, 3}, {1, 0}, {1, 3}, {2, 6}, {2, 3}, {3, 6}, {3, 3}};
  machine_t *machine = *state;
  uvperf__evlist_t *evlist;
  size_t i;

  evlist_add_cpus(&machine->make, "0-3");
  evlist = evlist_open(&machine->make);
  for (i = 0; i < 8; i++) {
    assert_int_equal(machine->events[i]->cpu, wanted[i].cpu);
    assert_int_equal(machine->events[i]->attr.type, wanted[i].type);
  }
  assert_int_equal(machine->events[8]->opened, 0);
  assert_int_equal(evlist_nr_failures(evlist), 0);
  /* On a CPU it is scaled: the PMU was shared. */
  counters_give(machine->events[1], 7, 30, 10);
  assert_int_equal(evlist_at(evlist, PLAIN, 0).scaled, 21);
  uvperf__evlist_free(evlist);
}

static void attrs_of_a_task_are_not_scaled(void **state) {
  machine_t *machine = *state;
  uvperf__evlist_t *evlist;
  uvperf_count_t count;
  size_t i;

  evlist_add_thread(&machine->make, getpid());
  evlist = evlist_open(&machine->make);
  for (i = 0; i < 3; i++) {
    counters_give(machine->events[i], 7, 30, 10);
    count = evlist_total(evlist, i);
    assert_int_equal(count.scaled, 7);
    assert_int_equal(count.flags, UVPERF_COUNT_UNSCALED);
  }
  uvperf__evlist_free(evlist);
}

/* A PMU with a cpumask is not a core's. Only x86 calls its PMU "cpu". */
static void attrs_with_one_kind_of_cores_are_scaled(void **state) {
  machine_t *machine = *state;
  uvperf__evlist_t *evlist;
  size_t i;

  evlist_add_thread(&machine->make, getpid());
  for (i = 0; i < 2; i++) {
    if (i == 0)
      host_tree_write(PMUS "/cpu_atom/cpumask", "2\n");
    else
      host_tree_write(PMUS "/cpu/type", "4\n");
    evlist = evlist_open(&machine->make);
    counters_give(machine->events[3 * i + PLAIN], 7, 30, 10);
    assert_int_equal(evlist_total(evlist, PLAIN).scaled, 21);
    assert_null(uvperf__evlist_item(evlist, CORE_CYCLES)->cpus);
    uvperf__evlist_free(evlist);
  }
}

/* The set that the first are of may be gone when they are opened. */
static void counters_of_the_same_attrs_have_their_own_cpus(void **state) {
  static const uvperf_target_t init = UVPERF_TARGET_INIT;
  machine_t *machine = *state;
  uvperf_target_t target = init;
  uvperf__evlist_t *evlist, *more;
  uvperf__adding_t adding;
  uvperf_error_t error;

  evlist_add_cpus(&machine->make, "0");
  evlist = evlist_open(&machine->make);
  target.type = UVPERF_TARGET_CPUS;
  target.cpus = "1-2";
  assert_int_equal(
      uvperf__evlist_new_for_target(&more, evlist, &target, &adding, &error),
      0);
  uvperf__evlist_free(evlist);
  assert_int_equal(more->attrs->at[CORE_CYCLES].item.nr_cpus, 2);
  assert_int_equal(more->attrs->at[CORE_CYCLES].item.cpus[1], 1);
  assert_int_equal(more->attrs->at[ATOM_RAW].item.cpus[0], 2);
  assert_int_equal(uvperf__adding_end(&adding, NULL), 0);
  uvperf__evlist_free(more);
}

static void cpus_without_memory_leave_nothing(void **state) {
  machine_t *machine = *state;
  uvperf__evlist_t *evlist = NULL;
  uvperf_error_t error;
  unsigned nth;
  int rc = -ENOMEM;

  for (nth = 1; rc != 0; nth++) {
    evlist_make_setup(NULL);
    fake_fail(FAKE_CALLOC, nth, 0);
    machine->make.options.nr_targets = 0;
    rc = uvperf__evlist_make(0, &evlist, &machine->make.options, &error);
    assert_true(rc == 0 || rc == -ENOMEM);
  }
  assert_true(nth > 8);
  uvperf__evlist_free(evlist);
  fake_assert_clean();
}

int main(void) {
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, host_tree_teardown)
  static const struct CMUnitTest tests[] = {
      TEST(attrs_are_opened_on_the_cpus_of_their_pmu),
      TEST(attrs_of_a_task_are_not_scaled),
      TEST(attrs_with_one_kind_of_cores_are_scaled),
      TEST(counters_of_the_same_attrs_have_their_own_cpus),
      TEST(cpus_without_memory_leave_nothing),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
