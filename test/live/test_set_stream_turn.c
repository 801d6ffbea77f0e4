/* SPDX-License-Identifier: MIT */
/* Live: when the records of a set come, ring by ring and in the order of time:
 * by flush and by timers, and during readings. */
#include "live_stream.h"

/* -- flush ---------------------------------------------------------------- */

/* No record wakes, and none is old enough. */
static void set_flush_in_time_order_does_not_wait_for_the_slack(void **state) {
  live_stream_t stream;
  live_plan_t plan;
  uint64_t next = 0;

  support_need_own_events(__func__);
  live_stream_plan_own(&plan);
  plan.options.flags |= UVPERF_SET_TIME_ORDER;
  plan.options.wakeup_bytes = 0;
  plan.options.slack_us = 10000000;
  live_stream_begin(*state, &stream, &plan);
  live_run_ms(*state, 5);
  live_stream_comm(&next, 5);
  assert_int_equal(uvperf_flush(&stream.live.set.handle), 0);
  assert_int_equal(stream.comms, 5);
  live_stream_close(&stream);
}

/* -- timers ---------------------------------------------------------------- */

static void set_records_below_the_watermark_come_by_flush_timer(void **state) {
  uvperf_stream_options_t options = UVPERF_STREAM_OPTIONS_INIT;
  live_stream_t stream;
  uvperf_stats_t stats;
  live_plan_t plan;
  uint64_t next;
  size_t mode;

  support_need_own_events(__func__);
  live_stream_plan_own(&plan);
  plan.options.wakeup_bytes = 0;
  for (mode = 0; mode < LIVE_STREAM_MODES; mode++) {
    live_stream_plan_mode(&plan, mode);
    next = 0;
    live_stream_open(*state, &stream, &plan.options);
    live_stream_start(&stream, &options);
    live_run_ms(*state, 5);
    live_stream_comm(&next, 3);
    assert_true(live_run_until(*state, &stream.comms, 3));
    uvperf_stats(&stream.live.set.handle, &stats);
    assert_int_equal(stats.wakeups, 0);
    live_stream_close(&stream);
  }
}

/* The record wakes, but is too young then; there is no flush timer. */
static void set_in_time_order_checks_again_after_the_slack(void **state) {
  live_stream_t stream;
  live_plan_t plan;
  uint64_t next = 0;

  support_need_own_events(__func__);
  live_stream_plan_own(&plan);
  plan.options.flags |= UVPERF_SET_TIME_ORDER;
  plan.options.slack_us = 30000;
  live_stream_begin(*state, &stream, &plan);
  live_run_ms(*state, 5);
  live_stream_comm(&next, 3);
  uv_run(*state, UV_RUN_NOWAIT);
  assert_int_equal(stream.comms, 0);
  assert_true(live_run_until(*state, &stream.comms, 3));
  assert_true(live_run_ms(*state, 50) < 20);
  live_stream_close(&stream);
}

/* -- with counting -------------------------------------------------------- */

static void set_counts_and_streams_at_once(void **state) {
  live_stream_t stream;
  live_plan_t plan;
  uint64_t next;
  char *region;
  size_t mode;

  support_need_own_events(__func__);
  live_stream_plan(&plan);
  live_touch_attr(live_plan_attr(&plan), PERF_SAMPLE_TID);
  live_stream_plan_comm(&plan);
  live_stream_plan_target(&plan, UVPERF_TARGET_SELF, 0);
  for (mode = 0; mode < LIVE_STREAM_MODES; mode++) {
    live_stream_plan_mode(&plan, mode);
    next = 0;
    region = live_region();
    live_stream_begin(*state, &stream, &plan);
    assert_int_equal(
        uvperf_set_read_start(&stream.live.set, 2, live_set_on_read, NULL), 0);
    live_stream_comm(&next, 2);
    live_touch(region);
    assert_true(live_run_until(*state, &stream.comms, 2));
    assert_true(live_run_until(*state, &stream.samples, LIVE_PAGES));
    assert_true(live_run_until(*state, &stream.live.callbacks, 2));
    assert_int_equal(uvperf_disable(&stream.live.set.handle, UVPERF_ALL, NULL),
                     0);
    assert_int_equal(uvperf_stop(&stream.live.set.handle), 0);
    assert_int_equal(uvperf_is_active(&stream.live.set.handle), 1);
    assert_int_equal(uvperf_flush(&stream.live.set.handle), 0);
    assert_int_equal(live_set_read(&stream.live, 0).value, stream.samples);
    assert_int_equal(uvperf_set_read_stop(&stream.live.set), 0);
    assert_int_equal(uvperf_is_active(&stream.live.set.handle), 0);
    live_stream_close(&stream);
    live_region_free(region);
  }
}

static void add_another(live_stream_t *stream, const uvperf_record_t *record) {
  uvperf_target_t target = UVPERF_TARGET_INIT;
  uint32_t index;

  if (stream->comms != 1)
    return;
  stream->on_record = NULL;
  target.data = (void *)2;
  assert_int_equal(
      uvperf_set_add(&stream->live.set, &target, NULL, &index, NULL), 0);
  assert_int_equal(uvperf_set_remove(&stream->live.set, 0, NULL, NULL), 0);
}

/* The records of a target keep their source after it is gone. */
static void set_targets_come_and_go_in_a_record_callback(void **state) {
  live_stream_t stream;
  uint64_t next;
  live_plan_t plan;
  size_t mode;

  support_need_own_events(__func__);
  live_stream_plan_own(&plan);
  for (mode = 0; mode < LIVE_STREAM_MODES; mode++) {
    live_stream_plan_mode(&plan, mode);
    next = 0;
    live_stream_begin(*state, &stream, &plan);
    stream.on_record = add_another;
    live_stream_comm(&next, 4);
    assert_true(live_run_until(*state, &stream.comms, 4));
    assert_int_equal(stream.by_target[0], 4);
    live_stream_comm(&next, 4);
    assert_true(live_run_until(*state, &stream.comms, 8));
    assert_int_equal(stream.by_target[1], 4);
    assert_int_equal(stream.foreign, 0);
    assert_int_equal(stream.eofs, 0);
    live_stream_close(&stream);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      support_loop_test(set_flush_in_time_order_does_not_wait_for_the_slack),
      support_loop_test(set_records_below_the_watermark_come_by_flush_timer),
      support_loop_test(set_in_time_order_checks_again_after_the_slack),
      support_loop_test(set_counts_and_streams_at_once),
      support_loop_test(set_targets_come_and_go_in_a_record_callback),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
