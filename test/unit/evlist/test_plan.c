/* SPDX-License-Identifier: MIT */
/* Scripted: at which of a target's places an event is opened, depending on what
 * sysfs says about its PMU. The machine has four CPUs in two packages, a PMU of
 * some CPUs for all tasks (uncore), one of each kind of core (hybrid), and
 * events that are counted once per package. */
#include "evlist_make.h"
#include "host_tree.h"
#include "temp_tree.h"

#include <errno.h>
#include <unistd.h>

#include "name/list.h"
#include "evlist/internal.h"

#define PMUS "/sys/bus/event_source/devices"
#define CPU  "/sys/devices/system/cpu"

#define EVENTS 32

typedef struct machine_s {
  fake_event_t *events[EVENTS];
  evlist_make_t make;
  uvperf__evlist_t *evlist;
  uvperf_error_t error;
} machine_t;

static int setup(void **state) {
  static const struct {
    const char *path;
    const char *text;
  } files[] = {
      {PMUS "/uncore/type", "20\n"},
      {PMUS "/uncore/cpumask", "0,2\n"},
      {PMUS "/uncore/format/event", "config:0-7\n"},
      {PMUS "/far/type", "21\n"},
      {PMUS "/far/cpumask", "8-11,16\n"},
      {PMUS "/far/format/event", "config:0-7\n"},
      {PMUS "/core/type", "22\n"},
      {PMUS "/core/cpus", "0-1\n"},
      {PMUS "/core/format/event", "config:0-7\n"},
      {PMUS "/atom/type", "23\n"},
      {PMUS "/atom/cpus", "2-3\n"},
      {PMUS "/atom/format/event", "config:0-7\n"},
      {PMUS "/pkg/type", "24\n"},
      {PMUS "/pkg/format/event", "config:0-7\n"},
      {PMUS "/pkg/events/joules", "event=2\n"},
      {PMUS "/pkg/events/joules.per-pkg", "1\n"},
      {PMUS "/pkg/events/watts", "event=3\n"},
      {PMUS "/pkg/events/watts.per-pkg", "1\n"},
      {PMUS "/pkg/events/watts.snapshot", "1\n"},
      {CPU "/cpu0/topology/physical_package_id", "0\n"},
      {CPU "/cpu1/topology/physical_package_id", "1\n"},
      {CPU "/cpu2/topology/physical_package_id", "0\n"},
      {CPU "/cpu3/topology/physical_package_id", "1\n"},
  };
  static machine_t machine;
  size_t i;

  if (host_tree_setup(state) != 0)
    return -1;
  for (i = 0; i < sizeof(files) / sizeof(files[0]); i++)
    host_tree_write(files[i].path, files[i].text);
  memset(&machine, 0, sizeof(machine));
  evlist_make_setup(NULL);
  counters_script(machine.events, EVENTS);
  *state = &machine;
  return 0;
}

static int teardown(void **state) {
  machine_t *machine = *state;

  uvperf__evlist_free(machine->evlist);
  return host_tree_teardown(state);
}

static uvperf_event_list_t *names(machine_t *machine, const char *text) {
  uvperf_event_list_t *list;

  memset(&machine->error, 0, sizeof(machine->error));
  if (uvperf__event_list_parse(&list, text, &machine->error) != 0)
    fail_msg("%s", machine->error.reason);
  evlist_make(&machine->make, 0);
  machine->make.options.attrs = NULL;
  machine->make.options.events = list;
  return list;
}

/* Opens these events at the one target. */
static int try_open(machine_t *machine, const char *text, uint32_t type,
                    const char *cpus) {
  uvperf_event_list_t *list = names(machine, text);
  evlist_make_t *make = &machine->make;
  int rc;

  evlist_add(make, type)->cpus = cpus;
  if (type == UVPERF_TARGET_THREAD)
    make->targets[0].pid = getpid();
  rc =
      uvperf__evlist_make(0, &machine->evlist, &make->options, &machine->error);
  uvperf_event_list_free(list);
  return rc;
}

static void open_all(machine_t *machine, const char *text, uint32_t type,
                     const char *cpus) {
  if (try_open(machine, text, type, cpus) != 0)
    fail_msg("%s", machine->error.reason);
}

/* The opened events, such as "0:20 2:20": the CPU and the PMU's type of
 * each. */
static void check_opened(const machine_t *machine, const char *wanted) {
  char text[512] = "";
  size_t used = 0;
  size_t i;

  for (i = 0; i < EVENTS; i++)
    if (machine->events[i]->opened)
      used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%d:%u",
                               used == 0 ? "" : " ", machine->events[i]->cpu,
                               machine->events[i]->attr.type);
  assert_string_equal(text, wanted);
}

static uint32_t state_at(machine_t *machine, size_t attr, size_t place) {
  return evlist_at(machine->evlist, attr, place).state;
}

/* -- CPUs ----------------------------------------------------------------- */

static void uncore_event_is_opened_on_its_cpus(void **state) {
  machine_t *machine = *state;

  open_all(machine, "uncore/event=1/,dummy", UVPERF_TARGET_CPUS, "0-3");
  check_opened(machine, "0:20 0:1 1:1 2:20 2:1 3:1");
  assert_int_equal(evlist_nr_failures(machine->evlist), 0);
  assert_int_equal(state_at(machine, 0, 1), UVPERF_COUNT_NONE);
  assert_int_equal(state_at(machine, 1, 1), UVPERF_COUNT_ERROR);
  assert_int_equal(evlist_total(machine->evlist, 0).nr_missing, 2);
}

static void event_of_other_cpus_is_one_failure(void **state) {
  machine_t *machine = *state;
  const uvperf_set_failure_t *failure;
  size_t i;

  open_all(machine, "dummy,far/event=1/", UVPERF_TARGET_CPUS, "0-3");
  check_opened(machine, "0:1 1:1 2:1 3:1");
  assert_int_equal(evlist_nr_failures(machine->evlist), 1);
  failure = evlist_failure(machine->evlist, 0);
  assert_int_equal(failure->pid, -1);
  assert_int_equal(failure->cpu, -1);
  assert_int_equal(failure->error.attr_index, 1);
  assert_int_equal(failure->error.code, -ENODEV);
  assert_int_equal(failure->error.cause, UVPERF_CAUSE_NO_CPU);
  assert_string_equal(failure->error.reason,
                      "cannot open 'far/event=1/': it counts on CPUs 8-11,16, "
                      "and none of these is measured");
  for (i = 0; i < 4; i++)
    assert_int_equal(state_at(machine, 1, i), UVPERF_COUNT_NOT_AVAILABLE);
}

static void event_of_other_cpus_alone_is_no_set(void **state) {
  machine_t *machine = *state;

  assert_int_equal(try_open(machine, "far/event=1/", UVPERF_TARGET_CPUS, "0-3"),
                   -ENODEV);
  assert_int_equal(machine->error.cause, UVPERF_CAUSE_NO_CPU);
  assert_null(machine->evlist);
  fake_assert_clean();
}

static void strict_refuses_events_of_other_cpus(void **state) {
  machine_t *machine = *state;
  uvperf_event_list_t *list = names(machine, "dummy,far/event=1/");

  machine->make.options.flags = UVPERF_SET_STRICT;
  evlist_add_cpus(&machine->make, "0-3");
  assert_int_equal(uvperf__evlist_make(0, &machine->evlist,
                                       &machine->make.options, &machine->error),
                   -ENODEV);
  uvperf_event_list_free(list);
  assert_int_equal(machine->error.attr_index, 1);
  assert_int_equal(fake_count(FAKE_OPEN), 0);
  fake_assert_clean();
}

/* Events of a strict set can be missing, after a CPU has come back. */
static void strict_refuses_only_new_failures(void **state) {
  machine_t *machine = *state;
  uvperf_event_list_t *list = names(machine, "far/event=1/,dummy");
  uvperf_target_t target = UVPERF_TARGET_INIT;

  machine->make.options.flags = UVPERF_SET_STRICT;
  evlist_add_cpus(&machine->make, "8-9");
  assert_int_equal(uvperf__evlist_make(0, &machine->evlist,
                                       &machine->make.options, &machine->error),
                   0);
  uvperf_event_list_free(list);
  uvperf__evlist_cpu_gone(machine->evlist, 9);
  fake_fail(FAKE_OPEN, 2, -ENOENT);
  assert_int_equal(uvperf__evlist_cpu_come(machine->evlist, 9, NULL), -ENOENT);
  target.type = UVPERF_TARGET_CPUS;
  target.cpus = "10";
  assert_int_equal(
      uvperf__evlist_add_target(machine->evlist, &target, NULL, NULL), 0);
  target.cpus = "0";
  assert_int_equal(uvperf__evlist_add_target(machine->evlist, &target, NULL,
                                             &machine->error),
                   -ENODEV);
  assert_int_equal(machine->error.attr_index, 0);
}

/* The online CPUs are not known. */
static void cpus_that_are_not_known_are_a_failure(void **state) {
  machine_t *machine = *state;
  uvperf_event_list_t *list = names(machine, "dummy");

  evlist_add(&machine->make, UVPERF_TARGET_CPUS);
  evlist_add_cpus(&machine->make, "0");
  assert_int_equal(uvperf__evlist_make(0, &machine->evlist,
                                       &machine->make.options, &machine->error),
                   0);
  uvperf_event_list_free(list);
  check_opened(machine, "0:1");
  assert_int_equal(evlist_failure(machine->evlist, 0)->pid, -1);
  assert_int_equal(evlist_failure(machine->evlist, 0)->cpu, -1);
  assert_int_equal(evlist_failure(machine->evlist, 0)->error.code, -ENOENT);
}

/* The plan is forgotten with its target. */
static void failures_of_a_target_without_memory_are_forgotten(void **state) {
  machine_t *machine = *state;
  uvperf_target_t target = UVPERF_TARGET_INIT;
  unsigned nth;
  int rc = -ENOMEM;

  open_all(machine, "far/event=1/,pkg/joules/", UVPERF_TARGET_CPUS, "0");
  target.type = UVPERF_TARGET_CPUS;
  target.cpus = "1-2";
  for (nth = 1; rc != 0; nth++) {
    assert_int_equal(rc, -ENOMEM);
    assert_int_equal(evlist_nr_failures(machine->evlist), 1);
    fake_fail(FAKE_CALLOC, nth, 0);
    rc = uvperf__evlist_add_target(machine->evlist, &target, NULL, NULL);
  }
  assert_true(nth > 4);
  assert_int_equal(evlist_nr_failures(machine->evlist), 2);
}

static void hybrid_events_are_opened_on_their_cores(void **state) {
  machine_t *machine = *state;

  open_all(machine, "core/event=1/,atom/event=1/", UVPERF_TARGET_CPUS, "0-3");
  check_opened(machine, "0:22 1:22 2:23 3:23");
  assert_int_equal(state_at(machine, 0, 2), UVPERF_COUNT_NONE);
  assert_int_equal(state_at(machine, 1, 0), UVPERF_COUNT_NONE);
}

static void event_of_a_package_is_opened_once_in_each(void **state) {
  machine_t *machine = *state;

  open_all(machine, "pkg/joules/,pkg/event=9/", UVPERF_TARGET_CPUS, "1-3");
  check_opened(machine, "1:24 1:24 2:24 2:24 3:24");
  assert_int_equal(state_at(machine, 0, 2), UVPERF_COUNT_NONE);
  assert_int_equal(
      evlist_add_elsewhere(machine->evlist, machine->make.targets, NULL), 0);
  assert_int_equal(uvperf__evlist_nr_open(machine->evlist), 2 * 5);
}

/* An offline CPU has no topology: that it is offline is the kernel's to say. */
static void cpu_without_package_is_one_of_its_own(void **state) {
  machine_t *machine = *state;

  open_all(machine, "pkg/joules/", UVPERF_TARGET_CPUS, "0-5");
  check_opened(machine, "0:24 1:24 4:24 5:24");
}

static void cpu_without_package_is_not_of_the_first(void **state) {
  machine_t *machine = *state;

  host_tree_write(CPU "/cpu9/topology/physical_package_id", "0\n");
  open_all(machine, "pkg/joules/", UVPERF_TARGET_CPUS, "5,9");
  check_opened(machine, "5:24 9:24");
}

static void event_of_a_package_of_some_cpus_is_both(void **state) {
  machine_t *machine = *state;

  host_tree_write(PMUS "/pkg/cpumask", "2-3\n");
  open_all(machine, "pkg/joules/", UVPERF_TARGET_CPUS, "0-3");
  check_opened(machine, "2:24 3:24");
}

/* -- groups --------------------------------------------------------------- */

static void sibling_goes_where_its_leader_goes(void **state) {
  machine_t *machine = *state;

  open_all(machine, "{uncore/event=1/,dummy},dummy", UVPERF_TARGET_CPUS, "0-3");
  check_opened(machine, "0:20 0:1 0:1 1:1 2:20 2:1 2:1 3:1");
  assert_int_equal(machine->events[1]->group_fd, machine->events[0]->fd);
  assert_int_equal(state_at(machine, 1, 1), UVPERF_COUNT_NONE);
}

static void group_of_a_package_event_is_of_a_package(void **state) {
  machine_t *machine = *state;

  open_all(machine, "{pkg/joules/,pkg/event=9/}", UVPERF_TARGET_CPUS, "0-3");
  check_opened(machine, "0:24 0:24 1:24 1:24");
}

/* An event that would be counted twice, or is of other CPUs, is left out
 * there. */
static void sibling_that_cannot_be_everywhere_is_where_possible(void **state) {
  machine_t *machine = *state;

  open_all(machine, "{dummy,uncore/event=1/,pkg/joules/}", UVPERF_TARGET_CPUS,
           "0-3");
  check_opened(machine, "0:1 0:20 0:24 1:1 1:24 2:1 2:20 3:1");
}

/* The first event of the group that can be opened decides. */
static void leader_that_cannot_be_does_not_take_the_group_along(void **state) {
  machine_t *machine = *state;

  open_all(machine, "{far/event=1/,uncore/event=1/,dummy}", UVPERF_TARGET_CPUS,
           "0-3");
  check_opened(machine, "0:20 0:1 2:20 2:1");
  assert_int_equal(machine->events[0]->attr.disabled, 1);
  assert_int_equal(machine->events[1]->group_fd, machine->events[0]->fd);
  assert_int_equal(evlist_nr_failures(machine->evlist), 1);
}

static void sibling_that_is_nowhere_with_its_leader_is_a_failure(void **state) {
  machine_t *machine = *state;

  open_all(machine, "{core/event=1/,atom/event=1/}", UVPERF_TARGET_CPUS, "0-3");
  check_opened(machine, "0:22 1:22");
  assert_non_null(strstr(evlist_failure(machine->evlist, 0)->error.reason,
                         "counts on CPUs 2-3, and none of these is measured "
                         "with the leader of its group"));
}

/* -- tasks and cgroups ---------------------------------------------------- */

static void uncore_event_of_a_task_is_a_failure(void **state) {
  machine_t *machine = *state;
  const uvperf_set_failure_t *failure;

  open_all(machine, "uncore/event=1/,dummy", UVPERF_TARGET_THREAD, NULL);
  check_opened(machine, "-1:1");
  failure = evlist_failure(machine->evlist, 0);
  assert_int_equal(failure->pid, getpid());
  assert_int_equal(failure->error.code, -EINVAL);
  assert_int_equal(failure->error.cause, UVPERF_CAUSE_ARGUMENT);
  assert_non_null(strstr(failure->error.reason, "measure CPUs"));
}

static void sibling_of_an_uncore_event_leads_in_a_task(void **state) {
  machine_t *machine = *state;

  open_all(machine, "{uncore/event=1/,dummy}", UVPERF_TARGET_THREAD, NULL);
  check_opened(machine, "-1:1");
  assert_int_equal(machine->events[0]->attr.disabled, 1);
}

/* The kernel counts it while the task runs on the CPUs of its PMU. */
static void hybrid_events_of_a_task_are_opened_everywhere(void **state) {
  machine_t *machine = *state;

  open_all(machine, "core/event=1/,atom/event=1/", UVPERF_TARGET_THREAD, NULL);
  check_opened(machine, "-1:22 -1:23");
}

static void hybrid_events_of_a_task_on_a_cpu_are_of_that(void **state) {
  machine_t *machine = *state;

  open_all(machine, "core/event=1/,atom/event=1/", UVPERF_TARGET_THREAD, "1-2");
  check_opened(machine, "1:22 2:23");
}

/* -- names on several kinds of cores --------------------------------------- */

static void set_kernel(void) {
  host_tree_write("/proc/sys/kernel/osrelease", "6.6.0\n");
}

static void name_is_opened_on_each_cpu_by_its_pmu(void **state) {
  machine_t *machine = *state;
  uvperf_count_t count;

  set_kernel();
  open_all(machine, "{cycles,dummy}", UVPERF_TARGET_CPUS, "1-2");
  check_opened(machine, "1:0 1:1 2:0 2:1");
  assert_int_equal(machine->events[0]->attr.config, UINT64_C(22) << 32);
  assert_int_equal(machine->events[2]->attr.config, UINT64_C(23) << 32);
  assert_int_equal(evlist_nr_failures(machine->evlist), 0);
  counters_give_group(machine->events[0], 20, 10, (uint64_t[]){100, 101},
                      (uint64_t[]){5, 1}, 2);
  counters_give_group(machine->events[2], 20, 20, (uint64_t[]){102, 103},
                      (uint64_t[]){7, 1}, 2);
  count = evlist_total(machine->evlist, 0);
  assert_int_equal(count.value, 12);
  assert_int_equal(count.scaled, 17);
  assert_int_equal(count.nr_counts, 2);
  assert_int_equal(count.nr_missing, 0);
  assert_int_equal(evlist_total(machine->evlist, 1).value, 2);
  assert_int_equal(evlist_total(machine->evlist, 2).value, 7);
}

/* No failure: the other part is measured. */
static void name_on_one_kind_of_core_is_whole(void **state) {
  machine_t *machine = *state;
  uvperf_count_t count;

  set_kernel();
  open_all(machine, "cycles", UVPERF_TARGET_CPUS, "3");
  check_opened(machine, "3:0");
  assert_int_equal(machine->events[0]->attr.config, UINT64_C(23) << 32);
  assert_int_equal(evlist_nr_failures(machine->evlist), 0);
  counters_give(machine->events[0], 7, 10, 10);
  count = evlist_total(machine->evlist, 0);
  assert_int_equal(count.state, UVPERF_COUNT_COUNTING);
  assert_int_equal(count.value, 7);
  assert_int_equal(count.nr_missing, 0);
  assert_int_equal(
      evlist_add_elsewhere(machine->evlist, &machine->make.targets[0], NULL),
      0);
  assert_int_equal(evlist_nr_failures(machine->evlist), 0);
}

static void name_on_no_kind_of_core_is_a_failure(void **state) {
  machine_t *machine = *state;

  set_kernel();
  open_all(machine, "cycles,dummy", UVPERF_TARGET_CPUS, "5");
  check_opened(machine, "5:1");
  assert_int_equal(evlist_nr_failures(machine->evlist), 2);
  assert_non_null(
      strstr(evlist_failure(machine->evlist, 0)->error.reason, "'cycles'"));
  assert_int_equal(evlist_total(machine->evlist, 0).state,
                   UVPERF_COUNT_NOT_AVAILABLE);
}

/* Of 100 ns the task was on one kind of core for 30, on the other for 70. */
static void name_of_a_task_is_the_sum_of_both_kinds_of_core(void **state) {
  machine_t *machine = *state;
  uvperf_count_t count;

  set_kernel();
  open_all(machine, "cycles", UVPERF_TARGET_THREAD, NULL);
  check_opened(machine, "-1:0 -1:0");
  counters_give(machine->events[0], 300, 100, 30);
  counters_give(machine->events[1], 140, 100, 70);
  count = evlist_total(machine->evlist, 0);
  assert_int_equal(count.state, UVPERF_COUNT_COUNTING);
  assert_int_equal(count.value, 440);
  assert_int_equal(count.scaled, 440);
  assert_int_equal(count.time_enabled, 100);
  assert_true(count.ratio == 1);
  count = evlist_total(machine->evlist, 1);
  assert_int_equal(count.scaled, 140);
  assert_true(count.ratio == 0.7);
}

/* All parts of an event get its settings, up to the first that refuses. */
static void setting_of_a_name_applies_to_all_its_parts(void **state) {
  machine_t *machine = *state;

  set_kernel();
  host_tree_write(PMUS "/third/type", "25\n");
  host_tree_write(PMUS "/third/cpus", "3\n");
  open_all(machine, "cycles/period=9/,core/event=1,period=9/",
           UVPERF_TARGET_CPUS, "1-3");
  fake_fail(FAKE_IOCTL_PTR, 2, -EIO);
  assert_int_equal(
      uvperf__evlist_change_period(machine->evlist, 0, 4, &machine->error),
      -EIO);
  assert_int_equal(machine->error.attr_index, 2);
  fake_log_clear();
  assert_int_equal(
      uvperf__evlist_change_period(machine->evlist, 0, 5, &machine->error), 0);
  assert_string_equal(fake_log(), "ioctl PERIOD, ioctl PERIOD, ioctl PERIOD, "
                                  "ioctl PERIOD");
  assert_int_equal(uvperf__evlist_item(machine->evlist, 2)->attr->sample_period,
                   5);
  assert_int_equal(uvperf__evlist_item(machine->evlist, 1)->attr->sample_period,
                   9);
  fake_log_clear();
  assert_int_equal(
      uvperf__evlist_change_period(machine->evlist, 2, 6, &machine->error), 0);
  assert_string_equal(fake_log(), "ioctl PERIOD, ioctl PERIOD");
}

/* Each thread has a part of the package's count. */
static void event_of_a_package_of_a_task_is_opened_as_any(void **state) {
  machine_t *machine = *state;

  open_all(machine, "pkg/joules/", UVPERF_TARGET_THREAD, "0-3");
  check_opened(machine, "0:24 1:24 2:24 3:24");
}

/* -- values that are no sums ---------------------------------------------- */

static void snapshot_is_not_changed_by_reset(void **state) {
  machine_t *machine = *state;
  uvperf_count_t count;

  open_all(machine, "pkg/watts/,pkg/event=9/", UVPERF_TARGET_CPUS, "0");
  counters_give(machine->events[0], 40, 10, 10);
  counters_give(machine->events[1], 40, 10, 10);
  assert_int_equal(uvperf__evlist_reset(machine->evlist), 0);
  counters_give(machine->events[0], 41, 13, 13);
  counters_give(machine->events[1], 41, 13, 13);
  count = evlist_total(machine->evlist, 0);
  assert_int_equal(count.value, 41);
  assert_int_equal(count.time_enabled, 3);
  assert_int_equal(evlist_total(machine->evlist, 1).value, 1);
}

/* -- shortages ------------------------------------------------------------ */

static void every_failing_calloc_leaves_nothing(void **state) {
  machine_t *machine = *state;
  unsigned nth;
  int rc = 0;

  for (nth = 1; nth < 200; nth++) {
    uvperf_event_list_t *list;

    evlist_make_setup(NULL);
    counters_script(machine->events, EVENTS);
    list = names(machine, "{uncore/event=1/,dummy},pkg/joules/,far//");
    evlist_add_cpus(&machine->make, "0-3");
    fake_fail(FAKE_CALLOC, nth, 0);
    memset(&machine->error, 0, sizeof(machine->error));
    rc = uvperf__evlist_make(0, &machine->evlist, &machine->make.options,
                             &machine->error);
    uvperf_event_list_free(list);
    if (fake_failures() == 0)
      break;
    assert_int_equal(rc, -ENOMEM);
    assert_int_equal(machine->error.code, -ENOMEM);
    assert_int_equal(machine->error.cause, UVPERF_CAUSE_MEMORY);
    assert_null(machine->evlist);
    fake_assert_clean();
  }
  assert_true(nth > 10);
  assert_int_equal(rc, 0);
}

/* -- a target that another thread adds ------------------------------------- */

static void misfit_of_a_target_that_is_added_names_the_event(void **state) {
  machine_t *machine = *state;
  uvperf_target_t target = UVPERF_TARGET_INIT;
  uvperf__evlist_t *made;
  uvperf__adding_t adding;

  open_all(machine, "uncore/event=1/", UVPERF_TARGET_CPUS, "0-3");
  assert_int_equal(uvperf__evlist_new_for_target(&made, machine->evlist,
                                                 &target, &adding,
                                                 &machine->error),
                   0);
  while (uvperf__adding_step(&adding, 0))
    continue;
  assert_int_equal(uvperf__adding_end(&adding, &machine->error), -EINVAL);
  assert_non_null(strstr(machine->error.reason, "'uncore/event=1/'"));
  uvperf__evlist_free(made);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(uncore_event_is_opened_on_its_cpus),
      TEST(event_of_other_cpus_is_one_failure),
      TEST(event_of_other_cpus_alone_is_no_set),
      TEST(strict_refuses_events_of_other_cpus),
      TEST(strict_refuses_only_new_failures),
      TEST(cpus_that_are_not_known_are_a_failure),
      TEST(failures_of_a_target_without_memory_are_forgotten),
      TEST(hybrid_events_are_opened_on_their_cores),
      TEST(event_of_a_package_is_opened_once_in_each),
      TEST(cpu_without_package_is_one_of_its_own),
      TEST(cpu_without_package_is_not_of_the_first),
      TEST(event_of_a_package_of_some_cpus_is_both),
      TEST(sibling_goes_where_its_leader_goes),
      TEST(group_of_a_package_event_is_of_a_package),
      TEST(sibling_that_cannot_be_everywhere_is_where_possible),
      TEST(leader_that_cannot_be_does_not_take_the_group_along),
      TEST(sibling_that_is_nowhere_with_its_leader_is_a_failure),
      TEST(uncore_event_of_a_task_is_a_failure),
      TEST(sibling_of_an_uncore_event_leads_in_a_task),
      TEST(hybrid_events_of_a_task_are_opened_everywhere),
      TEST(hybrid_events_of_a_task_on_a_cpu_are_of_that),
      TEST(name_is_opened_on_each_cpu_by_its_pmu),
      TEST(name_on_one_kind_of_core_is_whole),
      TEST(name_on_no_kind_of_core_is_a_failure),
      TEST(name_of_a_task_is_the_sum_of_both_kinds_of_core),
      TEST(setting_of_a_name_applies_to_all_its_parts),
      TEST(event_of_a_package_of_a_task_is_opened_as_any),
      TEST(snapshot_is_not_changed_by_reset),
      TEST(every_failing_calloc_leaves_nothing),
      TEST(misfit_of_a_target_that_is_added_names_the_event),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
