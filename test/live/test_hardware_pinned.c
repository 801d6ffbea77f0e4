/* SPDX-License-Identifier: MIT */
/* Live: hardware events that are pinned or exclusive, and events that get no
 * counter because of them. */
#include "live_hardware.h"
#include "live_set.h"

#define ITERATIONS 10000000u
#define TRUTH      ((uint64_t)ITERATIONS * LIVE_LOOP_INSTRUCTIONS)

static struct perf_event_attr *plan_event(live_plan_t *plan) {
  return live_plan_hardware(plan, PERF_COUNT_HW_INSTRUCTIONS);
}

static void plan_pinned(live_plan_t *plan, size_t nr) {
  live_plan_begin(plan);
  live_plan_target(plan, UVPERF_TARGET_SELF);
  while (nr-- > 0)
    plan_event(plan)->pinned = 1;
}

/* As many events as there are counters. */
static void pinned_events_that_the_pmu_cannot_hold_are_errors(void **state) {
  live_set_t holders, late;
  uvperf_count_t count;
  live_collector_t alone;
  uvperf_count_t read;
  live_plan_t plan;
  size_t counters, held, i;

  support_need_hardware(__func__, PERF_COUNT_HW_INSTRUCTIONS, 0);
  live_need_loop(__func__);
  counters = live_need_few_counters(__func__);
  plan_pinned(&plan, counters + 2);
  live_set_begin(*state, &holders, &plan.options);
  live_loop(ITERATIONS);
  live_set_read(&holders, 0);
  for (held = 0; held < counters + 2; held++) {
    assert_int_equal(uvperf_reading_total(holders.reading, held, &count), 0);
    if (count.state != UVPERF_COUNT_COUNTING)
      break;
    assert_in_range(count.value, TRUTH, TRUTH + TRUTH / 20);
    assert_int_equal(count.time_running, count.time_enabled);
  }
  assert_in_range(held, 1, counters);
  for (i = held; i < counters + 2; i++) {
    assert_int_equal(uvperf_reading_total(holders.reading, i, &count), 0);
    assert_int_equal(count.state, UVPERF_COUNT_ERROR);
    assert_int_equal(count.code, UV_EBADF);
    assert_int_equal(count.nr_missing, 1);
  }

  /* An event alone, and next to it one that is not pinned. */
  live_init(*state, &alone, &plan.attrs[0], NULL);
  assert_int_equal(uvperf_enable(&alone.event.handle, 0, NULL), 0);
  assert_int_equal(uvperf_event_read(&alone.event, &read, NULL), UV_EBADF);
  live_plan_begin(&plan);
  live_plan_target(&plan, UVPERF_TARGET_SELF);
  plan_event(&plan)->pinned = 1;
  plan_event(&plan);
  live_set_begin(*state, &late, &plan.options);
  live_loop(ITERATIONS);
  count = live_set_read(&late, 0);
  assert_int_equal(count.state, UVPERF_COUNT_ERROR);
  assert_int_equal(count.code, UV_EBADF);
  count = live_set_read(&late, 1);
  assert_int_equal(count.state, UVPERF_COUNT_NEVER_SCHEDULED);
  assert_int_equal(count.code, 0);
  assert_int_equal(count.value, 0);
  assert_true(count.time_enabled > 0);
  assert_int_equal(count.time_running, 0);

  /* There are free counters again: an event that is not pinned gets one when
   * the kernel next rotates. */
  live_set_close(&holders);
  live_loop(2 * ITERATIONS);
  assert_int_equal(live_set_read(&late, 0).code, UV_EBADF);
  assert_int_equal(uvperf_event_read(&alone.event, &read, NULL), UV_EBADF);
  count = live_set_read(&late, 1);
  assert_int_equal(count.state, UVPERF_COUNT_COUNTING);
  assert_true(count.value >= TRUTH);
  assert_true(count.time_running < count.time_enabled);
  assert_int_equal(uvperf_enable(&late.set.handle, UVPERF_ALL, NULL), 0);
  assert_int_equal(uvperf_enable(&alone.event.handle, 0, NULL), 0);
  live_loop(ITERATIONS);
  count = live_set_read(&late, 0);
  assert_int_equal(count.state, UVPERF_COUNT_COUNTING);
  assert_in_range(count.value, TRUTH, TRUTH + TRUTH / 20);
  assert_int_equal(uvperf_event_read(&alone.event, &read, NULL), 0);
  assert_in_range(read.value, TRUTH, TRUTH + TRUTH / 20);
  live_close(&alone);
  live_set_close(&late);
}

static void on_end(uvperf_handle_t *handle, int status,
                   const uvperf_record_t *record) {
  uint64_t *end = handle->data;

  if (record->type == UVPERF_RECORD_NONE && status != 0)
    *end = (uint64_t)-status;
}

static void stream_of_a_pinned_event_without_a_counter_ends(void **state) {
  const uvperf_record_t *record;
  struct perf_event_attr attr;
  uvperf_event_t event;
  live_plan_t plan;
  live_set_t holders;
  uint64_t end = 0;

  support_need_hardware(__func__, PERF_COUNT_HW_INSTRUCTIONS, ITERATIONS);
  live_need_loop(__func__);
  plan_pinned(&plan, live_need_few_counters(__func__));
  live_set_begin(*state, &holders, &plan.options);
  attr = plan.attrs[0];
  uvperf_attr_set_period(&attr, ITERATIONS);
  attr.sample_type = PERF_SAMPLE_IP;
  assert_int_equal(uvperf_event_init(*state, &event, &attr, NULL, NULL), 0);
  event.handle.data = &end;
  assert_int_equal(uvperf_enable(&event.handle, 0, NULL), 0);
  assert_int_equal(uvperf_next(&event.handle, &record), UV_EAGAIN);
  assert_int_equal(uvperf_next(&event.handle, &record), UV_EBADF);
  assert_int_equal(uvperf_start(&event.handle, NULL, on_end, NULL), 0);
  assert_true(live_run_until(*state, &end, 1));
  assert_int_equal(end, -UV_EBADF);
  assert_int_equal(uvperf_is_active(&event.handle), 0);
  uvperf_close(&event.handle, NULL);
  live_set_close(&holders);
}

/* While it is on the PMU no other event is. */
static void exclusive_event_and_others_take_turns(void **state) {
  uvperf_count_t counts[3];
  live_plan_t plan;
  live_set_t live;
  int i;

  support_need_hardware(__func__, PERF_COUNT_HW_INSTRUCTIONS, 0);
  live_need_loop(__func__);
  live_plan_begin(&plan);
  live_plan_target(&plan, UVPERF_TARGET_SELF);
  plan_event(&plan);
  plan_event(&plan)->exclusive = 1;
  plan_event(&plan);
  live_set_begin(*state, &live, &plan.options);
  for (i = 0; i < 5; i++)
    live_loop(ITERATIONS);
  assert_int_equal(uvperf_disable(&live.set.handle, UVPERF_ALL, NULL), 0);
  live_set_read(&live, 0);
  for (i = 0; i < 3; i++) {
    assert_int_equal(uvperf_reading_total(live.reading, (size_t)i, &counts[i]),
                     0);
  }
  for (i = 0; i < 3; i++) {
    assert_int_equal(counts[i].state, UVPERF_COUNT_COUNTING);
    live_assert_near(counts[i].scaled, 5 * TRUTH);
  }
  for (i = 0; i < 3; i += 2)
    assert_in_range(counts[1].time_running + counts[i].time_running, 1,
                    counts[1].time_enabled + counts[1].time_enabled / 100);
  live_set_close(&live);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      support_loop_test(pinned_events_that_the_pmu_cannot_hold_are_errors),
      support_loop_test(stream_of_a_pinned_event_without_a_counter_ends),
      support_loop_test(exclusive_event_and_others_take_turns),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
