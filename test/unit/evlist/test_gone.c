/* SPDX-License-Identifier: MIT */
/* Scripted: tasks that end while they are counted, and how that is detected. A
 * task that has another start is another one. */
#include "scripted_evlist.h"

#include "fake_host.h"

#include <unistd.h>

#include "evlist/internal.h"

static const scripted_row_t rows[] = {
    /* Whatever its time is. */
    {"task_that_is_gone_is_so_at_the_first_reading",
     "task 11 11 77; attrs 1; command 11; open; task 11 11 78; "
     "give e0 1 10 10; reset; give e0 2 20 20; totals -> gone 1@10\n"},
    /* It stays gone, and its children may still count. */
    {"task_whose_time_goes_on_is_alive",
     "task 11 11 77; attrs 1; command 11; open; clock 1; give e0 1 10 10; "
     "totals -> 1@10\n"
     "task 11 11 78; clock 1000000001; give e0 2 20 20; totals -> 2@20\n"
     "totals -> gone 2@20\n"
     "give e0 3 30 30; totals -> gone 3@30\n"},
    /* tkill(2) finds a task, and /proc was read less than a second ago. */
    {"task_is_looked_up_once_a_second",
     "task 11 11 77; attrs 1; command 11; open; clock 5000; give e0 1 10 10; "
     "totals -> 1@10\n"
     "totals -> 1@10\n"
     "task 11 11 78; clock 1000004999; totals -> 1@10\n"
     "clock 1000005000; totals -> gone 1@10\n"},
    /* It counted something between the reading and the check. */
    {"task_found_gone_is_read_once_more",
     "task 11 11 77; attrs 1; command 11; open; task 11 11 78; "
     "give e0 1 10 10; read -> read e0 e0\n"
     "read -> read e0\n"},
    /* A reading after it finds out. */
    {"task_is_not_looked_for_in_a_base_reading",
     "task 11 11 77; attrs 1; command 11; open; task 11 11 78; "
     "give e0 1 10 10; base -> read e0\n"
     "totals -> gone 1@10\n"},
};

static void finish(uvperf__evlist_t *evlist) {
  uvperf__evlist_free(evlist);
  fake_assert_clean();
}

/* Without /proc the first check is two calls. A task has a place for each CPU,
 * and is checked once in a reading. */
static void task_on_many_cpus_is_asked_for_once(void **state) {
  uvperf__evlist_t *evlist;
  uvperf_reading_t *reading;
  evlist_make_t make;
  fake_event_t *events[6];
  unsigned asked;
  int i;

  fake_host_empty(state);
  counters_script(events, 6);
  evlist_make(&make, 1);
  for (i = 0; i < 2; i++) {
    evlist_add_thread(&make, i == 0 ? getpid() : getppid());
    make.targets[i].cpus = "0-2";
  }
  assert_int_equal(uvperf__evlist_make(0, &evlist, &make.options, NULL), 0);
  assert_int_equal(uvperf_reading_new(&reading), 0);
  for (i = 0; i < 2; i++) {
    asked = fake_count(FAKE_HAS_TASK);
    assert_int_equal(uvperf__evlist_read(evlist, reading), 0);
    assert_int_equal(fake_count(FAKE_HAS_TASK) - asked, i == 0 ? 4 : 2);
  }
  uvperf_reading_free(reading);
  finish(evlist);
}

typedef struct elsewhere_s {
  uvperf__evlist_t *evlist;
  uvperf_reading_t *reading;
} elsewhere_t;

static void read_elsewhere(void *arg) {
  elsewhere_t *elsewhere = arg;

  assert_int_equal(uvperf__evlist_read(elsewhere->evlist, elsewhere->reading),
                   0);
}

static void read_in_a_thread(elsewhere_t *elsewhere) {
  uv_thread_t thread;

  assert_int_equal(uv_thread_create(&thread, read_elsewhere, elsewhere), 0);
  assert_int_equal(uv_thread_join(&thread), 0);
}

/* It is there, as it asks; of another thread that is not known. */
static void calling_thread_is_not_asked_for(void **state) {
  evlist_make_t make;
  elsewhere_t elsewhere;
  fake_event_t *events[1];

  fake_host_empty(state);
  counters_script(events, 1);
  evlist_make(&make, 1);
  evlist_add(&make, UVPERF_TARGET_SELF);
  assert_int_equal(
      uvperf__evlist_make(0, &elsewhere.evlist, &make.options, NULL), 0);
  assert_int_equal(uvperf_reading_new(&elsewhere.reading), 0);
  counters_give(events[0], 1, 10, 10);
  read_elsewhere(&elsewhere);
  read_elsewhere(&elsewhere);
  assert_int_equal(fake_count(FAKE_HAS_TASK), 0);
  read_in_a_thread(&elsewhere);
  assert_int_equal(fake_count(FAKE_HAS_TASK), 2);
  uvperf_reading_free(elsewhere.reading);
  finish(elsewhere.evlist);
}

/* It has ended, and its number was given again. */
static void
thread_with_the_number_of_the_calling_one_is_asked_for(void **state) {
  evlist_make_t make;
  elsewhere_t elsewhere;
  fake_event_t *events[1];

  fake_host_empty(state);
  counters_script(events, 1);
  evlist_make(&make, 1);
  evlist_add(&make, UVPERF_TARGET_SELF);
  fake_thread(4711); /* all threads have this number now */
  assert_int_equal(
      uvperf__evlist_make(0, &elsewhere.evlist, &make.options, NULL), 0);
  assert_int_equal(uvperf_reading_new(&elsewhere.reading), 0);
  counters_give(events[0], 1, 10, 10);
  read_in_a_thread(&elsewhere);
  assert_int_equal(fake_count(FAKE_HAS_TASK), 2);
  uvperf_reading_free(elsewhere.reading);
  finish(elsewhere.evlist);
}

#define TEST(f)                                                                \
  cmocka_unit_test_setup_teardown(f, evlist_make_setup, fake_host_real)

int main(void) {
  static const struct CMUnitTest tests[] = {
      TEST(task_on_many_cpus_is_asked_for_once),
      TEST(calling_thread_is_not_asked_for),
      TEST(thread_with_the_number_of_the_calling_one_is_asked_for),
  };

  return SCRIPTED_ROWS_AND_TESTS(&scripted_evlist, rows, tests);
}
