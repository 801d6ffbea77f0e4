/* SPDX-License-Identifier: MIT */
/* Live: more hardware events than the PMU has counters. The count of each is
 * estimated, and one that is pinned is exact. */
#include "live_hardware.h"
#include "live_set.h"

#include "count/count.h"

#define EVENTS     14
#define ITERATIONS 40000000u
#define SLICES     5
#define LOOP       ((uint64_t)ITERATIONS * LIVE_LOOP_INSTRUCTIONS)

typedef struct shared_s {
  live_set_t live;
  live_collector_t pinned;
  live_collector_t alone; /* of those that take turns, alone */
  uvperf_reading_t *readings[2];
  uvperf_count_t pinned_counts[2];
  uvperf_reading_t *delta;
} shared_t;

static void shared_open(uv_loop_t *loop, shared_t *shared) {
  struct perf_event_attr *attr;
  live_plan_t plan;
  size_t i;

  live_plan_begin(&plan);
  live_plan_target(&plan, UVPERF_TARGET_SELF);
  for (i = 0; i < EVENTS - 1; i++)
    live_plan_hardware(&plan, PERF_COUNT_HW_INSTRUCTIONS);
  live_set_open(loop, &shared->live, &plan.options);
  attr = &plan.attrs[0];
  attr->read_format =
      PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
  live_init(loop, &shared->alone, attr, NULL);
  attr->pinned = 1;
  live_init(loop, &shared->pinned, attr, NULL);
  for (i = 0; i < 2; i++)
    assert_int_equal(uvperf_reading_new(&shared->readings[i]), 0);
  assert_int_equal(uvperf_reading_new(&shared->delta), 0);
  assert_int_equal(uvperf_enable(&shared->pinned.event.handle, 0, NULL), 0);
  assert_int_equal(uvperf_enable(&shared->alone.event.handle, 0, NULL), 0);
  assert_int_equal(uvperf_enable(&shared->live.set.handle, UVPERF_ALL, NULL),
                   0);
}

static void shared_close(shared_t *shared) {
  uvperf_reading_free(shared->readings[0]);
  uvperf_reading_free(shared->readings[1]);
  uvperf_reading_free(shared->delta);
  live_close(&shared->alone);
  live_close(&shared->pinned);
  live_set_close(&shared->live);
}

static void shared_read(shared_t *shared, size_t nth) {
  assert_int_equal(
      uvperf_set_read(&shared->live.set, shared->readings[nth % 2], NULL), 0);
  assert_int_equal(uvperf_event_read(&shared->pinned.event,
                                     &shared->pinned_counts[nth % 2], NULL),
                   0);
}

static uvperf_count_t total(const uvperf_reading_t *reading, size_t attr) {
  uvperf_count_t count;

  assert_int_equal(uvperf_reading_total(reading, attr, &count), 0);
  return count;
}

/* The less an event was on a counter, the more the interrupt weighs that put it
 * there: in a slice only the better half is worth 1 %. Some have no turn. */
static void check_slice(shared_t *shared, size_t nth) {
  uvperf_count_t count;
  uvperf_count_t truth;
  size_t i;

  assert_int_equal(uvperf_reading_delta(shared->delta,
                                        shared->readings[(nth + 1) % 2],
                                        shared->readings[nth % 2]),
                   0);
  assert_int_equal(uvperf_count_delta(&shared->pinned_counts[(nth + 1) % 2],
                                      &shared->pinned_counts[nth % 2], &truth),
                   0);
  assert_in_range(truth.value, LOOP, LOOP + LOOP / 20);
  assert_int_equal(truth.time_running, truth.time_enabled);
  for (i = 0; i < EVENTS - 1; i++) {
    count = total(shared->delta, i);
    assert_true(count.time_running <= count.time_enabled);
    if (count.state == UVPERF_COUNT_NEVER_SCHEDULED) {
      assert_int_equal(count.time_running, 0);
      assert_int_equal(count.scaled, 0);
    } else if (count.ratio > 0.5) {
      live_assert_near(count.scaled, truth.value);
    }
  }
}

static void estimates_of_shared_counters_are_true(void **state) {
  const uvperf_count_t *truth;
  uvperf_count_t alone;
  uvperf_count_t count;
  double on_counters = 1; /* the pinned one's */
  uint64_t scaled;
  shared_t shared;
  size_t counters, i;

  support_need_hardware(__func__, PERF_COUNT_HW_INSTRUCTIONS, 0);
  live_need_loop(__func__);
  counters = live_need_few_counters(__func__);
  shared_open(*state, &shared);
  shared_read(&shared, 0);
  for (i = 1; i <= SLICES; i++) {
    live_loop(ITERATIONS);
    shared_read(&shared, i);
    check_slice(&shared, i);
  }
  truth = &shared.pinned_counts[SLICES % 2];
  for (i = 0; i < EVENTS - 1; i++) {
    count = total(shared.readings[SLICES % 2], i);
    assert_int_equal(count.state, UVPERF_COUNT_COUNTING);
    assert_true(count.time_running < count.time_enabled);
    assert_true(count.value < truth->value);
    live_assert_near(count.scaled, truth->value);
    on_counters += count.ratio;
  }
  assert_int_equal(uvperf_event_read(&shared.alone.event, &alone, NULL), 0);
  assert_true(alone.time_running < alone.time_enabled);
  assert_int_equal(uvperf__count_scale(alone.value, alone.time_enabled,
                                       alone.time_running, &scaled),
                   0);
  live_assert_near(scaled, truth->value);
  on_counters += (double)alone.time_running / (double)alone.time_enabled;
  /* All counters were in use nearly all of the time. */
  assert_true(on_counters > (double)counters * 0.8);
  assert_true(on_counters < (double)counters * 1.01);
  shared_close(&shared);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      support_loop_test(estimates_of_shared_counters_are_true),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
