/* SPDX-License-Identifier: MIT */
/* Scripted: enabling and disabling all events, also of targets that come
 * later. */
#include "evlist_make.h"

#include <errno.h>
#include <unistd.h>

static evlist_make_t make;

static uvperf__evlist_t *open_on_cpus(fake_event_t **events, size_t nr_attrs,
                                      const char *cpus, size_t nr_events) {
  counters_script(events, nr_events);
  evlist_make(&make, nr_attrs);
  evlist_add_cpus(&make, cpus);
  return evlist_open(&make);
}

static int add_cpu(uvperf__evlist_t *evlist, const char *cpu, uint32_t *index,
                   uvperf_error_t *error) {
  uvperf_target_t target = UVPERF_TARGET_INIT;

  target.type = UVPERF_TARGET_CPUS;
  target.cpus = cpu;
  return uvperf__evlist_add_target(evlist, &target, index, error);
}

static void finish(uvperf__evlist_t *evlist) {
  uvperf__evlist_free(evlist);
  fake_assert_clean();
}

/* -- enable, disable ------------------------------------------------------ */

static void group_is_enabled_and_disabled_by_one_ioctl(void **state) {
  fake_event_t *events[6];
  uvperf__evlist_t *evlist;

  (void)state;
  counters_script(events, 6);
  evlist_make(&make, 3);
  evlist_group(&make, 0, 2);
  evlist_add_cpus(&make, "0-1");
  evlist = evlist_open(&make);
  assert_int_equal(uvperf__evlist_is_enabled(evlist), 0);
  fake_log_clear();
  assert_int_equal(uvperf__evlist_enable(evlist, NULL), 0);
  assert_string_equal(fake_log(), "ioctl ENABLE, ioctl ENABLE, ioctl ENABLE, "
                                  "ioctl ENABLE");
  assert_int_equal(uvperf__evlist_is_enabled(evlist), 1);
  assert_int_equal(events[0]->enabled, 1);
  assert_int_equal(events[2]->enabled, 1);
  assert_int_equal(events[3]->enabled, 1);
  assert_int_equal(events[5]->enabled, 1);
  fake_log_clear();
  assert_int_equal(uvperf__evlist_disable(evlist, NULL), 0);
  assert_string_equal(fake_log(), "ioctl DISABLE, ioctl DISABLE, ioctl "
                                  "DISABLE, ioctl DISABLE");
  assert_int_equal(uvperf__evlist_is_enabled(evlist), 0);
  assert_int_equal(events[3]->enabled, 0);
  finish(evlist);
}

static void failure_to_enable_does_not_stop_the_rest(void **state) {
  fake_event_t *events[4];
  uvperf__evlist_t *evlist;
  uvperf_error_t error;

  (void)state;
  counters_script(events, 4);
  evlist_make(&make, 2);
  evlist_add_cpus(&make, "0");
  evlist_add_cpus(&make, "1");
  evlist = evlist_open(&make);
  fake_fail(FAKE_IOCTL, 2, -ENODEV);
  fake_fail(FAKE_IOCTL, 3, -EACCES);
  assert_int_equal(uvperf__evlist_enable(evlist, &error), -ENODEV);
  assert_int_equal(error.code, -ENODEV);
  assert_int_equal(error.attr_index, 1);
  assert_int_equal(error.target_index, 0);
  assert_non_null(strstr(error.reason, "'page-faults'"));
  assert_int_equal(events[0]->enabled, 1);
  assert_int_equal(events[3]->enabled, 1);
  fake_fail(FAKE_IOCTL, 3, -EACCES);
  fake_fail(FAKE_IOCTL, 4, -ENOMEM);
  assert_int_equal(uvperf__evlist_disable(evlist, &error), -EACCES);
  assert_int_equal(error.code, -EACCES);
  assert_int_equal(error.attr_index, 0);
  assert_int_equal(error.target_index, 1);
  assert_int_equal(events[1]->enabled, 0);
  finish(evlist);
}

/* Dummies are enabled before the others, and disabled after them. */
static void failure_to_switch_dummies_alone_is_an_error(void **state) {
  uvperf__evlist_t *evlist;
  fake_event_t *events[3];
  uvperf_error_t error;

  (void)state;
  counters_script(events, 3);
  evlist_make_records(&make, 2);
  make.attrs[1].config = PERF_COUNT_SW_DUMMY;
  make.attrs[1].comm = 1;
  evlist_add_cpus(&make, "0");
  evlist = evlist_open(&make);
  fake_fail(FAKE_IOCTL, 1, -ENODEV);
  assert_int_equal(uvperf__evlist_enable(evlist, &error), -ENODEV);
  assert_int_equal(error.attr_index, 1);
  assert_false(events[0]->enabled); /* attr 1; 101 owns the ring */
  assert_true(events[2]->enabled);
  fake_fail(FAKE_IOCTL, 2, -EACCES);
  assert_int_equal(uvperf__evlist_disable(evlist, &error), -EACCES);
  assert_int_equal(error.code, -EACCES);
  assert_int_equal(error.attr_index, 1);
  finish(evlist);
}

/* The kernel enables it then, which time_enabled shows. */
static void command_is_left_alone_until_it_executes(void **state) {
  fake_event_t *events[2];
  uvperf__evlist_t *evlist;

  (void)state;
  counters_script(events, 2);
  evlist_make(&make, 2);
  evlist_add(&make, UVPERF_TARGET_COMMAND)->pid = getpid();
  evlist = evlist_open(&make);
  counters_give(events[0], 0, 0, 0);
  counters_give(events[1], 0, 0, 0);
  fake_log_clear();
  assert_int_equal(uvperf__evlist_enable(evlist, NULL), 0);
  assert_int_equal(uvperf__evlist_disable(evlist, NULL), 0);
  assert_string_equal(fake_log(), "read, read");
  counters_give(events[0], 0, 1, 0);
  assert_int_equal(uvperf__evlist_disable(evlist, NULL), 0);
  assert_int_equal(uvperf__evlist_enable(evlist, NULL), 0);
  /* It is known to have begun then. */
  assert_string_equal(fake_log(),
                      "read, read, read, ioctl DISABLE, ioctl DISABLE, ioctl "
                      "ENABLE, ioctl ENABLE");
  finish(evlist);
}

/* A pinned one, say, that could not be on a counter. */
static void command_in_error_state_has_begun(void **state) {
  fake_event_t *events[1];
  uvperf__evlist_t *evlist;

  (void)state;
  counters_script(events, 1);
  evlist_make(&make, 1);
  evlist_add(&make, UVPERF_TARGET_COMMAND)->pid = getpid();
  evlist = evlist_open(&make);
  fake_log_clear();
  assert_int_equal(uvperf__evlist_enable(evlist, NULL), 0);
  assert_string_equal(fake_log(), "read, ioctl ENABLE");
  finish(evlist);
}

static void later_target_is_enabled_if_the_rest_is(void **state) {
  fake_event_t *events[4];
  uvperf__evlist_t *evlist;
  uint32_t index = 99;

  (void)state;
  evlist = open_on_cpus(events, 1, "0", 4);
  assert_int_equal(add_cpu(evlist, "1", &index, NULL), 0);
  assert_int_equal(index, 1);
  assert_int_equal(events[1]->enabled, 0);
  assert_int_equal(uvperf__evlist_enable(evlist, NULL), 0);
  assert_int_equal(add_cpu(evlist, "2", NULL, NULL), 0);
  assert_int_equal(events[2]->enabled, 1);
  assert_int_equal(uvperf__evlist_disable(evlist, NULL), 0);
  assert_int_equal(add_cpu(evlist, "3", &index, NULL), 0);
  assert_int_equal(index, 3);
  assert_int_equal(events[3]->enabled, 0);
  finish(evlist);
}

static void later_target_that_cannot_be_enabled_is_not_added(void **state) {
  fake_event_t *events[3];
  uvperf__evlist_t *evlist;
  uvperf_error_t error;
  uint32_t index = 99;

  (void)state;
  evlist = open_on_cpus(events, 1, "0", 3);
  assert_int_equal(uvperf__evlist_enable(evlist, NULL), 0);
  fake_fail(FAKE_IOCTL, 1, -ENODEV);
  assert_int_equal(add_cpu(evlist, "1", &index, &error), -ENODEV);
  assert_int_equal(error.code, -ENODEV);
  assert_int_equal(index, 99);
  assert_int_equal(events[1]->fd, -1);
  assert_int_equal(evlist_nr_places(evlist), 1);
  finish(evlist);
}

#define TEST(f) cmocka_unit_test_setup(f, evlist_make_setup)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(group_is_enabled_and_disabled_by_one_ioctl),
      TEST(failure_to_enable_does_not_stop_the_rest),
      TEST(failure_to_switch_dummies_alone_is_an_error),
      TEST(command_is_left_alone_until_it_executes),
      TEST(command_in_error_state_has_begun),
      TEST(later_target_is_enabled_if_the_rest_is),
      TEST(later_target_that_cannot_be_enabled_is_not_added),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
