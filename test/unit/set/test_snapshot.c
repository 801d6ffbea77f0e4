/* SPDX-License-Identifier: MIT */
/* Scripted: the records that a snapshot of a set's overwritable rings delivers,
 * in which order, and what is left if it fails. */
#include "scripted_set.h"

#include <errno.h>

#define MOST 64

/* What was delivered: times, and 0 for a callback without a record. */
static struct {
  uint64_t times[MOST];
  uint64_t ids[MOST];
  size_t nr;
} seen;

static void see(live_stream_t *stream, const uvperf_record_t *record) {
  const scripted_set_t *scripted = (const scripted_set_t *)(const void *)stream;

  assert_true(seen.nr < MOST);
  seen.times[seen.nr] =
      record->type != UVPERF_RECORD_NONE ? record->time - scripted->base : 0;
  seen.ids[seen.nr] = record->type != UVPERF_RECORD_NONE ? record->id : 0;
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

static void no_writer(void) {
}

static void plan(scripted_set_t *scripted, size_t mode) {
  scripted_set_plan(scripted, mode);
  scripted->make.options.flags |= UVPERF_SET_OVERWRITE;
  scripted->make.options.wakeup_bytes = 0;
  /* 40 bytes, which divide no ring. */
  scripted->make.attrs[0].sample_type |= PERF_SAMPLE_TIME | PERF_SAMPLE_CPU;
  fake_on_membarrier(no_writer);
  seen.nr = 0;
}

static void begin(uv_loop_t *loop, scripted_set_t *scripted, size_t mode) {
  plan(scripted, mode);
  scripted_set_open_planned(loop, scripted);
  scripted->stream.on_record = see;
  live_stream_start(&scripted->stream, NULL);
}

static void snap(scripted_set_t *scripted, uint32_t flags) {
  assert_int_equal(
      uvperf_snapshot(&scripted->stream.live.set.handle, flags, NULL, NULL), 0);
}

/* Times 1, 4, 5 on CPU 0; 2, 3, 6 on CPU 1. */
static void write_six(scripted_set_t *scripted) {
  static const size_t cpus[] = {0, 1, 1, 0, 0, 1};
  size_t i;

  for (i = 0; i < 6; i++)
    scripted_set_overwrite(scripted, cpus[i], 100 + 2 * cpus[i], i + 1);
}

/* -- orders --------------------------------------------------------------- */

static void set_snapshot_comes_ring_by_ring_newest_first(void **state) {
  scripted_set_t scripted;
  uvperf_stats_t stats;
  uvperf_ring_info_t ring;

  begin(*state, &scripted, 0);
  assert_true(scripted.events[0]->attr.write_backward);
  assert_true(scripted.events[1]->attr.write_backward);
  write_six(&scripted);
  assert_int_equal(uvperf_ring(&scripted.stream.live.set.handle, 1, &ring), 0);
  assert_true(ring.waiting > 0 && ring.waiting % 3 == 0);
  snap(&scripted, 0);
  EXPECT(5, 4, 1, 6, 3, 2);
  assert_int_equal(scripted.stream.foreign, 0);
  assert_int_equal(scripted.stream.corrupt, 0);
  uvperf_stats(&scripted.stream.live.set.handle, &stats);
  assert_int_equal(stats.records, 6);
  assert_int_equal(stats.bytes, 2 * ring.waiting);
  assert_int_equal(stats.high_water_bytes, ring.waiting);
  assert_int_equal(stats.slices, 0);
  assert_int_equal(stats.cut_records, 0);
  assert_int_equal(uvperf_ring(&scripted.stream.live.set.handle, 1, &ring), 0);
  assert_int_equal(ring.waiting, 0);
  assert_int_equal(ring.stats.records, 3);
  scripted_set_close(&scripted);
}

static void set_snapshot_in_time_order_is_of_all_rings(void **state) {
  uvperf_stats_t stats;
  scripted_set_t scripted;

  begin(*state, &scripted, 1);
  write_six(&scripted);
  snap(&scripted, 0);
  EXPECT(1, 2, 3, 4, 5, 6);
  snap(&scripted, 0);
  assert_int_equal(seen.nr, 0);
  /* Records delivered before make nothing late. */
  snap(&scripted, UVPERF_SNAPSHOT_ALL);
  EXPECT(1, 2, 3, 4, 5, 6);
  uvperf_stats(&scripted.stream.live.set.handle, &stats);
  assert_int_equal(stats.late_records, 0);
  /* An interrupt has put 8 after 9. */
  scripted_set_overwrite(&scripted, 0, 100, 9);
  scripted_set_overwrite(&scripted, 0, 100, 8);
  scripted_set_overwrite(&scripted, 1, 102, 7);
  snap(&scripted, UVPERF_SNAPSHOT_OLDEST_FIRST);
  EXPECT(7, 9, 8);
  uvperf_stats(&scripted.stream.live.set.handle, &stats);
  assert_int_equal(stats.late_records, 1);
  scripted_set_close(&scripted);
}

/* It comes after the one before it in its ring. */
static void set_snapshot_record_of_the_future_is_counted(void **state) {
  uvperf_stats_t stats;
  scripted_set_t scripted;
  const uint64_t future = UINT64_C(1) << 62;

  begin(*state, &scripted, 1);
  scripted_set_overwrite(&scripted, 0, 100, 1);
  scripted_set_overwrite(&scripted, 0, 100, future);
  scripted_set_overwrite(&scripted, 0, 100, 3);
  scripted_set_overwrite(&scripted, 1, 102, 2);
  scripted_set_overwrite(&scripted, 1, 102, 4);
  snap(&scripted, 0);
  EXPECT(1, 1, 2, 3, 4);
  uvperf_stats(&scripted.stream.live.set.handle, &stats);
  assert_int_equal(stats.bad_times, 1);
  assert_int_equal(stats.late_records, 0);
  scripted_set_close(&scripted);
}

/* A record whose end is overwritten is counted, not delivered. */
static void set_snapshot_of_rings_gone_round_has_the_newest(void **state) {
  const uint64_t nr = 5 * support_page_bytes() / 40;
  scripted_set_t scripted;
  uvperf_stats_t stats;
  size_t mode;
  uint64_t i;

  for (mode = 0; mode < LIVE_STREAM_MODES; mode++) {
    begin(*state, &scripted, mode);
    scripted.stream.on_record = NULL;
    for (i = 0; i < nr; i++) {
      scripted_set_overwrite(&scripted, 0, 100, 10 + 2 * i);
      scripted_set_overwrite(&scripted, 1, 102, 11 + 2 * i);
    }
    snap(&scripted, UVPERF_SNAPSHOT_OLDEST_FIRST);
    uvperf_stats(&scripted.stream.live.set.handle, &stats);
    assert_int_equal(scripted.stream.samples, 2 * (support_page_bytes() / 40));
    assert_int_equal(stats.bytes, 40 * stats.records);
    assert_int_equal(scripted.stream.last_time - scripted.base,
                     11 + 2 * (nr - 1));
    assert_int_equal(stats.cut_records, 2);
    assert_int_equal(stats.high_water_bytes, support_page_bytes());
    assert_int_equal(scripted.stream.corrupt + scripted.stream.faults, 0);
    if (mode == 1)
      assert_int_equal(scripted.stream.inversions, 0);
    scripted_set_close(&scripted);
  }
}

/* -- refusals ------------------------------------------------------------- */

static void expect_refusal(uvperf_set_t *set, uint32_t flags, int code,
                           const char *reason) {
  uvperf_error_t error;

  assert_int_equal(uvperf_snapshot(&set->handle, flags, NULL, &error), code);
  assert_int_equal(error.code, code);
  assert_int_equal(error.cause, UVPERF_CAUSE_ARGUMENT);
  assert_non_null(strstr(error.reason, reason));
}

static void set_snapshot_that_cannot_be_is_refused(void **state) {
  scripted_set_t scripted;
  uvperf_set_t *set = &scripted.stream.live.set;

  plan(&scripted, 0);
  live_stream_open(*state, &scripted.stream, &scripted.make.options);
  expect_refusal(set, 0, UV_EINVAL, "start the handle with one first");
  live_stream_start(&scripted.stream, NULL);
  expect_refusal(set, 8, UV_EINVAL, "0x8");
  assert_int_equal(uvperf_snapshot(&set->handle, 0, NULL, NULL), 0);
  assert_int_equal(uvperf_flush(&set->handle), UV_EINVAL);
  fake_process(4711);
  expect_refusal(set, 0, UV_EPERM, "parent");
  fake_process(0);
  scripted_set_close(&scripted);
  /* With rings that cannot be overwritten. */
  scripted_set_begin(*state, &scripted, 0);
  expect_refusal(set, 0, UV_EINVAL, "UVPERF_SET_OVERWRITE");
  scripted_set_close(&scripted);
}

static void set_snapshot_without_a_ring_is_of_nothing(void **state) {
  scripted_set_t scripted;

  plan(&scripted, 1);
  scripted.make.options.nr_targets = 0;
  live_stream_open(*state, &scripted.stream, &scripted.make.options);
  live_stream_start(&scripted.stream, NULL);
  snap(&scripted, 0);
  assert_int_equal(scripted.stream.records, 0);
  scripted_set_close(&scripted);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      scripted_set_test(set_snapshot_comes_ring_by_ring_newest_first),
      scripted_set_test(set_snapshot_in_time_order_is_of_all_rings),
      scripted_set_test(set_snapshot_record_of_the_future_is_counted),
      scripted_set_test(set_snapshot_of_rings_gone_round_has_the_newest),
      scripted_set_test(set_snapshot_that_cannot_be_is_refused),
      scripted_set_test(set_snapshot_without_a_ring_is_of_nothing),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
