/* SPDX-License-Identifier: MIT */
/* Scripted: rings of a BPF reader that are not sound, calls that fail, and
 * which call comes before which. */
#include "scripted_reader.h"

#include <errno.h>
#include <poll.h>

#include "cpu_tree.h"
#include "util/alloc.h"

/* -- what is not sound ---------------------------------------------------- */

/* What was delivered, what was left out and what waits are all that the kernel
 * has written. */
static void expect_sums(const scripted_reader_t *scripted) {
  uvperf_ring_info_t ring;
  size_t i;

  for (i = 0; i < 2; i++) {
    assert_int_equal(uvperf_bpf_reader_ring(&scripted->live.reader, i, &ring),
                     0);
    assert_int_equal(ring.stats.bytes + ring.stats.skipped_bytes + ring.waiting,
                     scripted->events[2 * i + 1]->page->data_head);
  }
}

/* And a restart makes no difference. */
static void ring_without_sense_is_skipped_and_read_on(void **state) {
  scripted_reader_t scripted;
  live_bpf_reader_t *live = &scripted.live;
  uvperf_stats_t stats;
  uint64_t i;

  scripted_reader_begin(*state, &scripted);
  live_turns_in(*state, 5);
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
  assert_int_equal(uvperf_bpf_reader_stop(&live->reader), 0);
  live_bpf_reader_start(live, NULL);
  live_turns_in(*state, 5);
  scripted.events[3]->page->data_head += 1024 * 1024 + 8;
  assert_int_equal(uvperf_bpf_reader_flush(&live->reader), 0);
  scripted_reader_sample(&scripted, scripted.events[3]);
  scripted_reader_wake(&scripted, scripted.events[3]);
  assert_int_equal(live->samples, 41);
  assert_int_equal(live->faults, 21);
  expect_sums(&scripted);
  uvperf_bpf_reader_stats(&live->reader, &stats);
  assert_int_equal(stats.corrupt, 21);
  assert_int_equal(stats.skipped_bytes, 20 * 8 + 1024 * 1024 + 8);
  assert_int_equal(uvperf_bpf_reader_is_active(&live->reader), 1);
  scripted_reader_close(&scripted);
}

static void ring_with_a_split_head_leaves_the_others(void **state) {
  scripted_reader_t scripted;
  live_bpf_reader_t *live = &scripted.live;
  uvperf_error_t error;
  uvperf_stats_t stats;

  scripted_reader_begin(*state, &scripted);
  live_turns_in(*state, 5);
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
  assert_int_equal(uvperf_bpf_reader_flush(&live->reader), 0);
  assert_int_equal(live->faults, 1);
  assert_int_equal(uvperf_bpf_reader_is_active(&live->reader), 1);
  uvperf_bpf_reader_stats(&live->reader, &stats);
  assert_int_equal(stats.corrupt, 1);
  assert_int_equal(stats.records, 3);

  /* And the last one: start is undone. */
  assert_string_equal(scripted_reader_entries(&scripted), "0 1");
  scripted_reader_split(scripted.events[3]);
  scripted_reader_wake(&scripted, scripted.events[3]);
  assert_int_equal(live->faults, 2);
  uvperf_bpf_reader_stats(&live->reader, &stats);
  assert_int_equal(stats.corrupt, 2);
  assert_int_equal(uvperf_bpf_reader_is_active(&live->reader), 0);
  assert_int_equal(scripted.events[0]->enabled, 0);
  assert_string_equal(scripted_reader_entries(&scripted), "");
  assert_int_equal(uvperf_bpf_reader_start(&live->reader, NULL,
                                           live_bpf_reader_on_sample, &error),
                   UV_EPROTO);
  assert_non_null(strstr(error.reason, "multiple of 8"));
  assert_int_equal(uvperf_bpf_reader_flush(&live->reader), 0);
  assert_int_equal(live->samples, 3);
  scripted_reader_close(&scripted);
}

/* A flush is no slice. */
static void ring_with_a_split_head_in_a_flush_is_told_there(void **state) {
  uvperf_stream_options_t stream = live_bpf_reader_plain;
  scripted_reader_t scripted;

  stream.flags = UVPERF_START_SLICE_END;
  scripted_reader_plan(&scripted, 8);
  scripted_reader_open(*state, &scripted);
  live_bpf_reader_start(&scripted.live, &stream);
  scripted_reader_sample(&scripted, scripted.events[3]);
  scripted_reader_split(scripted.events[1]);
  scripted_reader_split(scripted.events[3]);
  assert_int_equal(uvperf_bpf_reader_flush(&scripted.live.reader), 0);
  assert_int_equal(scripted.live.faults, 2);
  assert_int_equal(scripted.live.samples, 1);
  assert_int_equal(scripted.live.slice_ends, 0);
  assert_int_equal(uvperf_bpf_reader_is_active(&scripted.live.reader), 0);
  scripted_reader_close(&scripted);
}

static void stop_at_slice_end(live_bpf_reader_t *live, int status,
                              const uvperf_bpf_sample_t *sample) {
  if (sample == NULL && status == 0)
    assert_int_equal(uvperf_bpf_reader_stop(&live->reader), 0);
}

/* The end of the slice before it comes first, and who stops there. */
static void last_ring_that_ends_is_told_after_the_next_start(void **state) {
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
  live_turns_in(*state, 5);
  assert_int_equal(live->faults, 2);
  assert_int_equal(uvperf_bpf_reader_is_active(&live->reader), 0);
  scripted_reader_close(&scripted);
}

/* Its owner, a dummy of the first thread, hangs up. */
static void ring_whose_owner_hangs_up_is_polled_by_a_spare(void **state) {
  scripted_reader_t scripted;
  live_bpf_reader_t *live = &scripted.live;
  uvperf_ring_info_t info;
  fake_event_t *spare;

  scripted_reader_begin(*state, &scripted);
  live_turns_in(*state, 5);
  spare = scripted.events[4];
  scripted.events[1]->revents = POLLHUP;
  scripted_reader_wake(&scripted, scripted.events[1]);
  assert_int_equal(uvperf_bpf_reader_ring(&live->reader, 0, &info), 0);
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
  live_turns_in(*state, 5);
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
  assert_int_equal(uvperf_bpf_reader_is_active(&live->reader), 1);
  scripted_reader_close(&scripted);
}

static void expect_raw(live_bpf_reader_t *live, int status,
                       const uvperf_bpf_sample_t *sample) {
  if (status != UV_EPROTO)
    return;
  assert_null(sample->data);
  assert_int_equal(sample->size, 0);
  assert_int_equal(sample->record->type, PERF_RECORD_SAMPLE);
  assert_int_equal(sample->record->size, 16);
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
  uvperf_bpf_reader_stats(&live->reader, &stats);
  assert_int_equal(stats.corrupt, 1);
  scripted_reader_close(&scripted);
}

static void what_was_lost_is_told_of_either_record(void **state) {
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
  assert_int_equal(uvperf_bpf_reader_flush(&scripted.live.reader), 0);
  assert_int_equal(scripted.live.lost, 12);
  assert_int_equal(scripted.live.others, 2);
  uvperf_bpf_reader_stats(&scripted.live.reader, &stats);
  assert_int_equal(stats.lost_records, 12);
  scripted_reader_close(&scripted);
}

/* In each callback, whatever record came before it: what waits is the record in
 * it and those behind it, and flush is refused. */
static void look_inside(live_bpf_reader_t *live, int status,
                        const uvperf_bpf_sample_t *sample) {
  uvperf_ring_info_t ring;

  assert_int_equal(status, 0);
  assert_int_equal(uvperf_bpf_reader_ring(&live->reader, 0, &ring), 0);
  assert_int_equal(ring.waiting, sample->remaining + sample->record->size);
  assert_int_equal(uvperf_bpf_reader_flush(&live->reader), UV_EBUSY);
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
  live_turns_in(*state, 5);
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

  uvperf_bpf_reader_stats(&scripted->live.reader, &stats);
  return stats.lost_records;
}

/* PERF_FORMAT_LOST counts them at once; a LOST record tells the same later. A
 * program that asks in each callback asks the kernel once. */
static void what_no_record_tells_to_be_lost_is_counted(void **state) {
  const struct {
    struct perf_event_header header;
    uint64_t id;
    uint64_t lost;
  } told = {{PERF_RECORD_LOST, 0, 24}, 100, 12};
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
  live_turns_in(*state, 5);
  assert_int_equal(scripted.events[0]->attr.read_format, UVPERF_FORMAT_LOST);
  assert_int_equal(lost_of(&scripted), 0);
  words[0][1] = 12;
  words[1][1] = 3;
  assert_int_equal(lost_of(&scripted), 0);
  live_turns_in(*state, 5);
  reads = fake_count(FAKE_READ);
  assert_int_equal(lost_of(&scripted), 15);
  assert_int_equal(lost_of(&scripted), 15);
  assert_int_equal(fake_count(FAKE_READ), reads + 2);
  assert_int_equal(uvperf_bpf_reader_ring(&scripted.live.reader, 1, &ring), 0);
  assert_int_equal(ring.stats.lost_records, 3);
  fake_ring_append(scripted.events[1], &told, sizeof(told));
  words[1][1] = 5;
  assert_int_equal(uvperf_bpf_reader_flush(&scripted.live.reader), 0);
  assert_int_equal(scripted.live.lost, 12);
  assert_int_equal(lost_of(&scripted), 17);
  scripted_reader_close(&scripted);
}

static void close_in_fault(live_bpf_reader_t *live, int status,
                           const uvperf_bpf_sample_t *sample) {
  (void)status;
  if (sample == NULL)
    uvperf_bpf_reader_close(&live->reader, live_bpf_reader_on_close);
}

static void reader_closed_when_a_ring_is_unsound_is_clean(void **state) {
  scripted_reader_t scripted;
  int is_last;
  int ends;

  for (ends = 0; ends < 4; ends++) {
    is_last = ends / 2;
    scripted_reader_begin(*state, &scripted);
    if (is_last) {
      scripted_reader_split(scripted.events[3]);
      live_turns_in(*state, 5);
      scripted.live.faults = 0;
    }
    scripted.live.on_sample = close_in_fault;
    if (ends % 2 != 0)
      scripted_reader_split(scripted.events[1]);
    else
      scripted_reader_spoil(scripted.events[1]);
    scripted_reader_wake(&scripted, scripted.events[1]);
    assert_int_equal(scripted.live.faults, 1);
    assert_int_equal(scripted.live.closed, 1);
    scripted_reader_end(&scripted);
  }
}

/* -- the order of calls --------------------------------------------------- */

/* No program finds an event that is off. */
static void start_enables_then_puts_and_stop_undoes_it(void **state) {
  scripted_reader_t scripted;
  uvperf_bpf_reader_t *reader = &scripted.live.reader;

  scripted_reader_plan(&scripted, 8);
  scripted_reader_open(*state, &scripted);
  fake_log_clear();
  live_bpf_reader_start(&scripted.live, NULL);
  assert_string_equal(fake_log(), "ioctl ENABLE, ioctl ENABLE, "
                                  "bpf update 0, bpf update 1");
  assert_string_equal(scripted_reader_entries(&scripted), "0 1");
  fake_log_clear();
  assert_int_equal(uvperf_bpf_reader_pause(reader, NULL), 0);
  assert_int_equal(uvperf_bpf_reader_pause(reader, NULL), 0);
  assert_string_equal(fake_log(), "bpf delete 0, bpf delete 1");
  fake_log_clear();
  assert_int_equal(uvperf_bpf_reader_stop(reader), 0);
  assert_int_equal(uvperf_bpf_reader_stop(reader), 0);
  assert_string_equal(fake_log(), "ioctl DISABLE, ioctl DISABLE");
  scripted_reader_close(&scripted);
}

/* The file of its own has the kernel take out what it has put, when the map is
 * closed: others may have put theirs there since. Rings are unmapped, and their
 * owners closed, when nobody polls them any more, and behind the socket of
 * uevents. */
static void close_leaves_the_map_disables_then_unmaps(void **state) {
  scripted_reader_t scripted;

  scripted_reader_begin(*state, &scripted);
  live_turns_in(*state, 5);
  fake_map_put_foreign(scripted.map, 1);
  fake_log_clear();
  uvperf_bpf_reader_close(&scripted.live.reader, live_bpf_reader_on_close);
  assert_string_equal(fake_log(), "close, ioctl DISABLE, ioctl DISABLE");
  assert_int_equal(fake_map_at(scripted.map, 0), FAKE_MAP_EMPTY);
  assert_int_equal(fake_map_at(scripted.map, 1), FAKE_MAP_FOREIGN);
  fake_log_clear();
  live_bpf_reader_wait_closed(&scripted.live);
  assert_string_equal(fake_log(), "close, ioctl DISABLE, ioctl DISABLE, close, "
                                  "close, munmap, close, munmap, close");
  scripted_reader_end(&scripted);
}

/* By hand, where the file is the caller's too. */
static void close_of_a_callers_file_takes_entries_out(void **state) {
  scripted_reader_t scripted;

  scripted_reader_plan(&scripted, 8);
  fake_fail_from(FAKE_BPF_MAP_BY_ID, 1, -EPERM);
  scripted_reader_open(*state, &scripted);
  live_bpf_reader_start(&scripted.live, NULL);
  fake_log_clear();
  uvperf_bpf_reader_close(&scripted.live.reader, live_bpf_reader_on_close);
  assert_string_equal(fake_log(), "bpf delete 0, bpf delete 1, close, "
                                  "ioctl DISABLE, ioctl DISABLE");
  live_bpf_reader_wait_closed(&scripted.live);
  scripted_reader_end(&scripted);
}

static void reader_closed_in_a_forked_child_only_closes_fds(void **state) {
  scripted_reader_t scripted;

  scripted_reader_begin(*state, &scripted);
  scripted_reader_sample(&scripted, scripted.events[1]);
  fake_process(4711);
  fake_log_clear();
  live_turns_in(*state, 5);
  assert_int_equal(scripted.live.records, 0);
  assert_int_equal(uvperf_bpf_reader_is_active(&scripted.live.reader), 0);
  live_bpf_reader_close(&scripted.live);
  assert_string_equal(fake_log(), "close, close, close, close, close, close");
  assert_string_equal(scripted_reader_entries(&scripted), "0 1");
  fake_process(0);
  fake_kernel_reset();
}

/* -- what fails ----------------------------------------------------------- */

/* Nothing is in the map, nothing counts, and the loop is not held. */
static void expect_stopped(scripted_reader_t *scripted) {
  uvperf_bpf_reader_t *reader = &scripted->live.reader;

  assert_string_equal(scripted_reader_entries(scripted), "");
  assert_int_equal(scripted->events[0]->enabled, 0);
  assert_int_equal(scripted->events[2]->enabled, 0);
  assert_int_equal(uvperf_bpf_reader_is_active(reader), 0);
  assert_int_equal(uv_loop_alive(reader->loop), 0);
}

static void start_that_fails_is_undone(void **state) {
  static const struct {
    enum fake_call call;
    int code;
  } fails[] = {{FAKE_IOCTL, -EACCES}, {FAKE_BPF_UPDATE, -EPERM}};
  scripted_reader_t scripted;
  uvperf_error_t error;
  unsigned nth;
  size_t i;

  for (i = 0; i < 2; i++)
    for (nth = 1; nth <= 2; nth++) {
      scripted_reader_plan(&scripted, 8);
      scripted_reader_open(*state, &scripted);
      fake_fail(fails[i].call, nth, fails[i].code);
      assert_int_equal(uvperf_bpf_reader_start(&scripted.live.reader, NULL,
                                               live_bpf_reader_on_sample,
                                               &error),
                       fails[i].code);
      assert_int_equal(error.code, fails[i].code);
      assert_int_equal(error.cause, UVPERF_CAUSE_PERMISSION);
      expect_stopped(&scripted);
      assert_int_equal(uvperf_bpf_reader_flush(&scripted.live.reader),
                       UV_EINVAL);
      live_bpf_reader_start(&scripted.live, NULL);
      assert_string_equal(scripted_reader_entries(&scripted), "0 1");
      scripted_reader_sample(&scripted, scripted.events[3]);
      scripted_reader_wake(&scripted, scripted.events[3]);
      assert_int_equal(scripted.live.samples, 1);
      scripted_reader_close(&scripted);
    }
}

static void resume_that_fails_is_undone(void **state) {
  scripted_reader_t scripted;
  uvperf_bpf_reader_t *reader = &scripted.live.reader;
  uvperf_error_t error;
  unsigned nth;

  for (nth = 1; nth <= 2; nth++) {
    scripted_reader_plan(&scripted, 8);
    scripted_reader_open(*state, &scripted);
    fake_fail(FAKE_BPF_UPDATE, nth, -EPERM);
    assert_int_equal(uvperf_bpf_reader_resume(reader, &error), UV_EPERM);
    assert_int_equal(error.cause, UVPERF_CAUSE_PERMISSION);
    expect_stopped(&scripted);
    /* Started and paused, the events stay on. */
    live_bpf_reader_start(&scripted.live, NULL);
    assert_int_equal(uvperf_bpf_reader_pause(reader, NULL), 0);
    fake_fail(FAKE_BPF_UPDATE, nth, -EPERM);
    assert_int_equal(uvperf_bpf_reader_resume(reader, NULL), UV_EPERM);
    assert_string_equal(scripted_reader_entries(&scripted), "");
    assert_int_equal(scripted.events[2]->enabled, 1);
    assert_int_equal(uvperf_bpf_reader_stop(reader), 0);
    live_bpf_reader_start(&scripted.live, NULL);
    assert_string_equal(scripted_reader_entries(&scripted),
                        ""); /* still paused */
    assert_int_equal(uvperf_bpf_reader_resume(reader, NULL), 0);
    assert_string_equal(scripted_reader_entries(&scripted), "0 1");
    scripted_reader_close(&scripted);
  }
}

static void pause_that_fails_leaves_all_in_the_map(void **state) {
  scripted_reader_t scripted;
  uvperf_bpf_reader_t *reader = &scripted.live.reader;
  uvperf_error_t error;
  unsigned nth;

  for (nth = 1; nth <= 2; nth++) {
    scripted_reader_begin(*state, &scripted);
    fake_fail(FAKE_BPF_DELETE, nth, -EPERM);
    assert_int_equal(uvperf_bpf_reader_pause(reader, &error), UV_EPERM);
    assert_int_equal(error.cause, UVPERF_CAUSE_PERMISSION);
    assert_string_equal(scripted_reader_entries(&scripted), "0 1");
    assert_int_equal(uvperf_bpf_reader_stop(reader), 0);
    live_bpf_reader_start(&scripted.live, NULL); /* it is not paused */
    assert_string_equal(scripted_reader_entries(&scripted), "0 1");
    scripted_reader_close(&scripted);
  }
}

static void start_out_of_memory_can_be_called_again(void **state) {
  unsigned nth, failures;
  scripted_reader_t scripted;
  uvperf_error_t error;
  int rc = UV_ENOMEM;

  for (nth = 1; rc != 0; nth++) {
    scripted_reader_plan(&scripted, 8);
    scripted_reader_open(*state, &scripted);
    fake_fail(FAKE_CALLOC, nth, 0);
    rc = uvperf_bpf_reader_start(&scripted.live.reader, NULL,
                                 live_bpf_reader_on_sample, &error);
    failures = fake_failures();
    assert_int_equal(rc, failures > 0 ? UV_ENOMEM : 0);
    if (rc != 0) {
      assert_int_equal(error.cause, UVPERF_CAUSE_MEMORY);
      expect_stopped(&scripted);
      live_bpf_reader_start(&scripted.live, NULL);
    } else {
      uvperf__free(uvperf__calloc(1, 1));
    }
    scripted_reader_sample(&scripted, scripted.events[3]);
    assert_true(live_run_until(*state, &scripted.live.samples, 1));
    scripted_reader_close(&scripted);
  }
  assert_in_range(nth, 3, 30);
}

/* Each call of init failing in turn: the loop knows of nothing, and nothing is
 * left. */
static void init_that_fails_leaves_nothing(void **state) {
  static const struct {
    enum fake_call call;
    int code;
    int given;
  } fails[] = {
      {FAKE_CALLOC, 0, UV_ENOMEM},     {FAKE_OPEN, -EACCES, UV_EACCES},
      {FAKE_OPEN, -EMFILE, UV_EMFILE}, {FAKE_IOCTL, -EINVAL, UV_EINVAL},
      {FAKE_MMAP, -ENOMEM, UV_ENOMEM}, {FAKE_BPF_INFO, -EPERM, UV_EPERM}};
  scripted_reader_t scripted;
  uvperf_error_t error;
  unsigned nth, failures;
  size_t i;
  int rc;

  for (i = 0; i < sizeof(fails) / sizeof(fails[0]); i++) {
    rc = -1;
    for (nth = 1; rc != 0; nth++) {
      scripted_reader_plan(&scripted, 8);
      fake_fail(fails[i].call, nth, fails[i].code);
      memset(&error, 0, sizeof(error));
      rc = scripted_reader_try(*state, &scripted, &error);
      failures = fake_failures();
      if (rc != 0) {
        assert_int_equal(rc, fails[i].given);
        assert_int_equal(error.code, rc);
        assert_true(error.reason[0] != '\0');
        assert_int_equal(uv_loop_alive(*state), 0);
        scripted_reader_end(&scripted);
        continue;
      }
      /* Done without (what is known of the CPUs that are online). */
      if (failures > 0)
        live_bpf_reader_start(&scripted.live, NULL);
      scripted_reader_close(&scripted);
      rc = failures > 0 ? -1 : 0;
    }
    assert_in_range(nth, 3, 100);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      scripted_reader_test(ring_without_sense_is_skipped_and_read_on),
      scripted_reader_test(ring_with_a_split_head_leaves_the_others),
      scripted_reader_test(ring_with_a_split_head_in_a_flush_is_told_there),
      scripted_reader_test(last_ring_that_ends_is_told_after_the_next_start),
      scripted_reader_test(ring_whose_owner_hangs_up_is_polled_by_a_spare),
      scripted_reader_test(ring_whose_owner_hangs_up_without_spare_is_an_error),
      scripted_reader_test(record_that_is_not_sound_comes_raw),
      scripted_reader_test(what_was_lost_is_told_of_either_record),
      scripted_reader_test(flush_is_refused_in_each_callback_of_a_drain),
      scripted_reader_test(what_no_record_tells_to_be_lost_is_counted),
      scripted_reader_test(reader_closed_when_a_ring_is_unsound_is_clean),
      scripted_reader_test(start_enables_then_puts_and_stop_undoes_it),
      scripted_reader_test(close_leaves_the_map_disables_then_unmaps),
      scripted_reader_test(close_of_a_callers_file_takes_entries_out),
      scripted_reader_test(reader_closed_in_a_forked_child_only_closes_fds),
      scripted_reader_test(start_that_fails_is_undone),
      scripted_reader_test(resume_that_fails_is_undone),
      scripted_reader_test(pause_that_fails_leaves_all_in_the_map),
      scripted_reader_test(start_out_of_memory_can_be_called_again),
      scripted_reader_test(init_that_fails_leaves_nothing),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
