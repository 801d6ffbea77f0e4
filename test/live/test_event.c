/* SPDX-License-Identifier: MIT */
/* Live: the life-cycle of an event handle: init, start, stop, flush, and what
 * may be called when. */
#include "live.h"

static void event_without_ring_has_nothing_to_flush(void **state) {
  live_collector_t collector;
  struct perf_event_attr attr;

  support_need_own_events(__func__);
  uvperf_attr_software(&attr, PERF_COUNT_SW_TASK_CLOCK);
  attr.exclude_kernel = 1;
  live_init(*state, &collector, &attr, NULL);
  assert_int_equal(uvperf_start(&collector.event.handle, NULL, NULL, NULL), 0);
  assert_int_equal(uvperf_start(&collector.event.handle, NULL, NULL, NULL),
                   UV_EALREADY);
  assert_int_equal(uvperf_flush(&collector.event.handle), UV_EINVAL);
  assert_int_equal(uvperf_stop(&collector.event.handle), 0);
  live_close(&collector);
}

/* The callback would never run, so each is refused, and nothing is enabled. */
static void event_that_cannot_deliver_refuses_a_callback(void **state) {
  static const struct {
    const char *name;
    uint32_t flags;
    const char *reason;
  } cases[] = {
      {"page-faults:u", 0, "uvperf_attr_set_period"},
      {"page-faults/period=1/u", UVPERF_EVENT_NO_RING, "UVPERF_EVENT_NO_RING"},
  };
  uvperf_event_options_t options = UVPERF_EVENT_OPTIONS_INIT;
  struct perf_event_attr attr;
  uvperf_event_t event;
  uvperf_count_t count;
  uvperf_error_t error;
  size_t i;

  support_need_own_events(__func__);
  for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
    options.flags = cases[i].flags;
    assert_int_equal(uvperf_attr_parse(&attr, cases[i].name, NULL), 0);
    attr.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED;
    assert_int_equal(uvperf_event_init(*state, &event, &attr, &options, NULL),
                     0);
    assert_int_equal(uvperf_start(&event.handle, NULL, live_on_record, &error),
                     UV_EINVAL);
    assert_int_equal(error.cause, UVPERF_CAUSE_ARGUMENT);
    if (strstr(error.reason, cases[i].reason) == NULL)
      fail_msg("%s", error.reason);
    assert_int_equal(uvperf_event_read(&event, &count, NULL), 0);
    assert_int_equal(count.time_enabled, 0);
    /* Without a callback it means: enable it. */
    assert_int_equal(uvperf_start(&event.handle, NULL, NULL, &error), 0);
    assert_int_equal(uvperf_event_read(&event, &count, NULL), 0);
    assert_true(count.time_enabled > 0);
    uvperf_close(&event.handle, NULL);
    uv_run(*state, UV_RUN_DEFAULT);
  }
}

static void event_copies_what_it_is_given(void **state) {
  uvperf_stream_options_t *stream;
  uvperf_event_options_t *options;
  struct perf_event_attr *attr;
  live_collector_t collector;
  uint64_t next = 0;

  support_need_own_events(__func__);
  attr = malloc(sizeof(*attr));
  options = malloc(sizeof(*options));
  stream = malloc(sizeof(*stream));
  live_comm_attr(attr);
  *options = (uvperf_event_options_t)UVPERF_EVENT_OPTIONS_INIT;
  *stream = (uvperf_stream_options_t)UVPERF_STREAM_OPTIONS_INIT;
  live_init(*state, &collector, attr, options);
  assert_ptr_not_equal(uvperf_handle_attr(&collector.event.handle, 0), attr);
  free(attr);
  free(options);
  live_start(&collector, stream);
  free(stream);
  live_comm(&next, 3);
  assert_true(live_run_until(*state, &collector.comms, 3));
  live_close(&collector);
}

static void event_of_two_loops_cannot_be_a_group(void **state) {
  uvperf_event_options_t options = UVPERF_EVENT_OPTIONS_INIT;
  live_collector_t collector;
  struct perf_event_attr attr;
  uvperf_event_t sibling;
  uv_loop_t other;

  support_need_own_events(__func__);
  live_init_comm(*state, &collector);
  live_comm_attr(&attr);
  options.leader = &collector.event;
  assert_int_equal(uv_loop_init(&other), 0);
  assert_int_equal(uvperf_event_init(&other, &sibling, &attr, &options, NULL),
                   UV_EINVAL);
  uv_run(&other, UV_RUN_DEFAULT);
  assert_int_equal(uv_loop_close(&other), 0);
  live_close(&collector);
}

/* -- fairness ------------------------------------------------------------- */

typedef struct served_s {
  uint64_t turns;
  uint64_t in_this_turn;
  uint64_t most_in_a_turn;
} served_t;

static void on_turn(uv_prepare_t *prepare) {
  served_t *served = prepare->data;

  served->turns += 1;
  served->in_this_turn = 0;
}

static void count_turn(live_collector_t *collector,
                       const uvperf_record_t *record) {
  served_t *served = collector->hook_data;

  served->in_this_turn += 1;
  if (served->in_this_turn > served->most_in_a_turn)
    served->most_in_a_turn = served->in_this_turn;
}

/* Delivers nr records in slices. Returns the most that came in one turn. */
static uint64_t
most_in_a_turn(uv_loop_t *loop,
               void (*hook)(live_collector_t *, const uvperf_record_t *),
               const uvperf_stream_options_t *options, uint64_t nr) {
  live_collector_t collector;
  served_t served = {0, 0, 0};
  uv_prepare_t prepare;
  uint64_t next = 0;

  uv_prepare_init(loop, &prepare);
  prepare.data = &served;
  uv_prepare_start(&prepare, on_turn);
  live_init_comm(loop, &collector);
  collector.hook = hook;
  collector.hook_data = &served;
  live_start(&collector, options);
  live_comm(&next, nr);
  assert_true(live_run_until(loop, &collector.comms, nr));
  uv_close((uv_handle_t *)&prepare, NULL);
  live_close(&collector);
  return served.most_in_a_turn;
}

/* Takes at least 300 microseconds. */
static void slow_turn(live_collector_t *collector,
                      const uvperf_record_t *record) {
  uint64_t start = uv_hrtime();

  while (uv_hrtime() - start < 300000)
    continue;
  count_turn(collector, record);
}

static void event_slice_of_slow_callbacks_ends_by_time(void **state) {
  uvperf_stream_options_t options = UVPERF_STREAM_OPTIONS_INIT;

  support_need_own_events(__func__);
  options.slice_us = 1000;
  assert_in_range(most_in_a_turn(*state, slow_turn, &options, 40), 1, 4);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      support_loop_test(event_without_ring_has_nothing_to_flush),
      support_loop_test(event_that_cannot_deliver_refuses_a_callback),
      support_loop_test(event_copies_what_it_is_given),
      support_loop_test(event_of_two_loops_cannot_be_a_group),
      support_loop_test(event_slice_of_slow_callbacks_ends_by_time),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
