/* SPDX-License-Identifier: MIT */
/* Scripted: damaged rings of a set, and the end of a target in the middle of
 * records. */
#include "scripted_set.h"

#include <poll.h>

#include "fake_clock.h"
#include "record_builder.h"
#include "set/internal.h"

/* -- damage --------------------------------------------------------------- */

/* The delivered, skipped and waiting bytes are everything that the kernel has
 * written. */
static void expect_sums(const scripted_set_t *scripted) {
  uvperf_stats_t sum, stats;
  uvperf_ring_info_t ring;
  uint64_t skipped = 0;
  size_t i;

  for (i = 0; i < 2; i++) {
    assert_int_equal(uvperf_ring(&scripted->stream.live.set.handle, i, &ring),
                     0);
    stats = ring.stats;
    skipped += stats.skipped_bytes;
    assert_int_equal(stats.bytes + stats.skipped_bytes + ring.waiting,
                     scripted->events[2 * i + 1]->page->data_head);
  }
  uvperf_stats(&scripted->stream.live.set.handle, &sum);
  assert_int_equal(sum.skipped_bytes, skipped);
}

/* And a restart changes nothing. */
static void set_ring_without_sense_is_skipped_and_read_on(void **state) {
  scripted_set_t scripted;
  uvperf_set_t *set;
  size_t mode;

  set = &scripted.stream.live.set;
  for (mode = 0; mode < LIVE_STREAM_MODES; mode++) {
    scripted_set_begin(*state, &scripted, mode);
    live_run_ms(*state, 5);
    scripted_set_sample(&scripted, 1, 102, 1);
    scripted_set_spoil(&scripted, 1);
    scripted_set_sample(&scripted, 1, 102, 2);
    scripted_set_sample(&scripted, 0, 100, 3);
    scripted_set_wake(&scripted, 0);
    scripted_set_wake(&scripted, 1);
    assert_int_equal(scripted.stream.samples, 2);
    assert_int_equal(scripted.stream.faults, 1);
    assert_int_equal(scripted.stream.fault, UV_EPROTO);
    assert_int_equal(scripted.stream.fault_ring.cpu, 1);
    assert_int_equal(scripted.stream.fault_ring.status, 0);
    assert_true(scripted.stream.fault_ring.stats.skipped_bytes > 8);
    expect_sums(&scripted);
    scripted_set_sample(&scripted, 1, 102, 4);
    scripted_set_wake(&scripted, 1);
    assert_int_equal(scripted.stream.samples, 3);
    scripted.events[3]->page->data_head += 1024 * 1024 + 8;
    assert_int_equal(uvperf_flush(&set->handle), 0);
    assert_int_equal(scripted.stream.faults, 2);
    assert_int_equal(uvperf_stop(&set->handle), 0);
    live_stream_start(&scripted.stream, NULL);
    live_run_ms(*state, 5);
    scripted_set_sample(&scripted, 1, 102, 5);
    scripted_set_sample(&scripted, 0, 100, 6);
    scripted_set_wake(&scripted, 0);
    scripted_set_wake(&scripted, 1);
    assert_int_equal(scripted.stream.samples, 5);
    assert_int_equal(scripted.stream.faults, 2);
    assert_int_equal(uvperf_is_active(&set->handle), 1);
    expect_sums(&scripted);
    scripted_set_close(&scripted);
  }
}

static void set_ring_broken_in_each_turn_is_reported_each_time(void **state) {
  scripted_set_t scripted;
  size_t mode;
  uint64_t i;

  for (mode = 0; mode < LIVE_STREAM_MODES; mode++) {
    scripted_set_begin(*state, &scripted, mode);
    live_run_ms(*state, 5);
    for (i = 1; i <= 20; i++) {
      scripted_set_spoil(&scripted, 0);
      scripted_set_sample(&scripted, 1, 102, i);
      scripted_set_wake(&scripted, 0);
      scripted_set_wake(&scripted, 1);
      assert_int_equal(scripted.stream.faults, i);
      assert_int_equal(scripted.stream.samples, i);
    }
    expect_sums(&scripted);
    scripted_set_close(&scripted);
  }
}

static void set_ring_with_a_split_head_leaves_the_others(void **state) {
  uvperf_ring_info_t ring;
  uvperf_error_t error;
  uvperf_stats_t stats;
  uvperf_set_t *set;
  size_t mode;
  scripted_set_t scripted;

  set = &scripted.stream.live.set;
  for (mode = 0; mode < LIVE_STREAM_MODES; mode++) {
    scripted_set_begin(*state, &scripted, mode);
    live_run_ms(*state, 5);
    scripted_set_sample(&scripted, 0, 100, 1);
    scripted_set_split(&scripted, 0);
    scripted_set_sample(&scripted, 1, 102, 2);
    scripted_set_wake(&scripted, 0);
    scripted_set_wake(&scripted, 1);
    assert_int_equal(scripted.stream.samples, 2);
    assert_int_equal(scripted.stream.faults, 1);
    assert_int_equal(scripted.stream.fault, UV_EPROTO);
    assert_int_equal(scripted.stream.fault_ring.cpu, 0);
    assert_int_equal(scripted.stream.fault_ring.status, UV_EPROTO);
    scripted_set_sample(&scripted, 1, 102, 4);
    scripted_set_wake(&scripted, 0);
    scripted_set_wake(&scripted, 1);
    assert_int_equal(scripted.stream.samples, 3);
    assert_int_equal(uvperf_flush(&set->handle), 0);
    assert_int_equal(scripted.stream.faults, 1);
    assert_int_equal(uvperf_is_active(&set->handle), 1);
    uvperf_stats(&set->handle, &stats);
    assert_int_equal(stats.corrupt, 1);
    assert_int_equal(stats.records, 3);
    expect_sums(&scripted);
    assert_int_equal(uvperf_ring(&set->handle, 0, &ring), 0);
    assert_int_equal(ring.status, UV_EPROTO);
    assert_int_equal(uvperf_ring(&set->handle, 1, &ring), 0);
    assert_int_equal(ring.status, 0);

    /* And the last one. */
    scripted_set_split(&scripted, 1);
    scripted_set_wake(&scripted, 1);
    assert_int_equal(scripted.stream.faults, 2);
    assert_int_equal(scripted.stream.fault_ring.cpu, 1);
    assert_int_equal(scripted.stream.eofs, 0);
    assert_int_equal(uvperf_is_active(&set->handle), 0);
    assert_int_equal(
        uvperf_start(&set->handle, NULL, live_stream_on_record, &error),
        UV_EPROTO);
    assert_int_equal(error.cause, UVPERF_CAUSE_UNKNOWN);
    assert_int_equal(uvperf_flush(&set->handle), 0);
    assert_int_equal(scripted.stream.samples, 3);
    scripted_set_close(&scripted);
  }
}

/* A flush is no slice. */
static void
set_ring_with_a_split_head_in_a_flush_is_reported_there(void **state) {
  uvperf_stream_options_t options = live_stream_plain;
  size_t mode;
  scripted_set_t scripted;

  options.flags = UVPERF_START_SLICE_END;
  for (mode = 0; mode < LIVE_STREAM_MODES; mode++) {
    scripted_set_open(*state, &scripted, mode);
    live_stream_start(&scripted.stream, &options);
    scripted_set_sample(&scripted, 1, 102, 1);
    scripted_set_split(&scripted, 0);
    scripted_set_split(&scripted, 1);
    assert_int_equal(uvperf_flush(&scripted.stream.live.set.handle), 0);
    assert_int_equal(scripted.stream.faults, 2);
    assert_int_equal(scripted.stream.samples, 1);
    assert_int_equal(scripted.stream.slice_ends, 0);
    assert_int_equal(uvperf_is_active(&scripted.stream.live.set.handle), 0);
    scripted_set_close(&scripted);
  }
}

static void stop_at_slice_end(live_stream_t *stream,
                              const uvperf_record_t *record) {
  if (record->type == UVPERF_RECORD_NONE)
    assert_int_equal(uvperf_stop(&stream->live.set.handle), 0);
}

/* The end of the slice before it comes first, and who stops there. */
static void set_last_ring_that_ends_is_reported_after_a_start(void **state) {
  uvperf_stream_options_t options = live_stream_plain;
  uvperf_stats_t stats;
  scripted_set_t scripted;
  size_t mode;

  options.flags = UVPERF_START_SLICE_END;
  for (mode = 0; mode < LIVE_STREAM_MODES; mode++) {
    scripted_set_open(*state, &scripted, mode);
    live_stream_start(&scripted.stream, &options);
    scripted_set_split(&scripted, 1);
    scripted_set_wake(&scripted, 1);
    assert_int_equal(scripted.stream.faults, 1);
    scripted_set_sample(&scripted, 0, 100, 1);
    scripted_set_split(&scripted, 0);
    scripted.stream.on_record = stop_at_slice_end;
    scripted_set_wake(&scripted, 0);
    assert_int_equal(scripted.stream.slice_ends, 1);
    assert_int_equal(scripted.stream.faults, 1);
    scripted.stream.on_record = NULL;
    live_stream_start(&scripted.stream, &options);
    live_run_ms(*state, 5);
    assert_int_equal(scripted.stream.faults, 2);
    uvperf_stats(&scripted.stream.live.set.handle, &stats);
    assert_int_equal(stats.corrupt, 2);
    assert_int_equal(uvperf_is_active(&scripted.stream.live.set.handle), 0);
    scripted_set_close(&scripted);
  }
}

/* Its owner, a dummy of the first thread, hangs up: the measured targets have
 * not ended. */
static void set_ring_whose_owner_hangs_up_is_polled_by_a_spare(void **state) {
  scripted_set_t scripted;
  uvperf_ring_info_t info;
  fake_event_t *spare;
  size_t mode;

  for (mode = 0; mode < LIVE_STREAM_MODES; mode++) {
    scripted_set_begin(*state, &scripted, mode);
    live_run_ms(*state, 5);
    spare = fake_event_add(200);
    scripted.events[1]->revents = POLLHUP;
    scripted_set_wake(&scripted, 0);
    assert_int_equal(spare->cpu, 0);
    assert_int_equal(uvperf_ring(&scripted.stream.live.set.handle, 0, &info),
                     0);
    assert_int_equal(info.fd, spare->fd);
    assert_int_equal(info.status, 0);
    scripted_set_sample(&scripted, 0, 100, 1);
    fake_event_wake(spare);
    assert_true(live_run_until(*state, &scripted.stream.samples, 1));
    /* The owner is readable for ever, but is not polled any more. */
    assert_true(live_run_ms(*state, 200) < 100);
    assert_int_equal(scripted.stream.faults, 0);
    scripted_set_close(&scripted);
  }
}

static void
set_ring_whose_owner_hangs_up_without_spare_is_an_error(void **state) {
  scripted_set_t scripted;
  size_t mode;

  for (mode = 0; mode < LIVE_STREAM_MODES; mode++) {
    scripted_set_begin(*state, &scripted, mode);
    live_run_ms(*state, 5);
    scripted_set_sample(&scripted, 0, 100, 1);
    fake_fail(FAKE_OPEN, 1, -EMFILE);
    scripted.events[1]->revents = POLLHUP;
    scripted_set_wake(&scripted, 0);
    assert_true(live_run_until(*state, &scripted.stream.faults, 1));
    assert_int_equal(scripted.stream.fault, UV_EMFILE);
    assert_int_equal(scripted.stream.samples, 1);
    scripted_set_sample(&scripted, 0, 100, 2);
    scripted_set_sample(&scripted, 1, 102, 3);
    scripted_set_wake(&scripted, 1);
    assert_int_equal(scripted.stream.samples, 2);
    assert_int_equal(scripted.stream.faults, 1);
    assert_int_equal(scripted.stream.eofs, 0);
    assert_int_equal(uvperf_is_active(&scripted.stream.live.set.handle), 1);
    scripted_set_close(&scripted);
  }
}

/* Nothing will read what they write later. */
static void
set_events_of_an_ended_ring_are_forgotten_once_closed(void **state) {
  size_t mode;
  scripted_set_t scripted;
  uvperf_set_t *set;

  set = &scripted.stream.live.set;
  for (mode = 0; mode < LIVE_STREAM_MODES; mode++) {
    scripted_set_begin(*state, &scripted, mode);
    scripted_set_split(&scripted, 0);
    live_run_ms(*state, 5);
    assert_non_null(uvperf_set_source(set, 100));
    assert_int_equal(uvperf_set_remove(set, 0, NULL, NULL), 0);
    fake_clock_set_counters(UINT64_MAX / 2);
    scripted_set_wake(&scripted, 1);
    assert_null(uvperf_set_source(set, 100));
    assert_null(uvperf_set_source(set, 102));
    fake_clock_set_counters(0);
    scripted_set_close(&scripted);
  }
}

static void set_record_that_is_not_sound_comes_raw(void **state) {
  uvperf_stats_t stats;
  size_t mode;
  scripted_set_t scripted;

  for (mode = 0; mode < LIVE_STREAM_MODES; mode++) {
    scripted_set_begin(*state, &scripted, mode);
    live_run_ms(*state, 5);
    scripted_set_sample(&scripted, 0, 100, 1);
    scripted_set_cut(&scripted, 0);
    scripted_set_sample(&scripted, 0, 100, 3);
    scripted_set_wake(&scripted, 0);
    assert_int_equal(scripted.stream.records, 3);
    assert_int_equal(scripted.stream.samples, 2);
    assert_int_equal(scripted.stream.corrupt, 1);
    assert_int_equal(scripted.stream.faults, 0);
    uvperf_stats(&scripted.stream.live.set.handle, &stats);
    assert_int_equal(stats.corrupt, 1);
    assert_int_equal(stats.records, 3);
    scripted_set_close(&scripted);
  }
}

/* Each CPU has a ring, into which one source writes. */
static void set_sample_of_an_unknown_id_is_its_own(void **state) {
  uvperf_stats_t stats;
  size_t mode;
  scripted_set_t scripted;

  for (mode = 0; mode < LIVE_STREAM_MODES; mode++) {
    scripted_set_begin(*state, &scripted, mode);
    live_run_ms(*state, 5);
    scripted_set_sample(&scripted, 0, 100, 1);
    scripted_set_sample(&scripted, 0, 4711, 2);
    scripted_set_sample(&scripted, 1, 4711, 3);
    scripted_set_wake(&scripted, 0);
    scripted_set_wake(&scripted, 1);
    assert_int_equal(scripted.stream.samples, 3);
    assert_int_equal(scripted.stream.foreign, 0);
    uvperf_stats(&scripted.stream.live.set.handle, &stats);
    assert_int_equal(stats.corrupt, 0);
    scripted_set_close(&scripted);
  }
}

static void close_in_fault(live_stream_t *stream,
                           const uvperf_record_t *record) {
  (void)record;
  if (stream->faults > 0)
    uvperf_close(&stream->live.set.handle, live_set_on_close);
}

static void set_closed_when_a_ring_is_unsound_is_clean(void **state) {
  size_t mode;
  scripted_set_t scripted;
  int is_last;

  for (mode = 0; mode < LIVE_STREAM_MODES; mode++)
    for (is_last = 0; is_last < 2; is_last++) {
      scripted_set_begin(*state, &scripted, mode);
      if (is_last) {
        scripted_set_spoil(&scripted, 1);
        live_run_ms(*state, 5);
        scripted.stream.faults = 0;
      }
      scripted.stream.on_record = close_in_fault;
      scripted_set_spoil(&scripted, 0);
      scripted_set_sample(&scripted, 1, 102, 1);
      scripted_set_wake(&scripted, 0);
      assert_int_equal(scripted.stream.faults, 1);
      assert_int_equal(scripted.stream.live.closed, 1);
      uvperf_reading_free(scripted.stream.live.reading);
      fake_assert_clean();
    }
}

/* -- the end of targets --------------------------------------------------- */

static void write_when_asked(fake_event_t *fake) {
  scripted_set_t *scripted = fake->data;

  scripted_set_sample(scripted, 0, 100, 1);
  scripted->asked += 1;
}

/* The next question comes sooner. */
static void expect_question_soon(live_stream_t *stream,
                                 const uvperf_record_t *record) {
  const set_t *impl = stream->live.set.handle.impl;

  assert_int_equal(record->type, PERF_RECORD_EXIT);
  assert_true(impl->probe_at <= uv_now(stream->live.set.handle.loop) + 10);
  assert_int_equal(impl->probe_ms, 10);
}

static void set_exit_record_has_the_end_asked_for_soon(void **state) {
  record_builder_t builder;
  record_values_t values;
  scripted_set_t scripted;
  set_t *impl;
  size_t mode;

  for (mode = 0; mode < LIVE_STREAM_MODES; mode++) {
    scripted_set_begin(*state, &scripted, mode);
    live_run_ms(*state, 5);
    impl = scripted.stream.live.set.handle.impl;
    impl->probe_at = uv_now(*state) + 100000;
    record_values_init(&values);
    values.id = 100;
    values.time = scripted.base;
    record_build(&builder, PERF_RECORD_EXIT, &scripted.events[0]->attr,
                 &values);
    fake_ring_append(scripted.events[1], builder.words, builder.size);
    scripted.stream.on_record = expect_question_soon;
    assert_int_equal(uvperf_flush(&scripted.stream.live.set.handle), 0);
    assert_int_equal(scripted.stream.records, 1);
    scripted_set_close(&scripted);
  }
}

/* P8: checking for the end of a target consumes the wakeup of a record just
 * written, which must not wait for the next check. */
static void set_record_whose_wakeup_a_question_eats_comes(void **state) {
  uint64_t asked;
  scripted_set_t scripted;
  size_t mode;
  int i;

  for (mode = 0; mode < LIVE_STREAM_MODES; mode++) {
    scripted_set_plan(&scripted, mode);
    scripted.make.targets[0].type = UVPERF_TARGET_SELF;
    scripted.make.targets[0].cpus = "0";
    scripted.events[0]->on_poll = write_when_asked;
    scripted.events[0]->data = &scripted;
    live_stream_open(*state, &scripted.stream, &scripted.make.options);
    live_stream_start(&scripted.stream, NULL);
    live_run_ms(*state, 5);
    asked = scripted.asked;
    assert_true(asked >= 1);
    while (scripted.asked == asked)
      uv_run(*state, UV_RUN_ONCE);
    for (i = 0; i < 3; i++)
      uv_run(*state, UV_RUN_NOWAIT);
    assert_int_equal(scripted.asked, asked + 1);
    assert_int_equal(scripted.stream.samples, asked + 1);
    scripted_set_close(&scripted);
  }
}

/* -- callbacks among samples ---------------------------------------------- */

static void on_tick(uvperf_set_t *set, int status,
                    const uvperf_reading_t *total,
                    const uvperf_reading_t *delta) {
  live_stream_t *stream = set->handle.data;

  (void)status;
  (void)total;
  (void)delta;
  *(uint64_t *)stream->hook_data += 1;
}

/* The first callback runs the loop until the set has delivered a reading; the
 * others make calls that are refused while the user has a record. */
static void run_the_loop_in_the_first(live_stream_t *stream,
                                      const uvperf_record_t *record) {
  uint64_t *ticks = stream->hook_data;

  (void)record;
  if (stream->samples == 1)
    while (*ticks == 0)
      uv_run(stream->live.set.handle.loop, UV_RUN_ONCE);
  assert_int_equal(uvperf_flush(&stream->live.set.handle), UV_EBUSY);
}

static void set_that_is_read_in_a_callback_of_a_flush_is_busy(void **state) {
  uint64_t ticks;
  size_t mode;
  scripted_set_t scripted;
  uint64_t i;

  for (mode = 0; mode < LIVE_STREAM_MODES; mode++) {
    ticks = 0;
    scripted_set_begin(*state, &scripted, mode);
    live_run_ms(*state, 5);
    for (i = 1; i <= 3; i++)
      scripted_set_sample(&scripted, 0, 100, i);
    scripted.stream.on_record = run_the_loop_in_the_first;
    scripted.stream.hook_data = &ticks;
    assert_int_equal(
        uvperf_set_read_start(&scripted.stream.live.set, 1, on_tick, NULL), 0);
    assert_int_equal(uvperf_flush(&scripted.stream.live.set.handle), 0);
    assert_int_equal(scripted.stream.samples, 3);
    assert_true(ticks > 0);
    scripted_set_close(&scripted);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      scripted_set_test(set_ring_without_sense_is_skipped_and_read_on),
      scripted_set_test(set_ring_broken_in_each_turn_is_reported_each_time),
      scripted_set_test(set_ring_with_a_split_head_leaves_the_others),
      scripted_set_test(
          set_ring_with_a_split_head_in_a_flush_is_reported_there),
      scripted_set_test(set_last_ring_that_ends_is_reported_after_a_start),
      scripted_set_test(set_ring_whose_owner_hangs_up_is_polled_by_a_spare),
      scripted_set_test(
          set_ring_whose_owner_hangs_up_without_spare_is_an_error),
      scripted_set_test(set_events_of_an_ended_ring_are_forgotten_once_closed),
      scripted_set_test(set_record_that_is_not_sound_comes_raw),
      scripted_set_test(set_sample_of_an_unknown_id_is_its_own),
      scripted_set_test(set_closed_when_a_ring_is_unsound_is_clean),
      scripted_set_test(set_exit_record_has_the_end_asked_for_soon),
      scripted_set_test(set_record_whose_wakeup_a_question_eats_comes),
      scripted_set_test(set_that_is_read_in_a_callback_of_a_flush_is_busy),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
