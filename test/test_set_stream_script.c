/* SPDX-License-Identifier: MIT */
/* Scripted: rings and records of a set that no kernel writes, failures of start
 * and of new rings, and the order of calls. */
#include "live_stream.h"

#include <errno.h>

#include "alloc.h"
#include "counters_make.h"
#include "record_builder.h"

#define FUTURE (UINT64_MAX / 2)

/* A set of one sampling attr on two CPUs: of each an event, and the owner of its
 * ring. */
typedef struct world_s {
  live_stream_t stream;
  counters_make_t make;
  fake_event_t *events[4];
} world_t;

static void plan_world(world_t *world, size_t mode) {
  uvperf_set_options_t *options = &world->make.options;

  memset(world, 0, sizeof(*world));
  counters_script(world->events, 4);
  counters_make(&world->make, 1);
  world->make.attrs[0].config = PERF_COUNT_SW_CPU_CLOCK;
  world->make.attrs[0].sample_period = 1000;
  world->make.attrs[0].sample_type = PERF_SAMPLE_TID;
  counters_add_cpus(&world->make, "0-1");
  world->make.targets[0].data = (void *)1;
  options->flags = UVPERF_SET_RECORDS | (mode == 1 ? UVPERF_SET_TIME_ORDER : 0);
  options->ring_bytes = 1;
  options->wakeup_bytes = 1;
}

static void open_world(uv_loop_t *loop, world_t *world, size_t mode) {
  plan_world(world, mode);
  live_stream_open(loop, &world->stream, &world->make.options);
}

static void begin_world(uv_loop_t *loop, world_t *world, size_t mode) {
  open_world(loop, world, mode);
  live_stream_start(&world->stream, NULL);
}

static void close_world(world_t *world) {
  live_stream_close(&world->stream);
  fake_assert_clean();
}

/* A sample of the event with an id, into the ring of a CPU. */
static void sample(world_t *world, size_t cpu, uint64_t id, uint64_t time) {
  const struct perf_event_attr *attr = &world->events[0]->attr;
  record_builder_t builder;
  record_values_t values;

  record_values_init(&values);
  values.id = id;
  values.time = time;
  record_build(&builder, PERF_RECORD_SAMPLE, attr, &values);
  fake_ring_append(world->events[2 * cpu + 1], builder.words, builder.size);
}

/* So that the ring cannot be right. */
static void spoil(world_t *world, size_t cpu) {
  const struct perf_event_header header = {PERF_RECORD_SAMPLE, 0, 0};

  fake_ring_append(world->events[2 * cpu + 1], &header, sizeof(header));
}

static void wake(world_t *world, size_t cpu) {
  fake_event_wake(world->events[2 * cpu + 1]);
  live_turns_in(world->stream.live.set.loop, 5);
  fake_event_quiet(world->events[2 * cpu + 1]);
}

/* -- what is not sound ---------------------------------------------------- */

static void set_ring_that_cannot_be_right_leaves_the_others(void **state) {
  uvperf_error_t error;
  uvperf_stats_t stats;
  uvperf_set_t *set;
  size_t mode;
  world_t world;

  set = &world.stream.live.set;
  for (mode = 0; mode < LIVE_STREAM_MODES; mode++) {
    counters_make_setup(NULL);
    begin_world(*state, &world, mode);
    live_turns_in(*state, 5);
    sample(&world, 0, 100, 1);
    spoil(&world, 0);
    sample(&world, 1, 102, 2);
    wake(&world, 0);
    wake(&world, 1);
    assert_int_equal(world.stream.samples, 2);
    assert_int_equal(world.stream.faults, 1);
    assert_int_equal(world.stream.fault, UV_EPROTO);
    sample(&world, 0, 100, 3);
    sample(&world, 1, 102, 4);
    wake(&world, 0);
    wake(&world, 1);
    assert_int_equal(world.stream.samples, 3);
    assert_int_equal(uvperf_set_flush(set), 0);
    assert_int_equal(world.stream.faults, 1);
    assert_int_equal(uvperf_set_is_active(set), 1);
    uvperf_set_stats(set, &stats);
    assert_int_equal(stats.corrupt, 1);
    assert_int_equal(stats.records, 3);

    /* And the last one. */
    spoil(&world, 1);
    wake(&world, 1);
    assert_int_equal(world.stream.faults, 2);
    assert_int_equal(world.stream.eofs, 0);
    assert_int_equal(uvperf_set_is_active(set), 0);
    assert_int_equal(world.events[0]->enabled, 0);
    assert_int_equal(uvperf_set_start(set, NULL, live_stream_on_record, &error),
                     UV_EOF);
    assert_int_equal(error.cause, UVPERF_CAUSE_LOOP);
    assert_int_equal(uvperf_set_flush(set), 0);
    assert_int_equal(world.stream.samples, 3);
    close_world(&world);
  }
}

static void set_ring_found_unsound_in_a_flush_is_told_there(void **state) {
  size_t mode;
  world_t world;

  for (mode = 0; mode < LIVE_STREAM_MODES; mode++) {
    counters_make_setup(NULL);
    begin_world(*state, &world, mode);
    sample(&world, 1, 102, FUTURE);
    spoil(&world, 0);
    assert_int_equal(uvperf_set_flush(&world.stream.live.set), 0);
    assert_int_equal(world.stream.faults, 1);
    assert_int_equal(world.stream.samples, 1);
    close_world(&world);
  }
}

/* Nobody's, and cut off. */
static void set_record_that_is_not_sound_comes_raw(void **state) {
  uvperf_stats_t stats;
  size_t mode;
  world_t world;

  for (mode = 0; mode < LIVE_STREAM_MODES; mode++) {
    counters_make_setup(NULL);
    begin_world(*state, &world, mode);
    live_turns_in(*state, 5);
    sample(&world, 0, 100, 1);
    sample(&world, 0, 4711, 2);
    sample(&world, 0, 100, 3);
    wake(&world, 0);
    assert_int_equal(world.stream.records, 3);
    assert_int_equal(world.stream.samples, 2);
    assert_int_equal(world.stream.corrupt, 1);
    assert_int_equal(world.stream.faults, 0);
    uvperf_set_stats(&world.stream.live.set, &stats);
    assert_int_equal(stats.corrupt, 1);
    assert_int_equal(stats.records, 3);
    close_world(&world);
  }
}

static void close_in_fault(live_stream_t *stream,
                           const uvperf_record_t *record) {
  (void)record;
  if (stream->faults > 0)
    uvperf_set_close(&stream->live.set, live_set_on_close);
}

static void set_closed_when_a_ring_is_unsound_is_clean(void **state) {
  size_t mode;
  world_t world;
  int is_last;

  for (mode = 0; mode < LIVE_STREAM_MODES; mode++)
    for (is_last = 0; is_last < 2; is_last++) {
      counters_make_setup(NULL);
      begin_world(*state, &world, mode);
      if (is_last) {
        spoil(&world, 1);
        live_turns_in(*state, 5);
        world.stream.faults = 0;
      }
      world.stream.on_record = close_in_fault;
      spoil(&world, 0);
      sample(&world, 1, 102, FUTURE);
      wake(&world, 0);
      assert_int_equal(world.stream.faults, 1);
      assert_int_equal(world.stream.live.closed, 1);
      uvperf_reading_free(world.stream.live.reading);
      fake_assert_clean();
    }
}

/* -- the order of time ---------------------------------------------------- */

static void set_in_time_order_takes_the_oldest_of_all_rings(void **state) {
  uvperf_stats_t stats;
  uint64_t i;
  world_t world;

  begin_world(*state, &world, 1);
  live_turns_in(*state, 5);
  for (i = 0; i < 10; i++)
    sample(&world, i % 3 == 0, i % 3 == 0 ? 102 : 100, 10 + i);
  wake(&world, 0);
  assert_int_equal(world.stream.samples, 10);
  assert_int_equal(world.stream.inversions, 0);
  uvperf_set_stats(&world.stream.live.set, &stats);
  assert_int_equal(stats.late_records, 0);
  close_world(&world);
}

static void set_in_time_order_counts_what_is_late(void **state) {
  uvperf_set_ring_t ring;
  uvperf_stats_t stats;
  world_t world;

  begin_world(*state, &world, 1);
  live_turns_in(*state, 5);
  sample(&world, 0, 100, 10);
  wake(&world, 0);
  sample(&world, 1, 102, 5);
  sample(&world, 1, 102, 9);
  sample(&world, 1, 102, 10);
  wake(&world, 1);
  assert_int_equal(world.stream.samples, 4);
  assert_int_equal(world.stream.inversions, 2);
  uvperf_set_stats(&world.stream.live.set, &stats);
  assert_int_equal(stats.late_records, 2);
  assert_int_equal(uvperf_set_ring(&world.stream.live.set, 1, &ring), 0);
  assert_int_equal(ring.stats.late_records, 2);
  close_world(&world);
}

/* Its time has not come, as far as the clock knows: it waits, the loop sleeps,
 * and what is old does not wait for it. */
static void set_in_time_order_of_the_future_waits(void **state) {
  uvperf_set_ring_t ring;
  world_t world;

  begin_world(*state, &world, 1);
  live_turns_in(*state, 5);
  sample(&world, 0, 100, FUTURE);
  sample(&world, 1, 102, 1);
  wake(&world, 0);
  assert_int_equal(world.stream.samples, 1);
  assert_true(live_turns_in(*state, 50) < 100);
  assert_int_equal(uvperf_set_ring(&world.stream.live.set, 0, &ring), 0);
  assert_true(ring.waiting > 0);
  assert_int_equal(uvperf_set_flush(&world.stream.live.set), 0);
  assert_int_equal(world.stream.samples, 2);
  close_world(&world);
}

/* Nor does it for ever: CLOCK_REALTIME can be set back. */
static void set_in_time_order_of_the_future_under_pressure_comes(void **state) {
  uvperf_set_ring_t ring;
  uint64_t n = 0;
  world_t world;

  begin_world(*state, &world, 1);
  live_turns_in(*state, 5);
  do {
    sample(&world, 0, 100, FUTURE + n++);
    assert_int_equal(uvperf_set_ring(&world.stream.live.set, 0, &ring), 0);
  } while (ring.waiting <= ring.bytes / 2);
  wake(&world, 0);
  assert_int_equal(world.stream.samples, n);
  close_world(&world);
}

/* -- what fails ----------------------------------------------------------- */

/* Nothing counts, and the loop is not held. */
static void set_start_that_cannot_enable_is_stopped(void **state) {
  uvperf_error_t error;
  uvperf_set_t *set;
  world_t world;

  open_world(*state, &world, 0);
  set = &world.stream.live.set;
  fake_fail(FAKE_IOCTL, 2, -EACCES);
  assert_int_equal(uvperf_set_start(set, NULL, live_stream_on_record, &error),
                   UV_EACCES);
  assert_int_equal(error.code, UV_EACCES);
  assert_int_equal(world.events[0]->enabled, 0);
  assert_int_equal(world.events[2]->enabled, 0);
  assert_int_equal(uvperf_set_is_active(set), 0);
  assert_int_equal(uv_loop_alive(*state), 0);
  assert_int_equal(uvperf_set_flush(set), UV_EINVAL);
  live_stream_start(&world.stream, NULL);
  assert_int_equal(world.events[2]->enabled, 1);
  close_world(&world);
}

static void set_start_out_of_memory_can_be_called_again(void **state) {
  unsigned nth, failures;
  uvperf_error_t error;
  uvperf_set_t *set;
  size_t mode;
  world_t world;
  int rc;

  set = &world.stream.live.set;
  for (mode = 0; mode < LIVE_STREAM_MODES; mode++) {
    rc = UV_ENOMEM;
    for (nth = 1; rc != 0; nth++) {
      counters_make_setup(NULL);
      open_world(*state, &world, mode);
      fake_fail(FAKE_CALLOC, nth, 0);
      rc = uvperf_set_start(set, NULL, live_stream_on_record, &error);
      failures = fake_failures();
      assert_int_equal(rc, failures > 0 ? UV_ENOMEM : 0);
      if (rc != 0) {
        assert_int_equal(error.cause, UVPERF_CAUSE_MEMORY);
        assert_int_equal(uvperf_set_is_active(set), 0);
        live_stream_start(&world.stream, NULL);
      } else {
        uvperf__free(uvperf__calloc(1, 1));
      }
      sample(&world, 1, 102, 1);
      assert_true(live_run_until(*state, &world.stream.samples, 1));
      close_world(&world);
    }
    assert_in_range(nth, 5, 30);
  }
}

/* Of CPU 0 alone. */
static void begin_small_world(uv_loop_t *loop, world_t *world, size_t mode) {
  counters_make_setup(NULL);
  plan_world(world, mode);
  world->make.targets[0].cpus = "0";
  live_stream_open(loop, &world->stream, &world->make.options);
  live_stream_start(&world->stream, NULL);
}

/* Of CPU 1, which the set had not so far: all or nothing. */
static void set_target_on_a_new_ring_out_of_memory_is_not_added(void **state) {
  uvperf_target_t target = UVPERF_TARGET_INIT;
  uvperf_error_t error;
  uvperf_set_t *set;
  uint32_t index;
  unsigned nth;
  size_t mode;
  world_t world;
  int rc;

  target.type = UVPERF_TARGET_CPUS;
  target.cpus = "1";
  set = &world.stream.live.set;
  for (mode = 0; mode < LIVE_STREAM_MODES; mode++) {
    rc = UV_ENOMEM;
    for (nth = 1; rc != 0; nth++) {
      begin_small_world(*state, &world, mode);
      index = 4711;
      fake_fail(FAKE_CALLOC, nth, 0);
      rc = uvperf_set_add_target(set, &target, &index, &error);
      assert_int_equal(rc, fake_failures() > 0 ? UV_ENOMEM : 0);
      assert_int_equal(uvperf_set_nr_open(set), rc == 0 ? 2 : 1);
      assert_int_equal(index, rc == 0 ? 1 : 4711);
      if (rc != 0)
        assert_int_equal(error.code, UV_ENOMEM);
      else
        uvperf__free(uvperf__calloc(1, 1));
      live_turns_in(*state, 1);
      close_world(&world);
    }
    assert_in_range(nth, 5, 60);
  }
}

/* -- the order of calls --------------------------------------------------- */

/* Nothing counts once close was called; a ring is unmapped, and its owner
 * closed, when nobody polls it any more. */
static void set_stream_close_disables_then_closes_then_unmaps(void **state) {
  world_t world;

  begin_world(*state, &world, 0);
  live_turns_in(*state, 5);
  fake_log_clear();
  uvperf_set_close(&world.stream.live.set, live_set_on_close);
  assert_string_equal(fake_log(), "ioctl DISABLE, ioctl DISABLE");
  fake_log_clear();
  live_set_wait_closed(&world.stream.live);
  assert_string_equal(fake_log(), "close, close, munmap, close, munmap, close");
  fake_assert_clean();
}

static void set_stream_closed_in_forked_child_only_closes_fds(void **state) {
  size_t mode;
  world_t world;

  for (mode = 0; mode < LIVE_STREAM_MODES; mode++) {
    counters_make_setup(NULL);
    begin_world(*state, &world, mode);
    sample(&world, 0, 100, 1);
    fake_getpid(4711);
    fake_log_clear();
    live_turns_in(*state, 5);
    assert_int_equal(world.stream.records, 0);
    assert_int_equal(uvperf_set_is_active(&world.stream.live.set), 0);
    live_stream_close(&world.stream);
    assert_string_equal(fake_log(), "close, close, close, close");
    fake_getpid(0);
    fake_kernel_reset();
  }
}

/* The watch is there first, so that the first record finds a reader. */
static void set_start_enables_and_stop_disables(void **state) {
  uvperf_set_t *set;
  world_t world;

  open_world(*state, &world, 0);
  set = &world.stream.live.set;
  fake_log_clear();
  live_stream_start(&world.stream, NULL);
  assert_int_equal(world.events[0]->enabled, 1);
  assert_int_equal(world.events[2]->enabled, 1);
  assert_int_equal(uvperf_set_stop(set), 0);
  assert_int_equal(world.events[0]->enabled, 0);
  assert_int_equal(uvperf_set_stop(set), 0);
  assert_string_equal(fake_log(), "ioctl ENABLE, ioctl ENABLE, "
                                  "ioctl DISABLE, ioctl DISABLE");
  close_world(&world);
}

#define stream_test(f)                                                         \
  support_loop_test_setup_teardown(f, fake_kernel_loop_setup,                  \
                                   fake_kernel_loop_teardown)

int main(void) {
  const struct CMUnitTest tests[] = {
      stream_test(set_ring_that_cannot_be_right_leaves_the_others),
      stream_test(set_ring_found_unsound_in_a_flush_is_told_there),
      stream_test(set_record_that_is_not_sound_comes_raw),
      stream_test(set_closed_when_a_ring_is_unsound_is_clean),
      stream_test(set_in_time_order_takes_the_oldest_of_all_rings),
      stream_test(set_in_time_order_counts_what_is_late),
      stream_test(set_in_time_order_of_the_future_waits),
      stream_test(set_in_time_order_of_the_future_under_pressure_comes),
      stream_test(set_start_that_cannot_enable_is_stopped),
      stream_test(set_start_out_of_memory_can_be_called_again),
      stream_test(set_target_on_a_new_ring_out_of_memory_is_not_added),
      stream_test(set_stream_close_disables_then_closes_then_unmaps),
      stream_test(set_stream_closed_in_forked_child_only_closes_fds),
      stream_test(set_start_enables_and_stop_disables),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
