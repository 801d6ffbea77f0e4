/* SPDX-License-Identifier: MIT */
/* Counters of this kernel's events, with exactly known counts. */
#include "evlist_make.h"
#include "live_bpf.h"
#include "live_thread.h"

#include <errno.h>
#include <linux/bpf.h>
#include <unistd.h>

static evlist_make_t make;

/* Counts calls of getpgid by the first attr. */
static void count_calls(const char *test) {
  uint64_t id = support_need_tracepoint(test, LIVE_SYSCALL);

  support_need_own_events(test);
  evlist_make(&make, 1);
  live_syscall_attr(&make.attrs[0], id, 0);
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

static void own_thread_counts_while_enabled_alone(void **state) {
  uvperf__evlist_t *evlist;
  size_t fds = support_count_fds();

  (void)state;
  count_calls(__func__);
  evlist_add(&make, UVPERF_TARGET_SELF);
  evlist = evlist_open(&make);
  live_syscall(3);
  assert_int_equal(evlist_total(evlist, 0).state, UVPERF_COUNT_NOT_ENABLED);
  enable(evlist);
  live_syscall(5);
  disable(evlist);
  live_syscall(7);
  assert_counted(evlist, 5);
  enable(evlist);
  live_syscall(2);
  assert_counted(evlist, 7);
  uvperf__evlist_free(evlist);
  assert_int_equal(support_count_fds(), fds);
}

/* Of three PMUs: all events count from the first moment on. */
static void group_of_several_pmus_starts_and_stops_at_once(void **state) {
  uvperf__evlist_t *evlist;
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

  (void)state;
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

  (void)state;
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

static void threads_that_are_added_count_from_then_on(void **state) {
  uint64_t calls = 4;
  uvperf_target_t target = UVPERF_TARGET_INIT;
  uvperf__evlist_t *evlist;
  live_thread_t threads[2];
  uint32_t indexes[2];
  size_t i;

  (void)state;
  count_calls(__func__);
  for (i = 0; i < 2; i++)
    live_thread_start(&threads[i], make_calls, &calls);
  evlist = evlist_open(&make);
  enable(evlist);
  target.type = UVPERF_TARGET_THREAD;
  for (i = 0; i < 2; i++) {
    live_thread_do(&threads[i]); /* too early */
    target.pid = (int32_t)threads[i].tid;
    assert_int_equal(
        uvperf__evlist_add_target(evlist, &target, &indexes[i], NULL), 0);
  }
  live_thread_do(&threads[0]);
  live_thread_do(&threads[1]);
  assert_counted(evlist, 8);
  assert_int_equal(uvperf__evlist_remove_target(evlist, indexes[0], NULL, NULL),
                   0);
  live_thread_do(&threads[0]);
  live_thread_do(&threads[1]);
  assert_counted(evlist, 8);
  assert_int_equal(evlist_nr_places(evlist), 1);
  uvperf__evlist_free(evlist);
  for (i = 0; i < 2; i++)
    live_thread_end(&threads[i]);
}

/* The place says on which CPU it counted. */
static void thread_by_cpu_counts_where_it_ran(void **state) {
  uvperf__evlist_t *evlist;
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

/* -- CPUs and cgroups ----------------------------------------------------- */

static void group_of_five_is_one_read_for_each_cpu(void **state) {
  uvperf__evlist_t *evlist;
  uvperf_reading_t *reading;
  unsigned reads;
  int cpus[64];
  size_t nr = 64;
  size_t i;

  (void)state;
  support_need_cpu_wide(__func__);
  assert_int_equal(uvperf_cpus(UVPERF_CPUS_ONLINE, cpus, &nr), 0);
  evlist_make(&make, 5);
  uvperf_attr_software(&make.attrs[0], PERF_COUNT_SW_CPU_CLOCK);
  evlist_group(&make, 0, 5);
  evlist_add(&make, UVPERF_TARGET_CPUS);
  evlist = evlist_open(&make);
  enable(evlist);
  assert_int_equal(uvperf__evlist_nr_open(evlist), 5 * nr);
  assert_int_equal(uvperf_reading_new(&reading), 0);
  reads = fake_count(FAKE_READ);
  assert_int_equal(uvperf__evlist_read(evlist, reading), 0);
  assert_int_equal(fake_count(FAKE_READ) - reads, nr);
  for (i = 0; i < 5; i++)
    assert_int_equal(evlist_total(evlist, i).nr_counts, nr);
  uvperf_reading_free(reading);
  uvperf__evlist_free(evlist);
}

static void cpus_count_each_what_happens_there(void **state) {
  uvperf__evlist_t *evlist;
  uvperf_reading_t *reading;
  cpu_set_t old;
  int cpu = live_last_cpu();
  size_t i;

  (void)state;
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

static void call_five_times(void *arg) {
  (void)arg;
  live_syscall(5);
}

static void cgroup_counts_its_tasks_alone(void **state) {
  uvperf__evlist_t *evlist;
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
  evlist_add(&make, UVPERF_TARGET_CGROUP)->cgroup = cgroup.path;
  evlist = evlist_open(&make);
  /* The directory's fd is not kept. */
  assert_int_equal(support_count_fds() - fds, uvperf__evlist_nr_open(evlist));
  other = dup(0); /* gets its number */
  enable(evlist);
  live_worker_do(&inside);
  live_worker_do(&outside);
  live_syscall(3);
  disable(evlist);
  assert_int_equal(evlist_total(evlist, 0).value, 5);
  uvperf__evlist_free(evlist);
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
  uvperf__evlist_t *evlist;
  live_thread_t thread;
  uvperf_error_t error;

  (void)state;
  count_calls(__func__);
  live_thread_start(&thread, make_calls, &calls);
  evlist_add(&make, UVPERF_TARGET_SELF);
  evlist = evlist_open(&make);
  assert_int_equal(
      uvperf__evlist_apply_filter(evlist, 0, "no such field", &error), -EINVAL);
  assert_int_equal(uvperf__evlist_apply_filter(evlist, 0, "pid == 1", &error),
                   0);
  assert_int_equal(uvperf__evlist_apply_filter(evlist, 0, "pid == 1", &error),
                   -EEXIST);
  enable(evlist);
  target.type = UVPERF_TARGET_THREAD;
  target.pid = (int32_t)thread.tid;
  assert_int_equal(uvperf__evlist_add_target(evlist, &target, NULL, &error), 0);
  live_syscall(3);
  live_thread_do(&thread);
  assert_counted(evlist, 0);
  uvperf__evlist_free(evlist);
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
  uvperf__evlist_t *evlist;
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
    evlist_add_cpus(&make, list[i]);
  }
  evlist = evlist_open(&make);
  error.reason[0] = '\0';
  if (uvperf__evlist_attach_bpf(evlist, 0, fd, 0, &error) != 0)
    fail_msg("%s", error.reason);
  close(fd);
  count_own_thread_alone(evlist);
  enable(evlist);
  call_on(cpus[0]);
  call_on(cpus[1]);
  assert_counted(evlist, 2);
  /* The first had the program, and the other gets it. The count of the first
   * leaves with it. */
  assert_int_equal(uvperf__evlist_remove_target(evlist, 0, NULL, NULL), 0);
  call_on(cpus[1]);
  assert_counted(evlist, 2);
  uvperf__evlist_free(evlist);
}

#define TEST(f) cmocka_unit_test_setup(f, evlist_make_setup)

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
