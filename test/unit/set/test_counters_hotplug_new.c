/* SPDX-License-Identifier: MIT */
/* Scripted: CPUs that are new to a set. */
#include "counters_follow.h"

#include <errno.h>

#include "name/list.h"
#include "set/counters_internal.h"

/* -- CPUs that are new ---------------------------------------------------- */

static void new_cpu_is_a_place_of_targets_without_a_cpu_list(void **state) {
  uvperf__counters_t *counters;
  const uvperf_place_t *place;
  uvperf_reading_t *reading;
  counters_make_t make;
  size_t i;

  (void)state;
  counters_make(&make, 1);
  counters_add_cpus(&make, NULL);
  counters_add_cpus(&make, "0-1");
  counters = counters_follow_open(&make);
  assert_int_equal(uvperf__counters_enable(counters, NULL), 0);
  fake_log_clear();
  counters_follow_come(counters, 7);
  assert_string_equal(fake_log(), "open, ioctl ENABLE");
  assert_int_equal(uvperf_reading_new(&reading), 0);
  assert_int_equal(uvperf__counters_read(counters, reading), 0);
  assert_int_equal(uvperf_reading_info(reading)->nr_places, 6);
  for (i = 0; i < 6; i++) {
    static const struct {
      uint32_t target;
      int cpu;
      uint64_t serial;
    } wanted[6] = {{0, 0, 0}, {0, 1, 1}, {0, 2, 2},
                   {0, 7, 5}, {1, 0, 3}, {1, 1, 4}};

    place = uvperf_reading_place(reading, i);
    assert_int_equal(place->target, wanted[i].target);
    assert_int_equal(place->cpu, wanted[i].cpu);
    assert_int_equal(place->serial, wanted[i].serial);
    assert_int_equal(uvperf__counters_fd(counters, 0, place->serial),
                     counters_follow_events[wanted[i].serial]->fd);
  }
  assert_int_equal(uvperf__counters_fd(counters, 0, 6), -1);
  counters_follow_come_back(counters, 7);
  assert_int_equal(counters_nr_places(counters), 6);
  uvperf_reading_free(reading);
  counters_follow_end(counters);
}

static void delta_over_a_cpu_that_is_new_has_all_others(void **state) {
  uvperf_reading_t *older, *newer, *delta;
  uvperf__counters_t *counters;
  uvperf_count_t count;
  counters_make_t make;
  size_t i;

  (void)state;
  counters_make(&make, 1);
  counters_add_cpus(&make, NULL);
  counters_add_cpus(&make, "0-1");
  counters = counters_follow_open(&make);
  assert_int_equal(uvperf_reading_new(&older), 0);
  assert_int_equal(uvperf_reading_new(&newer), 0);
  assert_int_equal(uvperf_reading_new(&delta), 0);
  for (i = 0; i < 5; i++)
    counters_give(counters_follow_events[i], 100, 10, 10);
  assert_int_equal(uvperf__counters_read(counters, older), 0);
  counters_follow_come(counters, 7);
  for (i = 0; i < 6; i++)
    counters_give(counters_follow_events[i], 100 + i, 20, 20);
  assert_int_equal(uvperf__counters_read(counters, newer), 0);
  assert_int_equal(uvperf_reading_delta(delta, older, newer), 0);
  for (i = 0; i < 6; i++) {
    static const unsigned wanted[6] = {0, 1, 2, 105, 3, 4};

    assert_int_equal(uvperf_reading_get(delta, 0, UVPERF_ALL, i, &count), 0);
    assert_int_equal(count.value, wanted[i]);
  }
  uvperf_reading_free(older);
  uvperf_reading_free(newer);
  uvperf_reading_free(delta);
  counters_follow_end(counters);
}

static void failures_of_a_cpu_that_is_new_are_before_later_targets(void **s) {
  uvperf__counters_t *counters;
  counters_make_t make;

  (void)s;
  counters_make(&make, 1);
  counters_add_cpus(&make, NULL);
  counters_add_cpus(&make, "0-1");
  fake_fail(FAKE_OPEN, 4, -ENODEV); /* target 1, CPU 0 */
  counters = counters_follow_open(&make);
  fake_fail(FAKE_OPEN, 1, -ENODEV);
  assert_int_equal(uvperf__counters_cpu_come(counters, 7, NULL), -ENODEV);
  assert_int_equal(counters_nr_failures(counters), 2);
  assert_int_equal(counters_failure(counters, 0)->cpu, 7);
  assert_int_equal(counters_failure(counters, 1)->cpu, 0);
  counters_follow_end(counters);
}

static void task_that_is_followed_everywhere_has_no_new_place(void **state) {
  uvperf__counters_t *counters;
  counters_make_t make;

  (void)state;
  counters_make(&make, 1);
  counters_add_thread(&make, 4711);
  counters = counters_follow_open(&make);
  fake_log_clear();
  counters_follow_come_back(counters, 7);
  assert_string_equal(fake_log(), "");
  assert_int_equal(counters_nr_places(counters), 1);
  counters_follow_end(counters);
}

/* Otherwise another task that has taken the id would be the same. */
static void place_of_a_task_on_a_new_cpu_has_its_start(void **state) {
  const counter_target_t *target;
  uvperf__counters_t *counters;
  counters_make_t make;

  (void)state;
  cpu_tree_write("/proc/self/status", "NSpid:\t12\n");
  cpu_tree_write("/proc/4711/task/4711/stat",
                 "4711 (a) S 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 "
                 "77 0\n");
  counters_make_records(&make, 1);
  counters_add_thread(&make, 4711);
  counters = counters_follow_open(&make);
  target = counters->targets[0];
  assert_int_equal(target->places[0].start, 77);
  counters_follow_come(counters, 7);
  assert_int_equal(target->nr_places, 4);
  assert_int_equal(target->places[3].place.pid, 4711);
  assert_int_equal(target->places[3].start, 77);
  counters_follow_end(counters);
}

/* -- PMUs ----------------------------------------------------------------- */

#define PMUS "/sys/bus/event_source/devices"

static uvperf__counters_t *open_names(const char *names) {
  uvperf__counters_t *counters;
  uvperf_event_list_t *list;
  counters_make_t make;

  cpu_tree_write(PMUS "/far/type", "21\n");
  cpu_tree_write(PMUS "/far/cpus", "6-8\n");
  cpu_tree_write(PMUS "/far/format/event", "config:0-7\n");
  cpu_tree_write(PMUS "/pkg/type", "24\n");
  cpu_tree_write(PMUS "/pkg/format/event", "config:0-7\n");
  cpu_tree_write(PMUS "/pkg/events/joules", "event=2\n");
  cpu_tree_write(PMUS "/pkg/events/joules.per-pkg", "1\n");
  assert_int_equal(
      uvperf__event_list_parse(cpu_tree_root(), &list, names, NULL), 0);
  counters_make(&make, 0);
  make.options.events = list;
  counters_add_cpus(&make, NULL);
  counters = counters_follow_open(&make);
  uvperf_event_list_free(list);
  return counters;
}

static void write_package(int cpu, const char *package) {
  char path[128];

  snprintf(path, sizeof(path),
           "/sys/devices/system/cpu/cpu%d/topology/physical_package_id", cpu);
  cpu_tree_write(path, package);
}

static void event_of_other_cpus_is_no_failure_once_one_comes(void **state) {
  uvperf__counters_t *counters;

  (void)state;
  counters = open_names("cpu-clock,far/event=1/");
  assert_int_equal(counters_nr_failures(counters), 1);
  assert_int_equal(counters_failure(counters, 0)->cpu, -1);
  counters_follow_come(counters, 7);
  assert_int_equal(counters_nr_failures(counters), 0);
  assert_int_equal(counters_at(counters, 1, 0).state, UVPERF_COUNT_NONE);
  assert_int_equal(counters_follow_events[4]->cpu, 7);
  assert_int_equal(counters_follow_events[4]->attr.type, 21);
  counters_give(counters_follow_events[4], 7, 5, 5);
  assert_int_equal(counters_at(counters, 1, 3).value, 7);
  counters_follow_end(counters);
}

static void event_of_other_cpus_stays_a_failure_when_others_come(void **state) {
  uvperf__counters_t *counters;

  (void)state;
  counters = open_names("cpu-clock,far/event=1/");
  assert_int_equal(uvperf__counters_cpu_come(counters, 5, NULL), 0);
  assert_int_equal(counters_nr_failures(counters), 1);
  assert_int_equal(counters_at(counters, 1, 3).state,
                   UVPERF_COUNT_NOT_AVAILABLE);
  counters_follow_end(counters);
}

static void package_is_counted_once_whichever_cpu_comes(void **state) {
  uvperf__counters_t *counters;

  (void)state;
  write_package(0, "0\n");
  write_package(1, "0\n");
  write_package(2, "1\n");
  counters = open_names("pkg/joules/");
  assert_int_equal(uvperf__counters_nr_open(counters), 2);
  cpu_tree_bring_up(7);
  write_package(7, "1\n");
  counters_follow_come(counters, 7);
  assert_int_equal(uvperf__counters_nr_open(counters), 2);
  assert_int_equal(counters_at(counters, 0, 3).state, UVPERF_COUNT_NONE);
  cpu_tree_bring_up(8);
  write_package(8, "2\n");
  counters_follow_come(counters, 8);
  assert_int_equal(uvperf__counters_nr_open(counters), 3);
  counters_follow_come_back(counters, 1);
  assert_int_equal(uvperf__counters_nr_open(counters), 3);
  counters_follow_end(counters);
}

/* An offline CPU has no known package: it was tried, and is not needed. */
/* The value is the current one, not a sum that continues; the times do. */
static void snapshot_of_a_cpu_that_came_back_is_not_added(void **state) {
  uvperf__counters_t *counters;
  uvperf_count_t count;

  (void)state;
  cpu_tree_write(PMUS "/pkg/events/watts", "event=3\n");
  cpu_tree_write(PMUS "/pkg/events/watts.snapshot", "1\n");
  counters = open_names("pkg/watts/");
  assert_int_equal(uvperf__counters_enable(counters, NULL), 0);
  counters_give(counters_follow_events[1], 40, 20, 20);
  counters_follow_come_back(counters, 1);
  assert_int_equal(counters_follow_events[3]->cpu, 1);
  counters_give(counters_follow_events[3], 30, 5, 5);
  count = counters_at(counters, 0, 1);
  assert_int_equal(count.value, 30);
  assert_int_equal(count.time_running, 25);
  counters_follow_end(counters);
}

static void cpu_whose_package_is_counted_is_not_tried_again(void **state) {
  uvperf__counters_t *counters;

  (void)state;
  write_package(0, "0\n");
  write_package(2, "1\n");
  fake_fail(FAKE_OPEN, 2, -ENODEV);
  counters = open_names("pkg/joules/");
  assert_int_equal(counters_nr_failures(counters), 1);
  write_package(1, "0\n");
  counters_follow_come(counters, 1);
  assert_int_equal(counters_nr_failures(counters), 0);
  assert_int_equal(uvperf__counters_nr_open(counters), 2);
  assert_int_equal(counters_at(counters, 0, 1).state, UVPERF_COUNT_NONE);
  counters_follow_end(counters);
}

/* -- failures ------------------------------------------------------------- */

static void cpu_that_comes_without_memory_changes_nothing(void **state) {
  uvperf__counters_t *counters;
  counters_make_t make;
  unsigned nth;
  int rc = -1;

  (void)state;
  for (nth = 1; rc != 0; nth++) {
    assert_in_range(nth, 1, 9);
    counters_make(&make, 2);
    counters_add_cpus(&make, NULL);
    counters = counters_follow_open(&make);
    fake_fail(FAKE_CALLOC, nth, 0);
    rc = uvperf__counters_cpu_come(counters, 7, NULL);
    assert_true(rc == 0 || rc == -ENOMEM);
    assert_int_equal(counters->nr_places, rc == 0 ? 4 : 3);
    uvperf__counters_free(counters);
    fake_kernel_reset();
    counters_script(counters_follow_events, COUNTERS_FOLLOW_EVENTS);
  }
  assert_true(nth > 2);
}

#define CPU(test)                                                              \
  cmocka_unit_test_setup_teardown(test, counters_follow_setup,                 \
                                  counters_follow_teardown)

int main(void) {
  const struct CMUnitTest tests[] = {
      CPU(new_cpu_is_a_place_of_targets_without_a_cpu_list),
      CPU(delta_over_a_cpu_that_is_new_has_all_others),
      CPU(failures_of_a_cpu_that_is_new_are_before_later_targets),
      CPU(task_that_is_followed_everywhere_has_no_new_place),
      CPU(place_of_a_task_on_a_new_cpu_has_its_start),
      CPU(event_of_other_cpus_is_no_failure_once_one_comes),
      CPU(event_of_other_cpus_stays_a_failure_when_others_come),
      CPU(package_is_counted_once_whichever_cpu_comes),
      CPU(snapshot_of_a_cpu_that_came_back_is_not_added),
      CPU(cpu_whose_package_is_counted_is_not_tried_again),
      CPU(cpu_that_comes_without_memory_changes_nothing),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
