/* SPDX-License-Identifier: MIT */
/* Scripted: what the callbacks of a snapshot of a set may do, the sources of
 * records while the rings are overwritten, and when it ends. */
#include "fake_clock.h"
#include "scripted_set.h"

#include <poll.h>
#include <unistd.h>

#include "set/internal.h"

#define SOON_NS (100 * UINT64_C(1000000))

static void no_writer(void) {
}

static void plan(scripted_set_t *scripted, size_t mode) {
  scripted_set_plan(scripted, mode);
  scripted->make.options.flags |= UVPERF_SET_OVERWRITE;
  scripted->make.options.wakeup_bytes = 0;
  scripted->make.attrs[0].sample_type |= PERF_SAMPLE_TIME;
  fake_on_membarrier(no_writer);
}

static void begin(uv_loop_t *loop, scripted_set_t *scripted, size_t mode) {
  plan(scripted, mode);
  live_stream_open(loop, &scripted->stream, &scripted->make.options);
  live_stream_start(&scripted->stream, NULL);
}

/* Three on each CPU, in turns. */
static void write_six(scripted_set_t *scripted) {
  static uint64_t time;
  size_t i;

  for (i = 0; i < 6; i++)
    scripted_set_overwrite(scripted, i % 2, 100 + 2 * (i % 2), ++time);
}

static void snap(scripted_set_t *scripted, uint32_t flags) {
  assert_int_equal(
      uvperf_snapshot(&scripted->stream.live.set.handle, flags, NULL, NULL), 0);
}

/* -- stop, start, snapshot ------------------------------------------------ */

/* Its source was removed, and all records of it are overwritten. Meanwhile the
 * loop runs, and its readings and turns free such sources. */
static void outlive_source(live_stream_t *stream,
                           const uvperf_record_t *record) {
  scripted_set_t *scripted = (scripted_set_t *)(void *)stream;
  const set_t *impl = stream->live.set.handle.impl;
  uint64_t ticks;
  size_t i;

  if (stream->records != 1)
    return;
  assert_int_equal(uvperf_set_remove(&stream->live.set, 0, NULL, NULL), 0);
  fake_clock_set_counters(live_now() + 100 * SOON_NS);
  for (ticks = 1; ticks < 6; ticks++) {
    assert_true(live_run_until(stream->live.set.handle.loop,
                               &stream->live.callbacks, ticks));
    uvperf__watch_drain(impl->base.watch);
    for (i = 0; i < support_page_bytes() / 8; i++)
      scripted_set_overwrite(scripted, i % 2, 100 + 2 * (i % 2), i);
  }
  assert_int_equal(record->source->attr_index, 0);
  assert_int_equal(record->source->target_index, 0);
}

static void set_snapshot_record_keeps_its_source_in_its_callback(void **state) {
  scripted_set_t scripted;
  uvperf_set_t *set = &scripted.stream.live.set;
  size_t mode;

  for (mode = 0; mode < LIVE_STREAM_MODES; mode++) {
    begin(*state, &scripted, mode);
    write_six(&scripted);
    assert_int_equal(uvperf_set_read_start(set, 1, live_set_on_read, NULL), 0);
    scripted.stream.on_record = outlive_source;
    snap(&scripted, 0);
    fake_clock_set_counters(0);
    assert_true(scripted.stream.live.callbacks >= 5);
    scripted_set_close(&scripted);
  }
}

static void stop_at_fault(live_stream_t *stream,
                          const uvperf_record_t *record) {
  if (record->type == UVPERF_RECORD_NONE)
    assert_int_equal(uvperf_stop(&stream->live.set.handle), 0);
}

static void
set_snapshot_ends_where_an_unsound_ring_has_it_stopped(void **state) {
  const struct perf_event_header header = {PERF_RECORD_SAMPLE, 0, 0};
  scripted_set_t scripted;
  size_t mode, cpu;

  for (mode = 0; mode < LIVE_STREAM_MODES; mode++) {
    begin(*state, &scripted, mode);
    for (cpu = 0; cpu < 2; cpu++)
      fake_ring_prepend(scripted.events[2 * cpu + 1], &header, sizeof(header));
    scripted.stream.on_record = stop_at_fault;
    snap(&scripted, 0);
    assert_int_equal(scripted.stream.faults, 1);
    scripted_set_close(&scripted);
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
    assert_int_equal(uvperf_set_add(set, &target, NULL, NULL, NULL), 0);
    assert_int_equal(uvperf_nr_rings(&set->handle), 3);
    assert_int_equal(uvperf_set_remove(set, 0, NULL, NULL), 0);
  }
}

static void set_snapshot_whose_targets_change_has_sources(void **state) {
  scripted_set_t scripted;
  size_t mode;

  for (mode = 0; mode < LIVE_STREAM_MODES; mode++) {
    begin(*state, &scripted, mode);
    fake_event_add(200);
    fake_event_add(201);
    fake_event_add(202);
    fake_event_add(203);
    fake_clock_set_counters(1);
    write_six(&scripted);
    scripted.stream.on_record = change_targets;
    snap(&scripted, 0);
    assert_int_equal(scripted.stream.records, 6);
    assert_int_equal(scripted.stream.by_target[0], 6);
    assert_int_equal(scripted.stream.foreign, 0);
    /* And later on, as long as the records are there. */
    fake_clock_set_counters(1 + 2 * SOON_NS);
    snap(&scripted, UVPERF_SNAPSHOT_ALL);
    assert_int_equal(scripted.stream.by_target[0], 12);
    assert_int_equal(scripted.stream.corrupt, 0);
    scripted_set_close(&scripted);
    fake_clock_set_counters(0);
  }
}

/* Removes a target, so that the next turn of the loop checks it. */
static void remove_and_run(live_stream_t *stream, uint32_t index) {
  assert_int_equal(uvperf_set_remove(&stream->live.set, index, NULL, NULL), 0);
  uv_run(stream->live.set.handle.loop, UV_RUN_NOWAIT);
  assert_int_equal(uvperf_snapshot(&stream->live.set.handle, 0, NULL, NULL),
                   UV_EBUSY);
}

/* Runs the loop until the first target would be forgotten. The current record,
 * and the pending ones of the snapshot, keep their source. */
static void remove_targets(live_stream_t *stream,
                           const uvperf_record_t *record) {
  scripted_set_t *scripted = (scripted_set_t *)stream;
  uvperf_target_t target = UVPERF_TARGET_INIT;
  uvperf_set_t *set = &stream->live.set;
  size_t i;

  if (stream->records != 1)
    return;
  target.type = UVPERF_TARGET_CPUS;
  target.cpus = "0-1";
  for (i = 0; i < 2; i++)
    assert_int_equal(uvperf_set_add(set, &target, NULL, NULL, NULL), 0);
  remove_and_run(stream, 0);
  fake_clock_set_counters(1 + 2 * SOON_NS);
  remove_and_run(stream, 1);
  for (i = 0; i < support_page_bytes() / 32; i++) {
    scripted_set_overwrite(scripted, 0, 555, 1000 + i);
    scripted_set_overwrite(scripted, 1, 555, 1000 + i);
  }
  remove_and_run(stream, 2);
  assert_int_equal(record->source->target_index, 0);
}

static void
set_target_removed_in_a_snapshot_that_runs_the_loop_keeps_its_source(
    void **state) {
  scripted_set_t scripted;
  size_t mode, i;

  for (mode = 0; mode < LIVE_STREAM_MODES; mode++) {
    begin(*state, &scripted, mode);
    for (i = 0; i < 4; i++)
      fake_event_add(200 + i);
    fake_clock_set_counters(1);
    write_six(&scripted);
    scripted.stream.on_record = remove_targets;
    snap(&scripted, 0);
    assert_int_equal(scripted.stream.by_target[0], 6);
    assert_int_equal(scripted.stream.foreign, 0);
    scripted_set_close(&scripted);
    fake_clock_set_counters(0);
  }
}

/* A record that a snapshot could still deliver keeps its source, but no
 * others. */
static void set_forgets_removed_targets_as_they_are_overwritten(void **state) {
  scripted_set_t scripted;
  uvperf_set_t *set = &scripted.stream.live.set;
  size_t i;

  begin(*state, &scripted, 0);
  fake_event_add(200);
  fake_clock_set_counters(1);
  write_six(&scripted);
  assert_int_equal(uvperf_set_remove(set, 0, NULL, NULL), 0);
  snap(&scripted, 0);
  fake_clock_set_counters(1 + 2 * SOON_NS);
  snap(&scripted, 0);
  assert_non_null(uvperf_set_source(set, 100));
  assert_non_null(uvperf_set_source(set, 102));
  for (i = 0; i < support_page_bytes() / 32; i++)
    scripted_set_overwrite(&scripted, 0, 555, 1000 + i);
  snap(&scripted, 0);
  assert_null(uvperf_set_source(set, 100));
  assert_non_null(uvperf_set_source(set, 102));
  scripted_set_close(&scripted);
  fake_clock_set_counters(0);
}

/* -- the loop ------------------------------------------------------------- */

static void count_timer(uv_handle_t *handle, void *nr) {
  *(size_t *)nr += handle->type == UV_TIMER && uv_is_active(handle) &&
                   uv_timer_get_due_in((uv_timer_t *)handle) < INT64_MAX;
}

/* It keeps the loop alive, and sleeps: also by default nothing ticks. */
static void set_of_overwritable_rings_is_not_active(void **state) {
  uv_loop_t *loop = *state;
  scripted_set_t scripted;
  uvperf_stats_t stats;
  size_t timers;
  size_t mode;

  for (mode = 0; mode < LIVE_STREAM_MODES; mode++) {
    plan(&scripted, mode);
    live_stream_open(loop, &scripted.stream, &scripted.make.options);
    assert_int_equal(uvperf_start(&scripted.stream.live.set.handle, NULL,
                                  live_stream_on_record, NULL),
                     0);
    live_run_ms(loop, 5);
    timers = 0;
    uv_walk(loop, count_timer, &timers);
    assert_int_equal(timers, 0);
    write_six(&scripted);
    fake_event_wake(scripted.events[1]);
    assert_true(live_run_ms(loop, 20) < 100);
    assert_int_equal(scripted.stream.records, 0);
    assert_int_equal(uvperf_is_active(&scripted.stream.live.set.handle), 0);
    assert_int_equal(uv_loop_alive(loop), 0);
    uvperf_stats(&scripted.stream.live.set.handle, &stats);
    assert_int_equal(stats.wakeups, 0);
    assert_int_equal(uvperf_stop(&scripted.stream.live.set.handle), 0);
    assert_int_equal(uv_loop_alive(loop), 0);
    snap(&scripted, 0);
    assert_int_equal(scripted.stream.records, 6);
    scripted_set_close(&scripted);
  }
}

/* A set of a thread, which can end. */
static void begin_thread(uv_loop_t *loop, scripted_set_t *scripted,
                         size_t mode) {
  plan(scripted, mode);
  scripted->make.options.nr_targets = 0;
  evlist_add(&scripted->make, UVPERF_TARGET_THREAD)->pid = (int32_t)getpid();
  scripted->make.targets[0].cpus = "0-1";
  scripted->make.targets[0].data = (void *)1;
  live_stream_open(loop, &scripted->stream, &scripted->make.options);
  live_stream_start(&scripted->stream, NULL);
}

static void set_snapshot_works_after_eof(void **state) {
  scripted_set_t scripted;
  uvperf_set_t *set = &scripted.stream.live.set;
  size_t mode;

  for (mode = 0; mode < LIVE_STREAM_MODES; mode++) {
    begin_thread(*state, &scripted, mode);
    write_six(&scripted);
    scripted.events[0]->revents = POLLHUP;
    scripted.events[2]->revents = POLLHUP;
    assert_true(live_run_until(*state, &scripted.stream.eofs, 1));
    assert_int_equal(scripted.stream.nr_ends, 1);
    assert_int_equal(scripted.stream.records, 0);
    assert_int_equal(uvperf_is_active(&set->handle), 0);
    assert_int_equal(
        uvperf_start(&set->handle, NULL, live_stream_on_record, NULL), UV_EOF);
    scripted.stream.eofs = 0;
    snap(&scripted, 0);
    assert_int_equal(scripted.stream.by_target[0], 6);
    scripted_set_close(&scripted);
  }
}

static void end_and_run(live_stream_t *stream, const uvperf_record_t *record) {
  scripted_set_t *scripted = (scripted_set_t *)stream;
  size_t i;

  (void)record;
  if (stream->records != 1 || stream->eofs > 0)
    return;
  scripted->events[0]->revents = POLLHUP;
  scripted->events[2]->revents = POLLHUP;
  for (i = 0; i < 5; i++)
    uv_run(stream->live.set.handle.loop, UV_RUN_NOWAIT);
}

static void
set_end_in_a_snapshot_that_runs_the_loop_comes_after_it(void **state) {
  scripted_set_t scripted;
  size_t mode;

  for (mode = 0; mode < LIVE_STREAM_MODES; mode++) {
    begin_thread(*state, &scripted, mode);
    write_six(&scripted);
    scripted.stream.on_record = end_and_run;
    snap(&scripted, 0);
    assert_int_equal(scripted.stream.by_target[0], 6);
    assert_int_equal(scripted.stream.nr_ends + scripted.stream.eofs, 0);
    assert_true(live_run_until(*state, &scripted.stream.eofs, 1));
    assert_int_equal(scripted.stream.nr_ends, 1);
    scripted_set_close(&scripted);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      scripted_set_test(set_snapshot_record_keeps_its_source_in_its_callback),
      scripted_set_test(set_snapshot_ends_where_an_unsound_ring_has_it_stopped),
      scripted_set_test(set_snapshot_whose_targets_change_has_sources),
      scripted_set_test(
          set_target_removed_in_a_snapshot_that_runs_the_loop_keeps_its_source),
      scripted_set_test(set_forgets_removed_targets_as_they_are_overwritten),
      scripted_set_test(set_of_overwritable_rings_is_not_active),
      scripted_set_test(set_snapshot_works_after_eof),
      scripted_set_test(
          set_end_in_a_snapshot_that_runs_the_loop_comes_after_it),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
