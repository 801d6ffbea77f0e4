/* SPDX-License-Identifier: MIT */
/* Scripted: tasks that end while they are counted, and how that is detected. */
#include "evlist_make.h"
#include "fake_host.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "evlist/internal.h"

static void finish(uvperf__evlist_t *evlist) {
  uvperf__evlist_free(evlist);
  fake_assert_clean();
}

static int end_at_once(void *arg) {
  (void)arg;
  return 0;
}

static int stay(void *arg) {
  (void)arg;
  return pause();
}

/* A child that has ended, and is still to be waited for. */
static pid_t gone_child(void) {
  pid_t pid = support_fork(end_at_once, NULL);
  siginfo_t info;

  assert_int_equal(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
  return pid;
}

/* Whatever its time is. */
static void task_that_is_gone_is_so_at_the_first_reading(void **state) {
  uvperf__evlist_t *evlist;
  evlist_make_t make;
  fake_event_t *events[1];
  pid_t pid = gone_child();

  (void)state;
  counters_script(events, 1);
  evlist_make(&make, 1);
  evlist_add(&make, UVPERF_TARGET_COMMAND)->pid = pid;
  evlist = evlist_open(&make);
  counters_give(events[0], 1, 10, 10);
  assert_int_equal(uvperf__evlist_reset(evlist), 0);
  counters_give(events[0], 2, 20, 20);
  assert_int_equal(evlist_total(evlist, 0).state, UVPERF_COUNT_GONE);
  finish(evlist);
  assert_int_equal(support_wait(pid), 0);
}

static void task_whose_time_goes_on_is_alive(void **state) {
  uvperf__evlist_t *evlist;
  evlist_make_t make;
  fake_event_t *events[1];
  pid_t pid;

  (void)state;
  counters_script(events, 1);
  evlist_make(&make, 1);
  pid = support_fork(stay, NULL);
  evlist_add(&make, UVPERF_TARGET_COMMAND)->pid = pid;
  evlist = evlist_open(&make);
  counters_give(events[0], 1, 10, 10);
  assert_int_equal(evlist_total(evlist, 0).state, UVPERF_COUNT_COUNTING);
  kill(pid, SIGKILL);
  support_wait(pid);
  counters_give(events[0], 2, 20, 20);
  assert_int_equal(evlist_total(evlist, 0).state, UVPERF_COUNT_COUNTING);
  assert_int_equal(evlist_total(evlist, 0).state, UVPERF_COUNT_GONE);
  assert_int_equal(evlist_total(evlist, 0).value, 2);
  /* It stays gone, and its children may still count. */
  counters_give(events[0], 3, 30, 30);
  assert_int_equal(evlist_total(evlist, 0).state, UVPERF_COUNT_GONE);
  assert_int_equal(evlist_total(evlist, 0).value, 3);
  finish(evlist);
}

/* It counted something between the reading and the check. */
static void task_found_gone_is_read_once_more(void **state) {
  uvperf__evlist_t *evlist;
  uvperf_reading_t *reading;
  evlist_make_t make;
  fake_event_t *events[1];
  pid_t pid = gone_child();

  (void)state;
  counters_script(events, 1);
  evlist_make(&make, 1);
  evlist_add(&make, UVPERF_TARGET_COMMAND)->pid = pid;
  evlist = evlist_open(&make);
  counters_give(events[0], 1, 10, 10);
  assert_int_equal(uvperf_reading_new(&reading), 0);
  fake_log_clear();
  assert_int_equal(uvperf__evlist_read(evlist, reading), 0);
  assert_string_equal(fake_log(), "read, read");
  fake_log_clear();
  assert_int_equal(uvperf__evlist_read(evlist, reading), 0);
  assert_string_equal(fake_log(), "read");
  uvperf_reading_free(reading);
  finish(evlist);
  assert_int_equal(support_wait(pid), 0);
}

/* A reading after it finds out. */
static void task_is_not_looked_for_in_a_base_reading(void **state) {
  uvperf__evlist_t *evlist;
  uvperf_reading_t *reading;
  uvperf_count_t count;
  evlist_make_t make;
  fake_event_t *events[1];
  pid_t pid = gone_child();

  (void)state;
  counters_script(events, 1);
  evlist_make(&make, 1);
  evlist_add(&make, UVPERF_TARGET_COMMAND)->pid = pid;
  evlist = evlist_open(&make);
  counters_give(events[0], 1, 10, 10);
  assert_int_equal(uvperf_reading_new(&reading), 0);
  assert_int_equal(uvperf__evlist_read_base(evlist, reading), 0);
  assert_int_equal(uvperf_reading_total(reading, 0, &count), 0);
  assert_int_equal(count.state, UVPERF_COUNT_COUNTING);
  assert_int_equal(evlist_total(evlist, 0).state, UVPERF_COUNT_GONE);
  uvperf_reading_free(reading);
  finish(evlist);
  assert_int_equal(support_wait(pid), 0);
}

/* Without /proc each check is one call. A task has a place for each CPU, and is
 * checked once in a reading. */
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
    assert_int_equal(fake_count(FAKE_HAS_TASK) - asked, 2);
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
  assert_int_equal(fake_count(FAKE_HAS_TASK), 1);
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
  assert_int_equal(fake_count(FAKE_HAS_TASK), 1);
  uvperf_reading_free(elsewhere.reading);
  finish(elsewhere.evlist);
}

#define TEST(f)                                                                \
  cmocka_unit_test_setup_teardown(f, evlist_make_setup, fake_host_real)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(task_that_is_gone_is_so_at_the_first_reading),
      TEST(task_whose_time_goes_on_is_alive),
      TEST(task_found_gone_is_read_once_more),
      TEST(task_is_not_looked_for_in_a_base_reading),
      TEST(task_on_many_cpus_is_asked_for_once),
      TEST(calling_thread_is_not_asked_for),
      TEST(thread_with_the_number_of_the_calling_one_is_asked_for),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
