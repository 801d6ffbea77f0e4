/* SPDX-License-Identifier: MIT */
/* Scripted: a set's records taken one by one. */
#include "scripted_set.h"

#include <errno.h>
#include <poll.h>

#include "fake_clock.h"

static uvperf_set_t *set_of(scripted_set_t *scripted) {
  return &scripted->stream.live.set;
}

/* Takes a sample, which must be of this CPU and time. */
static void expect_sample(scripted_set_t *scripted, int cpu, uint64_t time) {
  const uvperf_record_t *record;

  assert_int_equal(uvperf_has_record(&set_of(scripted)->handle), 1);
  assert_int_equal(uvperf_next(&set_of(scripted)->handle, &record), 0);
  assert_int_equal(record->type, PERF_RECORD_SAMPLE);
  assert_int_equal(record->source->cpu, cpu);
  assert_ptr_equal(record->source->data, (void *)1);
  if (scripted->make.options.flags & UVPERF_SET_TIME_ORDER)
    assert_int_equal(record->time, scripted->base + time);
}

/* Next returns this code, and no record unless a ring made no sense. */
static void expect_code(scripted_set_t *scripted, int code) {
  const uvperf_record_t *record = (const uvperf_record_t *)scripted;

  assert_int_equal(uvperf_next(&set_of(scripted)->handle, &record), code);
  if (code == UV_EPROTO)
    assert_int_equal(record->type, UVPERF_RECORD_NONE);
  else
    assert_null(record);
}

static void expect_empty(scripted_set_t *scripted) {
  assert_int_equal(uvperf_has_record(&set_of(scripted)->handle), 0);
  expect_code(scripted, UV_EAGAIN);
}

/* -- order ----------------------------------------------------------------- */

/* Records written while the results of a check are read wait for the next
 * check. */
static void set_next_checks_each_ring_in_turn(void **state) {
  scripted_set_t scripted;

  scripted_set_open(*state, &scripted, 0);
  expect_empty(&scripted);
  scripted_set_sample(&scripted, 0, 100, 1);
  scripted_set_sample(&scripted, 0, 100, 2);
  scripted_set_sample(&scripted, 1, 102, 3);
  expect_sample(&scripted, 0, 1);
  scripted_set_sample(&scripted, 0, 100, 4);
  expect_sample(&scripted, 0, 2);
  expect_sample(&scripted, 1, 3);
  expect_sample(&scripted, 0, 4);
  expect_empty(&scripted);
  scripted_set_close(&scripted);
}

static void set_next_by_time_returns_the_oldest_of_one_check(void **state) {
  scripted_set_t scripted;
  uvperf_stats_t stats;

  scripted_set_open(*state, &scripted, 1);
  expect_empty(&scripted);
  scripted_set_sample(&scripted, 0, 100, 10);
  scripted_set_sample(&scripted, 0, 100, 30);
  scripted_set_sample(&scripted, 1, 102, 20);
  expect_sample(&scripted, 0, 10);
  scripted_set_sample(&scripted, 1, 102, 25);
  expect_sample(&scripted, 1, 20);
  expect_sample(&scripted, 0, 30);
  expect_sample(&scripted, 1, 25); /* late */
  expect_empty(&scripted);
  uvperf_stats(&set_of(&scripted)->handle, &stats);
  assert_int_equal(stats.records, 4);
  assert_int_equal(stats.late_records, 1);
  scripted_set_close(&scripted);
}

static void set_next_of_an_impossible_time_has_the_time_before(void **state) {
  const uvperf_record_t *record;
  scripted_set_t scripted;
  uvperf_stats_t stats;

  scripted_set_open(*state, &scripted, 1);
  scripted_set_sample(&scripted, 0, 100, 1);
  scripted_set_sample(&scripted, 0, 100, UINT64_MAX / 4);
  expect_sample(&scripted, 0, 1);
  assert_int_equal(uvperf_next(&set_of(&scripted)->handle, &record), 0);
  assert_int_equal(record->time, scripted.base + 1);
  uvperf_stats(&set_of(&scripted)->handle, &stats);
  assert_int_equal(stats.bad_times, 1);
  scripted_set_close(&scripted);
}

/* -- the tail -------------------------------------------------------------- */

/* After each quarter, not after each record; the last record is still in
 * use. */
static void set_next_publishes_the_tail_by_quarters_and_at_the_end(void **s) {
  const uvperf_record_t *record;
  scripted_set_t scripted;
  uint64_t stores, tail, taken;
  fake_event_t *ring;
  size_t mode;

  for (mode = 0; mode < LIVE_STREAM_MODES; mode++) {
    scripted_set_open(*s, &scripted, mode);
    ring = scripted.events[1];
    while (ring->page->data_head < ring->ring_size * 9 / 10)
      scripted_set_sample(&scripted, 0, 100, ring->page->data_head);
    stores = 0;
    taken = 0;
    tail = 0;
    while (uvperf_next(&set_of(&scripted)->handle, &record) == 0) {
      assert_true(ring->page->data_tail <= taken);
      assert_true(taken - ring->page->data_tail < ring->ring_size / 4);
      stores += ring->page->data_tail != tail;
      tail = ring->page->data_tail;
      taken += record->size;
    }
    assert_int_equal(stores, 3);
    assert_int_equal(ring->page->data_tail, ring->page->data_head);
    scripted_set_close(&scripted);
  }
}

/* The one that the user has is not counted as one that waits. */
static void set_has_record_ignores_the_record_in_use(void **state) {
  scripted_set_t scripted;
  size_t mode;

  for (mode = 0; mode < LIVE_STREAM_MODES; mode++) {
    scripted_set_open(*state, &scripted, mode);
    assert_int_equal(uvperf_has_record(&set_of(&scripted)->handle), 0);
    scripted_set_sample(&scripted, 1, 102, 1);
    expect_sample(&scripted, 1, 1);
    fake_log_clear();
    assert_int_equal(uvperf_has_record(&set_of(&scripted)->handle), 0);
    scripted_set_sample(&scripted, 1, 102, 2);
    assert_int_equal(uvperf_has_record(&set_of(&scripted)->handle), 1);
    assert_string_equal(fake_log(), "");
    scripted_set_close(&scripted);
  }
}

/* -- beside start and flush ------------------------------------------------ */

/* A source is not freed while a record of it is in the user's hands. */
static void set_next_keeps_the_source_of_a_removed_target(void **state) {
  const uvperf_record_t *record;
  scripted_set_t scripted;
  uvperf_target_t target = UVPERF_TARGET_INIT;
  size_t mode;

  for (mode = 0; mode < LIVE_STREAM_MODES; mode++) {
    scripted_set_open(*state, &scripted, mode);
    scripted_set_sample(&scripted, 0, 100, 1);
    assert_int_equal(uvperf_next(&set_of(&scripted)->handle, &record), 0);
    assert_int_equal(uvperf_set_remove(set_of(&scripted), 0, NULL, NULL), 0);
    fake_clock_set_counters(UINT64_MAX / 2);
    uvperf_set_add(set_of(&scripted), &target, NULL, NULL, NULL);
    assert_ptr_equal(record->source->data, (void *)1);
    expect_code(&scripted, UV_EAGAIN);
    expect_code(&scripted, UV_EAGAIN);
    assert_null(uvperf_set_source(set_of(&scripted), 100));
    fake_clock_set_counters(0);
    scripted_set_close(&scripted);
  }
}

/* -- the end of targets ---------------------------------------------------- */

/* With two threads. */
static void open_threads(uv_loop_t *loop, scripted_set_t *scripted,
                         size_t mode) {
  uvperf_target_t *target;
  size_t i;

  scripted_set_plan(scripted, mode);
  for (i = 0; i < 2; i++) {
    target = i == 0 ? &scripted->make.targets[0]
                    : evlist_add(&scripted->make, UVPERF_TARGET_SELF);
    target->type = UVPERF_TARGET_SELF;
    target->cpus = "0";
    target->data = (void *)1;
  }
  scripted_set_open_planned(loop, scripted);
  fake_log_clear();
}

static void write_when_asked(fake_event_t *fake) {
  scripted_set_t *scripted = fake->data;

  fake->on_poll = NULL;
  scripted_set_sample(scripted, 0, 100, 2);
}

/* Records that come while it checks for the end are returned before the end,
 * and the check costs system calls. */
static void set_next_reports_each_end_then_eof(void **state) {
  scripted_set_t scripted;
  live_stream_t *stream = &scripted.stream;
  size_t mode;

  for (mode = 0; mode < LIVE_STREAM_MODES; mode++) {
    open_threads(*state, &scripted, mode);
    scripted_set_sample(&scripted, 0, 100, 1);
    expect_sample(&scripted, 0, 1);
    expect_empty(&scripted);
    assert_string_equal(fake_log(), "");
    expect_empty(&scripted);
    assert_int_equal(stream->nr_ends, 0);
    scripted.events[0]->revents = POLLHUP;
    scripted.events[0]->data = &scripted;
    scripted.events[0]->on_poll = write_when_asked;
    assert_int_equal(uvperf_has_record(&set_of(&scripted)->handle), 0);
    {
      const uvperf_record_t *record;

      assert_int_equal(uvperf_next(&set_of(&scripted)->handle, &record), 0);
      assert_int_equal(record->type, PERF_RECORD_SAMPLE);
    }
    assert_int_equal(stream->nr_ends, 0);
    expect_empty(&scripted);
    expect_empty(&scripted);
    assert_int_equal(stream->nr_ends, 1);
    assert_int_equal(stream->ended[0], 0);
    scripted.events[2]->revents = POLLHUP;
    expect_code(&scripted, UV_EOF);
    assert_int_equal(stream->nr_ends, 2);
    assert_int_equal(stream->ended[1], 1);
    expect_code(&scripted, UV_EOF);
    assert_int_equal(uvperf_start(&set_of(&scripted)->handle, NULL,
                                  live_stream_on_record, NULL),
                     UV_EOF);
    scripted_set_close(&scripted);
  }
}

static void close_at_end(live_stream_t *stream, uint32_t target) {
  const uvperf_record_t *record;

  (void)target;
  assert_int_equal(uvperf_next(&stream->live.set.handle, &record), UV_EBUSY);
  uvperf_close(&stream->live.set.handle, live_set_on_close);
}

static void set_closed_in_the_end_that_next_reports_is_ecanceled(void **state) {
  scripted_set_t scripted;

  open_threads(*state, &scripted, 0);
  scripted.stream.on_end = close_at_end;
  scripted.events[0]->revents = POLLHUP;
  expect_code(&scripted, UV_EAGAIN);
  expect_code(&scripted, UV_ECANCELED);
  live_set_wait_closed(&scripted.stream.live);
  fake_assert_clean();
}

/* -- refusals -------------------------------------------------------------- */

static void set_next_of_other_sets_is_einval(void **state) {
  scripted_set_t scripted;

  scripted_set_plan(&scripted, 0);
  scripted.make.options.flags = UVPERF_SET_RECORDS | UVPERF_SET_OVERWRITE;
  scripted.make.options.wakeup_bytes = 0;
  scripted_set_open_planned(*state, &scripted);
  expect_code(&scripted, UV_EINVAL);
  assert_int_equal(uvperf_has_record(&set_of(&scripted)->handle), 0);
  scripted_set_overwrite(&scripted, 0, 100, 1);
  assert_int_equal(uvperf_has_record(&set_of(&scripted)->handle), 1);
  scripted_set_close(&scripted);

  scripted_set_plan(&scripted, 0);
  scripted.make.options.flags = 0;
  scripted.make.options.ring_bytes = 0;
  scripted.make.options.wakeup_bytes = 0;
  scripted_set_open_planned(*state, &scripted);
  expect_code(&scripted, UV_EINVAL);
  assert_int_equal(uvperf_next(&set_of(&scripted)->handle, NULL), UV_EINVAL);
  assert_int_equal(uvperf_has_record(&set_of(&scripted)->handle), 0);
  scripted_set_close(&scripted);
}

/* The scratch; then the merge, and of that the lists and the first ring. */
static void set_next_without_memory_can_be_asked_again(void **state) {
  static const unsigned int nths[] = {1, 2, 1, 2, 2};
  scripted_set_t scripted;
  size_t mode, i;

  for (mode = 0; mode < LIVE_STREAM_MODES; mode++) {
    scripted_set_open(*state, &scripted, mode);
    scripted_set_sample(&scripted, 0, 100, 1);
    for (i = 0; i < (mode == 0 ? 1 : 5); i++) {
      fake_fail(FAKE_CALLOC, nths[i], -ENOMEM);
      expect_code(&scripted, UV_ENOMEM);
    }
    expect_sample(&scripted, 0, 1);
    scripted_set_close(&scripted);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      scripted_set_test(set_next_checks_each_ring_in_turn),
      scripted_set_test(set_next_by_time_returns_the_oldest_of_one_check),
      scripted_set_test(set_next_of_an_impossible_time_has_the_time_before),
      scripted_set_test(set_next_publishes_the_tail_by_quarters_and_at_the_end),
      scripted_set_test(set_has_record_ignores_the_record_in_use),
      scripted_set_test(set_next_keeps_the_source_of_a_removed_target),
      scripted_set_test(set_next_reports_each_end_then_eof),
      scripted_set_test(set_closed_in_the_end_that_next_reports_is_ecanceled),
      scripted_set_test(set_next_of_other_sets_is_einval),
      scripted_set_test(set_next_without_memory_can_be_asked_again),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
