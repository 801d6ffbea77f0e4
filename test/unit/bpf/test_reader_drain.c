/* SPDX-License-Identifier: MIT */
/* Scripted: rings of a BPF reader that are damaged or end, damaged records, and
 * losses. */
#include "scripted_reader.h"

#include "util/alloc.h"

static void losses_are_counted_from_either_record(void **state) {
  const struct {
    struct perf_event_header header;
    uint64_t id;
    uint64_t lost;
  } lost = {{PERF_RECORD_LOST, 0, 24}, 100, 7};
  const struct {
    struct perf_event_header header;
    uint64_t lost;
  } samples = {{PERF_RECORD_LOST_SAMPLES, 0, 16}, 5};
  scripted_reader_t scripted;
  uvperf_stats_t stats;

  scripted_reader_begin(*state, &scripted);
  fake_ring_append(scripted.events[1], &lost, sizeof(lost));
  fake_ring_append(scripted.events[3], &samples, sizeof(samples));
  assert_int_equal(uvperf_flush(&scripted.live.reader.handle), 0);
  assert_int_equal(scripted.live.lost, 12);
  assert_int_equal(scripted.live.others, 2);
  uvperf_stats(&scripted.live.reader.handle, &stats);
  assert_int_equal(stats.lost_records, 12);
  scripted_reader_close(&scripted);
}

/* In each callback, after any record: the waiting bytes are its record and
 * those after it, and flush is refused. */
static void look_inside(live_bpf_reader_t *live, int status,
                        const uvperf_record_t *sample) {
  uvperf_ring_info_t ring;

  assert_int_equal(status, 0);
  assert_int_equal(uvperf_ring(&live->reader.handle, 0, &ring), 0);
  assert_int_equal(ring.waiting, sample->remaining + sample->size);
  assert_int_equal(uvperf_flush(&live->reader.handle), UV_EBUSY);
}

static void flush_is_refused_in_each_callback_of_a_drain(void **state) {
  const struct {
    struct perf_event_header header;
    uint64_t id;
    uint64_t lost;
  } lost = {{PERF_RECORD_LOST, 0, 24}, 100, 7};
  scripted_reader_t scripted;
  size_t i;

  scripted_reader_begin(*state, &scripted);
  live_run_ms(*state, 5);
  for (i = 0; i < 3; i++) {
    scripted_reader_sample(&scripted, scripted.events[1]);
    scripted_reader_sample(&scripted, scripted.events[1]);
    fake_ring_append(scripted.events[1], &lost, sizeof(lost));
  }
  scripted_reader_sample(&scripted, scripted.events[1]);
  scripted.live.on_sample = look_inside;
  scripted_reader_wake(&scripted, scripted.events[1]);
  assert_int_equal(scripted.live.samples, 7);
  assert_int_equal(scripted.live.others, 3);
  scripted.live.on_sample = NULL;
  scripted_reader_close(&scripted);
}

static uint64_t lost_of(const scripted_reader_t *scripted) {
  uvperf_stats_t stats;

  uvperf_stats(&scripted->live.reader.handle, &stats);
  return stats.lost_records;
}

/* PERF_FORMAT_LOST counts them at once; a LOST record reports the same later. A
 * program that asks in each callback causes one read(2). */
static void losses_without_a_record_are_counted(void **state) {
  const struct {
    struct perf_event_header header;
    uint64_t id;
    uint64_t lost;
  } lost_record = {{PERF_RECORD_LOST, 0, 24}, 100, 12};
  uint64_t words[2][2] = {{0, 0}, {0, 0}};
  scripted_reader_t scripted;
  uvperf_ring_info_t ring;
  uint64_t reads;
  size_t i;

  scripted_reader_knows_lost(1);
  scripted_reader_plan(&scripted, 8);
  for (i = 0; i < 2; i++) {
    scripted.events[2 * i]->read_data = words[i];
    scripted.events[2 * i]->read_size = sizeof(words[i]);
  }
  scripted_reader_open(*state, &scripted);
  live_bpf_reader_start(&scripted.live, NULL);
  live_run_ms(*state, 5);
  assert_int_equal(scripted.events[0]->attr.read_format, UVPERF_FORMAT_LOST);
  assert_int_equal(lost_of(&scripted), 0);
  words[0][1] = 12;
  words[1][1] = 3;
  assert_int_equal(lost_of(&scripted), 0); /* was asked just now */
  assert_int_equal(uvperf_flush(&scripted.live.reader.handle), 0);
  reads = fake_count(FAKE_READ);
  assert_int_equal(lost_of(&scripted), 15);
  assert_int_equal(lost_of(&scripted), 15);
  assert_int_equal(fake_count(FAKE_READ), reads + 2);
  assert_int_equal(uvperf_ring(&scripted.live.reader.handle, 1, &ring), 0);
  assert_int_equal(ring.stats.lost_records, 3);
  fake_ring_append(scripted.events[1], &lost_record, sizeof(lost_record));
  words[1][1] = 5;
  assert_int_equal(uvperf_flush(&scripted.live.reader.handle), 0);
  assert_int_equal(scripted.live.lost, 12);
  assert_int_equal(lost_of(&scripted), 17);
  scripted_reader_close(&scripted);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      scripted_reader_test(losses_are_counted_from_either_record),
      scripted_reader_test(flush_is_refused_in_each_callback_of_a_drain),
      scripted_reader_test(losses_without_a_record_are_counted),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
