/* SPDX-License-Identifier: MIT */
/* Scripted: CPUs that go and come back. An event of a CPU that went no longer
 * counts, whatever is done to it. */
#include "evlist_follow.h"
#include "host_tree.h"
#include "live.h"

#include <errno.h>
#include <unistd.h>

#include "fake_clock.h"
#include "evlist/internal.h"

/* nr_attrs attrs on these CPUs, enabled. */
static uvperf__evlist_t *begin(size_t nr_attrs, const char *cpus) {
  uvperf__evlist_t *evlist;
  evlist_make_t make;

  evlist_make(&make, nr_attrs);
  evlist_add_cpus(&make, cpus);
  evlist = evlist_follow_open(&make);
  assert_int_equal(uvperf__evlist_enable(evlist, NULL), 0);
  return evlist;
}

/* -- counts go on --------------------------------------------------------- */

static void cpu_that_came_back_counts_on_from_where_it_was(void **state) {
  uvperf__evlist_t *evlist;
  uvperf_count_t count;

  (void)state;
  evlist = begin(1, NULL);
  counters_give(evlist_follow_events[0], 1, 10, 10);
  counters_give(evlist_follow_events[1], 100, 20, 10);
  counters_give(evlist_follow_events[2], 2, 10, 10);
  uvperf__evlist_cpu_gone(evlist, 1);
  count = evlist_at(evlist, 0, 1);
  assert_int_equal(count.state, UVPERF_COUNT_COUNTING);
  assert_int_equal(count.value, 100);
  fake_log_clear();
  evlist_follow_come(evlist, 1);
  assert_string_equal(fake_log(), "read, close, open, ioctl ENABLE");
  assert_false(evlist_follow_events[1]->fd >= 0);
  assert_int_equal(evlist_follow_events[3]->cpu, 1);
  assert_int_equal(evlist_follow_events[3]->pid, -1);
  assert_true(evlist_follow_events[3]->enabled);
  assert_int_equal(uvperf__evlist_fd(evlist, 0, 1),
                   evlist_follow_events[3]->fd);
  counters_give(evlist_follow_events[3], 0, 0, 0);
  assert_int_equal(evlist_at(evlist, 0, 1).value, 100);
  counters_give(evlist_follow_events[3], 7, 5, 4);
  count = evlist_at(evlist, 0, 1);
  assert_int_equal(count.state, UVPERF_COUNT_COUNTING);
  assert_int_equal(count.value, 107);
  assert_int_equal(count.time_enabled, 25);
  assert_int_equal(count.time_running, 14);
  assert_int_equal(evlist_total(evlist, 0).value, 110);
  assert_int_equal(evlist_nr_places(evlist), 3);
  evlist_follow_come_back(evlist, 1);
  counters_give(evlist_follow_events[4], 3, 1, 1);
  assert_int_equal(evlist_at(evlist, 0, 1).value, 110);
  evlist_follow_end(evlist);
}

/* As hotplug reports a CPU that went and came back unnoticed. */
static void cpu_that_comes_without_having_gone_is_reopened(void **state) {
  uvperf__evlist_t *evlist;

  (void)state;
  evlist = begin(1, "1");
  counters_give(evlist_follow_events[0], 100, 20, 20);
  evlist_follow_come(evlist, 1);
  counters_give(evlist_follow_events[1], 7, 5, 5);
  assert_int_equal(evlist_at(evlist, 0, 0).value, 107);
  evlist_follow_end(evlist);
}

static void cpu_that_is_away_counts_nothing_and_lacks_nothing(void **state) {
  uvperf_reading_t *older, *newer, *delta;
  uvperf__evlist_t *evlist;
  uvperf_count_t count;

  (void)state;
  evlist = begin(1, "1");
  assert_int_equal(uvperf_reading_new(&older), 0);
  assert_int_equal(uvperf_reading_new(&newer), 0);
  assert_int_equal(uvperf_reading_new(&delta), 0);
  counters_give(evlist_follow_events[0], 100, 20, 20);
  uvperf__evlist_cpu_gone(evlist, 1);
  assert_int_equal(uvperf__evlist_read(evlist, older), 0);
  assert_int_equal(uvperf__evlist_read(evlist, newer), 0);
  assert_int_equal(uvperf_reading_delta(delta, older, newer), 0);
  assert_int_equal(uvperf_reading_get(delta, 0, UVPERF_ALL, 0, &count), 0);
  assert_int_equal(count.state, UVPERF_COUNT_NOT_ENABLED);
  assert_int_equal(count.nr_missing, 0);
  evlist_follow_come(evlist, 1);
  counters_give(evlist_follow_events[1], 7, 5, 5);
  assert_int_equal(uvperf__evlist_read(evlist, newer), 0);
  assert_int_equal(uvperf_reading_delta(delta, older, newer), 0);
  assert_int_equal(uvperf_reading_get(delta, 0, UVPERF_ALL, 0, &count), 0);
  assert_int_equal(count.state, UVPERF_COUNT_COUNTING);
  assert_int_equal(count.value, 7);
  assert_int_equal(count.time_enabled, 5);
  uvperf_reading_free(older);
  uvperf_reading_free(newer);
  uvperf_reading_free(delta);
  evlist_follow_end(evlist);
}

static void reset_before_or_while_away_is_kept(void **state) {
  uvperf__evlist_t *evlist;

  (void)state;
  evlist = begin(1, "1");
  counters_give(evlist_follow_events[0], 100, 20, 20);
  assert_int_equal(uvperf__evlist_reset(evlist), 0);
  counters_give(evlist_follow_events[0], 130, 30, 30);
  evlist_follow_come_back(evlist, 1);
  counters_give(evlist_follow_events[1], 7, 5, 5);
  assert_int_equal(evlist_at(evlist, 0, 0).value, 37);
  uvperf__evlist_cpu_gone(evlist, 1);
  assert_int_equal(uvperf__evlist_reset(evlist), 0);
  assert_int_equal(evlist_at(evlist, 0, 0).value, 0);
  evlist_follow_come(evlist, 1);
  counters_give(evlist_follow_events[2], 3, 2, 2);
  assert_int_equal(evlist_at(evlist, 0, 0).value, 3);
  assert_int_equal(evlist_at(evlist, 0, 0).time_enabled, 2);
  evlist_follow_end(evlist);
}

/* -- groups --------------------------------------------------------------- */

/* Two events on CPU 1. */
static uvperf__evlist_t *open_group(void) {
  evlist_make_t make;

  evlist_make(&make, 2);
  evlist_group(&make, 0, 2);
  evlist_add_cpus(&make, "1");
  return evlist_follow_open(&make);
}

static void group_that_the_kernel_took_apart_is_read_one_by_one(void **state) {
  static const uint64_t ids[] = {100, 101};
  static const uint64_t values[] = {7, 9};
  uvperf__evlist_t *evlist;

  (void)state;
  evlist = open_group();
  assert_int_equal(uvperf__evlist_enable(evlist, NULL), 0);
  counters_give_group(evlist_follow_events[0], 10, 10, ids, values, 1);
  counters_give_group(evlist_follow_events[1], 10, 10, ids + 1, values + 1, 1);
  assert_int_equal(evlist_at(evlist, 0, 0).value, 7);
  assert_int_equal(evlist_at(evlist, 1, 0).value, 9);
  assert_int_equal(evlist_at(evlist, 1, 0).state, UVPERF_COUNT_COUNTING);
  fake_log_clear();
  evlist_follow_come_back(evlist, 1);
  assert_string_equal(fake_log(), "read, read, read, read, close, close, open, "
                                  "ioctl ID, open, ioctl ID, ioctl ENABLE");
  assert_int_equal(evlist_follow_events[2]->group_fd, -1);
  assert_int_equal(evlist_follow_events[3]->group_fd,
                   evlist_follow_events[2]->fd);
  evlist_follow_end(evlist);
}

static void group_that_came_back_counts_on(void **state) {
  static const uint64_t ids[] = {100, 101}, new_ids[] = {102, 103};
  static const uint64_t values[] = {7, 9}, new_values[] = {10, 20};
  uvperf__evlist_t *evlist;

  (void)state;
  evlist = open_group();
  assert_int_equal(uvperf__evlist_enable(evlist, NULL), 0);
  counters_give_group(evlist_follow_events[0], 10, 10, ids, values, 2);
  evlist_follow_come_back(evlist, 1);
  counters_give_group(evlist_follow_events[2], 10, 10, new_ids, new_values, 2);
  assert_int_equal(evlist_at(evlist, 0, 0).value, 17);
  assert_int_equal(evlist_at(evlist, 1, 0).value, 29);
  assert_int_equal(evlist_at(evlist, 1, 0).time_enabled, 20);
  evlist_follow_end(evlist);
}

/* Otherwise its members would be leaders for a moment. */
static void group_is_closed_with_its_leader_last(void **state) {
  uvperf__evlist_t *evlist;

  (void)state;
  evlist = open_group();
  assert_int_equal(uvperf__evlist_attach_bpf(evlist, 0, 0, 0, NULL), 0);
  uvperf__evlist_cpu_gone(evlist, 1);
  fake_log_clear();
  evlist_follow_come(evlist, 1);
  assert_non_null(strstr(fake_log(), "close, ioctl DISABLE, close link, close, "
                                     "open"));
  evlist_follow_end(evlist);
}

/* -- settings ------------------------------------------------------------- */

/* The directory is opened again, and closed. */
static void cpu_that_comes_opens_the_events_of_a_cgroup(void **state) {
  uvperf__evlist_t *evlist;
  live_cgroup_t cgroup;
  evlist_make_t make;
  size_t fds;

  (void)state;
  live_cgroup_make(__func__, &cgroup);
  evlist_make(&make, 1);
  host_tree_write("/proc/self/mounts", "c /cg cgroup2 rw 0 0\n");
  host_tree_link("/cg", cgroup.path);
  evlist_add(&make, UVPERF_TARGET_CGROUP)->cgroup = "/cg";
  make.targets[0].cpus = "0";
  evlist = evlist_open(&make);
  fds = support_count_fds();
  evlist_follow_come_back(evlist, 0);
  assert_int_equal(evlist_follow_events[1]->flags,
                   PERF_FLAG_FD_CLOEXEC | PERF_FLAG_PID_CGROUP);
  assert_true(evlist_follow_events[1]->pid >= 0);
  assert_int_equal(support_count_fds(), fds);
  evlist_follow_end(evlist);
  live_cgroup_remove(&cgroup);
}

static void set_that_is_not_enabled_is_not_when_a_cpu_comes(void **state) {
  uvperf__evlist_t *evlist;

  (void)state;
  evlist = begin(1, "1");
  assert_int_equal(uvperf__evlist_disable(evlist, NULL), 0);
  fake_log_clear();
  evlist_follow_come_back(evlist, 1);
  assert_null(strstr(fake_log(), "ENABLE"));
  assert_false(evlist_follow_events[1]->enabled);
  evlist_follow_end(evlist);
}

static void filter_period_and_program_are_set_again(void **state) {
  uvperf__evlist_t *evlist;
  evlist_make_t make;

  (void)state;
  evlist_make(&make, 1);
  make.attrs[0].type = PERF_TYPE_TRACEPOINT;
  make.attrs[0].config = 5;
  make.attrs[0].sample_period = 10;
  evlist_add_cpus(&make, "0-1");
  evlist = evlist_follow_open(&make);
  assert_int_equal(uvperf__evlist_apply_filter(evlist, 0, "a == 1", NULL), 0);
  assert_int_equal(uvperf__evlist_change_period(evlist, 0, 20, NULL), 0);
  assert_int_equal(uvperf__evlist_attach_bpf(evlist, 0, 0, 0, NULL), 0);
  fake_log_clear();
  evlist_follow_come_back(evlist, 1);
  assert_string_equal(fake_log(), "read, read, ioctl DISABLE, close link, "
                                  "close, open, ioctl SET_FILTER, "
                                  "bpf link");
  assert_int_equal(evlist_follow_events[2]->attr.sample_period, 20);
  evlist_follow_end(evlist);
}

/* -- failures ------------------------------------------------------------- */

static void cpu_that_was_offline_at_first_begins_to_count(void **state) {
  const uvperf_set_failure_t *failure;
  uvperf__evlist_t *evlist;

  (void)state;
  fake_fail(FAKE_OPEN, 2, -ENODEV);
  evlist = begin(1, "0-2");
  assert_int_equal(evlist_nr_failures(evlist), 1);
  failure = evlist_failure(evlist, 0);
  assert_int_equal(failure->cpu, 1);
  assert_int_equal(evlist_at(evlist, 0, 1).state, UVPERF_COUNT_NOT_AVAILABLE);
  evlist_follow_come(evlist, 1);
  assert_int_equal(evlist_nr_failures(evlist), 0);
  counters_give(evlist_follow_events[2], 7, 5, 5);
  assert_int_equal(evlist_at(evlist, 0, 1).value, 7);
  assert_int_equal(uvperf__evlist_nr_open(evlist), 3);
  evlist_follow_end(evlist);
}

/* So a set that follows CPUs can be started before. */
static void event_that_writes_may_come_with_a_cpu(void **state) {
  static const struct {
    uint32_t flags;
    const char *online;
    int code; /* of opening it */
    int started;
  } cases[] = {{0, "0,2\n", -ENODEV, 0},
               {UVPERF_SET_FIXED_CPUS, "0,2\n", -ENODEV, -ENODEV},
               {0, "0-2\n", -ENOENT, -ENOENT}};
  uvperf__evlist_t *evlist;
  evlist_make_t make;
  uvperf_error_t error;
  size_t i;

  (void)state;
  for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
    evlist_make_records(&make, 2);
    make.options.flags |= cases[i].flags;
    make.attrs[0].sample_period = 0;
    evlist_add_cpus(&make, "1");
    cpu_tree_list(cases[i].online);
    fake_fail(FAKE_OPEN, 2, cases[i].code);
    evlist = evlist_follow_open(&make);
    assert_int_equal(uvperf__evlist_check_writers(evlist, &error),
                     cases[i].started);
    evlist_follow_end(evlist);
  }
}

/* It must not look as if everything had been counted again when it is back. */
static void event_that_cannot_be_opened_again_is_an_error(void **state) {
  uvperf_reading_t *older, *newer, *delta;
  uvperf__evlist_t *evlist;
  uvperf_count_t count;
  uvperf_error_t error;

  (void)state;
  assert_int_equal(uvperf_reading_new(&older), 0);
  assert_int_equal(uvperf_reading_new(&newer), 0);
  assert_int_equal(uvperf_reading_new(&delta), 0);
  evlist = begin(1, "1");
  counters_give(evlist_follow_events[0], 100, 20, 20);
  fake_fail(FAKE_OPEN, 1, -ENODEV);
  uvperf__evlist_cpu_gone(evlist, 1);
  cpu_tree_list("0,2\n");
  assert_int_equal(uvperf__evlist_cpu_come(evlist, 1, &error), -ENODEV);
  assert_int_equal(error.cause, UVPERF_CAUSE_NO_CPU);
  assert_int_equal(evlist_nr_failures(evlist), 1);
  count = evlist_at(evlist, 0, 0);
  assert_int_equal(count.state, UVPERF_COUNT_ERROR);
  assert_int_equal(count.code, -ENODEV);
  assert_int_equal(count.nr_missing, 1);
  assert_int_equal(uvperf__evlist_read(evlist, older), 0);
  evlist_follow_come(evlist, 1);
  assert_int_equal(evlist_nr_failures(evlist), 0);
  counters_give(evlist_follow_events[1], 7, 5, 5);
  assert_int_equal(evlist_at(evlist, 0, 0).value, 107);
  assert_int_equal(uvperf__evlist_read(evlist, newer), 0);
  assert_int_equal(uvperf_reading_delta(delta, older, newer), 0);
  assert_int_equal(uvperf_reading_get(delta, 0, UVPERF_ALL, 0, &count), 0);
  assert_int_equal(count.state, UVPERF_COUNT_ERROR);
  uvperf_reading_free(older);
  uvperf_reading_free(newer);
  uvperf_reading_free(delta);
  evlist_follow_end(evlist);
}

/* The kernel uses an id only once. Here the new event of a counter gets the id
 * of the old one, so that it cannot be matched, and is closed again. */
static void counter_with_the_id_of_another_is_closed_once(void **state) {
  uvperf__evlist_t *evlist;
  evlist_make_t make;
  uvperf_error_t error;

  (void)state;
  evlist_make_records(&make, 2);
  make.attrs[1].sample_period = 0;
  evlist_add_cpus(&make, "1");
  evlist = evlist_follow_open(&make);
  assert_int_equal(evlist_source(evlist, 102)->attr_index, 1);
  evlist_follow_events[4]->id = 102;
  fake_clock_set_counters(1);
  uvperf__evlist_cpu_gone(evlist, 1);
  assert_int_equal(uvperf__evlist_cpu_come(evlist, 1, &error), -EEXIST);
  fake_clock_set_counters(UINT64_C(1000000000));
  uvperf__evlist_free_sources(evlist);
  assert_null(evlist_source(evlist, 102));
  assert_non_null(evlist_source(evlist, 103));
  fake_clock_set_counters(0);
  evlist_follow_end(evlist);
}

/* All events of the place, with the fds that are left; the other places
 * continue. */
static void fds_that_do_not_suffice_are_a_failure_of_the_place(void **state) {
  uvperf__evlist_t *evlist;
  uvperf_error_t error;

  (void)state;
  evlist = begin(3, "0-1");
  fake_fail_from(FAKE_OPEN, 2, -EMFILE);
  uvperf__evlist_cpu_gone(evlist, 1);
  assert_int_equal(uvperf__evlist_cpu_come(evlist, 1, &error), -EMFILE);
  assert_int_equal(error.cause, UVPERF_CAUSE_FILES);
  assert_int_equal(error.attr_index, 1);
  assert_int_equal(evlist_nr_failures(evlist), 2);
  assert_int_equal(evlist_failure(evlist, 0)->error.attr_index, 1);
  assert_int_equal(evlist_failure(evlist, 1)->error.attr_index, 2);
  assert_int_equal(evlist_failure(evlist, 1)->cpu, 1);
  assert_int_equal(uvperf__evlist_nr_open(evlist), 4);
  evlist_follow_end(evlist);
}

static void strict_set_keeps_what_can_be_opened(void **state) {
  uvperf__evlist_t *evlist;
  evlist_make_t make;

  (void)state;
  evlist_make(&make, 2);
  evlist_add_cpus(&make, "0-1");
  make.options.flags = UVPERF_SET_STRICT;
  evlist = evlist_follow_open(&make);
  fake_fail(FAKE_OPEN, 1, -ENOENT);
  uvperf__evlist_cpu_gone(evlist, 1);
  assert_int_equal(uvperf__evlist_cpu_come(evlist, 1, NULL), -ENOENT);
  assert_int_equal(uvperf__evlist_nr_open(evlist), 3);
  assert_int_equal(evlist_nr_failures(evlist), 1);
  evlist_follow_end(evlist);
}

static void strict_set_is_strict_again_after_a_cpu_came(void **state) {
  uvperf_target_t target = UVPERF_TARGET_INIT;
  uvperf__evlist_t *evlist;
  evlist_make_t make;

  (void)state;
  evlist_make(&make, 2);
  evlist_add_cpus(&make, "0-1");
  make.options.flags = UVPERF_SET_STRICT;
  evlist = evlist_follow_open(&make);
  evlist_follow_come_back(evlist, 1);
  target.type = UVPERF_TARGET_CPUS;
  target.cpus = "2";
  fake_fail(FAKE_OPEN, 2, -ENOENT);
  assert_int_equal(uvperf__evlist_add_target(evlist, &target, NULL, NULL),
                   -ENOENT);
  assert_int_equal(uvperf__evlist_nr_open(evlist), 4);
  evlist_follow_end(evlist);
}

static void failures_stay_in_order(void **state) {
  uvperf__evlist_t *evlist;
  evlist_make_t make;
  size_t i;

  (void)state;
  evlist_make(&make, 2);
  evlist_add_cpus(&make, "0-2");
  evlist_add_cpus(&make, "0-2");
  fake_fail(FAKE_OPEN, 5, -ENODEV);  /* target 0, CPU 2, attr 0 */
  fake_fail(FAKE_OPEN, 10, -ENODEV); /* target 1, CPU 1, attr 1 */
  fake_fail(FAKE_OPEN, 12, -ENODEV); /* target 1, CPU 2, attr 1 */
  evlist = evlist_follow_open(&make);
  assert_int_equal(evlist_nr_failures(evlist), 3);
  fake_fail_from(FAKE_OPEN, 1, -ENODEV);
  uvperf__evlist_cpu_gone(evlist, 1);
  assert_int_equal(uvperf__evlist_cpu_come(evlist, 1, NULL), -ENODEV);
  assert_int_equal(evlist_nr_failures(evlist), 6);
  for (i = 0; i < 6; i++) {
    static const unsigned wanted[6][3] = {{0, 1, 0}, {0, 1, 1}, {0, 2, 0},
                                          {1, 1, 0}, {1, 1, 1}, {1, 2, 1}};
    const uvperf_set_failure_t *failure = evlist_failure(evlist, i);

    assert_int_equal(failure->error.target_index, wanted[i][0]);
    assert_int_equal(failure->cpu, wanted[i][1]);
    assert_int_equal(failure->error.attr_index, wanted[i][2]);
  }
  evlist_follow_end(evlist);
}

/* -- what goes on --------------------------------------------------------- */

/* Like a package's events, which their driver moves to another CPU. */
static void event_that_has_gone_on_is_left_alone(void **state) {
  uvperf__evlist_t *evlist;

  (void)state;
  evlist = begin(1, "1");
  counters_give(evlist_follow_events[0], 100, 20, 20);
  uvperf__evlist_cpu_gone(evlist, 1);
  counters_give(evlist_follow_events[0], 120, 30, 30);
  assert_int_equal(evlist_at(evlist, 0, 0).value, 120);
  fake_log_clear();
  evlist_follow_come(evlist, 1);
  assert_null(strstr(fake_log(), "open"));
  counters_give(evlist_follow_events[0], 130, 35, 35);
  assert_int_equal(evlist_at(evlist, 0, 0).value, 130);
  /* It is not known of one that cannot be read. */
  uvperf__evlist_cpu_gone(evlist, 1);
  counters_give(evlist_follow_events[0], 140, 40, 40);
  assert_int_equal(evlist_at(evlist, 0, 0).value, 140);
  fake_fail(FAKE_READ, 1, -EIO);
  evlist_follow_come(evlist, 1);
  counters_give(evlist_follow_events[1], 7, 5, 5);
  assert_int_equal(evlist_at(evlist, 0, 0).value, 147);
  evlist_follow_end(evlist);
}

/* If it is enabled after the CPU is back and before the check, it seems to wait
 * for a counter (__perf_event_enable in kernel/events/core.c does not check
 * whether it is in its context), and its time continues while others count
 * there. */
static void event_that_was_enabled_and_does_not_run_is_reopened(void **state) {
  uvperf__evlist_t *evlist;

  (void)state;
  evlist = begin(1, "1");
  counters_give(evlist_follow_events[0], 100, 20, 20);
  uvperf__evlist_cpu_gone(evlist, 1);
  counters_give(evlist_follow_events[0], 100, 30, 20);
  evlist_follow_come(evlist, 1);
  counters_give(evlist_follow_events[1], 7, 5, 5);
  assert_int_equal(evlist_at(evlist, 0, 0).value, 107);
  evlist_follow_end(evlist);
}

/* Events of tasks on a CPU continue by themselves when it is back. */
static void events_of_tasks_are_opened_only_where_they_failed(void **state) {
  uvperf__evlist_t *evlist;
  evlist_make_t make;

  (void)state;
  evlist_make(&make, 2);
  evlist_add_thread(&make, 4711);
  make.targets[0].cpus = "0-1";
  fake_fail(FAKE_OPEN, 4, -ENODEV);
  evlist = evlist_follow_open(&make);
  assert_int_equal(evlist_nr_failures(evlist), 1);
  uvperf__evlist_cpu_gone(evlist, 1);
  fake_log_clear();
  evlist_follow_come(evlist, 1);
  assert_string_equal(fake_log(), "open");
  assert_int_equal(evlist_follow_events[3]->pid, 4711);
  assert_int_equal(evlist_follow_events[3]->cpu, 1);
  assert_int_equal(evlist_nr_failures(evlist), 0);
  evlist_follow_end(evlist);
}

/* The kernel enables the events of a command at its execve(2), and so not those
 * that are opened later. One that has not called it must not be enabled by
 * hand. */
static void event_of_a_command_is_enabled_if_that_has_begun(void **state) {
  uvperf__evlist_t *evlist;
  fake_event_t **events = evlist_follow_events;
  evlist_make_t make;
  uint64_t begun;

  for (begun = 0; begun < 2; begun++) {
    fake_kernel_reset();
    counters_script(events, 2);
    evlist_make(&make, 1);
    evlist_add(&make, UVPERF_TARGET_COMMAND)->pid = getpid();
    make.targets[0].cpus = "0-1";
    fake_fail(FAKE_OPEN, 2, -ENODEV);
    evlist = evlist_follow_open(&make);
    counters_give(events[0], 0, 0, 0);
    assert_int_equal(uvperf__evlist_enable(evlist, NULL), 0);
    assert_false(events[0]->enabled);
    counters_give(events[0], 0, begun, 0);
    counters_give(events[1], 0, 0, 0);
    evlist_follow_come(evlist, 1);
    assert_int_equal(events[1]->cpu, 1);
    assert_int_equal(events[1]->enabled, begun);
    evlist_follow_end(evlist);
  }
  (void)state;
}

/* -- in a forked child --------------------------------------------------- */

static void forked_child_opens_nothing(void **state) {
  uvperf__evlist_t *evlist;

  (void)state;
  evlist = begin(1, NULL);
  fake_process(4711);
  fake_log_clear();
  uvperf__evlist_cpu_gone(evlist, 1);
  assert_int_equal(uvperf__evlist_cpu_come(evlist, 1, NULL), -EPERM);
  assert_string_equal(fake_log(), "");
  fake_process(0);
  evlist_follow_end(evlist);
}

#define CPU(test)                                                              \
  cmocka_unit_test_setup_teardown(test, evlist_follow_setup,                   \
                                  evlist_follow_teardown)

int main(void) {
  const struct CMUnitTest tests[] = {
      CPU(cpu_that_came_back_counts_on_from_where_it_was),
      CPU(cpu_that_comes_without_having_gone_is_reopened),
      CPU(cpu_that_is_away_counts_nothing_and_lacks_nothing),
      CPU(reset_before_or_while_away_is_kept),
      CPU(group_that_the_kernel_took_apart_is_read_one_by_one),
      CPU(group_that_came_back_counts_on),
      CPU(group_is_closed_with_its_leader_last),
      CPU(set_that_is_not_enabled_is_not_when_a_cpu_comes),
      CPU(cpu_that_comes_opens_the_events_of_a_cgroup),
      CPU(filter_period_and_program_are_set_again),
      CPU(cpu_that_was_offline_at_first_begins_to_count),
      CPU(event_that_writes_may_come_with_a_cpu),
      CPU(event_that_cannot_be_opened_again_is_an_error),
      CPU(counter_with_the_id_of_another_is_closed_once),
      CPU(fds_that_do_not_suffice_are_a_failure_of_the_place),
      CPU(strict_set_keeps_what_can_be_opened),
      CPU(strict_set_is_strict_again_after_a_cpu_came),
      CPU(failures_stay_in_order),
      CPU(event_that_has_gone_on_is_left_alone),
      CPU(event_that_was_enabled_and_does_not_run_is_reopened),
      CPU(events_of_tasks_are_opened_only_where_they_failed),
      CPU(event_of_a_command_is_enabled_if_that_has_begun),
      CPU(forked_child_opens_nothing),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
