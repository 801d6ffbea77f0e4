/* SPDX-License-Identifier: MIT */
/* Scripted: snapshots of a set on the thread pool: the order of their slices,
 * what stays until they are done, and each allocation that fails. */
#include "fake_clock.h"
#include "fake_pool.h"
#include "scripted_set.h"

#include <poll.h>
#include <unistd.h>

#define SOON_NS (100 * UINT64_C(1000000))
#define MOST    64

/* Times in the order of delivery, over all slices. */
static struct {
  uint64_t times[MOST];
  size_t nr;
  int done;
  int status;
} seen;

static void see(live_stream_t *stream, const uvperf_record_t *record) {
  const scripted_set_t *scripted = (const scripted_set_t *)(const void *)stream;

  if (record->type == UVPERF_RECORD_NONE)
    return;
  assert_int_equal(seen.done, 0);
  assert_true(seen.nr < MOST);
  seen.times[seen.nr++] = record->time - scripted->base;
}

static void on_done(uvperf_handle_t *handle, int status) {
  (void)handle;
  seen.done += 1;
  seen.status = status;
}

static void no_writer(void) {
}

static void plan(scripted_set_t *scripted, size_t mode) {
  scripted_set_plan(scripted, mode);
  scripted->make.options.flags |= UVPERF_SET_OVERWRITE;
  scripted->make.options.wakeup_bytes = 0;
  scripted->make.attrs[0].sample_type |= PERF_SAMPLE_TIME | PERF_SAMPLE_CPU;
  fake_on_membarrier(no_writer);
  fake_pool_hold();
}

/* Slices of one record. */
static void begin_planned(uv_loop_t *loop, scripted_set_t *scripted) {
  uvperf_stream_options_t options = live_stream_plain;

  scripted_set_open_planned(loop, scripted);
  scripted->stream.on_record = see;
  options.slice_records = 1;
  live_stream_start(&scripted->stream, &options);
  memset(&seen, 0, sizeof(seen));
}

static void begin(uv_loop_t *loop, scripted_set_t *scripted, size_t mode) {
  plan(scripted, mode);
  begin_planned(loop, scripted);
}

/* A set of a thread, which can end. */
static void begin_thread(uv_loop_t *loop, scripted_set_t *scripted,
                         size_t mode) {
  plan(scripted, mode);
  scripted->make.options.nr_targets = 0;
  evlist_add(&scripted->make, UVPERF_TARGET_THREAD)->pid = (int32_t)getpid();
  scripted->make.targets[0].cpus = "0-1";
  scripted->make.targets[0].data = (void *)1;
  begin_planned(loop, scripted);
}

static int snap(scripted_set_t *scripted) {
  return uvperf_snapshot(&scripted->stream.live.set.handle, 0, on_done, NULL);
}

static void run_turns(scripted_set_t *scripted, int nr) {
  while (nr-- > 0)
    uv_run(scripted->stream.live.set.handle.loop, UV_RUN_NOWAIT);
}

static void run_until_done(scripted_set_t *scripted) {
  int turns = 0;

  while (seen.done == 0 && turns++ < 1000)
    run_turns(scripted, 1);
  run_turns(scripted, 2);
  assert_int_equal(seen.done, 1);
}

/* Times 1, 4, 5 on CPU 0; 2, 3, 6 on CPU 1. */
static void write_six(scripted_set_t *scripted) {
  static const size_t cpus[] = {0, 1, 1, 0, 0, 1};
  size_t i;

  for (i = 0; i < 6; i++)
    scripted_set_overwrite(scripted, cpus[i], 100 + 2 * cpus[i], i + 1);
}

static void set_snapshot_in_slices_has_the_same_order(void **state) {
  static const uint64_t orders[LIVE_STREAM_MODES][6] = {{5, 4, 1, 6, 3, 2},
                                                        {1, 2, 3, 4, 5, 6}};
  scripted_set_t scripted;
  uvperf_stats_t stats;
  size_t mode, i;

  for (mode = 0; mode < LIVE_STREAM_MODES; mode++) {
    begin(*state, &scripted, mode);
    write_six(&scripted);
    assert_int_equal(snap(&scripted), 0);
    fake_pool_run();
    for (i = 1; i <= 6; i++) {
      run_turns(&scripted, 1);
      assert_int_equal(seen.nr, i);
    }
    run_until_done(&scripted);
    assert_int_equal(seen.status, 0);
    assert_memory_equal(seen.times, orders[mode], sizeof(orders[mode]));
    uvperf_stats(&scripted.stream.live.set.handle, &stats);
    assert_int_equal(stats.slices, 6);
    assert_int_equal(stats.late_records, 0);
    scripted_set_close(&scripted);
  }
}

/* Replaces the first target by another; the last record of the first may be
 * overwritten from now on. */
static void replace_target(scripted_set_t *scripted) {
  uvperf_set_t *set = &scripted->stream.live.set;
  uvperf_target_t target = UVPERF_TARGET_INIT;
  size_t i;

  target.type = UVPERF_TARGET_CPUS;
  target.cpus = "0-2"; /* a ring more */
  for (i = 0; i < 4; i++)
    fake_event_add(200 + i);
  assert_int_equal(uvperf_set_add(set, &target, NULL, NULL, NULL), 0);
  assert_int_equal(uvperf_nr_rings(&set->handle), 3);
  assert_int_equal(uvperf_set_remove(set, 0, NULL, NULL), 0);
  fake_clock_set_counters(1 + 2 * SOON_NS);
  assert_int_equal(uvperf_snapshot(&set->handle, 0, NULL, NULL), 0);
  memset(&seen, 0, sizeof(seen));
}

static void overwrite_all(scripted_set_t *scripted) {
  size_t i;

  for (i = 0; i < support_page_bytes() / 8; i++)
    scripted_set_overwrite(scripted, i % 2, 555, i);
}

static void set_snapshot_keeps_removed_targets_until_it_is_done(void **state) {
  uvperf_target_t one = UVPERF_TARGET_INIT;
  scripted_set_t scripted;
  uvperf_set_t *set = &scripted.stream.live.set;
  size_t mode;

  one.type = UVPERF_TARGET_CPUS;
  one.cpus = "0";

  for (mode = 0; mode < LIVE_STREAM_MODES; mode++) {
    begin(*state, &scripted, mode);
    fake_clock_set_counters(1);
    write_six(&scripted);
    replace_target(&scripted);
    assert_int_equal(
        uvperf_snapshot(&set->handle, UVPERF_SNAPSHOT_ALL, on_done, NULL), 0);
    run_turns(&scripted, 1);
    fake_pool_run();
    run_turns(&scripted, 1);
    overwrite_all(&scripted);
    fake_event_add(300);
    assert_int_equal(uvperf_set_add(set, &one, NULL, NULL, NULL), 0);
    run_until_done(&scripted);
    assert_int_equal(seen.nr, 6);
    assert_int_equal(scripted.stream.by_target[0], 12);
    assert_int_equal(scripted.stream.foreign, 0);
    assert_null(uvperf_set_source(set, 100));
    scripted_set_close(&scripted);
    fake_clock_set_counters(0);
  }
}

static void set_whose_targets_are_gone_ends_after_its_snapshot(void **state) {
  scripted_set_t scripted;
  uvperf_set_t *set = &scripted.stream.live.set;
  size_t mode;

  for (mode = 0; mode < LIVE_STREAM_MODES; mode++) {
    begin_thread(*state, &scripted, mode);
    write_six(&scripted);
    assert_int_equal(snap(&scripted), 0);
    scripted.events[0]->revents = POLLHUP;
    scripted.events[2]->revents = POLLHUP;
    live_run_ms(*state, 250); /* long enough to find out */
    assert_int_equal(scripted.stream.nr_ends, 0);
    fake_pool_run();
    run_until_done(&scripted);
    assert_int_equal(seen.status, 0);
    assert_int_equal(seen.nr, 6);
    assert_true(live_run_until(*state, &scripted.stream.eofs, 1));
    assert_int_equal(scripted.stream.nr_ends, 1);
    assert_int_equal(scripted.stream.records_at_end[0], 6);
    /* It can be had after the end too. */
    memset(&seen, 0, sizeof(seen));
    assert_int_equal(
        uvperf_snapshot(&set->handle, UVPERF_SNAPSHOT_ALL, on_done, NULL), 0);
    fake_pool_run();
    run_until_done(&scripted);
    assert_int_equal(seen.nr, 6);
    scripted_set_close(&scripted);
  }
}

static void set_snapshot_that_cannot_be_begun_is_refused(void **state) {
  scripted_set_t scripted;
  uvperf_set_t *set = &scripted.stream.live.set;

  begin(*state, &scripted, 0);
  assert_int_equal(uvperf_snapshot(&set->handle, 8, on_done, NULL), UV_EINVAL);
  fake_process(4711);
  assert_int_equal(snap(&scripted), UV_EPERM);
  fake_process(0);
  assert_int_equal(snap(&scripted), 0);
  assert_int_equal(snap(&scripted), UV_EBUSY);
  assert_int_equal(uvperf_snapshot(&set->handle, 0, NULL, NULL), UV_EBUSY);
  fake_pool_run();
  run_until_done(&scripted);
  scripted_set_close(&scripted);
  scripted_set_begin(*state, &scripted, 0);
  assert_int_equal(snap(&scripted), UV_EINVAL); /* not overwritable */
  scripted_set_close(&scripted);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      scripted_set_test(set_snapshot_in_slices_has_the_same_order),
      scripted_set_test(set_snapshot_keeps_removed_targets_until_it_is_done),
      scripted_set_test(set_whose_targets_are_gone_ends_after_its_snapshot),
      scripted_set_test(set_snapshot_that_cannot_be_begun_is_refused),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
