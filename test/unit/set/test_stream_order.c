/* SPDX-License-Identifier: MIT */
/* Scripted: the order of time, and what waits for its time to come. */
#include "scripted_set.h"

#define NS_PER_S UINT64_C(1000000000)

/* A time that no clock reaches. */
#define FUTURE (UINT64_C(1) << 62)

/* -- the order of time ---------------------------------------------------- */

static void set_in_time_order_takes_the_oldest_of_all_rings(void **state) {
  uvperf_ring_info_t ring;
  uvperf_stats_t stats;
  uint64_t i;
  stream_world_t world;

  stream_world_begin(*state, &world, 1);
  live_turns_in(*state, 5);
  for (i = 0; i < 10; i++)
    stream_world_sample(&world, i % 3 == 0, i % 3 == 0 ? 102 : 100, 10 + i);
  stream_world_wake(&world, 0);
  assert_int_equal(world.stream.samples, 10);
  assert_int_equal(world.stream.inversions, 0);
  uvperf_set_stats(&world.stream.live.set, &stats);
  assert_int_equal(stats.late_records, 0);
  assert_int_equal(stats.slices, 1);
  stream_world_sample(&world, 0, 100, 20);
  assert_int_equal(uvperf_set_flush(&world.stream.live.set), 0);
  for (i = 0; i < 2; i++) {
    assert_int_equal(uvperf_set_ring(&world.stream.live.set, (size_t)i, &ring),
                     0);
    assert_int_equal(ring.stats.slices, 1);
    assert_int_equal(ring.stats.records, i == 0 ? 7 : 4);
    assert_int_equal(ring.stats.wakeups > 0, i == 0);
  }
  stream_world_close(&world);
}

/* What its callbacks are told: each of the records that were written is either
 * delivered, or waits; the one in the callback is both. */
static void ask(live_stream_t *stream, const uvperf_record_t *record) {
  uvperf_ring_info_t rings[2];
  uvperf_stats_t stats;
  uint64_t written = 10;
  size_t i;

  for (i = 0; i < 2; i++)
    assert_int_equal(uvperf_set_ring(&stream->live.set, i, &rings[i]), 0);
  uvperf_set_stats(&stream->live.set, &stats);
  assert_int_equal(stats.records, stream->records);
  assert_int_equal(stats.bytes, stream->records * record->size);
  assert_int_equal(rings[0].stats.records + rings[1].stats.records,
                   stream->records);
  assert_int_equal(rings[0].waiting + rings[1].waiting,
                   (written - stream->records + 1) * record->size);
  assert_int_equal(stats.late_records, 0);
}

static void set_in_time_order_tells_each_callback_how_far_it_is(void **state) {
  stream_world_t world;
  uint64_t i;

  stream_world_begin(*state, &world, 1);
  live_turns_in(*state, 5);
  world.stream.on_record = ask;
  for (i = 0; i < 10; i++)
    stream_world_sample(&world, i % 3 == 0, i % 3 == 0 ? 102 : 100, 10 + i / 2);
  stream_world_wake(&world, 0);
  assert_int_equal(world.stream.samples, 10);
  stream_world_close(&world);
}

static void set_in_time_order_counts_what_is_late(void **state) {
  uvperf_ring_info_t ring;
  uvperf_stats_t stats;
  stream_world_t world;

  stream_world_begin(*state, &world, 1);
  live_turns_in(*state, 5);
  stream_world_sample(&world, 0, 100, 10);
  stream_world_wake(&world, 0);
  stream_world_sample(&world, 1, 102, 5);
  stream_world_sample(&world, 1, 102, 9);
  stream_world_sample(&world, 1, 102, 10);
  stream_world_wake(&world, 1);
  assert_int_equal(world.stream.samples, 4);
  assert_int_equal(world.stream.inversions, 2);
  uvperf_set_stats(&world.stream.live.set, &stats);
  assert_int_equal(stats.late_records, 2);
  assert_int_equal(uvperf_set_ring(&world.stream.live.set, 1, &ring), 0);
  assert_int_equal(ring.stats.late_records, 2);
  stream_world_close(&world);
}

/* As stream_world_begin, where records wait for so long. */
static void begin_with_slack(uv_loop_t *loop, stream_world_t *world,
                             uint32_t slack_us) {
  stream_world_plan(world, 1);
  world->make.options.slack_us = slack_us;
  stream_world_open_planned(loop, world);
  live_stream_start(&world->stream, NULL);
  live_turns_in(loop, 5);
}

/* Nobody wakes for it again, and the set has no other reason to look. */
static void set_in_time_order_looks_when_its_time_has_come(void **state) {
  stream_world_t world;

  begin_with_slack(*state, &world, 500000);
  stream_world_sample(&world, 0, 100, 1);
  fake_event_wake(world.events[1]);
  uv_run(*state, UV_RUN_NOWAIT);
  fake_event_quiet(world.events[1]);
  assert_int_equal(world.stream.samples, 0);
  assert_true(live_run_until(*state, &world.stream.samples, 1));
  stream_world_close(&world);
}

/* The loop sleeps meanwhile. */
static void set_in_time_order_waits_for_the_slack(void **state) {
  uvperf_ring_info_t ring;
  stream_world_t world;

  begin_with_slack(*state, &world, 100000000);
  stream_world_sample(&world, 0, 100, 1);
  stream_world_wake(&world, 0);
  assert_int_equal(world.stream.samples, 0);
  assert_true(live_turns_in(*state, 50) < 100);
  assert_int_equal(uvperf_set_ring(&world.stream.live.set, 0, &ring), 0);
  assert_true(ring.waiting > 0);
  assert_int_equal(uvperf_set_flush(&world.stream.live.set), 0);
  assert_int_equal(world.stream.samples, 1);
  stream_world_close(&world);
}

/* -- clocks of other processes -------------------------------------------- */

static void expect_stats(const stream_world_t *world, uint64_t bad,
                         uint64_t late) {
  uvperf_ring_info_t ring;
  uvperf_stats_t stats;

  uvperf_set_stats(&world->stream.live.set, &stats);
  assert_int_equal(stats.bad_times, bad);
  assert_int_equal(stats.late_records, late);
  assert_int_equal(uvperf_set_ring(&world->stream.live.set, 0, &ring), 0);
  assert_int_equal(ring.stats.bad_times, bad);
  assert_int_equal(uvperf_set_ring(&world->stream.live.set, 1, &ring), 0);
  assert_int_equal(ring.stats.bad_times, 0);
}

/* It holds up nothing, its own ring neither, and makes nothing late. */
static void set_in_time_order_record_of_the_future_comes(void **state) {
  stream_world_t world;
  uint64_t i;

  stream_world_begin(*state, &world, 1);
  live_turns_in(*state, 5);
  stream_world_sample(&world, 0, 100, 3);
  stream_world_sample(&world, 0, 100, FUTURE);
  stream_world_sample(&world, 0, 100, 5);
  stream_world_sample(&world, 1, 102, 4);
  stream_world_wake(&world, 0);
  assert_int_equal(world.stream.samples, 4);
  expect_stats(&world, 1, 0);
  assert_int_equal(world.stream.inversions, 0);
  for (i = 6; i < 20; i++) {
    stream_world_sample(&world, i % 2, i % 2 ? 102 : 100, i);
    stream_world_sample(&world, 0, 100, FUTURE + i);
  }
  stream_world_wake(&world, 0);
  assert_int_equal(world.stream.samples, 32);
  expect_stats(&world, 15, 0);
  assert_int_equal(world.stream.inversions, 0);
  stream_world_close(&world);
}

/* Of a clock that is behind: it cannot be late. */
static void set_in_time_order_record_from_before_the_opening_comes(void **s) {
  stream_world_t world;

  stream_world_begin(*s, &world, 1);
  live_turns_in(*s, 5);
  stream_world_sample(&world, 0, 100, 3);
  stream_world_sample(&world, 1, 102, 4);
  stream_world_wake(&world, 0);
  stream_world_sample(&world, 0, 100, 0 - world.base);
  stream_world_sample(&world, 0, 100, 0 - UINT64_C(1000000000));
  stream_world_sample(&world, 0, 100, 5);
  stream_world_wake(&world, 0);
  assert_int_equal(world.stream.samples, 5);
  expect_stats(&world, 2, 0);
  stream_world_close(&world);
}

/* A flush has no horizon, but the same bounds. */
static void set_flush_of_a_record_of_the_future_makes_none_late(void **state) {
  stream_world_t world;

  begin_with_slack(*state, &world, 100000000);
  stream_world_sample(&world, 0, 100, FUTURE);
  stream_world_sample(&world, 0, 100, 5);
  assert_int_equal(uvperf_set_flush(&world.stream.live.set), 0);
  stream_world_sample(&world, 1, 102, 6);
  assert_int_equal(uvperf_set_flush(&world.stream.live.set), 0);
  assert_int_equal(world.stream.samples, 3);
  expect_stats(&world, 1, 0);
  stream_world_close(&world);
}

/* A clock that is ahead by less than what is possible cannot be found out. Its
 * record waits for its own time and for the slack, and the records after it in
 * its ring with it. */
static void set_in_time_order_clock_a_little_ahead_delays_by_that(void **s) {
  uint64_t ahead = 900000;
  uint64_t written;
  stream_world_t world;

  stream_world_begin(*s, &world, 1);
  live_turns_in(*s, 5);
  written = live_now();
  stream_world_sample(&world, 0, 100, written + ahead - world.base);
  stream_world_sample(&world, 0, 100, written - world.base);
  fake_event_wake(world.events[1]);
  while (world.stream.samples == 0 && live_now() < written + NS_PER_S)
    uv_run(*s, UV_RUN_ONCE);
  /* Unless it took so long until the first look. */
  assert_true(live_now() >= written + ahead);
  fake_event_quiet(world.events[1]);
  assert_true(live_run_until(*s, &world.stream.samples, 2));
  assert_true(live_now() < written + NS_PER_S);
  expect_stats(&world, 0, 1);
  /* Only what is older than that is late. */
  stream_world_sample(&world, 1, 102, live_now() - world.base);
  stream_world_wake(&world, 1);
  assert_true(live_run_until(*s, &world.stream.samples, 3));
  expect_stats(&world, 0, 1);
  stream_world_close(&world);
}

/* Under pressure it does not even wait for its own time. */
static void set_in_time_order_of_the_future_under_pressure_comes(void **state) {
  uvperf_ring_info_t ring;
  uint64_t n = 0;
  stream_world_t world;

  begin_with_slack(*state, &world, 100000000);
  do {
    stream_world_sample(&world, 0, 100, FUTURE + n++);
    assert_int_equal(uvperf_set_ring(&world.stream.live.set, 0, &ring), 0);
  } while (ring.waiting <= ring.bytes / 2);
  stream_world_wake(&world, 0);
  assert_int_equal(world.stream.samples, n);
  stream_world_close(&world);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      stream_world_test(set_in_time_order_takes_the_oldest_of_all_rings),
      stream_world_test(set_in_time_order_tells_each_callback_how_far_it_is),
      stream_world_test(set_in_time_order_counts_what_is_late),
      stream_world_test(set_in_time_order_looks_when_its_time_has_come),
      stream_world_test(set_in_time_order_waits_for_the_slack),
      stream_world_test(set_in_time_order_record_of_the_future_comes),
      stream_world_test(set_in_time_order_record_from_before_the_opening_comes),
      stream_world_test(set_flush_of_a_record_of_the_future_makes_none_late),
      stream_world_test(set_in_time_order_clock_a_little_ahead_delays_by_that),
      stream_world_test(set_in_time_order_of_the_future_under_pressure_comes),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
