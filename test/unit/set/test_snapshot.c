/* SPDX-License-Identifier: MIT */
/* Scripted: the records that a snapshot of a set's overwritable rings
 * delivers, in which order, and what is left if it fails. */
#include "scripted_evlist.h"
#include "scripted_set.h"

static const scripted_row_t rows[] = {
    {"set_snapshot_comes_ring_by_ring_newest_first",
     "records 1; attr 0 sample_type=0x86; flags overwrite; cpus 0-1; set; "
     "start; events write_backward -> e0 1, e1 1, e2 1, e3 1\n"
     "samples e1 e0 1 4 5; samples e3 e2 2 3 6; "
     "snapshot -> PAUSE_OUTPUT e1 e3, RESUME_OUTPUT e1 e3, sample of t0 cpu0 "
     "at 5, "
     "sample of t0 cpu0 at 4, sample of t0 cpu0 at 1, sample of t0 cpu1 at 6, "
     "sample of t0 cpu1 at 3, sample of t0 cpu1 at 2\n"
     "stats -> read e0 e2, 6 records, 0 late, 0 of bad times, 0 to close\n"
     "snapshot -> PAUSE_OUTPUT e1 e3, RESUME_OUTPUT e1 e3\n"},
    /* Records delivered before make nothing late. An interrupt has put 8 after
     * 9. */
    {"set_snapshot_in_time_order_is_of_all_rings",
     "records 1; flags overwrite time_order; cpus 0-1; set; start; "
     "samples e1 e0 1 4 5; samples e3 e2 2 3 6; "
     "snapshot -> PAUSE_OUTPUT e1 e3, RESUME_OUTPUT e1 e3, sample of t0 cpu0 "
     "at 1, "
     "sample of t0 cpu1 at 2, sample of t0 cpu1 at 3, sample of t0 cpu0 at 4, "
     "sample of t0 cpu0 at 5, sample of t0 cpu1 at 6\n"
     "snapshot -> PAUSE_OUTPUT e1 e3, RESUME_OUTPUT e1 e3\n"
     "snapshot all -> PAUSE_OUTPUT e1 e3, RESUME_OUTPUT e1 e3, sample of t0 "
     "cpu0 at 1, "
     "sample of t0 cpu1 at 2, sample of t0 cpu1 at 3, sample of t0 cpu0 at 4, "
     "sample of t0 cpu0 at 5, sample of t0 cpu1 at 6\n"
     "stats -> read e0 e2, 12 records, 0 late, 0 of bad times, 0 to close\n"
     "samples e1 e0 9 8; samples e3 e2 7; snapshot oldest_first "
     "-> PAUSE_OUTPUT e1 e3, RESUME_OUTPUT e1 e3, sample of t0 cpu1 at 7, "
     "sample of t0 cpu0 at 9, sample of t0 cpu0 at 8\n"
     "stats -> 15 records, 1 late, 0 of bad times, 0 to close\n"},
    /* It comes after the one before it in its ring. */
    {"set_snapshot_record_of_the_future_is_counted",
     "records 1; flags overwrite time_order; cpus 0-1; set; start; "
     "samples e1 e0 1 0x4000000000000000 3; samples e3 e2 2 4; "
     "snapshot -> PAUSE_OUTPUT e1 e3, RESUME_OUTPUT e1 e3, sample of t0 cpu0 "
     "at 1, "
     "sample of t0 cpu0 at 1, sample of t0 cpu1 at 2, sample of t0 cpu0 at 3, "
     "sample of t0 cpu1 at 4\n"
     "stats -> read e0 e2, 5 records, 0 late, 1 of bad times, 0 to close\n"},
    {"set_snapshot_that_cannot_be_is_refused",
     "records 1; flags overwrite; cpus 0-1; set; "
     "snapshot -> EINVAL argument a0 t0\n"
     "says 'start the handle with one first'\n"
     "start; snapshot 8 -> EINVAL argument a0 t0\n"
     "says 0x8\n"
     "snapshot -> PAUSE_OUTPUT e1 e3, RESUME_OUTPUT e1 e3\n"
     "flush -> EINVAL\n"
     "fork; snapshot -> EPERM argument a0 t0\n"
     "says parent\n"
     "unfork\n"},
    {"set_snapshot_of_other_rings_is_refused",
     "records 1; cpus 0-1; set; start; snapshot -> EINVAL argument a0 t0\n"
     "says UVPERF_SET_OVERWRITE\n"},
    {"set_snapshot_without_a_ring_is_of_nothing",
     "records 1; flags overwrite time_order targets_later; set; start; "
     "snapshot ->\n"},
};

static void no_writer(void) {
}

static void plan(scripted_set_t *scripted, size_t mode) {
  scripted_set_plan(scripted, mode);
  scripted->make.options.flags |= UVPERF_SET_OVERWRITE;
  scripted->make.options.wakeup_bytes = 0;
  /* 40 bytes, which divide no ring. */
  scripted->make.attrs[0].sample_type |= PERF_SAMPLE_TIME | PERF_SAMPLE_CPU;
  fake_on_membarrier(no_writer);
}

static void begin(uv_loop_t *loop, scripted_set_t *scripted, size_t mode) {
  plan(scripted, mode);
  scripted_set_open_planned(loop, scripted);
  live_stream_start(&scripted->stream, NULL);
}

static void snap(scripted_set_t *scripted, uint32_t flags) {
  assert_int_equal(
      uvperf_snapshot(&scripted->stream.live.set.handle, flags, NULL, NULL), 0);
}

static void set_snapshot_counts_the_rings_that_it_read(void **state) {
  scripted_set_t scripted;
  uvperf_stats_t stats;
  uvperf_ring_info_t ring;
  uint64_t i;

  begin(*state, &scripted, 0);
  for (i = 0; i < 6; i++)
    scripted_set_overwrite(&scripted, i % 2, 100 + 2 * (i % 2), i + 1);
  assert_int_equal(uvperf_ring(&scripted.stream.live.set.handle, 1, &ring), 0);
  assert_true(ring.waiting > 0 && ring.waiting % 3 == 0);
  snap(&scripted, 0);
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

int main(void) {
  const struct CMUnitTest tests[] = {
      scripted_set_test(set_snapshot_of_rings_gone_round_has_the_newest),
      scripted_set_test(set_snapshot_counts_the_rings_that_it_read),
  };

  return SCRIPTED_ROWS_AND_TESTS(&scripted_evlist, rows, tests);
}
