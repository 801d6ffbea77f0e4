/* SPDX-License-Identifier: MIT */
/* Live: the life-cycle of an event handle: init, start, stop, flush, and what
 * may be called when. */
#include "live.h"

#include <unistd.h>

static void event_start_twice_is_ealready(void **state) {
  live_collector_t collector;
  uvperf_error_t error;

  support_need_own_events(__func__);
  live_init_comm(*state, &collector);
  live_start(&collector, NULL);
  assert_int_equal(
      uvperf_start(&collector.event.handle, NULL, live_on_record, &error),
      UV_EALREADY);
  assert_int_equal(error.code, UV_EALREADY);
  assert_int_equal(uvperf_is_active(&collector.event.handle), 1);
  live_close(&collector);
}

static void event_stop_twice_is_0(void **state) {
  live_collector_t collector;

  support_need_own_events(__func__);
  live_init_comm(*state, &collector);
  assert_int_equal(uvperf_stop(&collector.event.handle), 0);
  live_start(&collector, NULL);
  assert_int_equal(uvperf_stop(&collector.event.handle), 0);
  assert_int_equal(uvperf_stop(&collector.event.handle), 0);
  live_close(&collector);
}

/* A stop leaves it as it is, and so does a start after the program's own
 * disable. */
static void event_first_start_enables_and_stop_does_not_disable(void **state) {
  live_collector_t collector;
  uint64_t next = 0;
  uint64_t unseen = 1000;

  support_need_own_events(__func__);
  live_init_comm(*state, &collector);
  live_comm(&unseen, 5); /* not enabled yet */
  live_start(&collector, NULL);
  live_comm(&next, 3);
  assert_true(live_run_until(*state, &collector.comms, 3));
  assert_int_equal(uvperf_stop(&collector.event.handle), 0);
  live_comm(&next, 2); /* waits in the ring */
  live_run_ms(*state, 5);
  assert_int_equal(collector.comms, 3);
  live_start(&collector, NULL);
  assert_true(live_run_until(*state, &collector.comms, 5));
  assert_int_equal(uvperf_stop(&collector.event.handle), 0);
  assert_int_equal(uvperf_disable(&collector.event.handle, 0, NULL), 0);
  live_comm(&unseen, 5); /* not any more */
  live_start(&collector, NULL);
  live_comm(&unseen, 5);
  live_run_ms(*state, 5);
  assert_int_equal(uvperf_flush(&collector.event.handle), 0);
  assert_int_equal(collector.comms, 5);
  assert_int_equal(uvperf_enable(&collector.event.handle, 0, NULL), 0);
  live_comm(&next, 1);
  assert_true(live_run_until(*state, &collector.comms, 6));
  assert_int_equal(collector.out_of_order, 0);
  live_close(&collector);
}

static void event_started_without_enable_is_left_to_the_user(void **state) {
  uvperf_stream_options_t options = UVPERF_STREAM_OPTIONS_INIT;
  live_collector_t collector;
  uint64_t next = 0;
  uint64_t unseen = 1000;

  support_need_own_events(__func__);
  live_init_comm(*state, &collector);
  options.flags = UVPERF_START_NO_ENABLE;
  live_start(&collector, &options);
  live_comm(&unseen, 5);
  assert_int_equal(uvperf_enable(&collector.event.handle, 0, NULL), 0);
  live_comm(&next, 2);
  assert_true(live_run_until(*state, &collector.comms, 2));
  assert_int_equal(uvperf_stop(&collector.event.handle), 0);
  live_comm(&next, 3);
  live_start(&collector, &options);
  assert_true(live_run_until(*state, &collector.comms, 5));
  assert_int_equal(collector.out_of_order, 0);
  live_close(&collector);
}

static void stop_at_5(live_collector_t *collector,
                      const uvperf_record_t *record) {
  (void)record;
  if (collector->comms == 4)
    assert_int_equal(uvperf_stop(&collector->event.handle), 0);
}

static void event_stopped_in_callback_keeps_the_rest(void **state) {
  live_collector_t collector;
  uint64_t next = 0;

  support_need_own_events(__func__);
  live_init_comm(*state, &collector);
  collector.hook = stop_at_5;
  live_start(&collector, NULL);
  live_comm(&next, 20);
  live_run_ms(*state, 10);
  assert_int_equal(collector.comms, 5);
  assert_int_equal(uvperf_is_active(&collector.event.handle), 0);
  live_start(&collector, NULL);
  assert_true(live_run_until(*state, &collector.comms, 20));
  assert_int_equal(collector.out_of_order, 0);
  live_close(&collector);
}

static void restart_at_5(live_collector_t *collector,
                         const uvperf_record_t *record) {
  (void)record;
  if (collector->comms != 4)
    return;
  assert_int_equal(uvperf_stop(&collector->event.handle), 0);
  live_start(collector, NULL);
}

static void event_restarted_in_callback_goes_on(void **state) {
  live_collector_t collector;
  uint64_t next = 0;

  support_need_own_events(__func__);
  live_init_comm(*state, &collector);
  collector.hook = restart_at_5;
  live_start(&collector, NULL);
  live_comm(&next, 20);
  assert_true(live_run_until(*state, &collector.comms, 20));
  assert_int_equal(collector.out_of_order, 0);
  live_close(&collector);
}

static void flush_in_callback(live_collector_t *collector,
                              const uvperf_record_t *record) {
  (void)record;
  assert_int_equal(uvperf_flush(&collector->event.handle), UV_EBUSY);
}

static void event_flush_in_callback_is_ebusy(void **state) {
  live_collector_t collector;
  uint64_t next = 0;

  support_need_own_events(__func__);
  live_init_comm(*state, &collector);
  collector.hook = flush_in_callback;
  live_start(&collector, NULL);
  live_comm(&next, 3);
  assert_true(live_run_until(*state, &collector.comms, 3));
  live_comm(&next, 2);
  assert_int_equal(uvperf_flush(&collector.event.handle), 0);
  assert_int_equal(collector.comms, 5);
  live_close(&collector);
}

static void event_flush_delivers_unsliced_and_when_stopped(void **state) {
  uvperf_stream_options_t options = UVPERF_STREAM_OPTIONS_INIT;
  live_collector_t collector;
  uint64_t next = 0;

  support_need_own_events(__func__);
  live_init_comm(*state, &collector);
  assert_int_equal(uvperf_flush(&collector.event.handle), UV_EINVAL);
  options.slice_records = 1;
  live_start(&collector, &options);
  live_comm(&next, 30);
  assert_int_equal(uvperf_flush(&collector.event.handle), 0);
  assert_int_equal(collector.comms, 30);
  live_comm(&next, 10);
  assert_int_equal(uvperf_stop(&collector.event.handle), 0);
  assert_int_equal(collector.comms, 30);
  assert_int_equal(uvperf_flush(&collector.event.handle), 0);
  assert_int_equal(collector.comms, 40);
  assert_int_equal(collector.out_of_order, 0);
  live_close(&collector);
}

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

static void assert_start_refused(live_collector_t *collector,
                                 const uvperf_stream_options_t *options,
                                 uvperf_record_cb cb, int code) {
  uvperf_error_t error;

  error.reason[0] = '\0';
  assert_int_equal(uvperf_start(&collector->event.handle, options, cb, &error),
                   code);
  assert_int_equal(error.code, code);
  assert_int_equal(error.cause, UVPERF_CAUSE_ARGUMENT);
  assert_true(strlen(error.reason) > 10);
  assert_int_equal(uvperf_is_active(&collector->event.handle), 0);
}

static void event_start_with_bad_arguments_is_refused(void **state) {
  uvperf_stream_options_t options = UVPERF_STREAM_OPTIONS_INIT;
  struct {
    uvperf_stream_options_t options;
    char tail[8];
  } newer = {UVPERF_STREAM_OPTIONS_INIT, {0}};
  live_collector_t collector;

  support_need_own_events(__func__);
  live_init_comm(*state, &collector);
  assert_start_refused(&collector, NULL, NULL, UV_EINVAL);
  options.flags = 1u << 31;
  assert_start_refused(&collector, &options, live_on_record, UV_EINVAL);
  options.flags = 0;
  options.flush_ms = -2;
  assert_start_refused(&collector, &options, live_on_record, UV_EINVAL);
  options.flush_ms = -1;
  options.size = 3;
  assert_start_refused(&collector, &options, live_on_record, UV_EINVAL);
  newer.options.size = sizeof(newer);
  newer.tail[7] = 1;
  assert_start_refused(&collector, &newer.options, live_on_record, UV_E2BIG);
  newer.tail[7] = 0;
  live_start(&collector, &newer.options);
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

static void event_unreffed_lets_the_loop_end(void **state) {
  live_collector_t collector;
  uint64_t next = 0;

  support_need_own_events(__func__);
  live_init_comm(*state, &collector);
  assert_int_equal(uvperf_has_ref(&collector.event.handle), 1);
  /* Not started: it does not keep the loop alive. */
  assert_int_equal(uv_run(*state, UV_RUN_DEFAULT), 0);
  uvperf_unref(&collector.event.handle);
  assert_int_equal(uvperf_has_ref(&collector.event.handle), 0);
  live_start(&collector, NULL);
  live_comm(&next, 1);
  assert_int_equal(uvperf_is_active(&collector.event.handle), 1);
  assert_int_equal(uv_run(*state, UV_RUN_DEFAULT), 0);
  uvperf_ref(&collector.event.handle);
  assert_int_equal(uvperf_has_ref(&collector.event.handle), 1);
  assert_true(uv_loop_alive(*state));
  assert_true(live_run_until(*state, &collector.comms, 1));
  live_close(&collector);
}

static void event_reports_whether_it_is_active_and_closing(void **state) {
  live_collector_t collector;

  support_need_own_events(__func__);
  live_init_comm(*state, &collector);
  assert_int_equal(uvperf_is_active(&collector.event.handle), 0);
  assert_int_equal(uvperf_is_closing(&collector.event.handle), 0);
  live_start(&collector, NULL);
  assert_int_equal(uvperf_is_active(&collector.event.handle), 1);
  assert_int_equal(uvperf_stop(&collector.event.handle), 0);
  assert_int_equal(uvperf_is_active(&collector.event.handle), 0);
  live_start(&collector, NULL);
  live_close(&collector);
  assert_int_equal(uvperf_is_active(&collector.event.handle), 0);
  assert_int_equal(uvperf_is_closing(&collector.event.handle), 1);
  assert_int_equal(uvperf_has_ref(&collector.event.handle), 0);
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

  (void)record;
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

static void event_slice_ends_after_its_number_of_records(void **state) {
  uvperf_stream_options_t options = UVPERF_STREAM_OPTIONS_INIT;

  support_need_own_events(__func__);
  options.slice_records = 7;
  options.slice_us = LIVE_SLICE_US;
  assert_int_equal(most_in_a_turn(*state, count_turn, &options, 100), 7);
}

static void event_slice_ends_after_its_number_of_bytes(void **state) {
  uvperf_stream_options_t options = UVPERF_STREAM_OPTIONS_INIT;

  support_need_own_events(__func__);
  options.slice_bytes = 1;
  options.slice_us = LIVE_SLICE_US;
  assert_int_equal(most_in_a_turn(*state, count_turn, &options, 20), 1);
  /* header 8, pid and tid 8, name 8, trailer 16 */
  options.slice_bytes = 3 * 40;
  assert_int_equal(most_in_a_turn(*state, count_turn, &options, 20), 3);
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
      support_loop_test(event_start_twice_is_ealready),
      support_loop_test(event_stop_twice_is_0),
      support_loop_test(event_first_start_enables_and_stop_does_not_disable),
      support_loop_test(event_started_without_enable_is_left_to_the_user),
      support_loop_test(event_stopped_in_callback_keeps_the_rest),
      support_loop_test(event_restarted_in_callback_goes_on),
      support_loop_test(event_flush_in_callback_is_ebusy),
      support_loop_test(event_flush_delivers_unsliced_and_when_stopped),
      support_loop_test(event_without_ring_has_nothing_to_flush),
      support_loop_test(event_start_with_bad_arguments_is_refused),
      support_loop_test(event_that_cannot_deliver_refuses_a_callback),
      support_loop_test(event_copies_what_it_is_given),
      support_loop_test(event_unreffed_lets_the_loop_end),
      support_loop_test(event_reports_whether_it_is_active_and_closing),
      support_loop_test(event_of_two_loops_cannot_be_a_group),
      support_loop_test(event_slice_ends_after_its_number_of_records),
      support_loop_test(event_slice_ends_after_its_number_of_bytes),
      support_loop_test(event_slice_of_slow_callbacks_ends_by_time),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
