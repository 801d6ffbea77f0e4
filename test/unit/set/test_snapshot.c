/* SPDX-License-Identifier: MIT */
/* Scripted: what a snapshot of a set's overwritable rings delivers, in which
 * order, and what is left where it fails. */
#include "scripted_set.h"

#include <errno.h>
#include <poll.h>

#include <sys/ioctl.h>

#define MOST 64

/* What came: times, and 0 for a callback without a record. */
static struct {
  uint64_t times[MOST];
  uint64_t ids[MOST];
  size_t nr;
} seen;

static void see(live_stream_t *stream, const uvperf_record_t *record) {
  const stream_world_t *world = (const stream_world_t *)(const void *)stream;

  assert_true(seen.nr < MOST);
  seen.times[seen.nr] = record != NULL ? record->time - world->base : 0;
  seen.ids[seen.nr] = record != NULL ? record->id : 0;
  seen.nr += 1;
}

static void expect(const uint64_t *times, size_t nr) {
  size_t i;

  for (i = 0; i < nr && i < seen.nr; i++)
    if (seen.times[i] != times[i])
      fail_msg("the %zu-th is of time %u, not %u", i,
               (unsigned int)seen.times[i], (unsigned int)times[i]);
  assert_int_equal(seen.nr, nr);
  seen.nr = 0;
}

#define EXPECT(...)                                                            \
  do {                                                                         \
    const uint64_t times[] = {__VA_ARGS__};                                    \
    expect(times, sizeof(times) / sizeof(times[0]));                           \
  } while (0)

static void nobody_writes(void) {
}

static void plan(stream_world_t *world, size_t mode) {
  stream_world_plan(world, mode);
  world->make.options.flags |= UVPERF_SET_OVERWRITE;
  world->make.options.wakeup_bytes = 0;
  /* 40 bytes, which divide no ring. */
  world->make.attrs[0].sample_type |= PERF_SAMPLE_TIME | PERF_SAMPLE_CPU;
  fake_on_membarrier(nobody_writes);
  seen.nr = 0;
}

static void begin(uv_loop_t *loop, stream_world_t *world, size_t mode) {
  plan(world, mode);
  stream_world_open_planned(loop, world);
  world->stream.on_record = see;
  live_stream_start(&world->stream, NULL);
}

static void snap(stream_world_t *world, uint32_t flags) {
  assert_int_equal(uvperf_set_snapshot(&world->stream.live.set, flags), 0);
}

/* Times 1, 4, 5 on CPU 0; 2, 3, 6 on CPU 1. */
static void write_six(stream_world_t *world) {
  static const size_t cpus[] = {0, 1, 1, 0, 0, 1};
  size_t i;

  for (i = 0; i < 6; i++)
    stream_world_overwrite(world, cpus[i], 100 + 2 * cpus[i], i + 1);
}

/* -- orders --------------------------------------------------------------- */

static void set_snapshot_comes_ring_by_ring_newest_first(void **state) {
  stream_world_t world;
  uvperf_stats_t stats;
  uvperf_ring_info_t ring;

  begin(*state, &world, 0);
  assert_true(world.events[0]->attr.write_backward);
  assert_true(world.events[1]->attr.write_backward);
  write_six(&world);
  assert_int_equal(uvperf_set_ring(&world.stream.live.set, 1, &ring), 0);
  assert_true(ring.waiting > 0 && ring.waiting % 3 == 0);
  snap(&world, 0);
  EXPECT(5, 4, 1, 6, 3, 2);
  assert_int_equal(world.stream.foreign, 0);
  assert_int_equal(world.stream.corrupt, 0);
  uvperf_set_stats(&world.stream.live.set, &stats);
  assert_int_equal(stats.records, 6);
  assert_int_equal(stats.bytes, 2 * ring.waiting);
  assert_int_equal(stats.high_water_bytes, ring.waiting);
  assert_int_equal(stats.slices, 0);
  assert_int_equal(stats.cut_records, 0);
  assert_int_equal(uvperf_set_ring(&world.stream.live.set, 1, &ring), 0);
  assert_int_equal(ring.waiting, 0);
  assert_int_equal(ring.stats.records, 3);
  stream_world_close(&world);
}

static void set_snapshot_gives_what_is_new_or_all(void **state) {
  stream_world_t world;

  begin(*state, &world, 0);
  snap(&world, 0);
  assert_int_equal(seen.nr, 0);
  write_six(&world);
  snap(&world, UVPERF_SNAPSHOT_OLDEST_FIRST);
  EXPECT(1, 4, 5, 2, 3, 6);
  snap(&world, 0);
  assert_int_equal(seen.nr, 0);
  stream_world_overwrite(&world, 1, 102, 7);
  snap(&world, UVPERF_SNAPSHOT_NO_WAIT);
  EXPECT(7);
  snap(&world, UVPERF_SNAPSHOT_ALL);
  EXPECT(5, 4, 1, 7, 6, 3, 2);
  snap(&world, UVPERF_SNAPSHOT_ALL | UVPERF_SNAPSHOT_OLDEST_FIRST);
  EXPECT(1, 4, 5, 2, 3, 6, 7);
  stream_world_close(&world);
}

static void set_snapshot_in_time_order_is_of_all_rings(void **state) {
  uvperf_stats_t stats;
  stream_world_t world;

  begin(*state, &world, 1);
  write_six(&world);
  snap(&world, 0);
  EXPECT(1, 2, 3, 4, 5, 6);
  snap(&world, 0);
  assert_int_equal(seen.nr, 0);
  /* What was given before makes nothing late. */
  snap(&world, UVPERF_SNAPSHOT_ALL);
  EXPECT(1, 2, 3, 4, 5, 6);
  uvperf_set_stats(&world.stream.live.set, &stats);
  assert_int_equal(stats.late_records, 0);
  /* An interrupt has put 8 behind 9. */
  stream_world_overwrite(&world, 0, 100, 9);
  stream_world_overwrite(&world, 0, 100, 8);
  stream_world_overwrite(&world, 1, 102, 7);
  snap(&world, UVPERF_SNAPSHOT_OLDEST_FIRST);
  EXPECT(7, 9, 8);
  uvperf_set_stats(&world.stream.live.set, &stats);
  assert_int_equal(stats.late_records, 1);
  stream_world_close(&world);
}

/* It comes after the one before it in its ring. */
static void set_snapshot_record_of_the_future_is_counted(void **state) {
  uvperf_stats_t stats;
  stream_world_t world;
  const uint64_t future = UINT64_C(1) << 62;

  begin(*state, &world, 1);
  stream_world_overwrite(&world, 0, 100, 1);
  stream_world_overwrite(&world, 0, 100, future);
  stream_world_overwrite(&world, 0, 100, 3);
  stream_world_overwrite(&world, 1, 102, 2);
  stream_world_overwrite(&world, 1, 102, 4);
  snap(&world, 0);
  EXPECT(1, 1, 2, 3, 4);
  uvperf_set_stats(&world.stream.live.set, &stats);
  assert_int_equal(stats.bad_times, 1);
  assert_int_equal(stats.late_records, 0);
  stream_world_close(&world);
}

/* A record whose end is overwritten is counted, not delivered. */
static void set_snapshot_of_rings_gone_round_has_the_newest(void **state) {
  const uint64_t nr = 5 * support_page_bytes() / 40;
  stream_world_t world;
  uvperf_stats_t stats;
  size_t mode;
  uint64_t i;

  for (mode = 0; mode < LIVE_STREAM_MODES; mode++) {
    begin(*state, &world, mode);
    world.stream.on_record = NULL;
    for (i = 0; i < nr; i++) {
      stream_world_overwrite(&world, 0, 100, 10 + 2 * i);
      stream_world_overwrite(&world, 1, 102, 11 + 2 * i);
    }
    snap(&world, UVPERF_SNAPSHOT_OLDEST_FIRST);
    uvperf_set_stats(&world.stream.live.set, &stats);
    assert_int_equal(world.stream.samples, 2 * (support_page_bytes() / 40));
    assert_int_equal(stats.bytes, 40 * stats.records);
    assert_int_equal(world.stream.last_time - world.base, 11 + 2 * (nr - 1));
    assert_int_equal(stats.cut_records, 2);
    assert_int_equal(stats.high_water_bytes, support_page_bytes());
    assert_int_equal(world.stream.corrupt + world.stream.faults, 0);
    if (mode == 1)
      assert_int_equal(world.stream.inversions, 0);
    stream_world_close(&world);
  }
}

/* -- refusals ------------------------------------------------------------- */

static void set_snapshot_that_cannot_be_is_refused(void **state) {
  stream_world_t world;
  uvperf_set_t *set = &world.stream.live.set;

  plan(&world, 0);
  live_stream_open(*state, &world.stream, &world.make.options);
  assert_int_equal(uvperf_set_snapshot(set, 0), UV_EINVAL);
  live_stream_start(&world.stream, NULL);
  assert_int_equal(uvperf_set_snapshot(set, 8), UV_EINVAL);
  assert_int_equal(uvperf_set_snapshot(set, 0), 0);
  assert_int_equal(uvperf_set_flush(set), UV_EINVAL);
  fake_process(4711);
  assert_int_equal(uvperf_set_snapshot(set, 0), UV_EPERM);
  fake_process(0);
  stream_world_close(&world);
  /* Of rings that cannot be overwritten. */
  stream_world_begin(*state, &world, 0);
  assert_int_equal(uvperf_set_snapshot(set, 0), UV_EINVAL);
  stream_world_close(&world);
}

static void set_snapshot_without_a_ring_is_of_nothing(void **state) {
  stream_world_t world;

  plan(&world, 1);
  world.make.options.nr_targets = 0;
  live_stream_open(*state, &world.stream, &world.make.options);
  live_stream_start(&world.stream, NULL);
  snap(&world, 0);
  assert_int_equal(world.stream.records, 0);
  stream_world_close(&world);
}

/* -- what fails ----------------------------------------------------------- */

static int is_paused[4];
static unsigned pauses;

static int on_pause(fake_event_t *fake, unsigned long request,
                    uintptr_t argument) {
  if (request != PERF_EVENT_IOC_PAUSE_OUTPUT)
    return 0;
  is_paused[fake->cpu] = argument != 0;
  pauses += argument != 0;
  return 0;
}

static void watch_pauses(stream_world_t *world) {
  memset(is_paused, 0, sizeof(is_paused));
  pauses = 0;
  world->events[1]->on_ioctl = on_pause;
  world->events[3]->on_ioctl = on_pause;
}

static void expect_going_on(void) {
  assert_int_equal(is_paused[0], 0);
  assert_int_equal(is_paused[1], 0);
}

static void
set_snapshot_of_a_ring_that_cannot_resume_delivers_and_fails(void **state) {
  stream_world_t world;
  unsigned nth;
  size_t mode;

  for (mode = 0; mode < LIVE_STREAM_MODES; mode++) {
    begin(*state, &world, mode);
    watch_pauses(&world);
    for (nth = 3; nth <= 4; nth++) {
      write_six(&world);
      fake_fail(FAKE_IOCTL, nth, -EIO);
      assert_int_equal(uvperf_set_snapshot(&world.stream.live.set, 0), -EIO);
      assert_int_equal(seen.nr, 6);
      assert_int_equal(is_paused[0] + is_paused[1], 1);
      memset(&seen, 0, sizeof(seen));
      snap(&world, 0);
      expect_going_on();
    }
    stream_world_close(&world);
  }
}

static void
set_snapshot_of_a_ring_that_cannot_pause_delivers_none(void **state) {
  stream_world_t world;
  unsigned nth;
  size_t mode;

  for (mode = 0; mode < LIVE_STREAM_MODES; mode++) {
    begin(*state, &world, mode);
    watch_pauses(&world);
    write_six(&world);
    for (nth = 1; nth <= 2; nth++) {
      fake_fail(FAKE_IOCTL, nth, -EIO);
      assert_int_equal(uvperf_set_snapshot(&world.stream.live.set, 0), -EIO);
      assert_int_equal(seen.nr, 0);
      expect_going_on();
    }
    assert_int_equal(pauses, 1);
    snap(&world, 0);
    assert_int_equal(seen.nr, 6);
    assert_int_equal(pauses, 3);
    expect_going_on();
    stream_world_close(&world);
  }
}

static void
set_snapshot_without_memory_is_enomem_and_loses_nothing(void **state) {
  stream_world_t world;
  size_t blocks;
  unsigned nth;
  size_t mode;
  int rc;

  for (mode = 0; mode < LIVE_STREAM_MODES; mode++) {
    begin(*state, &world, mode);
    watch_pauses(&world);
    write_six(&world);
    blocks = fake_live_allocations();
    for (nth = 1;; nth++) {
      unsigned failures = fake_failures();

      fake_fail(FAKE_CALLOC, nth, -ENOMEM);
      rc = uvperf_set_snapshot(&world.stream.live.set, 0);
      assert_int_equal(fake_live_allocations(), blocks);
      expect_going_on();
      if (fake_failures() == failures)
        break;
      assert_int_equal(rc, UV_ENOMEM);
      assert_int_equal(seen.nr, 0);
    }
    assert_int_equal(rc, 0);
    assert_int_equal(seen.nr, 6);
    /* An array and two images; a merge, its two arrays and two tracks. */
    assert_int_equal(nth - 1, mode == 0 ? 3 : 8);
    stream_world_close(&world);
  }
}

static void spoil(stream_world_t *world, size_t cpu) {
  const struct perf_event_header header = {PERF_RECORD_SAMPLE, 0, 0};

  fake_ring_prepend(world->events[2 * cpu + 1], &header, sizeof(header));
}

/* What is newer comes, and all of the other ring; the next has what is new. */
static void set_snapshot_of_an_unsound_ring_goes_on_with_others(void **state) {
  uvperf_ring_info_t ring;
  stream_world_t world;
  uvperf_stats_t stats;
  size_t mode;

  for (mode = 0; mode < LIVE_STREAM_MODES; mode++) {
    begin(*state, &world, mode);
    stream_world_overwrite(&world, 0, 100, 1);
    spoil(&world, 0);
    stream_world_overwrite(&world, 0, 100, 3);
    stream_world_overwrite(&world, 1, 102, 2);
    stream_world_overwrite(&world, 1, 102, 4);
    snap(&world, 0);
    if (mode == 0)
      EXPECT(3, 0, 4, 2);
    else
      EXPECT(2, 3, 4, 0);
    assert_int_equal(world.stream.faults, 1);
    assert_int_equal(world.stream.fault, UV_EPROTO);
    assert_int_equal(world.stream.fault_ring.cpu, 0);
    assert_true(world.stream.fault_ring.stats.skipped_bytes > 0);
    uvperf_set_stats(&world.stream.live.set, &stats);
    assert_int_equal(stats.corrupt, 1);
    assert_int_equal(uvperf_set_ring(&world.stream.live.set, 0, &ring), 0);
    assert_int_equal(ring.stats.corrupt, 1);
    assert_int_equal(uvperf_set_is_active(&world.stream.live.set), 1);
    stream_world_overwrite(&world, 0, 100, 5);
    snap(&world, 0);
    EXPECT(5);
    stream_world_close(&world);
  }
}

static void set_snapshot_record_that_is_cut_comes_raw(void **state) {
  stream_world_t world;
  uvperf_stats_t stats;

  begin(*state, &world, 0);
  stream_world_cut(&world, 0);
  stream_world_overwrite(&world, 0, 100, 2);
  snap(&world, 0);
  assert_int_equal(world.stream.records, 2);
  assert_int_equal(world.stream.corrupt, 1);
  uvperf_set_stats(&world.stream.live.set, &stats);
  assert_int_equal(stats.corrupt, 1);
  stream_world_close(&world);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      stream_world_test(set_snapshot_comes_ring_by_ring_newest_first),
      stream_world_test(set_snapshot_gives_what_is_new_or_all),
      stream_world_test(set_snapshot_in_time_order_is_of_all_rings),
      stream_world_test(set_snapshot_record_of_the_future_is_counted),
      stream_world_test(set_snapshot_of_rings_gone_round_has_the_newest),
      stream_world_test(set_snapshot_that_cannot_be_is_refused),
      stream_world_test(set_snapshot_without_a_ring_is_of_nothing),
      stream_world_test(set_snapshot_of_a_ring_that_cannot_pause_delivers_none),
      stream_world_test(
          set_snapshot_of_a_ring_that_cannot_resume_delivers_and_fails),
      stream_world_test(
          set_snapshot_without_memory_is_enomem_and_loses_nothing),
      stream_world_test(set_snapshot_of_an_unsound_ring_goes_on_with_others),
      stream_world_test(set_snapshot_record_that_is_cut_comes_raw),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
