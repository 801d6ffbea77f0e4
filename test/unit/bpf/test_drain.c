/* SPDX-License-Identifier: MIT */
/* Scripted: rings of a BPF reader that are damaged or end, damaged records, and
 * losses. */
#include "scripted_reader.h"

#include <errno.h>
#include <poll.h>

#include "cpu_tree.h"
#include "util/alloc.h"

/* The delivered, skipped and waiting bytes are everything that the kernel has
 * written. */
static void expect_sums(const scripted_reader_t *scripted) {
  uvperf_ring_info_t ring;
  size_t i;

  for (i = 0; i < 2; i++) {
    assert_int_equal(uvperf_ring(&scripted->live.reader.handle, i, &ring), 0);
    assert_int_equal(ring.stats.bytes + ring.stats.skipped_bytes + ring.waiting,
                     scripted->events[2 * i + 1]->page->data_head);
  }
}

/* And a restart changes nothing. */
static void ring_without_sense_is_skipped_and_read_on(void **state) {
  scripted_reader_t scripted;
  live_bpf_reader_t *live = &scripted.live;
  uvperf_stats_t stats;
  uint64_t i;

  scripted_reader_begin(*state, &scripted);
  live_run_ms(*state, 5);
  for (i = 1; i <= 20; i++) {
    scripted_reader_sample(&scripted, scripted.events[3]);
    scripted_reader_spoil(scripted.events[3]);
    scripted_reader_sample(&scripted, scripted.events[1]);
    scripted_reader_wake(&scripted, scripted.events[1]);
    scripted_reader_wake(&scripted, scripted.events[3]);
    assert_int_equal(live->samples, 2 * i);
    assert_int_equal(live->faults, i);
    assert_int_equal(live->fault, UV_EPROTO);
    assert_int_equal(live->fault_ring.cpu, 1);
    assert_int_equal(live->fault_ring.status, 0);
    expect_sums(&scripted);
  }
  assert_int_equal(uvperf_stop(&live->reader.handle), 0);
  live_bpf_reader_start(live, NULL);
  live_run_ms(*state, 5);
  scripted.events[3]->page->data_head += 1024 * 1024 + 8;
  assert_int_equal(uvperf_flush(&live->reader.handle), 0);
  scripted_reader_sample(&scripted, scripted.events[3]);
  scripted_reader_wake(&scripted, scripted.events[3]);
  assert_int_equal(live->samples, 41);
  assert_int_equal(live->faults, 21);
  expect_sums(&scripted);
  uvperf_stats(&live->reader.handle, &stats);
  assert_int_equal(stats.corrupt, 21);
  assert_int_equal(stats.skipped_bytes, 20 * 8 + 1024 * 1024 + 8);
  assert_int_equal(uvperf_is_active(&live->reader.handle), 1);
  scripted_reader_close(&scripted);
}

static void ring_with_a_split_head_leaves_the_others(void **state) {
  scripted_reader_t scripted;
  live_bpf_reader_t *live = &scripted.live;
  uvperf_error_t error;
  uvperf_stats_t stats;

  scripted_reader_begin(*state, &scripted);
  live_run_ms(*state, 5);
  scripted_reader_sample(&scripted, scripted.events[1]);
  scripted_reader_split(scripted.events[1]);
  scripted_reader_sample(&scripted, scripted.events[3]);
  scripted_reader_wake(&scripted, scripted.events[1]);
  scripted_reader_wake(&scripted, scripted.events[3]);
  assert_int_equal(live->samples, 2);
  assert_int_equal(live->faults, 1);
  assert_int_equal(live->fault, UV_EPROTO);
  assert_int_equal(live->fault_ring.cpu, 0);
  assert_int_equal(live->fault_ring.status, UV_EPROTO);
  scripted_reader_sample(&scripted, scripted.events[3]);
  scripted_reader_wake(&scripted, scripted.events[1]);
  scripted_reader_wake(&scripted, scripted.events[3]);
  assert_int_equal(live->samples, 3);
  assert_int_equal(uvperf_flush(&live->reader.handle), 0);
  assert_int_equal(live->faults, 1);
  assert_int_equal(uvperf_is_active(&live->reader.handle), 1);
  uvperf_stats(&live->reader.handle, &stats);
  assert_int_equal(stats.corrupt, 1);
  assert_int_equal(stats.records, 3);

  /* And the last one. The map stays as it is. */
  assert_string_equal(scripted_reader_entries(&scripted), "0 1");
  scripted_reader_split(scripted.events[3]);
  scripted_reader_wake(&scripted, scripted.events[3]);
  assert_int_equal(live->faults, 2);
  uvperf_stats(&live->reader.handle, &stats);
  assert_int_equal(stats.corrupt, 2);
  assert_int_equal(uvperf_is_active(&live->reader.handle), 0);
  assert_int_equal(scripted.events[0]->enabled, 1);
  assert_string_equal(scripted_reader_entries(&scripted), "0 1");
  assert_int_equal(uvperf_start(&live->reader.handle, NULL,
                                live_bpf_reader_on_sample, &error),
                   UV_EPROTO);
  assert_int_equal(error.cause, UVPERF_CAUSE_UNKNOWN);
  assert_int_equal(uvperf_flush(&live->reader.handle), 0);
  assert_int_equal(live->samples, 3);
  scripted_reader_close(&scripted);
}

/* A flush is no slice. */
static void ring_with_a_split_head_in_a_flush_is_reported_there(void **state) {
  uvperf_stream_options_t stream = live_bpf_reader_plain;
  scripted_reader_t scripted;

  stream.flags = UVPERF_START_SLICE_END;
  scripted_reader_plan(&scripted, 8);
  scripted_reader_open(*state, &scripted);
  live_bpf_reader_start(&scripted.live, &stream);
  scripted_reader_sample(&scripted, scripted.events[3]);
  scripted_reader_split(scripted.events[1]);
  scripted_reader_split(scripted.events[3]);
  assert_int_equal(uvperf_flush(&scripted.live.reader.handle), 0);
  assert_int_equal(scripted.live.faults, 2);
  assert_int_equal(scripted.live.samples, 1);
  assert_int_equal(scripted.live.slice_ends, 0);
  assert_int_equal(uvperf_is_active(&scripted.live.reader.handle), 0);
  scripted_reader_close(&scripted);
}

static void stop_at_slice_end(live_bpf_reader_t *live, int status,
                              const uvperf_record_t *sample) {
  if (sample->type == UVPERF_RECORD_NONE && status == 0)
    assert_int_equal(uvperf_stop(&live->reader.handle), 0);
}

/* The end of the slice before it comes first, and who stops there. */
static void last_ring_that_ends_is_reported_after_the_next_start(void **state) {
  uvperf_stream_options_t stream = live_bpf_reader_plain;
  scripted_reader_t scripted;
  live_bpf_reader_t *live = &scripted.live;

  stream.flags = UVPERF_START_SLICE_END;
  scripted_reader_plan(&scripted, 8);
  scripted_reader_open(*state, &scripted);
  live_bpf_reader_start(live, &stream);
  scripted_reader_split(scripted.events[3]);
  scripted_reader_wake(&scripted, scripted.events[3]);
  assert_int_equal(live->faults, 1);
  scripted_reader_sample(&scripted, scripted.events[1]);
  scripted_reader_split(scripted.events[1]);
  live->on_sample = stop_at_slice_end;
  scripted_reader_wake(&scripted, scripted.events[1]);
  assert_int_equal(live->slice_ends, 1);
  assert_int_equal(live->faults, 1);
  live->on_sample = NULL;
  live_bpf_reader_start(live, &stream);
  live_run_ms(*state, 5);
  assert_int_equal(live->faults, 2);
  assert_int_equal(uvperf_is_active(&live->reader.handle), 0);
  scripted_reader_close(&scripted);
}

/* Its owner, a dummy of the first thread, hangs up. */
static void ring_whose_owner_hangs_up_is_polled_by_a_spare(void **state) {
  scripted_reader_t scripted;
  live_bpf_reader_t *live = &scripted.live;
  uvperf_ring_info_t info;
  fake_event_t *spare;

  scripted_reader_begin(*state, &scripted);
  live_run_ms(*state, 5);
  spare = scripted.events[4];
  scripted.events[1]->revents = POLLHUP;
  scripted_reader_wake(&scripted, scripted.events[1]);
  assert_int_equal(uvperf_ring(&live->reader.handle, 0, &info), 0);
  assert_int_equal(info.fd, spare->fd);
  scripted_reader_sample(&scripted, scripted.events[1]);
  scripted_reader_wake(&scripted, spare);
  assert_true(live_run_until(*state, &live->samples, 1));
  assert_int_equal(live->faults, 0);
  scripted_reader_close(&scripted);
}

static void ring_whose_owner_hangs_up_without_spare_is_an_error(void **state) {
  scripted_reader_t scripted;
  live_bpf_reader_t *live = &scripted.live;

  scripted_reader_begin(*state, &scripted);
  live_run_ms(*state, 5);
  scripted_reader_sample(&scripted, scripted.events[1]);
  fake_fail(FAKE_OPEN, 1, -EMFILE);
  scripted.events[1]->revents = POLLHUP;
  scripted_reader_wake(&scripted, scripted.events[1]);
  assert_true(live_run_until(*state, &live->faults, 1));
  assert_int_equal(live->fault, UV_EMFILE);
  assert_int_equal(live->samples, 1);
  scripted_reader_sample(&scripted, scripted.events[3]);
  scripted_reader_wake(&scripted, scripted.events[3]);
  assert_int_equal(live->samples, 2);
  assert_int_equal(live->faults, 1);
  assert_int_equal(uvperf_is_active(&live->reader.handle), 1);
  scripted_reader_close(&scripted);
}

static void expect_raw(live_bpf_reader_t *live, int status,
                       const uvperf_record_t *sample) {
  if (status != UV_EPROTO)
    return;
  assert_null(sample->sample.raw.data);
  assert_int_equal(sample->sample.raw.size, 0);
  assert_int_equal(sample->type, PERF_RECORD_SAMPLE);
  assert_int_equal(sample->size, 16);
  assert_int_equal(sample->cpu, 1);
  *(int *)live->hook_data += 1;
}

static void record_that_is_not_sound_comes_raw(void **state) {
  scripted_reader_t scripted;
  live_bpf_reader_t *live = &scripted.live;
  uvperf_stats_t stats;
  int seen = 0;

  scripted_reader_begin(*state, &scripted);
  live->on_sample = expect_raw;
  live->hook_data = &seen;
  scripted_reader_sample(&scripted, scripted.events[3]);
  scripted_reader_junk(scripted.events[3]);
  scripted_reader_sample(&scripted, scripted.events[3]);
  scripted_reader_wake(&scripted, scripted.events[3]);
  assert_int_equal(live->samples, 2);
  assert_int_equal(live->corrupt, 1);
  assert_int_equal(live->faults, 0);
  assert_int_equal(seen, 1);
  uvperf_stats(&live->reader.handle, &stats);
  assert_int_equal(stats.corrupt, 1);
  scripted_reader_close(&scripted);
}

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
      scripted_reader_test(ring_without_sense_is_skipped_and_read_on),
      scripted_reader_test(ring_with_a_split_head_leaves_the_others),
      scripted_reader_test(ring_with_a_split_head_in_a_flush_is_reported_there),
      scripted_reader_test(
          last_ring_that_ends_is_reported_after_the_next_start),
      scripted_reader_test(ring_whose_owner_hangs_up_is_polled_by_a_spare),
      scripted_reader_test(ring_whose_owner_hangs_up_without_spare_is_an_error),
      scripted_reader_test(record_that_is_not_sound_comes_raw),
      scripted_reader_test(losses_are_counted_from_either_record),
      scripted_reader_test(flush_is_refused_in_each_callback_of_a_drain),
      scripted_reader_test(losses_without_a_record_are_counted),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
