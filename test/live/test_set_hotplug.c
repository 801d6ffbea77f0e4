/* SPDX-License-Identifier: MIT */
/* A set whose CPUs go and come back while it streams and counts. Takes a CPU
 * offline, so it runs only with UVPERF_TEST_OFFLINE_CPU=1. */
#include "live_stream.h"

#include "live_offline_cpu.h"

#define MS UINT64_C(1000000)

typedef struct scenario_s {
  live_stream_t stream; /* first: the set's `data` is its address */
  int cpu;
  uint64_t gone;
  uint64_t come;
  uint64_t failed;
  uint64_t samples; /* there, since it came last */
  uint64_t strange; /* with this source, from another CPU */
} scenario_t;

static void on_cpu(uvperf_handle_t *base, int cpu, int status,
                   const uvperf_error_t *error) {
  scenario_t *scenario = base->data;

  scenario->failed +=
      cpu != scenario->cpu || (status != 0 && status != UV_ENODEV);
  scenario->gone += status == UV_ENODEV;
  scenario->come += status == 0;
  scenario->samples = 0;
}

static void on_record(live_stream_t *stream, const uvperf_record_t *record) {
  scenario_t *scenario = (scenario_t *)stream;

  if (record->type != PERF_RECORD_SAMPLE || record->source == NULL ||
      record->source->cpu != scenario->cpu)
    return;
  scenario->samples += 1;
  scenario->strange += record->cpu != (uint32_t)scenario->cpu;
}

/* A sample each millisecond on every CPU, and the side-band of a task. */
static void begin(uv_loop_t *loop, scenario_t *scenario, live_plan_t *plan,
                  uint32_t flags) {
  struct perf_event_attr *attr;

  live_stream_plan(plan);
  attr = live_plan_attr(plan);
  uvperf_attr_software(attr, PERF_COUNT_SW_CPU_CLOCK);
  uvperf_attr_set_period(attr, MS);
  attr->sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU;
  live_stream_plan_target(plan, UVPERF_TARGET_CPUS, 0);
  plan->options.flags |= flags;
  memset(scenario, 0, sizeof(*scenario));
  live_stream_open(loop, &scenario->stream, &plan->options);
  uvperf_on_cpu(&scenario->stream.live.set.handle, on_cpu);
}

static void start(scenario_t *scenario, int cpu) {
  scenario->cpu = cpu;
  scenario->stream.on_record = on_record;
  live_stream_start(&scenario->stream, NULL);
}

/* Both callbacks, and samples again. */
static void bounce(uv_loop_t *loop, scenario_t *scenario, uint64_t nth,
                   int is_seen_offline) {
  live_offline_cpu_take(scenario->cpu);
  if (is_seen_offline)
    assert_true(live_run_until(loop, &scenario->gone, nth));
  live_offline_cpu_give_back(scenario->cpu);
  assert_true(live_run_until(loop, &scenario->come, nth));
  assert_int_equal(scenario->gone, nth);
  assert_int_equal(scenario->come, nth);
  assert_true(live_run_until(loop, &scenario->samples, 3));
}

static void check_sound(const scenario_t *scenario) {
  uvperf_stats_t stats;

  uvperf_stats(&scenario->stream.live.set.handle, &stats);
  assert_int_equal(stats.cpus_gone, scenario->gone);
  assert_int_equal(stats.cpus_come, scenario->come);
  assert_int_equal(stats.corrupt, 0);
  assert_int_equal(scenario->failed, 0);
  assert_int_equal(scenario->strange, 0);
  assert_int_equal(scenario->stream.foreign, 0);
  assert_int_equal(scenario->stream.corrupt, 0);
  assert_int_equal(scenario->stream.faults, 0);
  assert_int_equal(scenario->stream.eofs, 0);
}

static void stream_goes_on_when_its_cpu_is_back(void **state) {
  int cpu = live_offline_cpu_need(__func__);
  live_plan_t plan;
  scenario_t scenario;
  uint64_t nth;
  size_t rings;

  begin(*state, &scenario, &plan, 0);
  start(&scenario, cpu);
  rings = uvperf_nr_rings(&scenario.stream.live.set.handle);
  assert_true(live_run_until(*state, &scenario.samples, 3));
  for (nth = 1; nth <= 3; nth++)
    bounce(*state, &scenario, nth, nth != 3);
  check_sound(&scenario);
  assert_int_equal(uvperf_nr_rings(&scenario.stream.live.set.handle), rings);
  live_stream_close(&scenario.stream);
}

static void stream_in_order_goes_on_through_ten_bounces(void **state) {
  int cpu = live_offline_cpu_need(__func__);
  uvperf_count_t before, after;
  uvperf_stats_t stats;
  live_plan_t plan;
  scenario_t scenario;
  uint64_t nth;

  begin(*state, &scenario, &plan, UVPERF_SET_TIME_ORDER);
  start(&scenario, cpu);
  assert_true(live_run_until(*state, &scenario.samples, 3));
  memset(&before, 0, sizeof(before));
  for (nth = 1; nth <= 10; nth++) {
    bounce(*state, &scenario, nth, nth % 2 == 0);
    after = live_set_read(&scenario.stream.live, 0);
    assert_int_equal(after.state, UVPERF_COUNT_COUNTING);
    assert_int_equal(after.nr_missing, 0);
    assert_true(after.value > before.value);
    before = after;
  }
  check_sound(&scenario);
  uvperf_stats(&scenario.stream.live.set.handle, &stats);
  assert_true(scenario.stream.inversions <= stats.late_records);
  live_stream_close(&scenario.stream);
}

/* Its ring is there, and no event: nothing wakes for it. */
static void set_started_while_its_cpu_is_offline_streams_it_later(void **s) {
  int cpu = live_offline_cpu_need(__func__);
  live_plan_t plan;
  scenario_t scenario;

  live_offline_cpu_take(cpu);
  begin(*s, &scenario, &plan, UVPERF_SET_TIME_ORDER);
  start(&scenario, cpu);
  assert_true(live_run_until(*s, &scenario.stream.samples, 3));
  live_offline_cpu_give_back(cpu);
  assert_true(live_run_until(*s, &scenario.come, 1));
  assert_true(live_run_until(*s, &scenario.samples, 3));
  check_sound(&scenario);
  live_stream_close(&scenario.stream);
}

static void set_stopped_while_its_cpu_was_away_goes_on(void **state) {
  int cpu = live_offline_cpu_need(__func__);
  live_plan_t plan;
  scenario_t scenario;

  begin(*state, &scenario, &plan, 0);
  start(&scenario, cpu);
  assert_true(live_run_until(*state, &scenario.samples, 3));
  assert_int_equal(uvperf_stop(&scenario.stream.live.set.handle), 0);
  live_offline_cpu_bounce(cpu);
  live_stream_start(&scenario.stream, NULL);
  assert_true(live_run_until(*state, &scenario.come, 1));
  assert_int_equal(scenario.gone, 1);
  assert_true(live_run_until(*state, &scenario.samples, 3));
  check_sound(&scenario);
  live_stream_close(&scenario.stream);
}

/* A task's events are on every present CPU, and need no follower. */
static void task_that_runs_on_a_cpu_that_is_back_is_streamed(void **state) {
  int cpu = live_offline_cpu_need(__func__);
  live_plan_t plan;
  uint64_t next = 0;
  cpu_set_t old;
  scenario_t scenario;

  live_stream_plan_own(&plan);
  plan.options.flags |= UVPERF_SET_TIME_ORDER;
  live_offline_cpu_take(cpu);
  memset(&scenario, 0, sizeof(scenario));
  live_stream_open(*state, &scenario.stream, &plan.options);
  uvperf_on_cpu(&scenario.stream.live.set.handle, on_cpu);
  start(&scenario, cpu);
  live_comm(&next, 1);
  assert_true(live_run_until(*state, &scenario.stream.comms, 1));
  live_offline_cpu_give_back(cpu);
  assert_true(live_run_until(*state, &scenario.come, 1));
  live_pin(cpu, &old);
  live_comm(&next, 1);
  live_unpin(&old);
  assert_true(live_run_until(*state, &scenario.stream.comms, 2));
  assert_int_equal(scenario.stream.out_of_order, 0);
  check_sound(&scenario);
  live_stream_close(&scenario.stream);
}

#define LIVE(test) support_loop_test(test)

int main(void) {
  const struct CMUnitTest tests[] = {
      LIVE(stream_goes_on_when_its_cpu_is_back),
      LIVE(stream_in_order_goes_on_through_ten_bounces),
      LIVE(set_started_while_its_cpu_is_offline_streams_it_later),
      LIVE(set_stopped_while_its_cpu_was_away_goes_on),
      LIVE(task_that_runs_on_a_cpu_that_is_back_is_streamed),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
