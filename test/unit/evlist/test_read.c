/* SPDX-License-Identifier: MIT */
/* Scripted: how counters use what read(2) returns. */
#include "evlist_make.h"

#include <errno.h>

#include "evlist/internal.h"

/* A group of three at one place. */
static uvperf__evlist_t *open_group(fake_event_t **events) {
  evlist_make_t make;

  counters_script(events, 3);
  evlist_make(&make, 3);
  evlist_group(&make, 0, 3);
  evlist_add_cpus(&make, "0");
  return evlist_open(&make);
}

/* One event at nr places. */
static uvperf__evlist_t *open_on_cpus(fake_event_t **events, size_t nr,
                                      const char *cpus) {
  evlist_make_t make;

  counters_script(events, nr);
  evlist_make(&make, 1);
  evlist_add_cpus(&make, cpus);
  return evlist_open(&make);
}

static void finish(uvperf__evlist_t *evlist) {
  uvperf__evlist_free(evlist);
  fake_assert_clean();
}

static void check_values(uvperf__evlist_t *evlist, const uint64_t *values,
                         size_t nr) {
  size_t i;

  for (i = 0; i < nr; i++) {
    assert_int_equal(evlist_total(evlist, i).state, UVPERF_COUNT_COUNTING);
    assert_int_equal(evlist_total(evlist, i).value, values[i]);
  }
}

/* -- groups --------------------------------------------------------------- */

static void group_is_read_once_for_each_place(void **state) {
  static const uint64_t ids[] = {100, 101, 102, 103, 104};
  static const uint64_t values[] = {1, 2, 3, 4, 5};
  fake_event_t *events[15];
  uvperf__evlist_t *evlist;
  uvperf_reading_t *reading;
  evlist_make_t make;

  (void)state;
  counters_script(events, 15);
  evlist_make(&make, 5);
  evlist_group(&make, 0, 5);
  evlist_add_cpus(&make, "0-2");
  evlist = evlist_open(&make);
  counters_give_group(events[0], 10, 10, ids, values, 5);
  assert_int_equal(uvperf_reading_new(&reading), 0);
  fake_log_clear();
  assert_int_equal(uvperf__evlist_read(evlist, reading), 0);
  assert_string_equal(fake_log(), "read, read, read");
  uvperf_reading_free(reading);
  finish(evlist);
}

static void values_of_a_group_are_found_by_id(void **state) {
  static const uint64_t orders[][3] = {{100, 101, 102}, {100, 102, 101},
                                       {101, 100, 102}, {101, 102, 100},
                                       {102, 100, 101}, {102, 101, 100}};
  uvperf__evlist_t *evlist;
  fake_event_t *events[3];
  size_t order, i;

  (void)state;
  evlist = open_group(events);
  for (order = 0; order < 6; order++) {
    uint64_t values[3], wanted[3];

    for (i = 0; i < 3; i++) {
      values[i] = 1000 + orders[order][i];
      wanted[i] = 1100 + i;
    }
    counters_give_group(events[0], 10, 10, orders[order], values, 3);
    check_values(evlist, wanted, 3);
  }
  finish(evlist);
}

/* A sibling that was closed by others, say. */
static void value_that_a_group_lacks_is_an_error_of_its_own(void **state) {
  static const uint64_t ids[] = {100, 102};
  static const uint64_t values[] = {7, 9};
  uvperf__evlist_t *evlist;
  fake_event_t *events[3];

  (void)state;
  evlist = open_group(events);
  counters_give_group(events[0], 10, 10, ids, values, 2);
  assert_int_equal(evlist_total(evlist, 0).value, 7);
  assert_int_equal(evlist_total(evlist, 1).state, UVPERF_COUNT_ERROR);
  assert_int_equal(evlist_total(evlist, 1).code, -EPROTO);
  assert_int_equal(evlist_total(evlist, 2).value, 9);
  finish(evlist);
}

/* One more than was opened is no harm. */
static void value_of_a_stranger_is_left_out(void **state) {
  static const uint64_t ids[] = {100, 555, 101, 102};
  static const uint64_t values[] = {7, 8, 9, 10};
  static const uint64_t wanted[] = {7, 9, 10};
  uvperf__evlist_t *evlist;
  fake_event_t *events[3];

  (void)state;
  evlist = open_group(events);
  counters_give_group(events[0], 10, 10, ids, values, 4);
  check_values(evlist, wanted, 3);
  finish(evlist);
}

static void times_of_a_group_are_its_leaders(void **state) {
  static const uint64_t ids[] = {100, 101, 102};
  static const uint64_t values[] = {10, 20, 30};
  uvperf__evlist_t *evlist;
  uvperf_count_t count;
  fake_event_t *events[3];
  size_t i;

  (void)state;
  evlist = open_group(events);
  counters_give_group(events[0], 40, 10, ids, values, 3);
  for (i = 0; i < 3; i++) {
    count = evlist_total(evlist, i);
    assert_int_equal(count.time_enabled, 40);
    assert_int_equal(count.time_running, 10);
    assert_int_equal(count.scaled, 4 * values[i]);
  }
  finish(evlist);
}

/* -- unreadable events ---------------------------------------------------- */

static void check_error(uvperf__evlist_t *evlist, int code) {
  size_t i;

  for (i = 0; i < 3; i++) {
    assert_int_equal(evlist_total(evlist, i).state, UVPERF_COUNT_ERROR);
    assert_int_equal(evlist_total(evlist, i).code, code);
  }
}

/* A pinned one that the PMU could not hold. */
static void no_bytes_are_ebadf(void **state) {
  uvperf__evlist_t *evlist;
  fake_event_t *events[3];

  (void)state;
  evlist = open_group(events);
  check_error(evlist, -EBADF);
  finish(evlist);
}

static void sizes_that_do_not_fit_are_eproto(void **state) {
  static const uint64_t ids[] = {100, 101, 102};
  static const uint64_t values[] = {7, 8, 9};
  uvperf__evlist_t *evlist;
  fake_event_t *events[3];
  size_t whole, size;

  (void)state;
  evlist = open_group(events);
  counters_give_group(events[0], 10, 10, ids, values, 3);
  whole = events[0]->read_size;
  for (size = 1; size < whole; size++) {
    events[0]->read_size = size;
    check_error(evlist, -EPROTO);
  }
  events[0]->read_size = whole;
  check_values(evlist, values, 3);
  /* More values than it announces. */
  counters_give_group(events[0], 10, 10, ids, values, 3);
  ((uint64_t *)(uintptr_t)events[0]->read_data)[0] = 2;
  check_error(evlist, -EPROTO);
  ((uint64_t *)(uintptr_t)events[0]->read_data)[0] = UINT64_MAX;
  check_error(evlist, -EPROTO);
  finish(evlist);
}

static void error_of_one_event_is_no_failure_of_the_reading(void **state) {
  uvperf__evlist_t *evlist;
  fake_event_t *events[3];
  uvperf_count_t count;

  (void)state;
  evlist = open_on_cpus(events, 3, "0-2");
  counters_give(events[0], 5, 10, 10);
  counters_give(events[2], 6, 10, 10);
  fake_fail(FAKE_READ, 2, -EIO);
  count = evlist_total(evlist, 0);
  assert_int_equal(count.state, UVPERF_COUNT_COUNTING);
  assert_int_equal(count.value, 11);
  assert_int_equal(count.code, -EIO);
  assert_int_equal(count.nr_missing, 1);
  counters_give(events[1], 4, 10, 10);
  assert_int_equal(evlist_total(evlist, 0).value, 15);
  finish(evlist);
}

static void race_with_a_fork_is_tried_again(void **state) {
  static const uint64_t ids[] = {100, 101, 102};
  static const uint64_t values[] = {7, 8, 9};
  uvperf__evlist_t *evlist;
  fake_event_t *events[3];
  unsigned nth;

  (void)state;
  evlist = open_group(events);
  counters_give_group(events[0], 10, 10, ids, values, 3);
  /* A fork takes many of them. */
  for (nth = 1; nth <= 50; nth++)
    fake_fail(FAKE_READ, nth, -ECHILD);
  check_values(evlist, values, 3);
  fake_fail_from(FAKE_READ, 1, -ECHILD);
  check_error(evlist, -ECHILD);
  finish(evlist);
}

/* -- states --------------------------------------------------------------- */

static void states_follow_the_times(void **state) {
  static const struct {
    uint64_t value, enabled, running;
    uint32_t state;
  } cases[] = {
      {0, 0, 0, UVPERF_COUNT_NOT_ENABLED},
      {0, 10, 0, UVPERF_COUNT_NEVER_SCHEDULED},
      {0, 10, 10, UVPERF_COUNT_COUNTING},
      {4, 10, 5, UVPERF_COUNT_COUNTING},
  };
  uvperf__evlist_t *evlist;
  fake_event_t *events[1];
  size_t i;

  (void)state;
  evlist = open_on_cpus(events, 1, "0");
  for (i = 0; i < 4; i++) {
    counters_give(events[0], cases[i].value, cases[i].enabled,
                  cases[i].running);
    assert_int_equal(evlist_total(evlist, 0).state, cases[i].state);
  }
  finish(evlist);
}

static void lost_records_are_reported(void **state) {
  uvperf__evlist_t *evlist;
  fake_event_t *events[1];

  (void)state;
  evlist = open_on_cpus(events, 1, "0");
  counters_give(events[0], 5, 10, 10);
  ((uint64_t *)(uintptr_t)events[0]->read_data)[4] = 3;
  assert_int_equal(evlist_total(evlist, 0).lost, 3);
  finish(evlist);
}

/* -- reset ---------------------------------------------------------------- */

static void reset_takes_off_counts_and_times(void **state) {
  uvperf__evlist_t *evlist;
  uvperf_count_t count;
  fake_event_t *events[1];

  (void)state;
  evlist = open_on_cpus(events, 1, "0");
  counters_give(events[0], 50, 100, 80);
  fake_log_clear();
  assert_int_equal(uvperf__evlist_reset(evlist), 0);
  assert_string_equal(fake_log(), "read");
  count = evlist_total(evlist, 0);
  assert_int_equal(count.state, UVPERF_COUNT_NOT_ENABLED);
  assert_int_equal(count.value, 0);
  counters_give(events[0], 57, 120, 90);
  count = evlist_total(evlist, 0);
  assert_int_equal(count.value, 7);
  assert_int_equal(count.time_enabled, 20);
  assert_int_equal(count.time_running, 10);
  assert_int_equal(count.scaled, 14);
  /* Not the lost records before the last reading. */
  assert_int_equal(uvperf__evlist_reset(evlist), 0);
  counters_give(events[0], 60, 130, 100);
  assert_int_equal(evlist_total(evlist, 0).value, 3);
  finish(evlist);
}

/* By PERF_EVENT_IOC_RESET, which keeps the times. */
static void reset_by_others_does_not_run_below_zero(void **state) {
  uvperf__evlist_t *evlist;
  uvperf_count_t count;
  fake_event_t *events[1];

  (void)state;
  evlist = open_on_cpus(events, 1, "0");
  counters_give(events[0], 50, 100, 80);
  assert_int_equal(uvperf__evlist_reset(evlist), 0);
  counters_give(events[0], 3, 110, 90);
  count = evlist_total(evlist, 0);
  assert_int_equal(count.value, 3);
  assert_int_equal(count.time_enabled, 10);
  /* Nor does it go back when it is above 50 again. */
  counters_give(events[0], 55, 130, 110);
  count = evlist_total(evlist, 0);
  assert_int_equal(count.value, 55);
  assert_int_equal(count.time_enabled, 30);
  finish(evlist);
}

/* How much of the 60 was before the reset is not known. */
static void reset_of_what_cannot_be_read_is_an_error_once(void **state) {
  uvperf__evlist_t *evlist;
  uvperf_count_t count;
  fake_event_t *events[1];

  (void)state;
  evlist = open_on_cpus(events, 1, "0");
  counters_give(events[0], 50, 100, 80);
  assert_int_equal(evlist_total(evlist, 0).value, 50);
  fake_fail(FAKE_READ, 1, -EIO);
  assert_int_equal(uvperf__evlist_reset(evlist), 0);
  counters_give(events[0], 60, 110, 90);
  count = evlist_total(evlist, 0);
  assert_int_equal(count.state, UVPERF_COUNT_ERROR);
  assert_int_equal(count.code, -EIO);
  counters_give(events[0], 67, 120, 95);
  count = evlist_total(evlist, 0);
  assert_int_equal(count.state, UVPERF_COUNT_COUNTING);
  assert_int_equal(count.value, 7);
  assert_int_equal(count.time_enabled, 10);
  assert_int_equal(count.time_running, 5);
  finish(evlist);
}

static void reset_is_known_to_deltas(void **state) {
  uint64_t before;
  uvperf_reading_t *older, *newer, *delta;
  uvperf__evlist_t *evlist;
  uvperf_count_t count;
  fake_event_t *events[1];

  (void)state;
  assert_int_equal(uvperf_reading_new(&older), 0);
  assert_int_equal(uvperf_reading_new(&newer), 0);
  assert_int_equal(uvperf_reading_new(&delta), 0);
  evlist = open_on_cpus(events, 1, "0");
  counters_give(events[0], 50, 100, 100);
  assert_int_equal(uvperf__evlist_read(evlist, older), 0);
  before = uvperf__evlist_now();
  assert_int_equal(uvperf__evlist_reset(evlist), 0);
  counters_give(events[0], 150, 300, 300);
  assert_int_equal(uvperf__evlist_read(evlist, newer), 0);
  assert_true(uvperf_reading_info(newer)->interval <=
              uvperf__evlist_now() - before);
  assert_int_equal(uvperf_reading_delta(delta, older, newer), 0);
  assert_int_equal(uvperf_reading_total(delta, 0, &count), 0);
  assert_int_equal(count.value, 100); /* not 50 */
  assert_int_equal(count.time_enabled, 200);
  uvperf_reading_free(older);
  uvperf_reading_free(newer);
  uvperf_reading_free(delta);
  finish(evlist);
}

/* -- the rest ------------------------------------------------------------- */

static void reading_without_memory_is_enomem_and_left_alone(void **state) {
  uvperf__evlist_t *evlist;
  uvperf_reading_t *reading;
  fake_event_t *events[1];
  unsigned reads;

  (void)state;
  evlist = open_on_cpus(events, 1, "0");
  assert_int_equal(uvperf_reading_new(&reading), 0);
  reads = fake_count(FAKE_READ);
  fake_fail(FAKE_CALLOC, 1, 0);
  assert_int_equal(uvperf__evlist_read(evlist, reading), -ENOMEM);
  assert_int_equal(fake_count(FAKE_READ), reads);
  assert_int_equal(uvperf_reading_info(reading)->nr_attrs, 0);
  assert_int_equal(uvperf__evlist_read(evlist, reading), 0);
  assert_int_equal(uvperf_reading_info(reading)->nr_attrs, 1);
  uvperf_reading_free(reading);
  finish(evlist);
}

static void second_reading_takes_no_memory(void **state) {
  uvperf__evlist_t *evlist;
  uvperf_reading_t *reading;
  fake_event_t *events[3];
  unsigned callocs;

  (void)state;
  evlist = open_group(events);
  assert_int_equal(uvperf_reading_new(&reading), 0);
  assert_int_equal(uvperf__evlist_read(evlist, reading), 0);
  callocs = fake_count(FAKE_CALLOC);
  assert_int_equal(uvperf__evlist_read(evlist, reading), 0);
  assert_int_equal(uvperf__evlist_reset(evlist), 0);
  assert_int_equal(fake_count(FAKE_CALLOC), callocs);
  uvperf_reading_free(reading);
  finish(evlist);
}

static void places_are_in_the_order_of_targets(void **state) {
  static const int cpus[] = {3, 4, 0};
  uvperf__evlist_t *evlist;
  uvperf_reading_t *reading;
  evlist_make_t make;
  fake_event_t *events[3];
  uint64_t serial = 0;
  size_t i;

  (void)state;
  counters_script(events, 3);
  evlist_make(&make, 1);
  evlist_add_cpus(&make, "3-4");
  evlist_add_cpus(&make, "0");
  evlist = evlist_open(&make);
  assert_int_equal(uvperf_reading_new(&reading), 0);
  assert_int_equal(uvperf__evlist_read(evlist, reading), 0);
  assert_int_equal(uvperf_reading_info(reading)->nr_places, 3);
  for (i = 0; i < 3; i++) {
    const uvperf_place_t *place = uvperf_reading_place(reading, i);

    assert_int_equal(place->target, i == 2);
    assert_int_equal(place->pid, -1);
    assert_int_equal(place->cpu, cpus[i]);
    assert_true(i == 0 || place->serial > serial);
    serial = place->serial;
    assert_int_equal(uvperf__evlist_fd(evlist, 0, serial), events[i]->fd);
    assert_int_equal(uvperf__evlist_fd(evlist, 1, serial), -1);
  }
  assert_int_equal(uvperf__evlist_fd(evlist, 0, serial + 1), -1);
  uvperf_reading_free(reading);
  finish(evlist);
}

#define TEST(f) cmocka_unit_test_setup(f, evlist_make_setup)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(group_is_read_once_for_each_place),
      TEST(values_of_a_group_are_found_by_id),
      TEST(value_that_a_group_lacks_is_an_error_of_its_own),
      TEST(value_of_a_stranger_is_left_out),
      TEST(times_of_a_group_are_its_leaders),
      TEST(no_bytes_are_ebadf),
      TEST(sizes_that_do_not_fit_are_eproto),
      TEST(error_of_one_event_is_no_failure_of_the_reading),
      TEST(race_with_a_fork_is_tried_again),
      TEST(states_follow_the_times),
      TEST(lost_records_are_reported),
      TEST(reset_takes_off_counts_and_times),
      TEST(reset_by_others_does_not_run_below_zero),
      TEST(reset_of_what_cannot_be_read_is_an_error_once),
      TEST(reset_is_known_to_deltas),
      TEST(reading_without_memory_is_enomem_and_left_alone),
      TEST(second_reading_takes_no_memory),
      TEST(places_are_in_the_order_of_targets),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
