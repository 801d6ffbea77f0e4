/* SPDX-License-Identifier: MIT */
/* Scripted: the order of time, and what waits for its time to come. */
#include "stream_world.h"

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
    assert_int_equal(uvperf_set_ring(&world.stream.live.set, i, &ring), 0);
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

/* Nobody wakes for it again, and the set has no other reason to look. */
static void set_in_time_order_looks_when_its_time_has_come(void **state) {
  stream_world_t world;

  stream_world_begin(*state, &world, 1);
  live_turns_in(*state, 5);
  stream_world_sample(&world, 0, 100, live_now() + 20000000);
  fake_event_wake(world.events[1]);
  uv_run(*state, UV_RUN_NOWAIT);
  fake_event_quiet(world.events[1]);
  assert_int_equal(world.stream.samples, 0);
  assert_true(live_run_until(*state, &world.stream.samples, 1));
  stream_world_close(&world);
}

/* Its time has not come, as far as the clock knows: it waits, the loop sleeps,
 * and what is old does not wait for it. */
static void set_in_time_order_of_the_future_waits(void **state) {
  uvperf_ring_info_t ring;
  stream_world_t world;

  stream_world_begin(*state, &world, 1);
  live_turns_in(*state, 5);
  stream_world_sample(&world, 0, 100, STREAM_WORLD_FUTURE);
  stream_world_sample(&world, 1, 102, 1);
  stream_world_wake(&world, 0);
  assert_int_equal(world.stream.samples, 1);
  assert_true(live_turns_in(*state, 50) < 100);
  assert_int_equal(uvperf_set_ring(&world.stream.live.set, 0, &ring), 0);
  assert_true(ring.waiting > 0);
  assert_int_equal(uvperf_set_flush(&world.stream.live.set), 0);
  assert_int_equal(world.stream.samples, 2);
  stream_world_close(&world);
}

/* Nor does it for ever: CLOCK_REALTIME can be set back. */
static void set_in_time_order_of_the_future_under_pressure_comes(void **state) {
  uvperf_ring_info_t ring;
  uint64_t n = 0;
  stream_world_t world;

  stream_world_begin(*state, &world, 1);
  live_turns_in(*state, 5);
  do {
    stream_world_sample(&world, 0, 100, STREAM_WORLD_FUTURE + n++);
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
      stream_world_test(set_in_time_order_of_the_future_waits),
      stream_world_test(set_in_time_order_of_the_future_under_pressure_comes),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
