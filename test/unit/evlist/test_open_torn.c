/* SPDX-License-Identifier: MIT */
/* Scripted: inherited groups of a task that forks while they are opened. */
#include "evlist_make.h"

#include <errno.h>
#include <unistd.h>

/* A group of nr events of this process. */
static void make_group(evlist_make_t *make, size_t nr) {
  evlist_make(make, nr);
  evlist_group(make, 0, nr);
  evlist_add(make, UVPERF_TARGET_PROCESS)->pid = getpid();
}

/* -- torn: a child has inherited a part ----------------------------------- */

/* The first read after opening shows that a task has inherited only a part of
 * it. */
static void group_that_was_torn_is_opened_again(void **state) {
  uvperf__evlist_t *evlist;
  evlist_make_t make;
  fake_event_t *events[6];
  int elsewhere;

  for (elsewhere = 0; elsewhere < 2; elsewhere++) {
    assert_int_equal(evlist_make_setup(state), 0);
    counters_script(events, 6);
    evlist_make(&make, 3);
    evlist_group(&make, 1, 2);
    evlist_add(&make, UVPERF_TARGET_PROCESS)->pid = getpid();
    make.options.nr_targets = !elsewhere;
    make.options.flags = UVPERF_SET_TARGETS_LATER;
    fake_fail(FAKE_READ, 1, -ECHILD);
    evlist = evlist_open(&make);
    if (elsewhere)
      assert_int_equal(evlist_add_elsewhere(evlist, make.targets, NULL), 0);
    assert_int_equal(uvperf__evlist_nr_open(evlist), 3);
    assert_int_equal(events[1]->fd, -1);
    assert_int_equal(events[2]->fd, -1);
    assert_int_equal(events[3]->attr.config, make.attrs[1].config);
    assert_int_equal(events[4]->group_fd, events[3]->fd);
    assert_false(events[5]->opened);
    uvperf__evlist_free(evlist);
    fake_assert_clean();
  }
}

/* Open 3 is of the attr after the group, open 5 of the sibling once more. */
static void group_that_is_opened_again_fails_in_order(void **state) {
  uvperf__evlist_t *evlist;
  evlist_make_t make;
  fake_event_t *events[3];

  (void)state;
  counters_script(events, 3);
  evlist_make(&make, 3);
  evlist_group(&make, 0, 2);
  evlist_add(&make, UVPERF_TARGET_PROCESS)->pid = getpid();
  fake_fail(FAKE_READ, 1, -ECHILD);
  fake_fail(FAKE_OPEN, 3, -ENOENT);
  fake_fail(FAKE_OPEN, 5, -EBUSY);
  evlist = evlist_open(&make);
  assert_int_equal(evlist_nr_failures(evlist), 2);
  assert_int_equal(evlist_failure(evlist, 0)->error.attr_index, 1);
  assert_int_equal(evlist_failure(evlist, 0)->error.code, -EBUSY);
  assert_int_equal(evlist_failure(evlist, 1)->error.attr_index, 2);
  assert_int_equal(evlist_failure(evlist, 1)->error.code, -ENOENT);
  uvperf__evlist_free(evlist);
  fake_assert_clean();
}

static void group_that_goes_on_tearing_is_left_as_it_is(void **state) {
  uvperf__evlist_t *evlist;
  evlist_make_t make;
  fake_event_t *events[18];

  (void)state;
  counters_script(events, 18);
  evlist_make(&make, 2);
  evlist_group(&make, 0, 2);
  evlist_add(&make, UVPERF_TARGET_PROCESS)->pid = getpid();
  fake_fail_from(FAKE_READ, 1, -ECHILD);
  evlist = evlist_open(&make);
  assert_int_equal(fake_count(FAKE_OPEN), 18);
  assert_int_equal(evlist_total(evlist, 0).state, UVPERF_COUNT_ERROR);
  assert_int_equal(evlist_total(evlist, 0).code, -ECHILD);
  uvperf__evlist_free(evlist);
  fake_assert_clean();
}

/* -- cut off: the leader is in a child's context -------------------------- */

/* Open 1 is the leader's, 2 the sibling's, 3 the one that any group takes. */
static void group_that_was_cut_off_is_opened_again(void **state) {
  static const int codes[] = {-EINVAL, -ENODEV};
  uvperf__evlist_t *evlist;
  evlist_make_t make;
  fake_event_t *events[4];
  size_t i;

  for (i = 0; i < 2 * 2; i++) {
    assert_int_equal(evlist_make_setup(state), 0);
    counters_script(events, 4);
    make_group(&make, 3);
    make.options.flags = i / 2 == 0 ? 0 : UVPERF_SET_STRICT;
    fake_fail(FAKE_OPEN, 2, codes[i % 2]);
    fake_fail(FAKE_OPEN, 3, codes[i % 2]);
    evlist = evlist_open(&make);
    assert_int_equal(fake_count(FAKE_OPEN), 6);
    assert_int_equal(evlist_nr_failures(evlist), 0);
    assert_int_equal(uvperf__evlist_nr_open(evlist), 3);
    assert_int_equal(events[0]->fd, -1);
    assert_int_equal(events[1]->attr.disabled, 1);
    assert_int_equal(events[2]->group_fd, events[1]->fd);
    assert_int_equal(events[3]->group_fd, events[1]->fd);
    uvperf__evlist_free(evlist);
    fake_assert_clean();
  }
}

/* Otherwise a weak member would be opened alone, and not be in its group. */
static void weak_member_that_was_cut_off_is_in_its_group(void **state) {
  uvperf__evlist_t *evlist;
  evlist_make_t make;
  fake_event_t *events[3];

  (void)state;
  counters_script(events, 3);
  make_group(&make, 0);
  make.options.names = "{task-clock,page-faults}:W";
  fake_fail(FAKE_OPEN, 2, -EINVAL);
  fake_fail(FAKE_OPEN, 3, -EINVAL);
  evlist = evlist_open(&make);
  assert_int_equal(uvperf__evlist_nr_open(evlist), 2);
  assert_int_equal(events[2]->group_fd, events[1]->fd);
  uvperf__evlist_free(evlist);
  fake_assert_clean();
}

static int refuse_siblings(struct perf_event_attr *attr) {
  return attr->disabled ? 0 : -ENODEV;
}

static void group_that_goes_on_being_cut_off_is_reported(void **state) {
  uvperf__evlist_t *evlist;
  evlist_make_t make;
  fake_event_t *events[9];

  (void)state;
  counters_script(events, 9);
  make_group(&make, 3);
  fake_on_open(refuse_siblings);
  evlist = evlist_open(&make);
  assert_int_equal(uvperf__evlist_nr_open(evlist), 1);
  assert_int_equal(evlist_nr_failures(evlist), 2);
  assert_int_equal(evlist_failure(evlist, 0)->error.attr_index, 1);
  assert_int_equal(evlist_failure(evlist, 0)->error.code, -ENODEV);
  assert_int_equal(evlist_failure(evlist, 1)->error.attr_index, 2);
  assert_true(events[8]->opened);
  uvperf__evlist_free(evlist);
  fake_assert_clean();
}

/* The group takes another: it is the member that it does not take. */
static void member_that_a_group_does_not_take_is_no_cut(void **state) {
  uvperf__evlist_t *evlist;
  evlist_make_t make;
  fake_event_t *events[3];

  (void)state;
  counters_script(events, 3);
  make_group(&make, 3);
  fake_fail(FAKE_OPEN, 2, -EINVAL);
  evlist = evlist_open(&make);
  assert_int_equal(fake_count(FAKE_OPEN), 4);
  assert_int_equal(events[1]->attr.config, PERF_COUNT_SW_DUMMY);
  assert_int_equal(events[1]->fd, -1);
  assert_int_equal(evlist_nr_failures(evlist), 1);
  assert_int_equal(evlist_failure(evlist, 0)->error.attr_index, 1);
  assert_int_equal(events[2]->group_fd, events[0]->fd);
  uvperf__evlist_free(evlist);
  fake_assert_clean();
}

#define TEST(f) cmocka_unit_test_setup(f, evlist_make_setup)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(group_that_was_torn_is_opened_again),
      TEST(group_that_is_opened_again_fails_in_order),
      TEST(group_that_goes_on_tearing_is_left_as_it_is),
      TEST(group_that_was_cut_off_is_opened_again),
      TEST(weak_member_that_was_cut_off_is_in_its_group),
      TEST(group_that_goes_on_being_cut_off_is_reported),
      TEST(member_that_a_group_does_not_take_is_no_cut),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
