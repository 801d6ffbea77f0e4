/* SPDX-License-Identifier: MIT */
/* Scripted: targets that come and go, and which are refused. */
#include "evlist_make.h"
#include "temp_tree.h"

#include <errno.h>
#include <unistd.h>

#include "name/list.h"
#include "evlist/internal.h"

static evlist_make_t make;

static int add_cpus(uvperf__evlist_t *evlist, const char *cpus, uint32_t *index,
                    uvperf_error_t *error) {
  uvperf_target_t target = UVPERF_TARGET_INIT;

  target.type = UVPERF_TARGET_CPUS;
  target.cpus = cpus;
  return uvperf__evlist_add_target(evlist, &target, index, error);
}

static void finish(uvperf__evlist_t *evlist) {
  uvperf__evlist_free(evlist);
  fake_assert_clean();
}

/* Also if others could be opened. */
static void bad_target_is_refused_as_a_whole(void **state) {
  uvperf_error_t error;

  (void)state;
  evlist_make(&make, 1);
  evlist_add_cpus(&make, "0");
  evlist_add_cpus(&make, "zero");
  evlist_refused(&make, &error, -EINVAL, UVPERF_CAUSE_ARGUMENT);
  assert_int_equal(error.target_index, 1);
  assert_int_equal(fake_count(FAKE_OPEN), 0);
  evlist_make(&make, 1);
  evlist_add_cpus(&make, "0");
  evlist_add_cpus(&make, "0");
  make.targets[1].size = 3;
  evlist_refused(&make, &error, -EINVAL, UVPERF_CAUSE_ARGUMENT);
  assert_int_equal(error.target_index, 1);
}

/* Of a later version: longer, and 0 after the known part. */
static void targets_of_another_size_are_read_by_it(void **state) {
  struct {
    uvperf_target_t target;
    uint64_t more[3];
  } targets[2];
  static const uvperf_target_t init = UVPERF_TARGET_INIT;
  uvperf__evlist_t *evlist;
  fake_event_t *events[2];
  uvperf_error_t error;
  size_t i;

  (void)state;
  counters_script(events, 2);
  evlist_make(&make, 1);
  memset(targets, 0, sizeof(targets));
  for (i = 0; i < 2; i++) {
    targets[i].target = init;
    targets[i].target.size = sizeof(targets[i]);
    targets[i].target.type = UVPERF_TARGET_CPUS;
    targets[i].target.cpus = i == 0 ? "4" : "6";
  }
  make.options.targets = &targets[0].target;
  make.options.nr_targets = 2;
  evlist = evlist_open(&make);
  assert_int_equal(events[0]->cpu, 4);
  assert_int_equal(events[1]->cpu, 6);
  finish(evlist);
  targets[1].more[2] = 1;
  evlist_refused(&make, &error, -E2BIG, UVPERF_CAUSE_ARGUMENT);
  assert_int_equal(error.target_index, 1);
}

static void targets_come_and_go(void **state) {
  uvperf__evlist_t *evlist;
  fake_event_t *events[6];
  uvperf_error_t error;
  uint32_t index = 99;

  (void)state;
  counters_script(events, 6);
  evlist_make(&make, 2);
  evlist_add_cpus(&make, "0");
  evlist = evlist_open(&make);
  assert_int_equal(add_cpus(evlist, "1", &index, NULL), 0);
  assert_int_equal(index, 1);
  assert_int_equal(evlist_nr_places(evlist), 2);
  assert_int_equal(uvperf__evlist_nr_open(evlist), 4);
  fake_log_clear();
  assert_int_equal(uvperf__evlist_remove_target(evlist, 0, NULL, NULL), 0);
  assert_string_equal(fake_log(), "close, close");
  assert_int_equal(events[0]->fd, -1);
  assert_int_equal(evlist_nr_places(evlist), 1);
  assert_int_equal(uvperf__evlist_nr_open(evlist), 2);
  assert_int_equal(uvperf__evlist_remove_target(evlist, 0, NULL, NULL),
                   -ENOENT);
  assert_int_equal(uvperf__evlist_remove_target(evlist, 7, NULL, NULL),
                   -ENOENT);
  /* The index of one that is gone is not used again. */
  assert_int_equal(add_cpus(evlist, "two", &index, &error), -EINVAL);
  assert_int_equal(error.target_index, 2);
  assert_int_equal(add_cpus(evlist, "2", &index, NULL), 0);
  assert_int_equal(index, 2);
  finish(evlist);
}

/* The events of other targets are not read. */
static void removed_target_returns_its_last_counts(void **state) {
  uvperf__evlist_t *evlist;
  fake_event_t *events[8];
  uvperf_reading_t *last;
  uvperf_count_t count;
  size_t i;

  (void)state;
  assert_int_equal(uvperf_reading_new(&last), 0);
  counters_script(events, 8);
  evlist_make(&make, 2);
  evlist_add_cpus(&make, "0,1");
  evlist_add_cpus(&make, "2");
  fake_fail(FAKE_OPEN, 4, -ENODEV);
  evlist = evlist_open(&make);
  for (i = 0; i < 3; i++)
    counters_give(events[i], 10 + i, 7, 7);
  fake_log_clear();
  assert_int_equal(uvperf__evlist_remove_target(evlist, 0, last, NULL), 0);
  assert_string_equal(fake_log(), "read, read, read, close, close, close");
  assert_int_equal(uvperf_reading_info(last)->nr_places, 2);
  assert_int_equal(uvperf_reading_place(last, 1)->cpu, 1);
  assert_int_equal(uvperf_reading_total(last, 0, &count), 0);
  assert_int_equal(count.value, 10 + 12);
  /* The event of attr 1 could not be opened on CPU 1. */
  assert_int_equal(uvperf_reading_get(last, 1, 0, UVPERF_ALL, &count), 0);
  assert_int_equal(count.value, 11);
  assert_int_equal(count.nr_missing, 1);
  assert_int_equal(uvperf_reading_get(last, 0, 1, UVPERF_ALL, &count), -ENOENT);
  /* An event that cannot be read. */
  fake_fail(FAKE_READ, 1, -EIO);
  assert_int_equal(uvperf__evlist_remove_target(evlist, 1, last, NULL), 0);
  assert_int_equal(uvperf_reading_total(last, 0, &count), 0);
  assert_int_equal(count.state, UVPERF_COUNT_ERROR);
  assert_int_equal(count.code, -EIO);
  uvperf_reading_free(last);
  finish(evlist);
}

static void removal_without_memory_removes_nothing(void **state) {
  uvperf__evlist_t *evlist;
  fake_event_t *events[2];
  uvperf_reading_t *last;
  uvperf_error_t error;

  (void)state;
  assert_int_equal(uvperf_reading_new(&last), 0);
  counters_script(events, 2);
  evlist_make(&make, 1);
  evlist_add_cpus(&make, "0,1");
  evlist = evlist_open(&make);
  fake_log_clear();
  fake_fail(FAKE_CALLOC, 1, 0);
  assert_int_equal(uvperf__evlist_remove_target(evlist, 0, last, &error),
                   -ENOMEM);
  assert_int_equal(error.cause, UVPERF_CAUSE_MEMORY);
  assert_int_equal(uvperf_reading_info(last)->nr_attrs, 0);
  assert_string_equal(fake_log(), "");
  assert_int_equal(uvperf__evlist_nr_open(evlist), 2);
  assert_int_equal(uvperf__evlist_remove_target(evlist, 0, last, &error), 0);
  assert_int_equal(uvperf_reading_info(last)->nr_places, 2);
  assert_int_equal(uvperf__evlist_remove_target(evlist, 0, last, &error),
                   -ENOENT);
  assert_int_equal(error.cause, UVPERF_CAUSE_ARGUMENT);
  assert_int_equal(uvperf_reading_info(last)->nr_places, 2);
  uvperf_reading_free(last);
  finish(evlist);
}

static void failures_go_with_their_target(void **state) {
  uvperf__evlist_t *evlist;
  fake_event_t *events[3];
  uint32_t index;

  (void)state;
  counters_script(events, 3);
  evlist_make(&make, 2);
  evlist_add_cpus(&make, "0");
  evlist = evlist_open(&make);
  assert_int_equal(evlist_nr_failures(evlist), 0);
  fake_fail(FAKE_OPEN, 2, -ENODEV);
  assert_int_equal(add_cpus(evlist, "9", &index, NULL), 0);
  assert_int_equal(evlist_nr_failures(evlist), 1);
  assert_int_equal(evlist_failure(evlist, 0)->error.target_index, index);
  assert_int_equal(uvperf__evlist_remove_target(evlist, index, NULL, NULL), 0);
  assert_int_equal(evlist_nr_failures(evlist), 0);
  finish(evlist);
}

static void target_of_which_nothing_opens_is_not_added(void **state) {
  uvperf__evlist_t *evlist;
  fake_event_t *events[2];
  uvperf_error_t error;
  uint32_t index = 99;

  (void)state;
  counters_script(events, 2);
  evlist_make(&make, 1);
  evlist_add_cpus(&make, "0");
  evlist = evlist_open(&make);
  fake_fail(FAKE_OPEN, 1, -ENODEV);
  assert_int_equal(add_cpus(evlist, "1", &index, &error), -ENODEV);
  assert_int_equal(error.code, -ENODEV);
  assert_int_equal(index, 99);
  assert_int_equal(add_cpus(evlist, "none", &index, &error), -EINVAL);
  assert_int_equal(uvperf__evlist_add_target(evlist, NULL, &index, &error),
                   -EINVAL);
  assert_int_equal(evlist_nr_places(evlist), 1);
  assert_int_equal(evlist_nr_failures(evlist), 0);
  assert_int_equal(add_cpus(evlist, "1", &index, &error), 0);
  assert_true(index > 0);
  assert_int_equal(evlist_nr_places(evlist), 2);
  finish(evlist);
}

/* The fallback was chosen before there was a target. */
static void shortage_of_a_later_target_leaves_the_others(void **state) {
  uvperf__evlist_t *evlist;
  fake_event_t *events[5];
  uvperf_error_t error;
  size_t i, nr;

  (void)state;
  counters_script(events, 5);
  evlist_make(&make, 1);
  uvperf_attr_hardware(&make.attrs[0], PERF_COUNT_HW_CPU_CYCLES);
  make.options.fallbacks = UVPERF_FALLBACK_CLOCK;
  fake_fail(FAKE_OPEN, 1, -ENOENT);
  evlist = evlist_open(&make);
  for (i = 0; i < 3; i++) {
    if (i != 1)
      fake_fail(FAKE_OPEN, 2, -EMFILE);
    assert_int_equal(add_cpus(evlist, "0-1", NULL, &error),
                     i == 1 ? 0 : -EMFILE);
    assert_int_equal(uvperf__evlist_nr_open(evlist), i == 0 ? 0 : 2);
    assert_int_equal(events[i + 1]->attr.type, PERF_TYPE_SOFTWARE);
    uvperf__evlist_changes(evlist, 0, &nr);
    assert_int_equal(nr, 1);
    assert_int_equal(uvperf__evlist_item(evlist, 0)->attr->type,
                     PERF_TYPE_SOFTWARE);
  }
  finish(evlist);
}

static void fallback_stays_while_the_event_is_open(void **state) {
  uvperf__evlist_t *evlist;
  fake_event_t *events[1];
  size_t nr;

  (void)state;
  counters_script(events, 1);
  evlist_make(&make, 1);
  uvperf_attr_hardware(&make.attrs[0], PERF_COUNT_HW_CPU_CYCLES);
  make.options.fallbacks = UVPERF_FALLBACK_CLOCK;
  evlist_add_cpus(&make, "0");
  fake_fail(FAKE_OPEN, 1, -ENOENT);
  evlist = evlist_open(&make);
  fake_fail(FAKE_OPEN, 1, -EMFILE);
  assert_int_equal(add_cpus(evlist, "1", NULL, NULL), -EMFILE);
  assert_int_equal(uvperf__evlist_item(evlist, 0)->attr->type,
                   PERF_TYPE_SOFTWARE);
  uvperf__evlist_changes(evlist, 0, &nr);
  assert_int_equal(nr, 1);
  finish(evlist);
}

#define TEST(f) cmocka_unit_test_setup(f, evlist_make_setup)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(bad_target_is_refused_as_a_whole),
      TEST(targets_of_another_size_are_read_by_it),
      TEST(targets_come_and_go),
      TEST(removed_target_returns_its_last_counts),
      TEST(removal_without_memory_removes_nothing),
      TEST(failures_go_with_their_target),
      TEST(target_of_which_nothing_opens_is_not_added),
      TEST(shortage_of_a_later_target_leaves_the_others),
      TEST(fallback_stays_while_the_event_is_open),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
