/* SPDX-License-Identifier: MIT */
/* Scripted: what the callbacks of a snapshot of a set may do, who is told of
 * what while its rings are overwritten, and when it is over. */
#include "fake_clock.h"
#include "scripted_set.h"

#include <errno.h>
#include <poll.h>
#include <unistd.h>

#include "set/internal.h"

#define SOON_NS (100 * UINT64_C(1000000))

static void nobody_writes(void) {
}

static void plan(stream_world_t *world, size_t mode) {
  stream_world_plan(world, mode);
  world->make.options.flags |= UVPERF_SET_OVERWRITE;
  world->make.options.wakeup_bytes = 0;
  world->make.attrs[0].sample_type |= PERF_SAMPLE_TIME;
  fake_on_membarrier(nobody_writes);
}

static void begin(uv_loop_t *loop, stream_world_t *world, size_t mode) {
  plan(world, mode);
  live_stream_open(loop, &world->stream, &world->make.options);
  live_stream_start(&world->stream, NULL);
}

/* Three on each CPU, in turns. */
static void write_six(stream_world_t *world) {
  static uint64_t time;
  size_t i;

  for (i = 0; i < 6; i++)
    stream_world_overwrite(world, i % 2, 100 + 2 * (i % 2), ++time);
}

static void snap(stream_world_t *world, uint32_t flags) {
  assert_int_equal(uvperf_set_snapshot(&world->stream.live.set, flags), 0);
}

/* -- stop, start, snapshot ------------------------------------------------ */

static void stop_at_second(live_stream_t *stream,
                           const uvperf_record_t *record) {
  (void)record;
  if (stream->records == 2)
    assert_int_equal(uvperf_set_stop(&stream->live.set), 0);
}

static void restart_at_second(live_stream_t *stream,
                              const uvperf_record_t *record) {
  stop_at_second(stream, record);
  if (stream->records == 2)
    live_stream_start(stream, NULL);
}

/* Until the next of all. */
static void set_snapshot_ends_where_a_callback_stops(void **state) {
  void (*const hooks[])(live_stream_t *, const uvperf_record_t *) = {
      stop_at_second, restart_at_second};
  stream_world_t world;
  size_t mode, hook;

  for (mode = 0; mode < LIVE_STREAM_MODES; mode++)
    for (hook = 0; hook < 2; hook++) {
      begin(*state, &world, mode);
      write_six(&world);
      world.stream.on_record = hooks[hook];
      snap(&world, 0);
      assert_int_equal(world.stream.records, 2);
      assert_int_equal(uvperf_set_is_active(&world.stream.live.set), hook);
      world.stream.on_record = NULL;
      snap(&world, 0);
      assert_int_equal(world.stream.records, 2);
      /* Also when it is stopped. */
      write_six(&world);
      snap(&world, 0);
      assert_int_equal(world.stream.records, 8);
      snap(&world, UVPERF_SNAPSHOT_ALL);
      assert_int_equal(world.stream.records, 20);
      stream_world_close(&world);
    }
}

/* Its source was removed, and all that this wrote is overwritten: meanwhile the
 * loop runs, in which readings and turns free such sources. */
static void outlive_source(live_stream_t *stream,
                           const uvperf_record_t *record) {
  stream_world_t *world = (stream_world_t *)(void *)stream;
  const set_t *impl = stream->live.set.impl;
  uint64_t ticks;
  size_t i;

  if (stream->records != 1)
    return;
  assert_int_equal(uvperf_set_remove_target(&stream->live.set, 0), 0);
  fake_clock_set_counters(live_now() + 100 * SOON_NS);
  for (ticks = 1; ticks < 6; ticks++) {
    assert_true(
        live_run_until(stream->live.set.loop, &stream->live.callbacks, ticks));
    uvperf__watch_look_in(impl->watch, 0);
    for (i = 0; i < support_page_bytes() / 8; i++)
      stream_world_overwrite(world, i % 2, 100 + 2 * (i % 2), i);
  }
  assert_int_equal(record->source->attr_index, 0);
  assert_int_equal(record->source->target_index, 0);
}

static void set_snapshot_record_keeps_its_source_in_its_callback(void **state) {
  stream_world_t world;
  uvperf_set_t *set = &world.stream.live.set;
  size_t mode;

  for (mode = 0; mode < LIVE_STREAM_MODES; mode++) {
    begin(*state, &world, mode);
    write_six(&world);
    assert_int_equal(uvperf_set_read_start(set, 1, live_set_on_read), 0);
    world.stream.on_record = outlive_source;
    snap(&world, 0);
    fake_clock_set_counters(0);
    assert_true(world.stream.live.callbacks >= 5);
    stream_world_close(&world);
  }
}

static void stop_at_fault(live_stream_t *stream,
                          const uvperf_record_t *record) {
  if (record == NULL)
    assert_int_equal(uvperf_set_stop(&stream->live.set), 0);
}

static void
set_snapshot_ends_where_an_unsound_ring_has_it_stopped(void **state) {
  const struct perf_event_header header = {PERF_RECORD_SAMPLE, 0, 0};
  stream_world_t world;
  size_t mode, cpu;

  for (mode = 0; mode < LIVE_STREAM_MODES; mode++) {
    begin(*state, &world, mode);
    for (cpu = 0; cpu < 2; cpu++)
      fake_ring_prepend(world.events[2 * cpu + 1], &header, sizeof(header));
    world.stream.on_record = stop_at_fault;
    snap(&world, 0);
    assert_int_equal(world.stream.faults, 1);
    stream_world_close(&world);
  }
}

static void count_other(uvperf_set_t *set, int status,
                        const uvperf_record_t *record) {
  live_stream_t *stream = set->data;

  assert_int_equal(status, 0);
  assert_non_null(record);
  stream->slice_ends += 1; /* of no use else */
}

static void start_other(live_stream_t *stream, const uvperf_record_t *record) {
  (void)record;
  assert_int_equal(uvperf_set_start(&stream->live.set, NULL, count_other, NULL),
                   0);
}

/* One that was stopped before is not stopped by that. */
static void set_snapshot_goes_on_where_a_callback_starts(void **state) {
  stream_world_t world;
  size_t mode;

  for (mode = 0; mode < LIVE_STREAM_MODES; mode++) {
    begin(*state, &world, mode);
    write_six(&world);
    assert_int_equal(uvperf_set_stop(&world.stream.live.set), 0);
    world.stream.on_record = start_other;
    snap(&world, 0);
    assert_int_equal(world.stream.records, 1);
    assert_int_equal(world.stream.slice_ends, 5);
    stream_world_close(&world);
  }
}

static void try_again(live_stream_t *stream, const uvperf_record_t *record) {
  (void)record;
  assert_int_equal(uvperf_set_snapshot(&stream->live.set, 0), UV_EBUSY);
  assert_int_equal(uvperf_set_flush(&stream->live.set), UV_EINVAL);
}

static void set_snapshot_inside_a_callback_is_ebusy(void **state) {
  stream_world_t world;

  begin(*state, &world, 0);
  write_six(&world);
  world.stream.on_record = try_again;
  snap(&world, 0);
  assert_int_equal(world.stream.records, 6);
  stream_world_close(&world);
}

/* -- close and fork ------------------------------------------------------- */

static void close_at_second(live_stream_t *stream,
                            const uvperf_record_t *record) {
  (void)record;
  if (stream->records == 2)
    uvperf_set_close(&stream->live.set, live_set_on_close);
}

static void set_closed_in_a_snapshot_delivers_no_more(void **state) {
  stream_world_t world;
  size_t mode;

  for (mode = 0; mode < LIVE_STREAM_MODES; mode++) {
    begin(*state, &world, mode);
    write_six(&world);
    world.stream.on_record = close_at_second;
    snap(&world, 0);
    live_set_wait_closed(&world.stream.live);
    assert_int_equal(world.stream.records, 2);
    fake_assert_clean();
  }
}

static void fork_and_close(live_stream_t *stream,
                           const uvperf_record_t *record) {
  pid_t *pid = stream->hook_data;

  (void)record;
  if (*pid != -1)
    return;
  *pid = fork();
  if (*pid != 0)
    return;
  if (uv_loop_fork(stream->live.set.loop) != 0)
    _exit(1);
  uvperf_set_close(&stream->live.set, NULL);
}

static void set_snapshot_forked_in_its_callback_is_clean(void **state) {
  uv_loop_t *loop = *state;
  stream_world_t world;
  pid_t pid;
  size_t mode;

  for (mode = 0; mode < LIVE_STREAM_MODES; mode++) {
    begin(loop, &world, mode);
    write_six(&world);
    pid = -1;
    world.stream.on_record = fork_and_close;
    world.stream.hook_data = &pid;
    snap(&world, 0);
    if (pid == 0) {
      while (uv_run(loop, UV_RUN_DEFAULT) != 0)
        continue;
      _exit(world.stream.records == 1 && world.stream.live.set.impl == NULL &&
                    uv_loop_close(loop) == 0
                ? 0
                : 2);
    }
    assert_int_equal(support_wait(pid), 0);
    assert_int_equal(world.stream.records, 6);
    stream_world_close(&world);
  }
}

/* -- targets -------------------------------------------------------------- */

/* Adds and removes targets of both CPUs, and of a third, whose ring is new. */
static void change_targets(live_stream_t *stream,
                           const uvperf_record_t *record) {
  uvperf_set_t *set = &stream->live.set;
  uvperf_target_t target = UVPERF_TARGET_INIT;

  (void)record;
  if (stream->records == 1) {
    target.type = UVPERF_TARGET_CPUS;
    target.cpus = "0-2";
    assert_int_equal(uvperf_set_add_target(set, &target, NULL, NULL), 0);
    assert_int_equal(uvperf_set_nr_rings(set), 3);
    assert_int_equal(uvperf_set_remove_target(set, 0), 0);
  }
}

static void set_snapshot_whose_targets_change_tells_sources(void **state) {
  stream_world_t world;
  size_t mode;

  for (mode = 0; mode < LIVE_STREAM_MODES; mode++) {
    begin(*state, &world, mode);
    fake_event_add(200);
    fake_event_add(201);
    fake_event_add(202);
    fake_event_add(203);
    fake_clock_set_counters(1);
    write_six(&world);
    world.stream.on_record = change_targets;
    snap(&world, 0);
    assert_int_equal(world.stream.records, 6);
    assert_int_equal(world.stream.by_target[0], 6);
    assert_int_equal(world.stream.foreign, 0);
    /* And later on, as long as the records are there. */
    fake_clock_set_counters(1 + 2 * SOON_NS);
    snap(&world, UVPERF_SNAPSHOT_ALL);
    assert_int_equal(world.stream.by_target[0], 12);
    assert_int_equal(world.stream.corrupt, 0);
    stream_world_close(&world);
    fake_clock_set_counters(0);
  }
}

/* Removes a target, which has the next turn of the loop look at it. */
static void remove_and_run(live_stream_t *stream, uint32_t index) {
  assert_int_equal(uvperf_set_remove_target(&stream->live.set, index), 0);
  uv_run(stream->live.set.loop, UV_RUN_NOWAIT);
  assert_int_equal(uvperf_set_snapshot(&stream->live.set, 0), UV_EBUSY);
}

/* Runs the loop until the first target would be forgotten. The record in hand,
 * and those of the snapshot that are still to come, have their source. */
static void remove_targets(live_stream_t *stream,
                           const uvperf_record_t *record) {
  stream_world_t *world = (stream_world_t *)stream;
  uvperf_target_t target = UVPERF_TARGET_INIT;
  uvperf_set_t *set = &stream->live.set;
  size_t i;

  if (stream->records != 1)
    return;
  target.type = UVPERF_TARGET_CPUS;
  target.cpus = "0-1";
  for (i = 0; i < 2; i++)
    assert_int_equal(uvperf_set_add_target(set, &target, NULL, NULL), 0);
  remove_and_run(stream, 0);
  fake_clock_set_counters(1 + 2 * SOON_NS);
  remove_and_run(stream, 1);
  for (i = 0; i < support_page_bytes() / 32; i++) {
    stream_world_overwrite(world, 0, 555, 1000 + i);
    stream_world_overwrite(world, 1, 555, 1000 + i);
  }
  remove_and_run(stream, 2);
  assert_int_equal(record->source->target_index, 0);
}

static void
set_target_removed_in_a_snapshot_that_runs_the_loop_keeps_its_source(
    void **state) {
  stream_world_t world;
  size_t mode, i;

  for (mode = 0; mode < LIVE_STREAM_MODES; mode++) {
    begin(*state, &world, mode);
    for (i = 0; i < 4; i++)
      fake_event_add(200 + i);
    fake_clock_set_counters(1);
    write_six(&world);
    world.stream.on_record = remove_targets;
    snap(&world, 0);
    assert_int_equal(world.stream.by_target[0], 6);
    assert_int_equal(world.stream.foreign, 0);
    stream_world_close(&world);
    fake_clock_set_counters(0);
  }
}

/* What a snapshot could still give keeps its source, and no more. */
static void set_forgets_removed_targets_as_they_are_overwritten(void **state) {
  stream_world_t world;
  uvperf_set_t *set = &world.stream.live.set;
  size_t i;

  begin(*state, &world, 0);
  fake_event_add(200);
  fake_clock_set_counters(1);
  write_six(&world);
  assert_int_equal(uvperf_set_remove_target(set, 0), 0);
  snap(&world, 0);
  fake_clock_set_counters(1 + 2 * SOON_NS);
  snap(&world, 0);
  assert_non_null(uvperf_set_source(set, 100));
  assert_non_null(uvperf_set_source(set, 102));
  for (i = 0; i < support_page_bytes() / 32; i++)
    stream_world_overwrite(&world, 0, 555, 1000 + i);
  snap(&world, 0);
  assert_null(uvperf_set_source(set, 100));
  assert_non_null(uvperf_set_source(set, 102));
  stream_world_close(&world);
  fake_clock_set_counters(0);
}

/* -- the loop ------------------------------------------------------------- */

static void count_timer(uv_handle_t *handle, void *nr) {
  *(size_t *)nr += handle->type == UV_TIMER && uv_is_active(handle);
}

/* It keeps the loop alive, and sleeps: also by default nothing ticks. */
static void set_of_overwritable_rings_polls_none(void **state) {
  uv_loop_t *loop = *state;
  stream_world_t world;
  uvperf_stats_t stats;
  size_t timers;
  size_t mode;

  for (mode = 0; mode < LIVE_STREAM_MODES; mode++) {
    plan(&world, mode);
    live_stream_open(loop, &world.stream, &world.make.options);
    assert_int_equal(uvperf_set_start(&world.stream.live.set, NULL,
                                      live_stream_on_record, NULL),
                     0);
    live_turns_in(loop, 5);
    timers = 0;
    uv_walk(loop, count_timer, &timers);
    assert_int_equal(timers, 0);
    write_six(&world);
    fake_event_wake(world.events[1]);
    assert_true(live_turns_in(loop, 20) < 100);
    assert_int_equal(world.stream.records, 0);
    assert_int_equal(uvperf_set_is_active(&world.stream.live.set), 1);
    assert_int_equal(uv_loop_alive(loop), 1);
    uvperf_set_stats(&world.stream.live.set, &stats);
    assert_int_equal(stats.wakeups, 0);
    uvperf_set_unref(&world.stream.live.set);
    assert_int_equal(uv_loop_alive(loop), 0);
    uvperf_set_ref(&world.stream.live.set);
    assert_int_equal(uv_loop_alive(loop), 1);
    assert_int_equal(uvperf_set_stop(&world.stream.live.set), 0);
    assert_int_equal(uv_loop_alive(loop), 0);
    snap(&world, 0);
    assert_int_equal(world.stream.records, 6);
    stream_world_close(&world);
  }
}

/* A set of a thread, which can end. */
static void begin_thread(uv_loop_t *loop, stream_world_t *world, size_t mode) {
  plan(world, mode);
  world->make.options.nr_targets = 0;
  counters_add(&world->make, UVPERF_TARGET_THREAD)->pid = (int32_t)getpid();
  world->make.targets[0].cpus = "0-1";
  world->make.targets[0].data = (void *)1;
  live_stream_open(loop, &world->stream, &world->make.options);
  live_stream_start(&world->stream, NULL);
}

static void set_snapshot_is_to_be_had_after_eof(void **state) {
  stream_world_t world;
  uvperf_set_t *set = &world.stream.live.set;
  size_t mode;

  for (mode = 0; mode < LIVE_STREAM_MODES; mode++) {
    begin_thread(*state, &world, mode);
    write_six(&world);
    world.events[0]->revents = POLLHUP;
    world.events[2]->revents = POLLHUP;
    assert_true(live_run_until(*state, &world.stream.eofs, 1));
    assert_int_equal(world.stream.nr_ends, 1);
    assert_int_equal(world.stream.records, 0);
    assert_int_equal(uvperf_set_is_active(set), 0);
    assert_int_equal(uvperf_set_start(set, NULL, live_stream_on_record, NULL),
                     UV_EOF);
    world.stream.eofs = 0;
    snap(&world, 0);
    assert_int_equal(world.stream.by_target[0], 6);
    stream_world_close(&world);
  }
}

static void end_and_run(live_stream_t *stream, const uvperf_record_t *record) {
  stream_world_t *world = (stream_world_t *)stream;
  size_t i;

  (void)record;
  if (stream->records != 1 || stream->eofs > 0)
    return;
  world->events[0]->revents = POLLHUP;
  world->events[2]->revents = POLLHUP;
  for (i = 0; i < 5; i++)
    uv_run(stream->live.set.loop, UV_RUN_NOWAIT);
}

static void
set_end_in_a_snapshot_that_runs_the_loop_comes_after_it(void **state) {
  stream_world_t world;
  size_t mode;

  for (mode = 0; mode < LIVE_STREAM_MODES; mode++) {
    begin_thread(*state, &world, mode);
    write_six(&world);
    world.stream.on_record = end_and_run;
    snap(&world, 0);
    assert_int_equal(world.stream.by_target[0], 6);
    assert_int_equal(world.stream.nr_ends + world.stream.eofs, 0);
    assert_true(live_run_until(*state, &world.stream.eofs, 1));
    assert_int_equal(world.stream.nr_ends, 1);
    stream_world_close(&world);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      stream_world_test(set_snapshot_record_keeps_its_source_in_its_callback),
      stream_world_test(set_snapshot_ends_where_a_callback_stops),
      stream_world_test(set_snapshot_ends_where_an_unsound_ring_has_it_stopped),
      stream_world_test(set_snapshot_goes_on_where_a_callback_starts),
      stream_world_test(set_snapshot_inside_a_callback_is_ebusy),
      stream_world_test(set_closed_in_a_snapshot_delivers_no_more),
      stream_world_test(set_snapshot_forked_in_its_callback_is_clean),
      stream_world_test(set_snapshot_whose_targets_change_tells_sources),
      stream_world_test(
          set_target_removed_in_a_snapshot_that_runs_the_loop_keeps_its_source),
      stream_world_test(set_forgets_removed_targets_as_they_are_overwritten),
      stream_world_test(set_of_overwritable_rings_polls_none),
      stream_world_test(set_snapshot_is_to_be_had_after_eof),
      stream_world_test(
          set_end_in_a_snapshot_that_runs_the_loop_comes_after_it),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
