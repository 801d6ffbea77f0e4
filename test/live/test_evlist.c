/* SPDX-License-Identifier: MIT */
/* Counters of this kernel's events, with exactly known counts. More are in
 * test_set.c and test_set_control.c. */
#include "make_evlist.h"
#include "live_thread.h"

#include <signal.h>
#include <linux/bpf.h>
#include <unistd.h>

/* Longer than any thread of the tests has to wait for a CPU. */
#define LONGEST_NS UINT64_C(20000000000)
/* An emulated machine opens and closes slowly. */
#define ENOUGH_NS UINT64_C(10000000000)

static evlist_make_t make;

/* Counts calls of getpgid by the first attr. */
static void count_calls(const char *test) {
  support_need_own_events(test);
  evlist_make(&make, 1);
  live_need_syscall(test, &make.attrs[0], 0);
  make.attrs[0].sample_period = 0;
}

/* Other processes may make such calls too. */
static void count_own_thread_alone(uvperf__evlist_t *evlist) {
  char filter[48];

  snprintf(filter, sizeof(filter), "common_pid == %u", live_tid());
  assert_int_equal(uvperf__evlist_apply_filter(evlist, 0, filter, NULL), 0);
}

static void enable(uvperf__evlist_t *evlist) {
  assert_int_equal(uvperf__evlist_enable(evlist, NULL), 0);
}

static void disable(uvperf__evlist_t *evlist) {
  assert_int_equal(uvperf__evlist_disable(evlist, NULL), 0);
}

static void assert_counted(uvperf__evlist_t *evlist, uint64_t value) {
  uvperf_count_t count = evlist_total(evlist, 0);

  if (count.state != UVPERF_COUNT_COUNTING || count.value != value ||
      count.nr_missing != 0)
    fail_msg("%s, %u missing: %llu, not %llu",
             uvperf_count_state_name(count.state), count.nr_missing,
             (unsigned long long)count.value, (unsigned long long)value);
  assert_int_equal(count.scaled, value);
}

/* -- one's own thread ----------------------------------------------------- */

/* Of three PMUs: all events count from the first moment on. */
static void group_of_several_pmus_starts_and_stops_at_once(void **state) {
  uvperf__evlist_t *evlist;
  size_t i;

  support_need_breakpoints(__func__);
  count_calls(__func__);
  make.attrs[2] = make.attrs[0];
  uvperf_attr_software(&make.attrs[0], PERF_COUNT_SW_PAGE_FAULTS);
  live_write_attr(&make.attrs[1], 0);
  make.attrs[1].sample_period = 0;
  for (i = 0; i < 3; i++)
    make.pointers[i] = &make.attrs[i];
  make.options.nr_attrs = 3;
  evlist_group(&make, 0, 3);
  evlist_add(&make, UVPERF_TARGET_SELF);
  evlist = evlist_open(&make);
  for (i = 1; i <= 50; i++) {
    enable(evlist);
    live_write(3);
    live_syscall(2);
    disable(evlist);
    live_write(1);
    live_syscall(1);
    assert_int_equal(evlist_total(evlist, 1).value, 3 * i);
    assert_int_equal(evlist_total(evlist, 2).value, 2 * i);
  }
  uvperf__evlist_free(evlist);
}

static void reset_begins_counts_and_times_again(void **state) {
  uvperf__evlist_t *evlist;
  uvperf_count_t count;
  uint64_t before;

  count_calls(__func__);
  evlist_add(&make, UVPERF_TARGET_SELF);
  evlist = evlist_open(&make);
  enable(evlist);
  live_syscall(5);
  before = live_now();
  assert_int_equal(uvperf__evlist_reset(evlist), 0);
  live_syscall(2);
  assert_counted(evlist, 2);
  count = evlist_total(evlist, 0);
  assert_true(count.time_enabled <= live_now() - before);
  assert_int_equal(count.time_running, count.time_enabled);
  disable(evlist);
  assert_int_equal(uvperf__evlist_reset(evlist), 0);
  count = evlist_total(evlist, 0);
  assert_int_equal(count.state, UVPERF_COUNT_NOT_ENABLED);
  assert_int_equal(count.time_enabled, 0);
  uvperf__evlist_free(evlist);
}

/* -- threads -------------------------------------------------------------- */

static void make_calls(void *arg) {
  live_syscall(*(uint64_t *)arg);
}

static void other_thread_counts_until_it_is_gone(void **state) {
  uint64_t calls = 4;
  uvperf__evlist_t *evlist;
  uvperf_count_t count;
  live_thread_t thread;

  count_calls(__func__);
  live_thread_start(&thread, make_calls, &calls);
  evlist_add_thread(&make, (int32_t)thread.tid);
  evlist = evlist_open(&make);
  enable(evlist);
  live_syscall(9);
  live_thread_do(&thread);
  assert_counted(evlist, 4);
  calls = 3;
  live_thread_do(&thread);
  live_thread_end(&thread);
  /* It can be joined before the kernel ends its events. */
  do
    count = evlist_total(evlist, 0);
  while (count.state == UVPERF_COUNT_COUNTING);
  assert_int_equal(count.state, UVPERF_COUNT_GONE);
  assert_int_equal(count.value, 7);
  assert_int_equal(count.nr_counts, 1);
  assert_int_equal(uvperf__evlist_reset(evlist), 0);
  count = evlist_total(evlist, 0);
  assert_int_equal(count.state, UVPERF_COUNT_GONE);
  assert_int_equal(count.value, 0);
  uvperf__evlist_free(evlist);
}

/* The place says on which CPU it counted. */
static void thread_by_cpu_counts_where_it_ran(void **state) {
  uvperf__evlist_t *evlist;
  char list[32];
  int cpus[64];
  size_t nr = live_cpus(cpus, 64);
  cpu_set_t old;
  size_t i;

  count_calls(__func__);
  if (nr < 2)
    support_skip(__func__, "two CPUs");
  snprintf(list, sizeof(list), "%d,%d", cpus[0], cpus[1]);
  evlist_add(&make, UVPERF_TARGET_SELF)->cpus = list;
  evlist = evlist_open(&make);
  assert_int_equal(evlist_nr_places(evlist), 2);
  enable(evlist);
  for (i = 0; i < 2; i++) {
    live_pin(cpus[i], &old);
    live_syscall(i + 3);
    live_unpin(&old);
  }
  disable(evlist);
  assert_int_equal(evlist_at(evlist, 0, 0).value, 3);
  assert_int_equal(evlist_at(evlist, 0, 1).value, 4);
  assert_counted(evlist, 7);
  uvperf__evlist_free(evlist);
}

/* -- processes ------------------------------------------------------------ */

static void process_has_a_place_for_each_thread(void **state) {
  uint64_t calls = 6;
  uvperf__evlist_t *evlist;
  uvperf_reading_t *reading;
  live_thread_t thread;
  size_t i;

  count_calls(__func__);
  live_thread_start(&thread, make_calls, &calls);
  evlist_add(&make, UVPERF_TARGET_PROCESS)->pid = getpid();
  evlist = evlist_open(&make);
  enable(evlist);
  live_thread_do(&thread);
  live_syscall(2);
  disable(evlist);
  assert_int_equal(uvperf_reading_new(&reading), 0);
  assert_int_equal(uvperf__evlist_read(evlist, reading), 0);
  for (i = 0; i < uvperf_reading_info(reading)->nr_places; i++) {
    int32_t tid = uvperf_reading_place(reading, i)->pid;
    uvperf_count_t count;

    assert_int_equal(uvperf_reading_get(reading, 0, UVPERF_ALL, i, &count), 0);
    assert_int_equal(count.value, tid == (int32_t)thread.tid   ? 6
                                  : tid == (int32_t)live_tid() ? 2
                                                               : 0);
  }
  assert_true(i >= 2);
  uvperf_reading_free(reading);
  uvperf__evlist_free(evlist);
  live_thread_end(&thread);
}

/* It makes threads all the time: tasks inherit some of a group, and not the
 * rest, while it is being opened. */
static void rest(void *arg) {
}

static int make_threads(void *arg) {
  live_thread_t thread;

  while (getppid() != 1) {
    live_thread_start(&thread, rest, NULL);
    live_thread_do(&thread);
    live_thread_end(&thread);
  }
  return 0;
}

/* How many counts cannot be read. */
static size_t count_errors(uvperf__evlist_t *evlist) {
  uvperf_reading_t *reading;
  uvperf_count_t count;
  size_t attr, place;
  size_t nr = 0;

  assert_int_equal(uvperf_reading_new(&reading), 0);
  assert_int_equal(uvperf__evlist_read(evlist, reading), 0);
  for (place = 0; place < uvperf_reading_info(reading)->nr_places; place++)
    for (attr = 0; attr < 8; attr++) {
      assert_int_equal(
          uvperf_reading_get(reading, attr, UVPERF_ALL, place, &count), 0);
      nr += count.state == UVPERF_COUNT_ERROR;
    }
  uvperf_reading_free(reading);
  return nr;
}

/* Threads end while they are opened: that is no error. That one is being made
 * while the group is read is, until it is made. */
static void group_of_a_busy_process_can_be_read(void **state) {
  uint64_t end, enough = live_now() + ENOUGH_NS;
  uvperf__evlist_t *evlist;
  pid_t pid;
  size_t i;

  support_need_own_events(__func__);
  pid = support_fork(make_threads, NULL);
  evlist_make(&make, 8);
  for (i = 0; i < 8; i++)
    make.attrs[i].exclude_kernel = 1;
  evlist_group(&make, 0, 8);
  evlist_add(&make, UVPERF_TARGET_PROCESS)->pid = pid;
  for (i = 0; i < 10 || (i < 100 && live_now() < enough); i++) {
    evlist = evlist_open(&make);
    enable(evlist);
    end = live_now() + LONGEST_NS;
    while (count_errors(evlist) != 0)
      assert_true(live_now() < end);
    uvperf__evlist_free(evlist);
  }
  kill(pid, SIGKILL);
  assert_int_equal(support_wait(pid), 128 + SIGKILL);
}

/* -- CPUs ----------------------------------------------------------------- */

static void cpus_count_each_what_happens_there(void **state) {
  uvperf__evlist_t *evlist;
  uvperf_reading_t *reading;
  cpu_set_t old;
  int cpu = live_last_cpu();
  size_t i;

  support_need_cpu_wide(__func__);
  count_calls(__func__);
  evlist_add(&make, UVPERF_TARGET_CPUS);
  evlist = evlist_open(&make);
  count_own_thread_alone(evlist);
  enable(evlist);
  live_pin(cpu, &old);
  live_syscall(5);
  live_unpin(&old);
  disable(evlist);
  assert_int_equal(uvperf_reading_new(&reading), 0);
  assert_int_equal(uvperf__evlist_read(evlist, reading), 0);
  for (i = 0; i < uvperf_reading_info(reading)->nr_places; i++) {
    uvperf_count_t count;

    assert_int_equal(uvperf_reading_get(reading, 0, UVPERF_ALL, i, &count), 0);
    assert_int_equal(count.value,
                     uvperf_reading_place(reading, i)->cpu == cpu ? 5 : 0);
  }
  uvperf_reading_free(reading);
  uvperf__evlist_free(evlist);
}

#define TEST(f) cmocka_unit_test_setup(f, evlist_make_setup)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(group_of_several_pmus_starts_and_stops_at_once),
      TEST(reset_begins_counts_and_times_again),
      TEST(other_thread_counts_until_it_is_gone),
      TEST(thread_by_cpu_counts_where_it_ran),
      TEST(process_has_a_place_for_each_thread),
      TEST(group_of_a_busy_process_can_be_read),
      TEST(cpus_count_each_what_happens_there),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
