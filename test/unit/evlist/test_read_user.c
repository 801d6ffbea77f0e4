/* SPDX-License-Identifier: MIT */
/* UVPERF_SET_USER_READ: the count is the same from a page and from read(2). */
#include "scripted_pages.h"

#include <errno.h>

static void own_events_are_read_without_a_call(void **state) {
  uvperf__evlist_t *evlist = scripted_pages_open(__func__, 0);
  uvperf_reading_t *reading = scripted_pages_reading();
  unsigned pids;

  scripted_pages_count(5, 7, 100);
  assert_int_equal(uvperf__evlist_read(evlist, reading), 0);
  scripted_pages_assert_total(reading, 0, 1005, 100);
  scripted_pages_assert_total(reading, 1, 2007, 100);
  scripted_pages_count(1, 2, 50);
  fake_log_clear();
  pids = fake_count(FAKE_GETPID);
  assert_int_equal(uvperf__evlist_read(evlist, reading), 0);
  scripted_pages_assert_total(reading, 0, 1006, 150);
  scripted_pages_assert_total(reading, 1, 2009, 150);
  assert_string_equal(fake_log(), "");
  assert_int_equal(fake_count(FAKE_GETPID), pids);
  assert_int_equal(fake_count(FAKE_RDPMC), 4);
  uvperf_reading_free(reading);
  uvperf__evlist_free(evlist);
  fake_assert_clean();
}

/* The thread that reads maps the pages, not the one that opens the events. */
static void events_opened_elsewhere_are_read_without_a_call(void **state) {
  uvperf__evlist_t *evlist, *made;
  uvperf__adding_t adding;
  evlist_make_t make;

  scripted_pages_ask(__func__, &make, 0);
  make.options.nr_targets = 0;
  make.options.flags |= UVPERF_SET_TARGETS_LATER;
  evlist = evlist_open(&make);
  assert_int_equal(
      uvperf__evlist_new_for_target(&made, evlist, make.targets, &adding, NULL),
      0);
  while (uvperf__adding_step(&adding, 0))
    continue;
  assert_int_equal(uvperf__adding_end(&adding, NULL), 0);
  assert_int_equal(fake_count(FAKE_MMAP), 0);
  assert_int_equal(uvperf__evlist_take_target(evlist, made, NULL), 0);
  uvperf__evlist_free(made);
  scripted_pages_count(5, 7, 100);
  scripted_pages_assert_counts(evlist, 1005, 2007, 100, 0);
  assert_int_equal(fake_count(FAKE_MMAP), 2);
  uvperf__evlist_free(evlist);
  fake_assert_clean();
}

/* After PERF_EVENT_IOC_RESET of an event whose counter is below 0. */
static void count_below_0_is_left_to_read(void **state) {
  uvperf__evlist_t *evlist = scripted_pages_open(__func__, 0);

  scripted_pages_count(5, 7, 100);
  scripted_pages_assert_counts(evlist, 1005, 2007, 100, 0);
  user_events.fakes[0]->page->offset -= INT64_C(1) << 48;
  scripted_pages_count(5, 7, 100);
  scripted_pages_assert_counts(evlist, 1010, 2014, 200, 1);
  uvperf__evlist_free(evlist);
}

/* The page continues from when it was written. */
static void times_of_a_page_that_is_ahead_do_not_go_back(void **state) {
  uvperf__evlist_t *evlist = scripted_pages_open(__func__, 0);
  size_t i;

  scripted_pages_count(5, 7, 100);
  for (i = 0; i < USER_PAGE_EVENTS; i++) {
    user_events.fakes[i]->page->time_enabled = 50;
    user_events.fakes[i]->page->time_running = 50;
  }
  scripted_pages_assert_counts(evlist, 1005, 2007, 150, 0);
  user_events.is_off[0] = 1;
  user_events.is_off[1] = 1;
  scripted_pages_count(5, 7, 20);
  scripted_pages_assert_counts(evlist, 1010, 2014, 150, 2);
  scripted_pages_count(5, 7, 80);
  scripted_pages_assert_counts(evlist, 1015, 2021, 200, 2);
  uvperf__evlist_free(evlist);
}

static void group_is_read_without_a_call(void **state) {
  uvperf__evlist_t *evlist = scripted_pages_open(__func__, 1);

  scripted_pages_count(5, 7, 100);
  scripted_pages_assert_counts(evlist, 1005, 2007, 100, 0);
  uvperf__evlist_free(evlist);
  fake_assert_clean();
}

/* Each page is read a little later than the one before. */
static uint64_t cycles_that_pass(void) {
  return user_events.now++;
}

static void group_has_the_times_of_its_leader(void **state) {
  uvperf__evlist_t *evlist = scripted_pages_open(__func__, 1);

  fake_on_cycles(cycles_that_pass);
  scripted_pages_count(5, 7, 100);
  scripted_pages_assert_counts(evlist, 1005, 2007, 100, 0);
  uvperf__evlist_free(evlist);
}

static void group_with_one_on_no_counter_is_read_by_one_call(void **state) {
  uvperf__evlist_t *evlist = scripted_pages_open(__func__, 1);

  user_events.is_off[1] = 1;
  scripted_pages_count(5, 7, 100);
  scripted_pages_assert_counts(evlist, 1005, 2007, 100, 1);
  user_events.is_off[0] = 1;
  scripted_pages_count(5, 7, 100);
  scripted_pages_assert_counts(evlist, 1010, 2014, 200, 1);
  uvperf__evlist_free(evlist);
}

static void single_events_are_read_each_in_its_way(void **state) {
  uvperf__evlist_t *evlist = scripted_pages_open(__func__, 0);

  user_events.is_off[0] = 1;
  scripted_pages_count(5, 7, 100);
  scripted_pages_assert_counts(evlist, 1005, 2007, 100, 1);
  uvperf__evlist_free(evlist);
}

static void assert_delta(uvperf__evlist_t *evlist, uvperf_reading_t **older,
                         uint64_t first, uint64_t second, uint64_t ns) {
  uvperf_reading_t *newer = scripted_pages_reading();
  uvperf_reading_t *delta = scripted_pages_reading();

  assert_int_equal(uvperf__evlist_read(evlist, newer), 0);
  assert_int_equal(uvperf_reading_delta(delta, *older, newer), 0);
  scripted_pages_assert_total(delta, 0, first, ns);
  scripted_pages_assert_total(delta, 1, second, ns);
  uvperf_reading_free(delta);
  uvperf_reading_free(*older);
  *older = newer;
}

/* The events leave and enter the evlist between the readings. */
static void check_deltas(const char *test, int group) {
  uvperf__evlist_t *evlist = scripted_pages_open(test, group);
  uvperf_reading_t *older = scripted_pages_reading();
  int turn;

  scripted_pages_count(5, 7, 100);
  assert_int_equal(uvperf__evlist_read(evlist, older), 0);
  for (turn = 0; turn < 8; turn++) {
    user_events.is_off[0] = turn & 1;
    user_events.is_off[1] = turn >> 1 & 1;
    scripted_pages_count(3, 4, 50);
    assert_delta(evlist, &older, 3, 4, 50);
  }
  assert_in_range(fake_count(FAKE_READ), 6, 8);
  uvperf_reading_free(older);
  uvperf__evlist_free(evlist);
  fake_assert_clean();
}

static void deltas_go_on_between_pages_and_read(void **state) {
  check_deltas(__func__, 0);
  scripted_pages_script();
  check_deltas(__func__, 1);
}

static void reset_by_pages_holds_for_read_and_back(void **state) {
  uvperf__evlist_t *evlist = scripted_pages_open(__func__, 1);

  scripted_pages_count(5, 7, 100);
  assert_int_equal(uvperf__evlist_reset(evlist), 0);
  assert_int_equal(fake_count(FAKE_READ), 0);
  user_events.is_off[0] = 1;
  scripted_pages_count(10, 20, 30);
  scripted_pages_assert_counts(evlist, 10, 20, 30, 1);
  assert_int_equal(uvperf__evlist_reset(evlist), 0);
  user_events.is_off[0] = 0;
  scripted_pages_count(1, 2, 3);
  scripted_pages_assert_counts(evlist, 1, 2, 3, 0);
  uvperf__evlist_free(evlist);
}

/* PERF_EVENT_IOC_RESET by other code: the page shows it, but an invalid page
 * would look the same. */
static void page_with_less_than_before_is_left_to_read(void **state) {
  uvperf__evlist_t *evlist = scripted_pages_open(__func__, 0);
  struct perf_event_mmap_page *page;

  scripted_pages_count(5, 7, 100);
  scripted_pages_assert_counts(evlist, 1005, 2007, 100, 0);
  page = user_events.fakes[0]->page;
  page->offset = 0;
  scripted_pages_count(5, 7, 100);
  scripted_pages_assert_counts(evlist, 1010, 2014, 200, 1);
  page->offset = 1000;
  page->time_enabled = (uint64_t)-150;
  scripted_pages_count(5, 7, 100);
  scripted_pages_assert_counts(evlist, 1015, 2021, 300, 1);
  page->time_enabled = 0;
  page->time_running = (uint64_t)-150;
  scripted_pages_count(5, 7, 100);
  scripted_pages_assert_counts(evlist, 1020, 2028, 400, 1);
  page->time_running = 0;
  scripted_pages_count(5, 7, 100);
  scripted_pages_assert_counts(evlist, 1025, 2035, 500, 0);
  uvperf__evlist_free(evlist);
}

static void page_is_readable_again_after_read_has_failed(void **state) {
  uvperf__evlist_t *evlist = scripted_pages_open(__func__, 1);
  uvperf_reading_t *reading = scripted_pages_reading();
  uvperf_count_t count;

  user_events.is_off[1] = 1;
  scripted_pages_count(5, 7, 100);
  fake_fail(FAKE_READ, 1, -EIO);
  assert_int_equal(uvperf__evlist_read(evlist, reading), 0);
  assert_int_equal(uvperf_reading_total(reading, 0, &count), 0);
  assert_int_equal(count.state, UVPERF_COUNT_ERROR);
  assert_int_equal(count.code, -EIO);
  user_events.is_off[1] = 0;
  scripted_pages_count(5, 7, 100);
  scripted_pages_assert_counts(evlist, 1010, 2014, 200, 0);
  uvperf_reading_free(reading);
  uvperf__evlist_free(evlist);
}

#define scripted(f) cmocka_unit_test_setup(f, scripted_pages_setup)

int main(void) {
  const struct CMUnitTest tests[] = {
      scripted(own_events_are_read_without_a_call),
      scripted(events_opened_elsewhere_are_read_without_a_call),
      scripted(count_below_0_is_left_to_read),
      scripted(times_of_a_page_that_is_ahead_do_not_go_back),
      scripted(group_is_read_without_a_call),
      scripted(group_has_the_times_of_its_leader),
      scripted(group_with_one_on_no_counter_is_read_by_one_call),
      scripted(single_events_are_read_each_in_its_way),
      scripted(deltas_go_on_between_pages_and_read),
      scripted(reset_by_pages_holds_for_read_and_back),
      scripted(page_with_less_than_before_is_left_to_read),
      scripted(page_is_readable_again_after_read_has_failed),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
