/* SPDX-License-Identifier: MIT */
/* Scripted: CPUs that are new to a set. */
#include "evlist_follow.h"
#include "host_tree.h"

#include <errno.h>

#include "name/list.h"
#include "evlist/places.h"

/* -- CPUs that are new ---------------------------------------------------- */

static void new_cpu_is_a_place_of_targets_without_a_cpu_list(void **state) {
  uvperf__evlist_t *evlist;
  const uvperf_place_t *place;
  uvperf_reading_t *reading;
  evlist_make_t make;
  size_t i;

  (void)state;
  evlist_make(&make, 1);
  evlist_add_cpus(&make, NULL);
  evlist_add_cpus(&make, "0-1");
  evlist = evlist_follow_open(&make);
  assert_int_equal(uvperf__evlist_enable(evlist, NULL), 0);
  fake_log_clear();
  evlist_follow_come(evlist, 7);
  assert_string_equal(fake_log(), "open, ioctl ENABLE");
  assert_int_equal(uvperf_reading_new(&reading), 0);
  assert_int_equal(uvperf__evlist_read(evlist, reading), 0);
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
    assert_int_equal(uvperf__evlist_fd(evlist, 0, place->serial),
                     evlist_follow_events[wanted[i].serial]->fd);
  }
  assert_int_equal(uvperf__evlist_fd(evlist, 0, 6), -1);
  evlist_follow_come_back(evlist, 7);
  assert_int_equal(evlist_nr_places(evlist), 6);
  uvperf_reading_free(reading);
  evlist_follow_end(evlist);
}

static void delta_over_a_cpu_that_is_new_has_all_others(void **state) {
  uvperf_reading_t *older, *newer, *delta;
  uvperf__evlist_t *evlist;
  uvperf_count_t count;
  evlist_make_t make;
  size_t i;

  (void)state;
  evlist_make(&make, 1);
  evlist_add_cpus(&make, NULL);
  evlist_add_cpus(&make, "0-1");
  evlist = evlist_follow_open(&make);
  assert_int_equal(uvperf_reading_new(&older), 0);
  assert_int_equal(uvperf_reading_new(&newer), 0);
  assert_int_equal(uvperf_reading_new(&delta), 0);
  for (i = 0; i < 5; i++)
    counters_give(evlist_follow_events[i], 100, 10, 10);
  assert_int_equal(uvperf__evlist_read(evlist, older), 0);
  evlist_follow_come(evlist, 7);
  for (i = 0; i < 6; i++)
    counters_give(evlist_follow_events[i], 100 + i, 20, 20);
  assert_int_equal(uvperf__evlist_read(evlist, newer), 0);
  assert_int_equal(uvperf_reading_delta(delta, older, newer), 0);
  for (i = 0; i < 6; i++) {
    static const unsigned wanted[6] = {0, 1, 2, 105, 3, 4};

    assert_int_equal(uvperf_reading_get(delta, 0, UVPERF_ALL, i, &count), 0);
    assert_int_equal(count.value, wanted[i]);
  }
  uvperf_reading_free(older);
  uvperf_reading_free(newer);
  uvperf_reading_free(delta);
  evlist_follow_end(evlist);
}

static void failures_of_a_cpu_that_is_new_are_before_later_targets(void **s) {
  uvperf__evlist_t *evlist;
  evlist_make_t make;

  (void)s;
  evlist_make(&make, 1);
  evlist_add_cpus(&make, NULL);
  evlist_add_cpus(&make, "0-1");
  fake_fail(FAKE_OPEN, 4, -ENODEV); /* target 1, CPU 0 */
  evlist = evlist_follow_open(&make);
  fake_fail(FAKE_OPEN, 1, -ENODEV);
  assert_int_equal(uvperf__evlist_cpu_come(evlist, 7, NULL), -ENODEV);
  assert_int_equal(evlist_nr_failures(evlist), 2);
  assert_int_equal(evlist_failure(evlist, 0)->cpu, 7);
  assert_int_equal(evlist_failure(evlist, 1)->cpu, 0);
  evlist_follow_end(evlist);
}

static void task_that_is_followed_everywhere_has_no_new_place(void **state) {
  uvperf__evlist_t *evlist;
  evlist_make_t make;

  (void)state;
  evlist_make(&make, 1);
  evlist_add_thread(&make, 4711);
  evlist = evlist_follow_open(&make);
  fake_log_clear();
  evlist_follow_come_back(evlist, 7);
  assert_string_equal(fake_log(), "");
  assert_int_equal(evlist_nr_places(evlist), 1);
  evlist_follow_end(evlist);
}

/* Otherwise another task that has taken the id would be the same. */
static void place_of_a_task_on_a_new_cpu_has_its_start(void **state) {
  const evlist_target_t *target;
  uvperf__evlist_t *evlist;
  evlist_make_t make;

  (void)state;
  host_tree_write("/proc/self/status", "NSpid:\t12\n");
  host_tree_write("/proc/4711/task/4711/stat",
                  "4711 (a) S 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 "
                  "77 0\n");
  evlist_make_records(&make, 1);
  evlist_add_thread(&make, 4711);
  evlist = evlist_follow_open(&make);
  target = evlist->places->targets[0];
  assert_int_equal(target->places[0].start, 77);
  evlist_follow_come(evlist, 7);
  assert_int_equal(target->nr_places, 4);
  assert_int_equal(target->places[3].place.pid, 4711);
  assert_int_equal(target->places[3].start, 77);
  evlist_follow_end(evlist);
}

/* -- PMUs ----------------------------------------------------------------- */

#define PMUS "/sys/bus/event_source/devices"

static uvperf__evlist_t *open_names(const char *names) {
  uvperf__evlist_t *evlist;
  uvperf_event_list_t *list;
  evlist_make_t make;

  host_tree_write(PMUS "/far/type", "21\n");
  host_tree_write(PMUS "/far/cpus", "6-8\n");
  host_tree_write(PMUS "/far/format/event", "config:0-7\n");
  host_tree_write(PMUS "/pkg/type", "24\n");
  host_tree_write(PMUS "/pkg/format/event", "config:0-7\n");
  host_tree_write(PMUS "/pkg/events/joules", "event=2\n");
  host_tree_write(PMUS "/pkg/events/joules.per-pkg", "1\n");
  assert_int_equal(uvperf__event_list_parse(&list, names, NULL), 0);
  evlist_make(&make, 0);
  make.options.events = list;
  evlist_add_cpus(&make, NULL);
  evlist = evlist_follow_open(&make);
  uvperf_event_list_free(list);
  return evlist;
}

static void write_package(int cpu, const char *package) {
  char path[128];

  snprintf(path, sizeof(path),
           "/sys/devices/system/cpu/cpu%d/topology/physical_package_id", cpu);
  host_tree_write(path, package);
}

static void event_of_other_cpus_is_no_failure_once_one_comes(void **state) {
  uvperf__evlist_t *evlist;

  (void)state;
  evlist = open_names("cpu-clock,far/event=1/");
  assert_int_equal(evlist_nr_failures(evlist), 1);
  assert_int_equal(evlist_failure(evlist, 0)->cpu, -1);
  evlist_follow_come(evlist, 7);
  assert_int_equal(evlist_nr_failures(evlist), 0);
  assert_int_equal(evlist_at(evlist, 1, 0).state, UVPERF_COUNT_NONE);
  assert_int_equal(evlist_follow_events[4]->cpu, 7);
  assert_int_equal(evlist_follow_events[4]->attr.type, 21);
  counters_give(evlist_follow_events[4], 7, 5, 5);
  assert_int_equal(evlist_at(evlist, 1, 3).value, 7);
  evlist_follow_end(evlist);
}

static void event_of_other_cpus_stays_a_failure_when_others_come(void **state) {
  uvperf__evlist_t *evlist;

  (void)state;
  evlist = open_names("cpu-clock,far/event=1/");
  assert_int_equal(uvperf__evlist_cpu_come(evlist, 5, NULL), 0);
  assert_int_equal(evlist_nr_failures(evlist), 1);
  assert_int_equal(evlist_at(evlist, 1, 3).state, UVPERF_COUNT_NOT_AVAILABLE);
  evlist_follow_end(evlist);
}

static void package_is_counted_once_whichever_cpu_comes(void **state) {
  uvperf__evlist_t *evlist;

  (void)state;
  write_package(0, "0\n");
  write_package(1, "0\n");
  write_package(2, "1\n");
  evlist = open_names("pkg/joules/");
  assert_int_equal(uvperf__evlist_nr_open(evlist), 2);
  cpu_tree_bring_up(7);
  write_package(7, "1\n");
  evlist_follow_come(evlist, 7);
  assert_int_equal(uvperf__evlist_nr_open(evlist), 2);
  assert_int_equal(evlist_at(evlist, 0, 3).state, UVPERF_COUNT_NONE);
  cpu_tree_bring_up(8);
  write_package(8, "2\n");
  evlist_follow_come(evlist, 8);
  assert_int_equal(uvperf__evlist_nr_open(evlist), 3);
  evlist_follow_come_back(evlist, 1);
  assert_int_equal(uvperf__evlist_nr_open(evlist), 3);
  evlist_follow_end(evlist);
}

/* An offline CPU has no known package: it was tried, and is not needed. */
/* The value is the current one, not a sum that continues; the times do. */
static void snapshot_of_a_cpu_that_came_back_is_not_added(void **state) {
  uvperf__evlist_t *evlist;
  uvperf_count_t count;

  (void)state;
  host_tree_write(PMUS "/pkg/events/watts", "event=3\n");
  host_tree_write(PMUS "/pkg/events/watts.snapshot", "1\n");
  evlist = open_names("pkg/watts/");
  assert_int_equal(uvperf__evlist_enable(evlist, NULL), 0);
  counters_give(evlist_follow_events[1], 40, 20, 20);
  evlist_follow_come_back(evlist, 1);
  assert_int_equal(evlist_follow_events[3]->cpu, 1);
  counters_give(evlist_follow_events[3], 30, 5, 5);
  count = evlist_at(evlist, 0, 1);
  assert_int_equal(count.value, 30);
  assert_int_equal(count.time_running, 25);
  evlist_follow_end(evlist);
}

static void cpu_whose_package_is_counted_is_not_tried_again(void **state) {
  uvperf__evlist_t *evlist;

  (void)state;
  write_package(0, "0\n");
  write_package(2, "1\n");
  fake_fail(FAKE_OPEN, 2, -ENODEV);
  evlist = open_names("pkg/joules/");
  assert_int_equal(evlist_nr_failures(evlist), 1);
  write_package(1, "0\n");
  evlist_follow_come(evlist, 1);
  assert_int_equal(evlist_nr_failures(evlist), 0);
  assert_int_equal(uvperf__evlist_nr_open(evlist), 2);
  assert_int_equal(evlist_at(evlist, 0, 1).state, UVPERF_COUNT_NONE);
  evlist_follow_end(evlist);
}

/* -- failures ------------------------------------------------------------- */

static void cpu_that_comes_without_memory_changes_nothing(void **state) {
  uvperf__evlist_t *evlist;
  evlist_make_t make;
  unsigned nth;
  int rc = -1;

  (void)state;
  for (nth = 1; rc != 0; nth++) {
    assert_in_range(nth, 1, 9);
    evlist_make(&make, 2);
    evlist_add_cpus(&make, NULL);
    evlist = evlist_follow_open(&make);
    fake_fail(FAKE_CALLOC, nth, 0);
    rc = uvperf__evlist_cpu_come(evlist, 7, NULL);
    assert_true(rc == 0 || rc == -ENOMEM);
    assert_int_equal(evlist->places->nr_places, rc == 0 ? 4 : 3);
    uvperf__evlist_free(evlist);
    fake_kernel_reset();
    counters_script(evlist_follow_events, COUNTERS_FOLLOW_EVENTS);
  }
  assert_true(nth > 2);
}

#define CPU(test)                                                              \
  cmocka_unit_test_setup_teardown(test, evlist_follow_setup,                   \
                                  evlist_follow_teardown)

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
