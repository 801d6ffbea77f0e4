/* SPDX-License-Identifier: MIT */
/* Live: counts of threads and forked children are the process's. */
#include "live_hardware.h"
#include "live_set.h"

#include <unistd.h>

#include "live_thread.h"

#define TASKS      3
#define ITERATIONS 500000u
#define LOOP       ((uint64_t)ITERATIONS * LIVE_LOOP_INSTRUCTIONS)

static void run_loop(void *arg) {
  live_loop(ITERATIONS);
}

/* {cycles,instructions}, and instructions once more. */
static void begin(uv_loop_t *loop, live_set_t *live, uint32_t flags) {
  static const uint64_t configs[] = {PERF_COUNT_HW_CPU_CYCLES,
                                     PERF_COUNT_HW_INSTRUCTIONS,
                                     PERF_COUNT_HW_INSTRUCTIONS};
  uvperf_target_t *target;
  live_plan_t plan;
  size_t i;

  live_plan_begin(&plan);
  for (i = 0; i < 3; i++)
    live_plan_hardware(&plan, configs[i]);
  live_plan_group(&plan, 2);
  target = live_plan_target(&plan, UVPERF_TARGET_PROCESS);
  target->pid = getpid();
  target->flags = flags;
  live_set_begin(loop, live, &plan.options);
  uvperf_event_list_free(plan.list);
}

static uint64_t read_instructions(live_set_t *live) {
  uvperf_count_t leader, member, alone;

  leader = live_set_read(live, 0);
  assert_int_equal(uvperf_reading_total(live->reading, 1, &member), 0);
  assert_int_equal(uvperf_reading_total(live->reading, 2, &alone), 0);
  assert_int_equal(member.state, UVPERF_COUNT_COUNTING);
  assert_int_equal(member.time_enabled, leader.time_enabled);
  assert_int_equal(member.time_running, leader.time_running);
  assert_int_equal(member.time_running, member.time_enabled);
  assert_int_equal(member.lost, 0);
  assert_in_range(alone.value, member.value, member.value + LOOP / 10);
  return member.value;
}

/* Their counts are included while they live, and stay when they are gone. */
static void instructions_of_children_and_threads_are_added(void **state) {
  live_worker_t children[TASKS];
  live_thread_t threads[TASKS];
  live_set_t live, without;
  uint64_t before, value;
  size_t i;

  support_need_hardware(__func__, PERF_COUNT_HW_INSTRUCTIONS, 0);
  support_need_hardware(__func__, PERF_COUNT_HW_CPU_CYCLES, 0);
  live_need_loop(__func__);
  begin(*state, &live, 0);
  begin(*state, &without, UVPERF_TARGET_NO_INHERIT);
  for (i = 0; i < TASKS; i++) {
    live_worker_fork(&children[i], run_loop, NULL);
    live_thread_start(&threads[i], run_loop, NULL);
  }
  before = read_instructions(&live);
  for (i = 0; i < TASKS; i++) {
    live_worker_do(&children[i]);
    live_thread_do(&threads[i]);
  }
  value = read_instructions(&live);
  assert_in_range(value - before, 2 * TASKS * LOOP,
                  2 * TASKS * LOOP + TASKS * LOOP / 4);
  for (i = 0; i < TASKS; i++) {
    live_worker_end(&children[i]);
    live_thread_end(&threads[i]);
  }
  before = value;
  value = read_instructions(&live);
  assert_in_range(value - before, 0, TASKS * LOOP / 4);
  assert_in_range(live_set_read(&without, 1).value, 0, LOOP);
  live_set_close(&without);
  live_set_close(&live);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      support_loop_test(instructions_of_children_and_threads_are_added),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
