/* SPDX-License-Identifier: MIT */
/* Counters of this kernel's events, with exactly known counts. */
#include "counters_make.h"
#include "live_bpf.h"
#include "live_thread.h"

#include <errno.h>
#include <linux/bpf.h>
#include <unistd.h>

static counters_make_t make;

/* Counts calls of getpgid by the first attr. */
static void count_calls(const char *test) {
  uint64_t id = support_need_tracepoint(test, LIVE_SYSCALL);

  support_need_own_events(test);
  counters_make(&make, 1);
  live_syscall_attr(&make.attrs[0], id, 0);
  make.attrs[0].sample_period = 0;
}

/* Other processes may make such calls too. */
static void count_own_thread_alone(uvperf__counters_t *counters) {
  char filter[48];

  snprintf(filter, sizeof(filter), "common_pid == %u", live_tid());
  assert_int_equal(uvperf__counters_set_filter(counters, 0, filter, NULL), 0);
}

static void enable(uvperf__counters_t *counters) {
  assert_int_equal(uvperf__counters_enable(counters, NULL), 0);
}

static void disable(uvperf__counters_t *counters) {
  assert_int_equal(uvperf__counters_disable(counters, NULL), 0);
}

static void assert_counted(uvperf__counters_t *counters, uint64_t value) {
  uvperf_count_t count = counters_total(counters, 0);

  if (count.state != UVPERF_COUNT_COUNTING || count.value != value ||
      count.nr_missing != 0)
    fail_msg("%s, %u missing: %llu, not %llu",
             uvperf_count_state_name(count.state), count.nr_missing,
             (unsigned long long)count.value, (unsigned long long)value);
  assert_int_equal(count.scaled, value);
}

/* -- one's own thread ----------------------------------------------------- */

static void own_thread_counts_while_enabled_alone(void **state) {
  uvperf__counters_t *counters;
  size_t fds = support_count_fds();

  (void)state;
  count_calls(__func__);
  counters_add(&make, UVPERF_TARGET_SELF);
  counters = counters_open(&make);
  live_syscall(3);
  assert_int_equal(counters_total(counters, 0).state, UVPERF_COUNT_NOT_ENABLED);
  enable(counters);
  live_syscall(5);
  disable(counters);
  live_syscall(7);
  assert_counted(counters, 5);
  enable(counters);
  live_syscall(2);
  assert_counted(counters, 7);
  uvperf__counters_free(counters);
  assert_int_equal(support_count_fds(), fds);
}

/* Of three PMUs: all events count from the first moment on. */
static void group_of_several_pmus_starts_and_stops_at_once(void **state) {
  uvperf__counters_t *counters;
  size_t i;

  (void)state;
  support_need_breakpoints(__func__);
  count_calls(__func__);
  make.attrs[2] = make.attrs[0];
  uvperf_attr_software(&make.attrs[0], PERF_COUNT_SW_PAGE_FAULTS);
  live_write_attr(&make.attrs[1], 0);
  make.attrs[1].sample_period = 0;
  for (i = 0; i < 3; i++)
    make.pointers[i] = &make.attrs[i];
  make.options.nr_attrs = 3;
  counters_group(&make, 0, 3);
  counters_add(&make, UVPERF_TARGET_SELF);
  counters = counters_open(&make);
  for (i = 1; i <= 50; i++) {
    enable(counters);
    live_write(3);
    live_syscall(2);
    disable(counters);
    live_write(1);
    live_syscall(1);
    assert_int_equal(counters_total(counters, 1).value, 3 * i);
    assert_int_equal(counters_total(counters, 2).value, 2 * i);
  }
  uvperf__counters_free(counters);
}

static void reset_begins_counts_and_times_again(void **state) {
  uvperf__counters_t *counters;
  uvperf_count_t count;
  uint64_t before;

  (void)state;
  count_calls(__func__);
  counters_add(&make, UVPERF_TARGET_SELF);
  counters = counters_open(&make);
  enable(counters);
  live_syscall(5);
  before = live_now();
  assert_int_equal(uvperf__counters_reset(counters), 0);
  live_syscall(2);
  assert_counted(counters, 2);
  count = counters_total(counters, 0);
  assert_true(count.time_enabled <= live_now() - before);
  assert_int_equal(count.time_running, count.time_enabled);
  disable(counters);
  assert_int_equal(uvperf__counters_reset(counters), 0);
  count = counters_total(counters, 0);
  assert_int_equal(count.state, UVPERF_COUNT_NOT_ENABLED);
  assert_int_equal(count.time_enabled, 0);
  uvperf__counters_free(counters);
}

/* -- threads -------------------------------------------------------------- */

static void make_calls(void *arg) {
  live_syscall(*(uint64_t *)arg);
}

static void other_thread_counts_until_it_is_gone(void **state) {
  uint64_t calls = 4;
  uvperf__counters_t *counters;
  uvperf_count_t count;
  live_thread_t thread;

  (void)state;
  count_calls(__func__);
  live_thread_start(&thread, make_calls, &calls);
  counters_add_thread(&make, (int32_t)thread.tid);
  counters = counters_open(&make);
  enable(counters);
  live_syscall(9);
  live_thread_do(&thread);
  assert_counted(counters, 4);
  calls = 3;
  live_thread_do(&thread);
  live_thread_end(&thread);
  /* It can be joined before the kernel ends its events. */
  do
    count = counters_total(counters, 0);
  while (count.state == UVPERF_COUNT_COUNTING);
  assert_int_equal(count.state, UVPERF_COUNT_GONE);
  assert_int_equal(count.value, 7);
  assert_int_equal(count.nr_counts, 1);
  assert_int_equal(uvperf__counters_reset(counters), 0);
  count = counters_total(counters, 0);
  assert_int_equal(count.state, UVPERF_COUNT_GONE);
  assert_int_equal(count.value, 0);
  uvperf__counters_free(counters);
}

static void threads_that_are_added_count_from_then_on(void **state) {
  uint64_t calls = 4;
  uvperf_target_t target = UVPERF_TARGET_INIT;
  uvperf__counters_t *counters;
  live_thread_t threads[2];
  uint32_t indexes[2];
  size_t i;

  (void)state;
  count_calls(__func__);
  for (i = 0; i < 2; i++)
    live_thread_start(&threads[i], make_calls, &calls);
  counters = counters_open(&make);
  enable(counters);
  target.type = UVPERF_TARGET_THREAD;
  for (i = 0; i < 2; i++) {
    live_thread_do(&threads[i]); /* too early */
    target.pid = (int32_t)threads[i].tid;
    assert_int_equal(
        uvperf__counters_add_target(counters, &target, &indexes[i], NULL), 0);
  }
  live_thread_do(&threads[0]);
  live_thread_do(&threads[1]);
  assert_counted(counters, 8);
  assert_int_equal(
      uvperf__counters_remove_target(counters, indexes[0], NULL, NULL), 0);
  live_thread_do(&threads[0]);
  live_thread_do(&threads[1]);
  assert_counted(counters, 8);
  assert_int_equal(counters_nr_places(counters), 1);
  uvperf__counters_free(counters);
  for (i = 0; i < 2; i++)
    live_thread_end(&threads[i]);
}

/* The place says on which CPU it counted. */
static void thread_by_cpu_counts_where_it_ran(void **state) {
  uvperf__counters_t *counters;
  char list[32];
  int cpus[64];
  size_t nr = live_cpus(cpus, 64);
  cpu_set_t old;
  size_t i;

  (void)state;
  count_calls(__func__);
  if (nr < 2)
    support_skip(__func__, "two CPUs");
  snprintf(list, sizeof(list), "%d,%d", cpus[0], cpus[1]);
  counters_add(&make, UVPERF_TARGET_SELF)->cpus = list;
  counters = counters_open(&make);
  assert_int_equal(counters_nr_places(counters), 2);
  enable(counters);
  for (i = 0; i < 2; i++) {
    live_pin(cpus[i], &old);
    live_syscall(i + 3);
    live_unpin(&old);
  }
  disable(counters);
  assert_int_equal(counters_at(counters, 0, 0).value, 3);
  assert_int_equal(counters_at(counters, 0, 1).value, 4);
  assert_counted(counters, 7);
  uvperf__counters_free(counters);
}

/* -- CPUs and cgroups ----------------------------------------------------- */

static void group_of_five_is_one_read_for_each_cpu(void **state) {
  uvperf__counters_t *counters;
  uvperf_reading_t *reading;
  unsigned reads;
  int cpus[64];
  size_t nr = 64;
  size_t i;

  (void)state;
  support_need_cpu_wide(__func__);
  assert_int_equal(uvperf_cpus(UVPERF_CPUS_ONLINE, cpus, &nr), 0);
  counters_make(&make, 5);
  uvperf_attr_software(&make.attrs[0], PERF_COUNT_SW_CPU_CLOCK);
  counters_group(&make, 0, 5);
  counters_add(&make, UVPERF_TARGET_CPUS);
  counters = counters_open(&make);
  enable(counters);
  assert_int_equal(uvperf__counters_nr_open(counters), 5 * nr);
  assert_int_equal(uvperf_reading_new(&reading), 0);
  reads = fake_count(FAKE_READ);
  assert_int_equal(uvperf__counters_read(counters, reading), 0);
  assert_int_equal(fake_count(FAKE_READ) - reads, nr);
  for (i = 0; i < 5; i++)
    assert_int_equal(counters_total(counters, i).nr_counts, nr);
  uvperf_reading_free(reading);
  uvperf__counters_free(counters);
}

static void cpus_count_each_what_happens_there(void **state) {
  uvperf__counters_t *counters;
  uvperf_reading_t *reading;
  cpu_set_t old;
  int cpu = live_last_cpu();
  size_t i;

  (void)state;
  support_need_cpu_wide(__func__);
  count_calls(__func__);
  counters_add(&make, UVPERF_TARGET_CPUS);
  counters = counters_open(&make);
  count_own_thread_alone(counters);
  enable(counters);
  live_pin(cpu, &old);
  live_syscall(5);
  live_unpin(&old);
  disable(counters);
  assert_int_equal(uvperf_reading_new(&reading), 0);
  assert_int_equal(uvperf__counters_read(counters, reading), 0);
  for (i = 0; i < uvperf_reading_info(reading)->nr_places; i++) {
    uvperf_count_t count;

    assert_int_equal(uvperf_reading_get(reading, 0, UVPERF_ALL, i, &count), 0);
    assert_int_equal(count.value,
                     uvperf_reading_place(reading, i)->cpu == cpu ? 5 : 0);
  }
  uvperf_reading_free(reading);
  uvperf__counters_free(counters);
}

static void call_five_times(void *arg) {
  (void)arg;
  live_syscall(5);
}

static void cgroup_counts_its_tasks_alone(void **state) {
  uvperf__counters_t *counters;
  live_worker_t inside, outside;
  live_cgroup_t cgroup;
  size_t fds;
  int other;

  (void)state;
  support_need_cpu_wide(__func__);
  count_calls(__func__);
  live_worker_fork(&inside, call_five_times, NULL);
  live_worker_fork(&outside, call_five_times, NULL);
  live_cgroup_make(__func__, &cgroup);
  live_cgroup_add(&cgroup, inside.pid);
  fds = support_count_fds();
  counters_add(&make, UVPERF_TARGET_CGROUP)->cgroup = cgroup.path;
  counters = counters_open(&make);
  /* The directory's fd is not kept. */
  assert_int_equal(support_count_fds() - fds,
                   uvperf__counters_nr_open(counters));
  other = dup(0); /* gets its number */
  enable(counters);
  live_worker_do(&inside);
  live_worker_do(&outside);
  live_syscall(3);
  disable(counters);
  assert_int_equal(counters_total(counters, 0).value, 5);
  uvperf__counters_free(counters);
  assert_int_equal(close(other), 0);
  assert_int_equal(support_count_fds(), fds);
  live_worker_end(&inside);
  live_worker_end(&outside);
  live_cgroup_remove(&cgroup);
}

/* -- filters and programs ------------------------------------------------- */

static void filter_holds_for_later_threads_too(void **state) {
  uint64_t calls = 4;
  uvperf_target_t target = UVPERF_TARGET_INIT;
  uvperf__counters_t *counters;
  live_thread_t thread;
  uvperf_error_t error;

  (void)state;
  count_calls(__func__);
  live_thread_start(&thread, make_calls, &calls);
  counters_add(&make, UVPERF_TARGET_SELF);
  counters = counters_open(&make);
  assert_int_equal(
      uvperf__counters_set_filter(counters, 0, "no such field", &error),
      -EINVAL);
  assert_int_equal(uvperf__counters_set_filter(counters, 0, "pid == 1", &error),
                   0);
  assert_int_equal(uvperf__counters_set_filter(counters, 0, "pid == 1", &error),
                   -EEXIST);
  enable(counters);
  target.type = UVPERF_TARGET_THREAD;
  target.pid = (int32_t)thread.tid;
  assert_int_equal(uvperf__counters_add_target(counters, &target, NULL, &error),
                   0);
  live_syscall(3);
  live_thread_do(&thread);
  assert_counted(counters, 0);
  uvperf__counters_free(counters);
  live_thread_end(&thread);
}

/* A program on a tracepoint decides for everybody who measures it: this one is
 * for calls with an argument that no other process uses. */
static int own_argument(void) {
  return LIVE_PGID + getpid();
}

/* Calls on a CPU: five that the program drops, and one. */
static void call_on(int cpu) {
  cpu_set_t old;
  int i;

  live_pin(cpu, &old);
  for (i = 0; i < 5; i++)
    assert_int_equal(getpgid(own_argument()), -1);
  live_syscall(1);
  live_unpin(&old);
}

static void program_of_a_tracepoint_holds_on_all_cpus(void **state) {
  uvperf__counters_t *counters;
  uvperf_error_t error;
  int cpus[64];
  size_t nr = live_cpus(cpus, 64);
  char list[2][8];
  size_t i;
  int fd;

  (void)state;
  support_need_cpu_wide(__func__);
  count_calls(__func__);
  if (nr < 2)
    support_skip(__func__, "two CPUs");
  fd = live_bpf_by_argument(__func__, 0, own_argument(), 0);
  for (i = 0; i < 2; i++) {
    snprintf(list[i], sizeof(list[i]), "%d", cpus[i]);
    counters_add_cpus(&make, list[i]);
  }
  counters = counters_open(&make);
  error.reason[0] = '\0';
  if (uvperf__counters_set_bpf(counters, 0, fd, 0, &error) != 0)
    fail_msg("%s", error.reason);
  close(fd);
  count_own_thread_alone(counters);
  enable(counters);
  call_on(cpus[0]);
  call_on(cpus[1]);
  assert_counted(counters, 2);
  /* The first had the program, and the other gets it. The count of the first
   * leaves with it. */
  assert_int_equal(uvperf__counters_remove_target(counters, 0, NULL, NULL), 0);
  call_on(cpus[1]);
  assert_counted(counters, 2);
  uvperf__counters_free(counters);
}

#define TEST(f) cmocka_unit_test_setup(f, counters_make_setup)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(own_thread_counts_while_enabled_alone),
      TEST(group_of_several_pmus_starts_and_stops_at_once),
      TEST(reset_begins_counts_and_times_again),
      TEST(other_thread_counts_until_it_is_gone),
      TEST(threads_that_are_added_count_from_then_on),
      TEST(thread_by_cpu_counts_where_it_ran),
      TEST(group_of_five_is_one_read_for_each_cpu),
      TEST(cpus_count_each_what_happens_there),
      TEST(cgroup_counts_its_tasks_alone),
      TEST(filter_holds_for_later_threads_too),
      TEST(program_of_a_tracepoint_holds_on_all_cpus),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
