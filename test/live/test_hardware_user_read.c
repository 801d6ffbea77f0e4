/* SPDX-License-Identifier: MIT */
/* Live: UVPERF_SET_USER_READ with a hardware PMU. The values of the pages lie
 * between two read(2) of the same events, whatever happens to the thread. */
#include "live_setting.h"
#include "live_hardware.h"
#include "live_set.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <linux/perf_event.h>

#include "live_thread.h"

#define ITERATIONS 10000u
#define LOOP       ((uint64_t)ITERATIONS * LIVE_LOOP_INSTRUCTIONS)

/* -- privileges ------------------------------------------------------------ */

#if defined(__aarch64__)
#define SWITCH "/proc/sys/kernel/perf_user_access"
#else
#define SWITCH "/sys/bus/event_source/devices/cpu/rdpmc"
#endif

static void need_user_read(const char *test) {
  support_need_hardware(test, PERF_COUNT_HW_INSTRUCTIONS, 0);
  live_need_loop(test);
  if (live_setting(SWITCH) < 0 ||
      (live_setting(SWITCH) == 0 && live_setting_write(SWITCH, 1) != 0))
    support_skip(test, "counters that user space may read");
}

/* -- events ---------------------------------------------------------------- */

static struct perf_event_attr *plan_event(live_plan_t *plan, uint64_t config) {
  struct perf_event_attr *attr = live_plan_hardware(plan, config);

#if defined(__aarch64__)
  attr->config1 = 2; /* rdpmc=1 */
#endif
  return attr;
}

static void plan_begin(live_plan_t *plan) {
  live_plan_begin(plan);
  live_plan_target(plan, UVPERF_TARGET_SELF);
  plan->options.flags = UVPERF_SET_USER_READ;
}

static int event_fd(live_set_t *live, size_t attr) {
  const uvperf_place_t *place = uvperf_reading_place(live->reading, 0);
  int fd = uvperf_set_fd(&live->set, attr, place->serial);

  assert_true(fd >= 0);
  return fd;
}

/* Each event of the set, between two read(2) of all. The times of a page
 * continue while the kernel's stand still because it enables another event: a
 * microsecond for each. */
static void check_between(live_set_t *live) {
  const uint64_t ahead = 20000;
  uvperf_count_t before[LIVE_SET_MOST];
  uvperf_count_t after, count;
  size_t nr = uvperf_set_nr_attrs(&live->set);
  size_t i;

  for (i = 0; i < nr; i++)
    before[i] = live_read_fd(event_fd(live, i));
  live_set_read(live, 0);
  for (i = 0; i < nr; i++) {
    after = live_read_fd(event_fd(live, i));
    assert_int_equal(uvperf_reading_total(live->reading, i, &count), 0);
    live_assert_not_before(&count, &before[i]);
    after.time_enabled += ahead;
    after.time_running += ahead;
    live_assert_not_before(&after, &count);
    /* Not so far apart that any value would be between them. */
    assert_in_range(after.value - before[i].value, 0, 1000000);
  }
}

/* -- tests ----------------------------------------------------------------- */

static uint64_t least_between(live_set_t *live, size_t attr,
                              uint64_t iterations) {
  uint64_t least = UINT64_MAX;
  uint64_t before, after;
  int i;

  for (i = 0; i < 20; i++) {
    before = live_set_read(live, attr).value;
    live_loop(iterations);
    after = live_set_read(live, attr).value;
    if (after - before < least)
      least = after - before;
  }
  return least;
}

static void pages_are_read_without_a_system_call(void **state) {
  live_set_t live, syscalls;
  uvperf_count_t cycles, instructions;
  live_plan_t plan;
  uint64_t before;

  need_user_read(__func__);
  support_need_hardware(__func__, PERF_COUNT_HW_CPU_CYCLES, 0);
  live_plan_begin(&plan);
  live_plan_target(&plan, UVPERF_TARGET_SELF);
  uvperf_attr_tracepoint(
      live_plan_attr(&plan),
      support_need_tracepoint(__func__, "syscalls:sys_enter_read"));
  live_set_begin(*state, &syscalls, &plan.options);
  plan_begin(&plan);
  plan_event(&plan, PERF_COUNT_HW_CPU_CYCLES);
  plan_event(&plan, PERF_COUNT_HW_INSTRUCTIONS);
  live_plan_group(&plan, 2);
  live_set_begin(*state, &live, &plan.options);
  uvperf_event_list_free(plan.list);

  before = live_set_read(&syscalls, 0).value;
  assert_int_equal(least_between(&live, 1, 2 * ITERATIONS) -
                       least_between(&live, 1, ITERATIONS),
                   LOOP);
  /* Except the read that reports it. */
  assert_int_equal(live_set_read(&syscalls, 0).value - before, 1);
  cycles = live_set_read(&live, 0);
  assert_int_equal(uvperf_reading_total(live.reading, 1, &instructions), 0);
  assert_int_equal(cycles.time_enabled, instructions.time_enabled);
  assert_int_equal(cycles.time_running, cycles.time_enabled);
  assert_in_range(cycles.value, LOOP, UINT64_MAX);
  live_set_close(&live);
  live_set_close(&syscalls);
}

static void run_loop(void *iterations) {
  live_loop(*(const uint64_t *)iterations);
}

/* Another thread competes for each CPU to which this one moves. One event
 * overflows all the time, so that its counter is below 0 and above; one has 64
 * bits. */
static void
counts_of_a_thread_that_is_moved_and_preempted_are_true(void **state) {
  uint64_t iterations = 500 * ITERATIONS;
  live_thread_t other;
  int cpus[CPU_SETSIZE];
  live_plan_t plan;
  live_set_t live;
  cpu_set_t old;
  size_t nr, i;

  need_user_read(__func__);
  plan_begin(&plan);
  plan_event(&plan, PERF_COUNT_HW_INSTRUCTIONS);
  plan_event(&plan, PERF_COUNT_HW_INSTRUCTIONS)->sample_period = LOOP / 3;
#if defined(__aarch64__)
  plan_event(&plan, PERF_COUNT_HW_CPU_CYCLES)->config1 |= 1; /* long=1 */
#endif
  live_set_begin(*state, &live, &plan.options);
  live_set_read(&live, 0);
  nr = live_cpus(cpus, CPU_SETSIZE);
  live_pin(cpus[0], &old);
  live_thread_start(&other, run_loop, &iterations);
  live_thread_go(&other);
  for (i = 0; i < 50; i++) {
    live_loop(ITERATIONS);
    check_between(&live);
  }
  live_unpin(&old);
  for (i = 0; i < 50; i++) {
    live_pin(cpus[i % nr], &old);
    check_between(&live);
    live_loop(ITERATIONS);
    check_between(&live);
    live_unpin(&old);
  }
  live_thread_wait(&other);
  live_thread_end(&other);
  live_set_close(&live);
}

/* Events that now and then are on no counter. */
static void counts_of_shared_counters_are_true(void **state) {
  uvperf_count_t first, count;
  live_plan_t plan;
  live_set_t live;
  size_t i;

  need_user_read(__func__);
  live_need_few_counters(__func__);
  plan_begin(&plan);
  plan_event(&plan, PERF_COUNT_HW_INSTRUCTIONS)->pinned = 1;
  while (plan.options.nr_attrs < LIVE_SET_MOST)
    plan_event(&plan, PERF_COUNT_HW_INSTRUCTIONS);
  live_set_begin(*state, &live, &plan.options);
  live_set_read(&live, 0);
  for (i = 0; i < 200; i++) {
    live_loop(50 * ITERATIONS);
    check_between(&live);
  }
  first = live_set_read(&live, 0);
  assert_int_equal(first.time_running, first.time_enabled);
  for (i = 1; i < LIVE_SET_MOST; i++) {
    assert_int_equal(uvperf_reading_total(live.reading, i, &count), 0);
    assert_true(count.time_running < count.time_enabled);
    live_assert_near(count.scaled, first.value);
  }
  live_set_close(&live);
}

/* Another event that is switched all the time: see check_between. */
static void times_of_pages_never_go_back(void **state) {
  uvperf_count_t count, last;
  live_set_t live, other;
  live_plan_t plan;
  int i, k;

  need_user_read(__func__);
  plan_begin(&plan);
  plan_event(&plan, PERF_COUNT_HW_INSTRUCTIONS)->pinned = 1;
  live_set_begin(*state, &live, &plan.options);
  plan.attrs[0].pinned = 0;
  plan.options.flags = 0;
  live_set_open(*state, &other, &plan.options);
  last = live_set_read(&live, 0);
  for (i = 0; i < 20; i++) {
    for (k = 0; k < 50; k++) {
      assert_int_equal(uvperf_enable(&other.set.handle, UVPERF_ALL, NULL), 0);
      assert_int_equal(uvperf_disable(&other.set.handle, UVPERF_ALL, NULL), 0);
    }
    /* By the page, and, after it was rewritten, by read(2). */
    for (k = 0; k < 2; k++) {
      count = live_set_read(&live, 0);
      live_assert_not_before(&count, &last);
      assert_int_equal(count.state, UVPERF_COUNT_COUNTING);
      last = count;
      usleep(1);
    }
  }
  live_set_close(&other);
  live_set_close(&live);
}

/* The kernel subtracts a counter as unsigned that it has published as signed:
 * perf_event_update_userpage after a read(2) of a running event. */
static void count_that_others_reset_begins_at_0(void **state) {
  live_plan_t plan;
  live_set_t live;
  int i;

  need_user_read(__func__);
  plan_begin(&plan);
  plan_event(&plan, PERF_COUNT_HW_INSTRUCTIONS);
  live_set_begin(*state, &live, &plan.options);
  live_set_read(&live, 0);
  for (i = 0; i < 3; i++) {
    live_loop(100 * ITERATIONS);
    check_between(&live);
    assert_true(live_set_read(&live, 0).value >= 100 * LOOP);
    assert_int_equal(ioctl(event_fd(&live, 0), PERF_EVENT_IOC_RESET, 0), 0);
    assert_in_range(live_set_read(&live, 0).value, 0, LOOP);
    check_between(&live);
  }
  live_set_close(&live);
}

/* On x86 this would end the process: see UVPERF_SET_USER_READ. */
#if defined(__aarch64__)
static void pages_that_may_not_be_read_are_left_to_read(void **state) {
  live_plan_t plan;
  live_set_t live;

  need_user_read(__func__);
  plan_begin(&plan);
  plan_event(&plan, PERF_COUNT_HW_INSTRUCTIONS);
  if (live_setting_write(SWITCH, 0) != 0)
    support_skip(__func__, "counters that user space may read");
  live_set_begin(*state, &live, &plan.options);
  live_set_read(&live, 0);
  live_loop(ITERATIONS);
  check_between(&live);
  assert_in_range(live_set_read(&live, 0).value, LOOP, 2 * LOOP);
  /* From the next time on that the thread is on a CPU. */
  assert_int_equal(live_setting_write(SWITCH, 1), 0);
  usleep(1000);
  live_loop(ITERATIONS);
  check_between(&live);
  live_set_close(&live);
}

#endif

int main(void) {
  const struct CMUnitTest tests[] = {
    support_loop_test(pages_are_read_without_a_system_call),
    support_loop_test(counts_of_a_thread_that_is_moved_and_preempted_are_true),
    support_loop_test(counts_of_shared_counters_are_true),
    support_loop_test(times_of_pages_never_go_back),
    support_loop_test(count_that_others_reset_begins_at_0),
#if defined(__aarch64__)
    support_loop_test(pages_that_may_not_be_read_are_left_to_read),
#endif
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
