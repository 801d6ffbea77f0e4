/* SPDX-License-Identifier: MIT */
/* Live: PERF_SAMPLE_READ, of one event and of a group. */
#include "live.h"

#define TIMES (PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING)

#define PERIOD  3
#define SAMPLES 4

typedef struct truth_s {
  uint64_t leader;
  uint64_t sibling;
  uint64_t enabled; /* of the last sample */
} truth_t;

/* Kernels before 6.0 refuse PERF_FORMAT_LOST; it is not what this is about. */
static uint64_t format_of(uv_loop_t *loop, uint64_t format) {
  uvperf_event_t event;
  struct perf_event_attr attr;

  live_write_attr(&attr, 0);
  attr.read_format = format | UVPERF_FORMAT_LOST;
  if (uvperf_event_init(loop, &event, &attr, NULL, NULL) != 0)
    return format;
  uvperf_close(&event.handle, NULL);
  uv_run(loop, UV_RUN_DEFAULT);
  return format | UVPERF_FORMAT_LOST;
}

static void assert_times(truth_t *truth, const uvperf_count_t *count) {
  assert_true(count->time_enabled > truth->enabled);
  assert_true(count->time_running == count->time_enabled);
  truth->enabled = count->time_enabled;
}

/* -- one event ------------------------------------------------------------ */

static void check_single(live_collector_t *collector,
                         const uvperf_record_t *record) {
  const uvperf_values_t *read = &record->sample.read;
  truth_t *truth = collector->hook_data;
  uvperf_count_t count;

  assert_true(record->present == PERF_SAMPLE_READ);
  assert_int_equal(read->nr, 1);
  assert_int_equal(uvperf_values_get(read, 0, &count), 0);
  assert_true(read->format ==
              uvperf_handle_attr(&collector->event.handle, 0)->read_format);
  assert_int_equal(count.value, PERIOD * (collector->records + 1));
  assert_true(count.id == truth->leader);
  assert_int_equal(count.lost, 0);
  assert_times(truth, &count);
  assert_int_equal(uvperf_values_find(read, truth->leader, &count), 0);
  assert_int_equal(uvperf_values_find(read, truth->leader + 1, &count),
                   UV_ENOENT);
}

static void sample_read_of_one_event_rises_by_the_period(void **state) {
  live_collector_t collector;
  struct perf_event_attr attr;
  truth_t truth = {0, 0, 0};

  support_need_breakpoints(__func__);
  live_write_attr(&attr, PERF_SAMPLE_READ);
  attr.read_format = format_of(*state, TIMES | PERF_FORMAT_ID);
  uvperf_attr_set_period(&attr, PERIOD);
  live_begin(*state, &collector, &attr, NULL, check_single, &truth);
  assert_int_equal(uvperf_event_id(&collector.event, &truth.leader), 0);
  live_write(PERIOD * SAMPLES);
  live_end(&collector, SAMPLES);
}

static void check_value(live_collector_t *collector,
                        const uvperf_record_t *record) {
  const uvperf_values_t *read = &record->sample.read;
  uvperf_count_t count;

  assert_int_equal(uvperf_values_get(read, 0, &count), 0);
  assert_int_equal(count.flags, UVPERF_COUNT_UNSCALED);
  assert_int_equal(count.value, PERIOD * (collector->records + 1));
  assert_int_equal(uvperf_values_get(read, 1, &count), UV_EINVAL);
  assert_int_equal(record->size, sizeof(struct perf_event_header) + 8);
}

static void sample_read_without_format_is_the_value_alone(void **state) {
  live_collector_t collector;
  struct perf_event_attr attr;

  support_need_breakpoints(__func__);
  live_write_attr(&attr, PERF_SAMPLE_READ);
  uvperf_attr_set_period(&attr, PERIOD);
  live_begin(*state, &collector, &attr, NULL, check_value, NULL);
  live_write(PERIOD * SAMPLES);
  live_end(&collector, SAMPLES);
}

/* -- a group -------------------------------------------------------------- */

static void check_group(live_collector_t *collector,
                        const uvperf_record_t *record) {
  const uvperf_values_t *read = &record->sample.read;
  uint64_t turn = collector->records + 1;
  truth_t *truth = collector->hook_data;
  uvperf_count_t count;

  assert_int_equal(read->nr, 2);
  assert_int_equal(uvperf_values_find(read, truth->leader, &count), 0);
  assert_int_equal(count.value, PERIOD * turn);
  assert_int_equal(count.lost, 0);
  assert_times(truth, &count);
  assert_int_equal(uvperf_values_find(read, truth->sibling, &count), 0);
  assert_int_equal(count.value, turn);
  assert_true(count.id == truth->sibling);
  assert_int_equal(count.lost, 0);
}

/* The leader samples its writes; the sibling counts the calls in between. */
static void sample_read_of_a_group_has_each_events_value(void **state) {
  uvperf_event_options_t options = UVPERF_EVENT_OPTIONS_INIT;
  live_collector_t collector;
  live_collector_t sibling;
  struct perf_event_attr attr;
  truth_t truth = {0, 0, 0};
  uint64_t i;

  support_need_breakpoints(__func__);
  live_write_attr(&attr, PERF_SAMPLE_READ);
  attr.read_format =
      format_of(*state, TIMES | PERF_FORMAT_ID | PERF_FORMAT_GROUP);
  uvperf_attr_set_period(&attr, PERIOD);
  live_begin(*state, &collector, &attr, NULL, check_group, &truth);
  assert_int_equal(uvperf_disable(&collector.event.handle, 0, NULL), 0);
  live_called_attr(&attr, 0);
  uvperf_attr_set_period(&attr, 0);
  options.leader = &collector.event;
  live_init(*state, &sibling, &attr, &options);
  assert_int_equal(uvperf_event_id(&collector.event, &truth.leader), 0);
  assert_int_equal(uvperf_event_id(&sibling.event, &truth.sibling), 0);
  assert_int_equal(uvperf_enable(&sibling.event.handle, 0, NULL), 0);
  assert_int_equal(uvperf_enable(&collector.event.handle, 0, NULL), 0);
  for (i = 0; i < SAMPLES; i++) {
    live_called(i);
    live_write(PERIOD);
  }
  live_end(&collector, SAMPLES);
  live_close(&sibling);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      support_loop_test(sample_read_of_one_event_rises_by_the_period),
      support_loop_test(sample_read_without_format_is_the_value_alone),
      support_loop_test(sample_read_of_a_group_has_each_events_value),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
