/* SPDX-License-Identifier: MIT */
/* Scripted: the order of time, and records that wait for their time. */
#include "scripted_set.h"

#include "fake_pool.h"

#define NS_PER_S UINT64_C(1000000000)

/* A time that no clock reaches. */
#define FUTURE (UINT64_C(1) << 62)

/* -- the order of time ---------------------------------------------------- */

static uvperf_ring_info_t ring;
static uvperf_stats_t stats;

static scripted_set_t scripted;

static void set_in_time_order_takes_the_oldest_of_all_rings(void **state) {
  uint64_t i;

  scripted_set_begin(*state, &scripted, 1);
  live_run_ms(*state, 5);
  for (i = 0; i < 10; i++)
    scripted_set_sample(&scripted, i % 3 == 0, i % 3 == 0 ? 102 : 100, 10 + i);
  scripted_set_wake(&scripted, 0);
  assert_int_equal(scripted.stream.samples, 10);
  assert_int_equal(scripted.stream.inversions, 0);
  uvperf_stats(&scripted.stream.live.set.handle, &stats);
  assert_int_equal(stats.late_records, 0);
  assert_int_equal(stats.slices, 1);
  scripted_set_sample(&scripted, 0, 100, 20);
  assert_int_equal(uvperf_flush(&scripted.stream.live.set.handle), 0);
  for (i = 0; i < 2; i++) {
    assert_int_equal(
        uvperf_ring(&scripted.stream.live.set.handle, (size_t)i, &ring), 0);
    assert_int_equal(ring.stats.slices, 1);
    assert_int_equal(ring.stats.records, i == 0 ? 7 : 4);
    assert_int_equal(ring.stats.wakeups > 0, i == 0);
  }
  scripted_set_close(&scripted);
}

/* The statistics in its callbacks: each written record is either delivered, or
 * waits; the one in the callback is both. */
static void ask(live_stream_t *stream, const uvperf_record_t *record) {
  uvperf_ring_info_t rings[2];
  uint64_t written = 10;
  size_t i;

  for (i = 0; i < 2; i++)
    assert_int_equal(uvperf_ring(&stream->live.set.handle, i, &rings[i]), 0);
  uvperf_stats(&stream->live.set.handle, &stats);
  assert_int_equal(stats.records, stream->records);
  assert_int_equal(stats.bytes, stream->records * record->size);
  assert_int_equal(rings[0].stats.records + rings[1].stats.records,
                   stream->records);
  assert_int_equal(rings[0].waiting + rings[1].waiting,
                   (written - stream->records + 1) * record->size);
  assert_int_equal(stats.late_records, 0);
}

static void set_in_time_order_has_a_horizon_in_each_callback(void **state) {
  uint64_t i;

  scripted_set_begin(*state, &scripted, 1);
  live_run_ms(*state, 5);
  scripted.stream.on_record = ask;
  for (i = 0; i < 10; i++)
    scripted_set_sample(&scripted, i % 3 == 0, i % 3 == 0 ? 102 : 100,
                        10 + i / 2);
  scripted_set_wake(&scripted, 0);
  assert_int_equal(scripted.stream.samples, 10);
  scripted_set_close(&scripted);
}

static void set_in_time_order_counts_what_is_late(void **state) {
  scripted_set_begin(*state, &scripted, 1);
  live_run_ms(*state, 5);
  scripted_set_sample(&scripted, 0, 100, 10);
  scripted_set_wake(&scripted, 0);
  scripted_set_sample(&scripted, 1, 102, 5);
  scripted_set_sample(&scripted, 1, 102, 9);
  scripted_set_sample(&scripted, 1, 102, 10);
  scripted_set_wake(&scripted, 1);
  assert_int_equal(scripted.stream.samples, 4);
  assert_int_equal(scripted.stream.inversions, 2);
  uvperf_stats(&scripted.stream.live.set.handle, &stats);
  assert_int_equal(stats.late_records, 2);
  assert_int_equal(uvperf_ring(&scripted.stream.live.set.handle, 1, &ring), 0);
  assert_int_equal(ring.stats.late_records, 2);
  scripted_set_close(&scripted);
}

/* As scripted_set_begin, with this slack. */
static void begin_with_slack(uv_loop_t *loop, uint32_t slack_us) {
  scripted_set_plan(&scripted, 1);
  scripted.make.options.slack_us = slack_us;
  scripted_set_open_planned(loop, &scripted);
  live_stream_start(&scripted.stream, NULL);
  live_run_ms(loop, 5);
}

/* No wakeup comes for it, and the set has no other reason to check. */
static void set_in_time_order_checks_when_its_time_has_come(void **state) {
  begin_with_slack(*state, 500000);
  scripted_set_sample(&scripted, 0, 100, 1);
  fake_event_wake(scripted.events[1]);
  uv_run(*state, UV_RUN_NOWAIT);
  fake_event_quiet(scripted.events[1]);
  assert_int_equal(scripted.stream.samples, 0);
  assert_true(live_run_until(*state, &scripted.stream.samples, 1));
  scripted_set_close(&scripted);
}

/* The loop sleeps meanwhile. */
static void set_in_time_order_waits_for_the_slack(void **state) {
  begin_with_slack(*state, 100000000);
  scripted_set_sample(&scripted, 0, 100, 1);
  scripted_set_wake(&scripted, 0);
  assert_int_equal(scripted.stream.samples, 0);
  assert_true(live_run_ms(*state, 50) < 100);
  assert_int_equal(uvperf_ring(&scripted.stream.live.set.handle, 0, &ring), 0);
  assert_true(ring.waiting > 0);
  assert_int_equal(uvperf_flush(&scripted.stream.live.set.handle), 0);
  assert_int_equal(scripted.stream.samples, 1);
  scripted_set_close(&scripted);
}

/* -- clocks of other processes -------------------------------------------- */

static void expect_stats(uint64_t bad, uint64_t late) {
  uvperf_stats(&scripted.stream.live.set.handle, &stats);
  assert_int_equal(stats.bad_times, bad);
  assert_int_equal(stats.late_records, late);
  assert_int_equal(uvperf_ring(&scripted.stream.live.set.handle, 0, &ring), 0);
  assert_int_equal(ring.stats.bad_times, bad);
  assert_int_equal(uvperf_ring(&scripted.stream.live.set.handle, 1, &ring), 0);
  assert_int_equal(ring.stats.bad_times, 0);
}

/* It holds up nothing, its own ring neither, and makes nothing late. */
static void set_in_time_order_record_of_the_future_comes(void **state) {
  uint64_t i;

  scripted_set_begin(*state, &scripted, 1);
  live_run_ms(*state, 5);
  scripted_set_sample(&scripted, 0, 100, 3);
  scripted_set_sample(&scripted, 0, 100, FUTURE);
  scripted_set_sample(&scripted, 0, 100, 5);
  scripted_set_sample(&scripted, 1, 102, 4);
  scripted_set_wake(&scripted, 0);
  assert_int_equal(scripted.stream.samples, 4);
  expect_stats(1, 0);
  assert_int_equal(scripted.stream.inversions, 0);
  for (i = 6; i < 20; i++) {
    scripted_set_sample(&scripted, i % 2, i % 2 ? 102 : 100, i);
    scripted_set_sample(&scripted, 0, 100, FUTURE + i);
  }
  scripted_set_wake(&scripted, 0);
  assert_int_equal(scripted.stream.samples, 32);
  expect_stats(15, 0);
  assert_int_equal(scripted.stream.inversions, 0);
  scripted_set_close(&scripted);
}

static void on_open(uvperf_handle_t *handle, int status,
                    const uvperf_error_t *error) {
  assert_int_equal(status, 0);
}

/* Of a clock that is behind: it cannot be late. */
static void write_before_the_opening(uv_loop_t *loop, int is_on_pool) {
  scripted_set_plan(&scripted, 1);
  if (is_on_pool) {
    fake_pool_hold();
    scripted.make.options.open_cb = on_open;
  }
  scripted_set_open_planned(loop, &scripted);
  while (fake_pool_waits())
    fake_pool_run();
  live_stream_start(&scripted.stream, NULL);
  live_run_ms(loop, 5);
  scripted_set_sample(&scripted, 0, 100, 3);
  scripted_set_sample(&scripted, 1, 102, 4);
  scripted_set_wake(&scripted, 0);
  scripted_set_sample(&scripted, 0, 100, 0 - scripted.base);
  scripted_set_sample(&scripted, 0, 100, 0 - UINT64_C(1000000000));
  scripted_set_sample(&scripted, 0, 100, 5);
  scripted_set_wake(&scripted, 0);
  assert_int_equal(scripted.stream.samples, 5);
  expect_stats(2, 0);
  scripted_set_close(&scripted);
}

static void set_in_time_order_record_from_before_the_opening_comes(void **s) {
  write_before_the_opening(*s, 0);
  write_before_the_opening(*s, 1);
}

/* A flush has no horizon, but the same bounds. */
static void set_flush_of_a_record_of_the_future_makes_none_late(void **state) {
  begin_with_slack(*state, 100000000);
  scripted_set_sample(&scripted, 0, 100, FUTURE);
  scripted_set_sample(&scripted, 0, 100, 5);
  assert_int_equal(uvperf_flush(&scripted.stream.live.set.handle), 0);
  scripted_set_sample(&scripted, 1, 102, 6);
  assert_int_equal(uvperf_flush(&scripted.stream.live.set.handle), 0);
  assert_int_equal(scripted.stream.samples, 3);
  expect_stats(1, 0);
  scripted_set_close(&scripted);
}

/* A clock that is ahead by less than what is possible cannot be detected. Its
 * record waits for its own time and for the slack, and so do the records after
 * it in its ring. */
static void set_in_time_order_clock_a_little_ahead_delays_by_that(void **s) {
  uint64_t ahead = 900000;
  uint64_t written;

  scripted_set_begin(*s, &scripted, 1);
  live_run_ms(*s, 5);
  written = live_now();
  scripted_set_sample(&scripted, 0, 100, written + ahead - scripted.base);
  scripted_set_sample(&scripted, 0, 100, written - scripted.base);
  fake_event_wake(scripted.events[1]);
  while (scripted.stream.samples == 0 && live_now() < written + NS_PER_S)
    uv_run(*s, UV_RUN_ONCE);
  /* Unless the first check came too late. */
  assert_true(live_now() >= written + ahead);
  fake_event_quiet(scripted.events[1]);
  assert_true(live_run_until(*s, &scripted.stream.samples, 2));
  assert_true(live_now() < written + NS_PER_S);
  expect_stats(0, 1);
  /* Only older records are late. */
  scripted_set_sample(&scripted, 1, 102, live_now() - scripted.base);
  scripted_set_wake(&scripted, 1);
  assert_true(live_run_until(*s, &scripted.stream.samples, 3));
  expect_stats(0, 1);
  scripted_set_close(&scripted);
}

/* Under pressure it does not even wait for its own time. */
static void set_in_time_order_of_the_future_under_pressure_comes(void **state) {
  uint64_t n = 0;

  begin_with_slack(*state, 100000000);
  do {
    scripted_set_sample(&scripted, 0, 100, FUTURE + n++);
    assert_int_equal(uvperf_ring(&scripted.stream.live.set.handle, 0, &ring),
                     0);
  } while (ring.waiting <= ring.bytes / 2);
  scripted_set_wake(&scripted, 0);
  assert_int_equal(scripted.stream.samples, n);
  scripted_set_close(&scripted);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      scripted_set_test(set_in_time_order_takes_the_oldest_of_all_rings),
      scripted_set_test(set_in_time_order_has_a_horizon_in_each_callback),
      scripted_set_test(set_in_time_order_counts_what_is_late),
      scripted_set_test(set_in_time_order_checks_when_its_time_has_come),
      scripted_set_test(set_in_time_order_waits_for_the_slack),
      scripted_set_test(set_in_time_order_record_of_the_future_comes),
      scripted_set_test(set_in_time_order_record_from_before_the_opening_comes),
      scripted_set_test(set_flush_of_a_record_of_the_future_makes_none_late),
      scripted_set_test(set_in_time_order_clock_a_little_ahead_delays_by_that),
      scripted_set_test(set_in_time_order_of_the_future_under_pressure_comes),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
