/* SPDX-License-Identifier: MIT */
/* Scripted: samples of unknown events, and the end of a target in the middle of
 * records. */
#include "scripted_set.h"

#include "make_record.h"
#include "set/internal.h"

static scripted_set_t scripted;

/* Each CPU has a ring, into which one source writes. */
static void set_sample_of_an_unknown_id_is_its_own(void **state) {
  /* Each of these has a decoder of its own. */
  static const uint64_t types[] = {PERF_SAMPLE_TID, PERF_SAMPLE_RAW,
                                   PERF_SAMPLE_IP | PERF_SAMPLE_CALLCHAIN,
                                   PERF_SAMPLE_ADDR | PERF_SAMPLE_WEIGHT};
  uvperf_stats_t stats;
  size_t mode;

  for (mode = 0; mode < 4 * LIVE_STREAM_MODES; mode++) {
    scripted_set_plan(&scripted, mode / 4);
    scripted.make.attrs[0].sample_type = types[mode % 4];
    scripted_set_open_planned(*state, &scripted);
    live_stream_start(&scripted.stream, NULL);
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

/* -- the end of targets --------------------------------------------------- */

static void write_when_asked(fake_event_t *fake) {
  scripted_set_sample(&scripted, 0, 100, 1);
  scripted.asked += 1;
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

  *(uint64_t *)stream->hook_data += 1;
}

/* The first callback runs the loop until the set has delivered a reading; the
 * others make calls that are refused while the user has a record. */
static void run_the_loop_in_the_first(live_stream_t *stream,
                                      const uvperf_record_t *record) {
  uint64_t *ticks = stream->hook_data;

  if (stream->samples == 1)
    while (*ticks == 0)
      uv_run(stream->live.set.handle.loop, UV_RUN_ONCE);
  assert_int_equal(uvperf_flush(&stream->live.set.handle), UV_EBUSY);
}

static void set_that_is_read_in_a_callback_of_a_flush_is_busy(void **state) {
  uint64_t ticks;
  size_t mode;
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
      scripted_set_test(set_sample_of_an_unknown_id_is_its_own),
      scripted_set_test(set_exit_record_has_the_end_asked_for_soon),
      scripted_set_test(set_record_whose_wakeup_a_question_eats_comes),
      scripted_set_test(set_that_is_read_in_a_callback_of_a_flush_is_busy),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
