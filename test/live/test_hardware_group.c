/* SPDX-License-Identifier: MIT */
/* Live: groups of hardware events that fit on the PMU, that fit only in turns,
 * or that never fit. */
#include "live_hardware.h"
#include "live_set.h"

#define ITERATIONS 10000000u
#define TRUTH      ((uint64_t)ITERATIONS * LIVE_LOOP_INSTRUCTIONS)

static uvperf_count_t total(const live_set_t *live, size_t attr) {
  uvperf_count_t count;

  assert_int_equal(uvperf_reading_total(live->reading, attr, &count), 0);
  return count;
}

static void assert_same_times(const uvperf_count_t *count,
                              const uvperf_count_t *other) {
  assert_int_equal(count->state, UVPERF_COUNT_COUNTING);
  assert_int_equal(other->state, UVPERF_COUNT_COUNTING);
  assert_int_equal(count->time_enabled, other->time_enabled);
  assert_int_equal(count->time_running, other->time_running);
}

static void members_count_the_same_instructions(void **state) {
  uvperf_count_t counts[3];
  live_plan_t plan;
  live_set_t live;
  size_t i;

  support_need_hardware(__func__, PERF_COUNT_HW_INSTRUCTIONS, 0);
  support_need_hardware(__func__, PERF_COUNT_HW_CPU_CYCLES, 0);
  live_need_loop(__func__);
  live_plan_begin(&plan);
  live_plan_hardware(&plan, PERF_COUNT_HW_CPU_CYCLES);
  live_plan_hardware(&plan, PERF_COUNT_HW_INSTRUCTIONS);
  live_plan_hardware(&plan, PERF_COUNT_HW_INSTRUCTIONS);
  live_plan_group(&plan, plan.options.nr_attrs);
  live_plan_target(&plan, UVPERF_TARGET_SELF);
  live_set_begin(*state, &live, &plan.options);
  uvperf_event_list_free(plan.list);
  live_loop(ITERATIONS);
  assert_int_equal(uvperf_disable(&live.set.handle, UVPERF_ALL, NULL), 0);
  live_set_read(&live, 0);
  for (i = 0; i < 3; i++)
    counts[i] = total(&live, i);
  assert_same_times(&counts[0], &counts[1]);
  assert_same_times(&counts[0], &counts[2]);
  assert_int_equal(counts[0].time_running, counts[0].time_enabled);
  assert_in_range(counts[1].value, TRUTH, TRUTH + TRUTH / 20);
  assert_in_range(counts[2].value, counts[1].value - LIVE_INSTRUCTIONS_SLACK,
                  counts[1].value + LIVE_INSTRUCTIONS_SLACK);
  /* No CPU retires more than ten of these in a cycle. */
  assert_in_range(counts[0].value, TRUTH / 10, UINT64_MAX);
  live_set_close(&live);
}

/* The kernel refuses the members that are too many, and the rest counts. But
 * Arm's PMUs do not see a leader that is disabled (validate_event in
 * drivers/perf/arm_pmu.c), and take one too many: then nothing is counted. */
static void group_larger_than_the_pmu_is_no_count_of_0(void **state) {
  const uvperf_set_failure_t *failures;
  uvperf_count_t count;
  live_plan_t plan;
  live_set_t live;
  size_t counters, nr, i;

  support_need_hardware(__func__, PERF_COUNT_HW_INSTRUCTIONS, 0);
  live_need_loop(__func__);
  counters = live_need_few_counters(__func__);
  live_plan_begin(&plan);
  for (i = 0; i < counters + 2; i++)
    live_plan_hardware(&plan, PERF_COUNT_HW_INSTRUCTIONS);
  live_plan_group(&plan, plan.options.nr_attrs);
  live_plan_target(&plan, UVPERF_TARGET_SELF);
  live_set_begin(*state, &live, &plan.options);
  uvperf_event_list_free(plan.list);
  live_loop(ITERATIONS);
  live_set_read(&live, 0);
  failures = uvperf_set_failures(&live.set, &nr);
  assert_in_range(nr, 1, 2);
  for (i = 0; i < nr; i++) {
    assert_int_equal(failures[i].error.code, UV_EINVAL);
    assert_int_equal(failures[i].error.attr_index, counters + 2 - nr + i);
    assert_int_equal(failures[i].error.cause, UVPERF_CAUSE_ARGUMENT);
  }
  for (i = 0; i < counters + 2; i++) {
    count = total(&live, i);
    if (i >= counters + 2 - nr) {
      assert_int_equal(count.state, UVPERF_COUNT_NOT_AVAILABLE);
      assert_int_equal(count.code, UV_EINVAL);
    } else if (nr == 2) {
      assert_int_equal(count.state, UVPERF_COUNT_COUNTING);
      assert_true(count.value >= TRUTH);
    } else {
      assert_int_equal(count.state, UVPERF_COUNT_NEVER_SCHEDULED);
      assert_true(count.time_enabled > 0);
      assert_int_equal(count.time_running, 0);
    }
  }
  live_set_close(&live);
}

/* Two groups that together have more members than there are counters. */
static void groups_in_turns_are_estimated(void **state) {
  uvperf_count_t first, second, count;
  live_plan_t plan;
  live_set_t live;
  size_t half, i;

  support_need_hardware(__func__, PERF_COUNT_HW_INSTRUCTIONS, 0);
  live_need_loop(__func__);
  half = live_need_few_counters(__func__) / 2 + 1;
  live_plan_begin(&plan);
  for (i = 0; i < 2 * half; i++)
    live_plan_hardware(&plan, PERF_COUNT_HW_INSTRUCTIONS);
  live_plan_group(&plan, half);
  live_plan_target(&plan, UVPERF_TARGET_SELF);
  live_set_begin(*state, &live, &plan.options);
  uvperf_event_list_free(plan.list);
  for (i = 0; i < 5; i++)
    live_loop(ITERATIONS);
  assert_int_equal(uvperf_disable(&live.set.handle, UVPERF_ALL, NULL), 0);
  live_set_read(&live, 0);
  first = total(&live, 0);
  second = total(&live, half);
  for (i = 0; i < 2 * half; i++) {
    count = total(&live, i);
    assert_same_times(&count, i < half ? &first : &second);
    assert_true(count.time_running < count.time_enabled);
    live_assert_near(count.scaled, 5 * TRUTH);
  }
  /* Never at once, and one or the other nearly always. */
  live_assert_near(first.time_running + second.time_running,
                   first.time_enabled);
  live_set_close(&live);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      support_loop_test(members_count_the_same_instructions),
      support_loop_test(group_larger_than_the_pmu_is_no_count_of_0),
      support_loop_test(groups_in_turns_are_estimated),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
