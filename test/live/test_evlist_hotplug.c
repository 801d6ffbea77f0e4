/* SPDX-License-Identifier: MIT */
/* What the kernel does to the events of a CPU that goes offline and comes back,
 * and what happens to their counts. Most tests take a CPU offline, so they run
 * only with UVPERF_TEST_OFFLINE_CPU=1. */
#include "make_evlist.h"

#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "live.h"
#include "live_offline_cpu.h"
#include "evlist/internal.h"

static int open_raw(uint64_t config, int cpu, int group_fd, int is_disabled) {
  struct perf_event_attr attr;

  memset(&attr, 0, sizeof(attr));
  attr.size = sizeof(attr);
  attr.type = PERF_TYPE_SOFTWARE;
  attr.config = config;
  attr.disabled = is_disabled != 0;
  attr.read_format = PERF_FORMAT_GROUP | PERF_FORMAT_TOTAL_TIME_ENABLED |
                     PERF_FORMAT_TOTAL_TIME_RUNNING;
  return (int)syscall(SYS_perf_event_open, &attr, -1, cpu, group_fd,
                      PERF_FLAG_FD_CLOEXEC);
}

/* nr, time_enabled, time_running, values. */
static void read_raw(int fd, uint64_t words[8]) {
  memset(words, 0, 8 * sizeof(words[0]));
  assert_true(read(fd, words, 8 * sizeof(words[0])) > 0);
}

/* Runs there, and sleeps there, so that it switches. */
static void work_on(int cpu) {
  cpu_set_t old;

  live_pin(cpu, &old);
  usleep(1000);
  live_unpin(&old);
}

static void
events_of_a_cpu_that_came_back_stay_off_though_enabled(void **state) {
  int cpu = live_offline_cpu_need(__func__);
  uint64_t before[8], after[8];
  int leader, member;

  leader = open_raw(PERF_COUNT_SW_CPU_CLOCK, cpu, -1, 1);
  assert_true(leader >= 0);
  member = open_raw(PERF_COUNT_SW_CONTEXT_SWITCHES, cpu, leader, 0);
  assert_true(member >= 0);
  assert_int_equal(ioctl(leader, PERF_EVENT_IOC_ENABLE, 0), 0);
  work_on(cpu);
  read_raw(leader, before);
  assert_int_equal(before[0], 2);
  assert_true(before[1] > 0);
  live_offline_cpu_bounce(cpu);
  read_raw(leader, before);
  assert_int_equal(before[0], 1);
  read_raw(member, after);
  assert_int_equal(after[0], 1);
  assert_int_equal(ioctl(leader, PERF_EVENT_IOC_ENABLE, 0), 0);
  work_on(cpu);
  read_raw(leader, after);
  assert_memory_equal(before, after, sizeof(before));
  close(member);
  close(leader);
}

/* A group of two on this CPU and the first one, enabled. */
static uvperf__evlist_t *begin(int cpu, uint32_t flags) {
  uvperf__evlist_t *evlist;
  evlist_make_t make;
  char cpus[32];

  snprintf(cpus, sizeof(cpus), "0,%d", cpu);
  evlist_make(&make, 2);
  uvperf_attr_software(&make.attrs[0], PERF_COUNT_SW_CPU_CLOCK);
  uvperf_attr_software(&make.attrs[1], PERF_COUNT_SW_CONTEXT_SWITCHES);
  evlist_group(&make, 0, 2);
  evlist_add_cpus(&make, cpus);
  make.options.flags = flags;
  evlist = evlist_open(&make);
  assert_int_equal(uvperf__evlist_enable(evlist, NULL), 0);
  return evlist;
}

static void counts_of_a_cpu_that_came_back_go_on(void **state) {
  int cpu = live_offline_cpu_need(__func__);
  uvperf_count_t before, after, switches;
  uvperf__evlist_t *evlist;
  uvperf_error_t error;
  size_t i;

  evlist = begin(cpu, 0);
  work_on(cpu);
  before = evlist_at(evlist, 0, 1);
  assert_true(before.value > 0);
  for (i = 0; i < 3; i++) {
    live_offline_cpu_bounce(cpu);
    /* As if it had not been followed. */
    work_on(cpu);
    after = evlist_at(evlist, 0, 1);
    switches = evlist_at(evlist, 1, 1);
    assert_true(after.value >= before.value);
    uvperf__evlist_cpu_gone(evlist, cpu);
    assert_int_equal(uvperf__evlist_cpu_come(evlist, cpu, &error), 0);
    work_on(cpu);
    assert_int_equal(evlist_at(evlist, 0, 1).state, UVPERF_COUNT_COUNTING);
    assert_int_equal(evlist_at(evlist, 1, 1).state, UVPERF_COUNT_COUNTING);
    assert_true(evlist_at(evlist, 0, 1).value > after.value);
    assert_true(evlist_at(evlist, 1, 1).value > switches.value);
    assert_int_equal(evlist_at(evlist, 0, 0).state, UVPERF_COUNT_COUNTING);
    assert_int_equal(uvperf__evlist_nr_open(evlist), 4);
  }
  uvperf__evlist_free(evlist);
}

static void set_made_while_a_cpu_is_offline_counts_it_when_it_came(void **s) {
  int cpu = live_offline_cpu_need(__func__);
  uvperf__evlist_t *evlist;
  uvperf_error_t error;
  size_t nr;

  live_offline_cpu_take(cpu);
  evlist = begin(cpu, 0);
  nr = evlist_nr_failures(evlist);
  live_offline_cpu_give_back(cpu);
  assert_int_equal(nr, 2);
  assert_int_equal(uvperf__evlist_cpu_come(evlist, cpu, &error), 0);
  assert_int_equal(evlist_nr_failures(evlist), 0);
  work_on(cpu);
  assert_true(evlist_at(evlist, 0, 1).value > 0);
  uvperf__evlist_free(evlist);
}

static void work_there(void *arg) {
  work_on(*(const int *)arg);
}

/* No CPU goes: all events of a set that is not enabled are reopened. */
static void cgroup_on_a_cpu_that_came_back_is_found_by_its_path(void **state) {
  uvperf__evlist_t *evlist;
  uvperf_error_t error;
  live_cgroup_t cgroup;
  live_worker_t worker;
  evlist_make_t make;
  int cpu = 0;
  size_t fds;
  size_t nr;

  support_need_cpu_wide(__func__);
  live_cgroup_make(__func__, &cgroup);
  live_worker_fork(&worker, work_there, &cpu);
  live_cgroup_add(&cgroup, worker.pid);
  evlist_make(&make, 1);
  uvperf_attr_software(&make.attrs[0], PERF_COUNT_SW_CONTEXT_SWITCHES);
  evlist_add(&make, UVPERF_TARGET_CGROUP)->cgroup = cgroup.path;
  evlist = evlist_open(&make);
  nr = uvperf__evlist_nr_open(evlist);
  fds = support_count_fds();
  uvperf__evlist_cpu_gone(evlist, cpu);
  assert_int_equal(uvperf__evlist_cpu_come(evlist, cpu, &error), 0);
  assert_int_equal(uvperf__evlist_nr_open(evlist), nr);
  assert_int_equal(support_count_fds(), fds); /* without the directory's */
  assert_int_equal(uvperf__evlist_enable(evlist, NULL), 0);
  live_worker_do(&worker);
  /* Counts this cgroup's task, and not all switches on the CPU. */
  assert_in_range(evlist_at(evlist, 0, 0).value, 1, 20);
  live_worker_end(&worker);
  live_cgroup_remove(&cgroup);
  assert_int_equal(uvperf__evlist_disable(evlist, NULL), 0);
  assert_int_equal(uvperf__evlist_cpu_come(evlist, cpu, &error), -ENOENT);
  assert_int_equal(error.target_index, 0);
  assert_int_equal(evlist_nr_failures(evlist), 1);
  assert_int_equal(evlist_failure(evlist, 0)->cpu, cpu);
  uvperf__evlist_free(evlist);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(events_of_a_cpu_that_came_back_stay_off_though_enabled),
      cmocka_unit_test(counts_of_a_cpu_that_came_back_go_on),
      cmocka_unit_test(cgroup_on_a_cpu_that_came_back_is_found_by_its_path),
      cmocka_unit_test(set_made_while_a_cpu_is_offline_counts_it_when_it_came),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
