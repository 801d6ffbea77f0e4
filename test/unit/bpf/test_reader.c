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
static void expect_sums(const bpf_reader_world_t *world) {
  uvperf_ring_info_t ring;
  size_t i;

  for (i = 0; i < 2; i++) {
    assert_int_equal(uvperf_bpf_reader_ring(&world->live.reader, i, &ring), 0);
    assert_int_equal(ring.stats.bytes + ring.stats.skipped_bytes + ring.waiting,
                     world->events[2 * i + 1]->page->data_head);
  }
}

/* And a restart makes no difference. */
static void ring_without_sense_is_skipped_and_read_on(void **state) {
  bpf_reader_world_t world;
  live_bpf_reader_t *live = &world.live;
  uvperf_stats_t stats;
  uint64_t i;

  bpf_reader_world_begin(*state, &world);
  live_turns_in(*state, 5);
  for (i = 1; i <= 20; i++) {
    bpf_reader_world_sample(&world, world.events[3]);
    bpf_reader_world_spoil(world.events[3]);
    bpf_reader_world_sample(&world, world.events[1]);
    bpf_reader_world_wake(&world, world.events[1]);
    bpf_reader_world_wake(&world, world.events[3]);
    assert_int_equal(live->samples, 2 * i);
    assert_int_equal(live->faults, i);
    assert_int_equal(live->fault, UV_EPROTO);
    assert_int_equal(live->fault_ring.cpu, 1);
    assert_int_equal(live->fault_ring.status, 0);
    expect_sums(&world);
  }
  assert_int_equal(uvperf_bpf_reader_stop(&live->reader), 0);
  live_bpf_reader_start(live, NULL);
  live_turns_in(*state, 5);
  world.events[3]->page->data_head += 1024 * 1024 + 8;
  assert_int_equal(uvperf_bpf_reader_flush(&live->reader), 0);
  bpf_reader_world_sample(&world, world.events[3]);
  bpf_reader_world_wake(&world, world.events[3]);
  assert_int_equal(live->samples, 41);
  assert_int_equal(live->faults, 21);
  expect_sums(&world);
  uvperf_bpf_reader_stats(&live->reader, &stats);
  assert_int_equal(stats.corrupt, 21);
  assert_int_equal(stats.skipped_bytes, 20 * 8 + 1024 * 1024 + 8);
  assert_int_equal(uvperf_bpf_reader_is_active(&live->reader), 1);
  bpf_reader_world_close(&world);
}

static void ring_with_a_split_head_leaves_the_others(void **state) {
  bpf_reader_world_t world;
  live_bpf_reader_t *live = &world.live;
  uvperf_error_t error;
  uvperf_stats_t stats;

  bpf_reader_world_begin(*state, &world);
  live_turns_in(*state, 5);
  bpf_reader_world_sample(&world, world.events[1]);
  bpf_reader_world_split(world.events[1]);
  bpf_reader_world_sample(&world, world.events[3]);
  bpf_reader_world_wake(&world, world.events[1]);
  bpf_reader_world_wake(&world, world.events[3]);
  assert_int_equal(live->samples, 2);
  assert_int_equal(live->faults, 1);
  assert_int_equal(live->fault, UV_EPROTO);
  assert_int_equal(live->fault_ring.cpu, 0);
  assert_int_equal(live->fault_ring.status, UV_EPROTO);
  bpf_reader_world_sample(&world, world.events[3]);
  bpf_reader_world_wake(&world, world.events[1]);
  bpf_reader_world_wake(&world, world.events[3]);
  assert_int_equal(live->samples, 3);
  assert_int_equal(uvperf_bpf_reader_flush(&live->reader), 0);
  assert_int_equal(live->faults, 1);
  assert_int_equal(uvperf_bpf_reader_is_active(&live->reader), 1);
  uvperf_bpf_reader_stats(&live->reader, &stats);
  assert_int_equal(stats.corrupt, 1);
  assert_int_equal(stats.records, 3);

  /* And the last one: start is undone. */
  assert_string_equal(bpf_reader_world_entries(&world), "0 1");
  bpf_reader_world_split(world.events[3]);
  bpf_reader_world_wake(&world, world.events[3]);
  assert_int_equal(live->faults, 2);
  uvperf_bpf_reader_stats(&live->reader, &stats);
  assert_int_equal(stats.corrupt, 2);
  assert_int_equal(uvperf_bpf_reader_is_active(&live->reader), 0);
  assert_int_equal(world.events[0]->enabled, 0);
  assert_string_equal(bpf_reader_world_entries(&world), "");
  assert_int_equal(uvperf_bpf_reader_start(&live->reader, NULL,
                                           live_bpf_reader_on_sample, &error),
                   UV_EPROTO);
  assert_non_null(strstr(error.reason, "multiple of 8"));
  assert_int_equal(uvperf_bpf_reader_flush(&live->reader), 0);
  assert_int_equal(live->samples, 3);
  bpf_reader_world_close(&world);
}

/* A flush is no slice. */
static void ring_with_a_split_head_in_a_flush_is_told_there(void **state) {
  uvperf_stream_options_t stream = live_bpf_reader_plain;
  bpf_reader_world_t world;

  stream.flags = UVPERF_START_SLICE_END;
  bpf_reader_world_plan(&world, 8);
  bpf_reader_world_open(*state, &world);
  live_bpf_reader_start(&world.live, &stream);
  bpf_reader_world_sample(&world, world.events[3]);
  bpf_reader_world_split(world.events[1]);
  bpf_reader_world_split(world.events[3]);
  assert_int_equal(uvperf_bpf_reader_flush(&world.live.reader), 0);
  assert_int_equal(world.live.faults, 2);
  assert_int_equal(world.live.samples, 1);
  assert_int_equal(world.live.slice_ends, 0);
  assert_int_equal(uvperf_bpf_reader_is_active(&world.live.reader), 0);
  bpf_reader_world_close(&world);
}

static void stop_at_slice_end(live_bpf_reader_t *live, int status,
                              const uvperf_bpf_sample_t *sample) {
  if (sample == NULL && status == 0)
    assert_int_equal(uvperf_bpf_reader_stop(&live->reader), 0);
}

/* The end of the slice before it comes first, and who stops there. */
static void last_ring_that_ends_is_told_after_the_next_start(void **state) {
  uvperf_stream_options_t stream = live_bpf_reader_plain;
  bpf_reader_world_t world;
  live_bpf_reader_t *live = &world.live;

  stream.flags = UVPERF_START_SLICE_END;
  bpf_reader_world_plan(&world, 8);
  bpf_reader_world_open(*state, &world);
  live_bpf_reader_start(live, &stream);
  bpf_reader_world_split(world.events[3]);
  bpf_reader_world_wake(&world, world.events[3]);
  assert_int_equal(live->faults, 1);
  bpf_reader_world_sample(&world, world.events[1]);
  bpf_reader_world_split(world.events[1]);
  live->on_sample = stop_at_slice_end;
  bpf_reader_world_wake(&world, world.events[1]);
  assert_int_equal(live->slice_ends, 1);
  assert_int_equal(live->faults, 1);
  live->on_sample = NULL;
  live_bpf_reader_start(live, &stream);
  live_turns_in(*state, 5);
  assert_int_equal(live->faults, 2);
  assert_int_equal(uvperf_bpf_reader_is_active(&live->reader), 0);
  bpf_reader_world_close(&world);
}

/* Its owner, a dummy of the first thread, hangs up. */
static void ring_whose_owner_hangs_up_is_polled_by_a_spare(void **state) {
  bpf_reader_world_t world;
  live_bpf_reader_t *live = &world.live;
  uvperf_ring_info_t info;
  fake_event_t *spare;

  bpf_reader_world_begin(*state, &world);
  live_turns_in(*state, 5);
  spare = world.events[4];
  world.events[1]->revents = POLLHUP;
  bpf_reader_world_wake(&world, world.events[1]);
  assert_int_equal(uvperf_bpf_reader_ring(&live->reader, 0, &info), 0);
  assert_int_equal(info.fd, spare->fd);
  bpf_reader_world_sample(&world, world.events[1]);
  bpf_reader_world_wake(&world, spare);
  assert_true(live_run_until(*state, &live->samples, 1));
  assert_int_equal(live->faults, 0);
  bpf_reader_world_close(&world);
}

static void ring_whose_owner_hangs_up_without_spare_is_an_error(void **state) {
  bpf_reader_world_t world;
  live_bpf_reader_t *live = &world.live;

  bpf_reader_world_begin(*state, &world);
  live_turns_in(*state, 5);
  bpf_reader_world_sample(&world, world.events[1]);
  fake_fail(FAKE_OPEN, 1, -EMFILE);
  world.events[1]->revents = POLLHUP;
  bpf_reader_world_wake(&world, world.events[1]);
  assert_true(live_run_until(*state, &live->faults, 1));
  assert_int_equal(live->fault, UV_EMFILE);
  assert_int_equal(live->samples, 1);
  bpf_reader_world_sample(&world, world.events[3]);
  bpf_reader_world_wake(&world, world.events[3]);
  assert_int_equal(live->samples, 2);
  assert_int_equal(live->faults, 1);
  assert_int_equal(uvperf_bpf_reader_is_active(&live->reader), 1);
  bpf_reader_world_close(&world);
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
  bpf_reader_world_t world;
  live_bpf_reader_t *live = &world.live;
  uvperf_stats_t stats;
  int seen = 0;

  bpf_reader_world_begin(*state, &world);
  live->on_sample = expect_raw;
  live->hook_data = &seen;
  bpf_reader_world_sample(&world, world.events[3]);
  bpf_reader_world_junk(world.events[3]);
  bpf_reader_world_sample(&world, world.events[3]);
  bpf_reader_world_wake(&world, world.events[3]);
  assert_int_equal(live->samples, 2);
  assert_int_equal(live->corrupt, 1);
  assert_int_equal(live->faults, 0);
  assert_int_equal(seen, 1);
  uvperf_bpf_reader_stats(&live->reader, &stats);
  assert_int_equal(stats.corrupt, 1);
  bpf_reader_world_close(&world);
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
  bpf_reader_world_t world;
  uvperf_stats_t stats;

  bpf_reader_world_begin(*state, &world);
  fake_ring_append(world.events[1], &lost, sizeof(lost));
  fake_ring_append(world.events[3], &samples, sizeof(samples));
  assert_int_equal(uvperf_bpf_reader_flush(&world.live.reader), 0);
  assert_int_equal(world.live.lost, 12);
  assert_int_equal(world.live.others, 2);
  uvperf_bpf_reader_stats(&world.live.reader, &stats);
  assert_int_equal(stats.lost_records, 12);
  bpf_reader_world_close(&world);
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
  bpf_reader_world_t world;
  size_t i;

  bpf_reader_world_begin(*state, &world);
  live_turns_in(*state, 5);
  for (i = 0; i < 3; i++) {
    bpf_reader_world_sample(&world, world.events[1]);
    bpf_reader_world_sample(&world, world.events[1]);
    fake_ring_append(world.events[1], &lost, sizeof(lost));
  }
  bpf_reader_world_sample(&world, world.events[1]);
  world.live.on_sample = look_inside;
  bpf_reader_world_wake(&world, world.events[1]);
  assert_int_equal(world.live.samples, 7);
  assert_int_equal(world.live.others, 3);
  world.live.on_sample = NULL;
  bpf_reader_world_close(&world);
}

static uint64_t lost_of(const bpf_reader_world_t *world) {
  uvperf_stats_t stats;

  uvperf_bpf_reader_stats(&world->live.reader, &stats);
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
  bpf_reader_world_t world;
  uvperf_ring_info_t ring;
  uint64_t reads;
  size_t i;

  bpf_reader_world_knows_lost(1);
  bpf_reader_world_plan(&world, 8);
  for (i = 0; i < 2; i++) {
    world.events[2 * i]->read_data = words[i];
    world.events[2 * i]->read_size = sizeof(words[i]);
  }
  bpf_reader_world_open(*state, &world);
  live_bpf_reader_start(&world.live, NULL);
  live_turns_in(*state, 5);
  assert_int_equal(world.events[0]->attr.read_format, UVPERF_FORMAT_LOST);
  assert_int_equal(lost_of(&world), 0);
  words[0][1] = 12;
  words[1][1] = 3;
  assert_int_equal(lost_of(&world), 0);
  live_turns_in(*state, 5);
  reads = fake_count(FAKE_READ);
  assert_int_equal(lost_of(&world), 15);
  assert_int_equal(lost_of(&world), 15);
  assert_int_equal(fake_count(FAKE_READ), reads + 2);
  assert_int_equal(uvperf_bpf_reader_ring(&world.live.reader, 1, &ring), 0);
  assert_int_equal(ring.stats.lost_records, 3);
  fake_ring_append(world.events[1], &told, sizeof(told));
  words[1][1] = 5;
  assert_int_equal(uvperf_bpf_reader_flush(&world.live.reader), 0);
  assert_int_equal(world.live.lost, 12);
  assert_int_equal(lost_of(&world), 17);
  bpf_reader_world_close(&world);
}

static void close_in_fault(live_bpf_reader_t *live, int status,
                           const uvperf_bpf_sample_t *sample) {
  (void)status;
  if (sample == NULL)
    uvperf_bpf_reader_close(&live->reader, live_bpf_reader_on_close);
}

static void reader_closed_when_a_ring_is_unsound_is_clean(void **state) {
  bpf_reader_world_t world;
  int is_last;
  int ends;

  for (ends = 0; ends < 4; ends++) {
    is_last = ends / 2;
    bpf_reader_world_begin(*state, &world);
    if (is_last) {
      bpf_reader_world_split(world.events[3]);
      live_turns_in(*state, 5);
      world.live.faults = 0;
    }
    world.live.on_sample = close_in_fault;
    if (ends % 2 != 0)
      bpf_reader_world_split(world.events[1]);
    else
      bpf_reader_world_spoil(world.events[1]);
    bpf_reader_world_wake(&world, world.events[1]);
    assert_int_equal(world.live.faults, 1);
    assert_int_equal(world.live.closed, 1);
    bpf_reader_world_end(&world);
  }
}

/* -- the order of calls --------------------------------------------------- */

/* No program finds an event that is off. */
static void start_enables_then_puts_and_stop_undoes_it(void **state) {
  bpf_reader_world_t world;
  uvperf_bpf_reader_t *reader = &world.live.reader;

  bpf_reader_world_plan(&world, 8);
  bpf_reader_world_open(*state, &world);
  fake_log_clear();
  live_bpf_reader_start(&world.live, NULL);
  assert_string_equal(fake_log(), "ioctl ENABLE, ioctl ENABLE, "
                                  "bpf update 0, bpf update 1");
  assert_string_equal(bpf_reader_world_entries(&world), "0 1");
  fake_log_clear();
  assert_int_equal(uvperf_bpf_reader_pause(reader, NULL), 0);
  assert_int_equal(uvperf_bpf_reader_pause(reader, NULL), 0);
  assert_string_equal(fake_log(), "bpf delete 0, bpf delete 1");
  fake_log_clear();
  assert_int_equal(uvperf_bpf_reader_stop(reader), 0);
  assert_int_equal(uvperf_bpf_reader_stop(reader), 0);
  assert_string_equal(fake_log(), "ioctl DISABLE, ioctl DISABLE");
  bpf_reader_world_close(&world);
}

/* The file of its own has the kernel take out what it has put, when the map is
 * closed: others may have put theirs there since. Rings are unmapped, and their
 * owners closed, when nobody polls them any more, and behind the socket of
 * uevents. */
static void close_leaves_the_map_disables_then_unmaps(void **state) {
  bpf_reader_world_t world;

  bpf_reader_world_begin(*state, &world);
  live_turns_in(*state, 5);
  fake_map_put_foreign(world.map, 1);
  fake_log_clear();
  uvperf_bpf_reader_close(&world.live.reader, live_bpf_reader_on_close);
  assert_string_equal(fake_log(), "close, ioctl DISABLE, ioctl DISABLE");
  assert_int_equal(fake_map_at(world.map, 0), FAKE_MAP_EMPTY);
  assert_int_equal(fake_map_at(world.map, 1), FAKE_MAP_FOREIGN);
  fake_log_clear();
  live_bpf_reader_wait_closed(&world.live);
  assert_string_equal(fake_log(), "close, ioctl DISABLE, ioctl DISABLE, close, "
                                  "close, munmap, close, munmap, close");
  bpf_reader_world_end(&world);
}

/* By hand, where the file is the caller's too. */
static void close_of_a_callers_file_takes_entries_out(void **state) {
  bpf_reader_world_t world;

  bpf_reader_world_plan(&world, 8);
  fake_fail_from(FAKE_BPF_MAP_BY_ID, 1, -EPERM);
  bpf_reader_world_open(*state, &world);
  live_bpf_reader_start(&world.live, NULL);
  fake_log_clear();
  uvperf_bpf_reader_close(&world.live.reader, live_bpf_reader_on_close);
  assert_string_equal(fake_log(), "bpf delete 0, bpf delete 1, close, "
                                  "ioctl DISABLE, ioctl DISABLE");
  live_bpf_reader_wait_closed(&world.live);
  bpf_reader_world_end(&world);
}

static void reader_closed_in_a_forked_child_only_closes_fds(void **state) {
  bpf_reader_world_t world;

  bpf_reader_world_begin(*state, &world);
  bpf_reader_world_sample(&world, world.events[1]);
  fake_process(4711);
  fake_log_clear();
  live_turns_in(*state, 5);
  assert_int_equal(world.live.records, 0);
  assert_int_equal(uvperf_bpf_reader_is_active(&world.live.reader), 0);
  live_bpf_reader_close(&world.live);
  assert_string_equal(fake_log(), "close, close, close, close, close, close");
  assert_string_equal(bpf_reader_world_entries(&world), "0 1");
  fake_process(0);
  fake_kernel_reset();
}

/* -- what fails ----------------------------------------------------------- */

/* Nothing is in the map, nothing counts, and the loop is not held. */
static void expect_stopped(bpf_reader_world_t *world) {
  uvperf_bpf_reader_t *reader = &world->live.reader;

  assert_string_equal(bpf_reader_world_entries(world), "");
  assert_int_equal(world->events[0]->enabled, 0);
  assert_int_equal(world->events[2]->enabled, 0);
  assert_int_equal(uvperf_bpf_reader_is_active(reader), 0);
  assert_int_equal(uv_loop_alive(reader->loop), 0);
}

static void start_that_fails_is_undone(void **state) {
  static const struct {
    enum fake_call call;
    int code;
  } fails[] = {{FAKE_IOCTL, -EACCES}, {FAKE_BPF_UPDATE, -EPERM}};
  bpf_reader_world_t world;
  uvperf_error_t error;
  unsigned nth;
  size_t i;

  for (i = 0; i < 2; i++)
    for (nth = 1; nth <= 2; nth++) {
      bpf_reader_world_plan(&world, 8);
      bpf_reader_world_open(*state, &world);
      fake_fail(fails[i].call, nth, fails[i].code);
      assert_int_equal(uvperf_bpf_reader_start(&world.live.reader, NULL,
                                               live_bpf_reader_on_sample,
                                               &error),
                       fails[i].code);
      assert_int_equal(error.code, fails[i].code);
      assert_int_equal(error.cause, UVPERF_CAUSE_PERMISSION);
      expect_stopped(&world);
      assert_int_equal(uvperf_bpf_reader_flush(&world.live.reader), UV_EINVAL);
      live_bpf_reader_start(&world.live, NULL);
      assert_string_equal(bpf_reader_world_entries(&world), "0 1");
      bpf_reader_world_sample(&world, world.events[3]);
      bpf_reader_world_wake(&world, world.events[3]);
      assert_int_equal(world.live.samples, 1);
      bpf_reader_world_close(&world);
    }
}

static void resume_that_fails_is_undone(void **state) {
  bpf_reader_world_t world;
  uvperf_bpf_reader_t *reader = &world.live.reader;
  uvperf_error_t error;
  unsigned nth;

  for (nth = 1; nth <= 2; nth++) {
    bpf_reader_world_plan(&world, 8);
    bpf_reader_world_open(*state, &world);
    fake_fail(FAKE_BPF_UPDATE, nth, -EPERM);
    assert_int_equal(uvperf_bpf_reader_resume(reader, &error), UV_EPERM);
    assert_int_equal(error.cause, UVPERF_CAUSE_PERMISSION);
    expect_stopped(&world);
    /* Started and paused, the events stay on. */
    live_bpf_reader_start(&world.live, NULL);
    assert_int_equal(uvperf_bpf_reader_pause(reader, NULL), 0);
    fake_fail(FAKE_BPF_UPDATE, nth, -EPERM);
    assert_int_equal(uvperf_bpf_reader_resume(reader, NULL), UV_EPERM);
    assert_string_equal(bpf_reader_world_entries(&world), "");
    assert_int_equal(world.events[2]->enabled, 1);
    assert_int_equal(uvperf_bpf_reader_stop(reader), 0);
    live_bpf_reader_start(&world.live, NULL);
    assert_string_equal(bpf_reader_world_entries(&world),
                        ""); /* still paused */
    assert_int_equal(uvperf_bpf_reader_resume(reader, NULL), 0);
    assert_string_equal(bpf_reader_world_entries(&world), "0 1");
    bpf_reader_world_close(&world);
  }
}

static void pause_that_fails_leaves_all_in_the_map(void **state) {
  bpf_reader_world_t world;
  uvperf_bpf_reader_t *reader = &world.live.reader;
  uvperf_error_t error;
  unsigned nth;

  for (nth = 1; nth <= 2; nth++) {
    bpf_reader_world_begin(*state, &world);
    fake_fail(FAKE_BPF_DELETE, nth, -EPERM);
    assert_int_equal(uvperf_bpf_reader_pause(reader, &error), UV_EPERM);
    assert_int_equal(error.cause, UVPERF_CAUSE_PERMISSION);
    assert_string_equal(bpf_reader_world_entries(&world), "0 1");
    assert_int_equal(uvperf_bpf_reader_stop(reader), 0);
    live_bpf_reader_start(&world.live, NULL); /* it is not paused */
    assert_string_equal(bpf_reader_world_entries(&world), "0 1");
    bpf_reader_world_close(&world);
  }
}

static void start_out_of_memory_can_be_called_again(void **state) {
  unsigned nth, failures;
  bpf_reader_world_t world;
  uvperf_error_t error;
  int rc = UV_ENOMEM;

  for (nth = 1; rc != 0; nth++) {
    bpf_reader_world_plan(&world, 8);
    bpf_reader_world_open(*state, &world);
    fake_fail(FAKE_CALLOC, nth, 0);
    rc = uvperf_bpf_reader_start(&world.live.reader, NULL,
                                 live_bpf_reader_on_sample, &error);
    failures = fake_failures();
    assert_int_equal(rc, failures > 0 ? UV_ENOMEM : 0);
    if (rc != 0) {
      assert_int_equal(error.cause, UVPERF_CAUSE_MEMORY);
      expect_stopped(&world);
      live_bpf_reader_start(&world.live, NULL);
    } else {
      uvperf__free(uvperf__calloc(1, 1));
    }
    bpf_reader_world_sample(&world, world.events[3]);
    assert_true(live_run_until(*state, &world.live.samples, 1));
    bpf_reader_world_close(&world);
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
  bpf_reader_world_t world;
  uvperf_error_t error;
  unsigned nth, failures;
  size_t i;
  int rc;

  for (i = 0; i < sizeof(fails) / sizeof(fails[0]); i++) {
    rc = -1;
    for (nth = 1; rc != 0; nth++) {
      bpf_reader_world_plan(&world, 8);
      fake_fail(fails[i].call, nth, fails[i].code);
      memset(&error, 0, sizeof(error));
      rc = bpf_reader_world_try(*state, &world, &error);
      failures = fake_failures();
      if (rc != 0) {
        assert_int_equal(rc, fails[i].given);
        assert_int_equal(error.code, rc);
        assert_true(error.reason[0] != '\0');
        assert_int_equal(uv_loop_alive(*state), 0);
        bpf_reader_world_end(&world);
        continue;
      }
      /* Done without (what is known of the CPUs that are online). */
      if (failures > 0)
        live_bpf_reader_start(&world.live, NULL);
      bpf_reader_world_close(&world);
      rc = failures > 0 ? -1 : 0;
    }
    assert_in_range(nth, 3, 100);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      bpf_reader_world_test(ring_without_sense_is_skipped_and_read_on),
      bpf_reader_world_test(ring_with_a_split_head_leaves_the_others),
      bpf_reader_world_test(ring_with_a_split_head_in_a_flush_is_told_there),
      bpf_reader_world_test(last_ring_that_ends_is_told_after_the_next_start),
      bpf_reader_world_test(ring_whose_owner_hangs_up_is_polled_by_a_spare),
      bpf_reader_world_test(
          ring_whose_owner_hangs_up_without_spare_is_an_error),
      bpf_reader_world_test(record_that_is_not_sound_comes_raw),
      bpf_reader_world_test(what_was_lost_is_told_of_either_record),
      bpf_reader_world_test(flush_is_refused_in_each_callback_of_a_drain),
      bpf_reader_world_test(what_no_record_tells_to_be_lost_is_counted),
      bpf_reader_world_test(reader_closed_when_a_ring_is_unsound_is_clean),
      bpf_reader_world_test(start_enables_then_puts_and_stop_undoes_it),
      bpf_reader_world_test(close_leaves_the_map_disables_then_unmaps),
      bpf_reader_world_test(close_of_a_callers_file_takes_entries_out),
      bpf_reader_world_test(reader_closed_in_a_forked_child_only_closes_fds),
      bpf_reader_world_test(start_that_fails_is_undone),
      bpf_reader_world_test(resume_that_fails_is_undone),
      bpf_reader_world_test(pause_that_fails_leaves_all_in_the_map),
      bpf_reader_world_test(start_out_of_memory_can_be_called_again),
      bpf_reader_world_test(init_that_fails_leaves_nothing),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
