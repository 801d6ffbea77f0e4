/* SPDX-License-Identifier: MIT */
/* Start, stop, flush and next of each kind of handle, outside of callbacks:
 * what a start enables and refuses, how long it keeps the loop alive, and that
 * each of them continues where another has stopped. */
#include "life.h"

/* -- start and stop ------------------------------------------------------- */

static void start_enables_unless_the_program_has(life_t *life) {
  const int is_reader = (life->kind & LIFE_READERS) != 0;
  int is_late;

  /* Only the first start, and stop disables nothing. */
  life_open(life);
  assert_false(life_is_enabled(life));
  life_start_with(life, 0, UVPERF_START_NO_ENABLE);
  assert_false(life_is_enabled(life));
  life_stop(life);
  assert_false(life_is_enabled(life));
  life_start(life);
  assert_true(life_is_enabled(life));
  life_stop(life);
  assert_true(life_is_enabled(life));
  life_end(life);
  /* None after the program's own enable and disable, before and after it. */
  for (is_late = 0; is_late < 2; is_late++) {
    life_open(life);
    if (is_late)
      life_start(life);
    else
      life_enable(life);
    assert_true(life_is_enabled(life));
    if (is_reader)
      assert_int_equal(uvperf_bpf_reader_unpublish(
                           uvperf_handle_bpf_reader(life->handle), NULL),
                       0);
    else
      assert_int_equal(uvperf_disable(life->handle, UVPERF_ALL, NULL), 0);
    life_stop(life);
    life_start(life);
    assert_false(life_is_enabled(life));
    life_end(life);
  }
}

static void start_without_enable_leaves_that_to_the_user(life_t *life) {
  life_open(life);
  life_start_with(life, 0, UVPERF_START_NO_ENABLE);
  life_enable(life);
  life_write(life, 2);
  life_expect(life, "2");
  life_stop(life);
  life_write(life, 3);
  life_expect(life, "%s", "");
  life_start_with(life, 0, UVPERF_START_NO_ENABLE);
  life_expect(life, "3");
}

static void records_from_before_the_start_are_delivered(life_t *life) {
  life_open(life);
  life_enable(life);
  life_write(life, 3);
  life_start(life);
  life_expect(life, "3");
  life_stop(life);
  life_write(life, 2);
  life_start(life);
  life_write(life, 2);
  life_expect(life, "4");
}

static void on_record(uvperf_handle_t *handle, int status,
                      const uvperf_record_t *record) {
}

static void expect_refusal(life_t *life, const uvperf_stream_options_t *options,
                           uvperf_record_cb cb, int code) {
  uvperf_error_t error = {0};

  assert_int_equal(uvperf_start(life->handle, options, cb, &error), code);
  assert_int_equal(error.code, code);
  assert_int_equal(error.cause, UVPERF_CAUSE_ARGUMENT);
  assert_int_equal(uvperf_is_active(life->handle), 0);
}

static void start_refuses_wrong_options(life_t *life) {
  uvperf_stream_options_t options = UVPERF_STREAM_OPTIONS_INIT;
  struct {
    uvperf_stream_options_t options;
    char tail[8];
  } newer = {UVPERF_STREAM_OPTIONS_INIT, {0}};

  life_open(life);
  if (life->kind != LIFE_FLIGHT)
    expect_refusal(life, NULL, NULL, UV_EINVAL);
  options.flags = 1u << 31;
  expect_refusal(life, &options, on_record, UV_EINVAL);
  options.flags = 0;
  options.flush_ms = -2;
  expect_refusal(life, &options, on_record, UV_EINVAL);
  options.flush_ms = -1;
  options.size = 3;
  expect_refusal(life, &options, on_record, UV_EINVAL);
  newer.options.size = sizeof(newer);
  newer.tail[7] = 1;
  expect_refusal(life, &newer.options, on_record, UV_E2BIG);
  if (life->is_scripted)
    assert_false(life_is_enabled(life));
  newer.tail[7] = 0;
  assert_int_equal(uvperf_start(life->handle, &newer.options, on_record, NULL),
                   0);
  assert_int_equal(life_try_start(life), UV_EALREADY);
  assert_int_equal(life->error.cause, UVPERF_CAUSE_ARGUMENT);
}

/* Nothing counts, and the loop is not held. */
static void expect_not_started(life_t *life) {
  assert_false(life_is_enabled(life));
  assert_int_equal(uvperf_is_active(life->handle), 0);
  assert_int_equal(uv_loop_alive(life->loop), 0);
}

static void fail_start(life_t *life, enum fake_call call, unsigned int nth) {
  life_open(life);
  fake_fail(call, nth, -EACCES);
  assert_int_equal(life_try_start(life), UV_EACCES);
  assert_int_equal(life->error.code, UV_EACCES);
  assert_int_equal(life->error.cause, UVPERF_CAUSE_PERMISSION);
  expect_not_started(life);
  assert_int_equal(uvperf_flush(life->handle), UV_EINVAL);
  life_start(life);
  assert_true(life_is_enabled(life));
  life_write(life, 2);
  life_expect(life, "2");
  life_end(life);
}

static void start_that_fails_is_undone(life_t *life) {
  fail_start(life, FAKE_IOCTL, 1);
  if (!(life->kind & LIFE_EVENTS))
    fail_start(life, FAKE_IOCTL, 2);
  if (!(life->kind & LIFE_READERS))
    return;
  fail_start(life, FAKE_BPF_UPDATE, 1);
  fail_start(life, FAKE_BPF_UPDATE, 2);
}

static void start_without_memory_can_be_called_again(life_t *life) {
  unsigned int nth = 0;
  unsigned int failures;

  do {
    life_open(life);
    fake_fail(FAKE_CALLOC, ++nth, 0);
    if (life_try_start(life) != 0) {
      assert_int_equal(life->error.code, UV_ENOMEM);
      assert_int_equal(life->error.cause, UVPERF_CAUSE_MEMORY);
      expect_not_started(life);
      life_start(life);
    }
    failures = fake_failures();
    life_write(life, 2);
    life_expect(life, "2");
    life_end(life);
  } while (failures != 0);
  assert_true(nth > 1 || life->kind & LIFE_EVENTS);
}

/* -- the loop ------------------------------------------------------------- */

static void handle_keeps_the_loop_alive_while_it_is_active(life_t *life) {
  const int is_active = (life->kind & LIFE_PLAIN) != 0;

  life_open(life);
  assert_int_equal(uvperf_has_ref(life->handle), 1);
  assert_int_equal(uv_loop_alive(life->loop), 0);
  life_start(life);
  assert_int_equal(uvperf_is_active(life->handle), is_active);
  assert_int_equal(uv_loop_alive(life->loop), is_active);
  assert_true(live_run_ms(life->loop, 20) < 20); /* it sleeps */
  uvperf_unref(life->handle);
  assert_int_equal(uvperf_has_ref(life->handle), 0);
  assert_int_equal(uvperf_is_active(life->handle), is_active);
  assert_int_equal(uv_run(life->loop, UV_RUN_DEFAULT), 0);
  uvperf_ref(life->handle);
  assert_int_equal(uv_loop_alive(life->loop), is_active);
  life_turns(life, 5);
  life_stop(life);
  life_stop(life);
  assert_int_equal(uvperf_is_active(life->handle), 0);
  assert_int_equal(uv_loop_alive(life->loop), 0);
  /* Unref'd before the start. */
  uvperf_unref(life->handle);
  life_start(life);
  assert_int_equal(uv_loop_alive(life->loop), 0);
}

static uint64_t slices_of_rings(const life_t *life) {
  uvperf_ring_info_t ring;
  uint64_t sum = 0;
  size_t i;

  for (i = 0; i < uvperf_nr_rings(life->handle); i++) {
    assert_int_equal(uvperf_ring(life->handle, i, &ring), 0);
    sum += ring.stats.slices;
  }
  return sum;
}

/* P1: nothing but the handle itself remembers the rest. */
static void slices_end_after_records_or_bytes(life_t *life) {
  uint64_t before;
  uvperf_stream_options_t options = UVPERF_STREAM_OPTIONS_INIT;
  uvperf_stats_t stats;

  life_open(life);
  life_start_with(life, 2, UVPERF_START_SLICE_END);
  life_write(life, 5);
  life_expect(life, "2 slice 2 slice 1 slice");
  uvperf_stats(life->handle, &stats);
  assert_int_equal(stats.records, 5);
  assert_int_equal(stats.slices, 3);
  life_stop(life);
  before = slices_of_rings(life);
  options.slice_bytes = 1;
  options.slice_us = LIVE_SLICE_US;
  options.flush_ms = -1;
  options.flags = UVPERF_START_SLICE_END;
  assert_int_equal(life_try_start_with(life, &options), 0);
  life_write(life, 3);
  life_expect(life, "1 slice 1 slice 1 slice");
  assert_int_equal(slices_of_rings(life), before + 3);
  assert_true(live_run_ms(life->loop, 20) < 20);
}

/* -- flush ---------------------------------------------------------------- */

static void flush_has_no_slices_and_works_when_stopped(life_t *life) {
  life_open(life);
  life_start_with(life, 1, UVPERF_START_SLICE_END);
  life_write(life, 5);
  assert_int_equal(uvperf_flush(life->handle), 0);
  life_expect(life, "5");
  assert_int_equal(slices_of_rings(life), 0);
  life_stop(life);
  life_write(life, 3);
  life_expect(life, "%s", "");
  assert_int_equal(uvperf_flush(life->handle), 0);
  assert_int_equal(uvperf_flush(life->handle), 0);
  life_expect(life, "3");
}

/* -- next ----------------------------------------------------------------- */

static void take(life_t *life, int nr) {
  for (; nr > 0; nr--) {
    assert_int_equal(uvperf_has_record(life->handle), 1);
    assert_int_equal(life_next(life), 0);
  }
}

static void expect_none(life_t *life) {
  assert_int_equal(uvperf_has_record(life->handle), 0);
  assert_int_equal(life_next(life), UV_EAGAIN);
}

static void next_returns_records_in_order_then_eagain(life_t *life) {
  uvperf_stats_t stats;

  life_open(life);
  life_enable(life);
  expect_none(life);
  life_write(life, 5);
  take(life, 5);
  expect_none(life);
  expect_none(life);
  life_write(life, 1);
  take(life, 1);
  life_expect_now(life, "6");
  assert_int_equal(uvperf_next(life->handle, NULL), UV_EINVAL);
  uvperf_stats(life->handle, &stats);
  assert_int_equal(stats.records, 6);
}

/* Each continues where the other has stopped. */
static void next_start_and_flush_take_turns(life_t *life) {
  life_open(life);
  life_enable(life);
  life_write(life, 5);
  take(life, 2);
  life_start(life);
  assert_int_equal(life_next(life), UV_EBUSY);
  life_expect(life, "5");
  life_stop(life);
  life_write(life, 4);
  take(life, 1);
  assert_int_equal(uvperf_flush(life->handle), 0);
  expect_none(life);
  life_write(life, 1);
  take(life, 1);
  life_expect_now(life, "5");
}

static void ask_stopped(life_t *life) {
  life_stop(life);
  assert_int_equal(life_next(life), UV_EBUSY);
  assert_int_equal(uvperf_has_record(life->handle), 0);
  assert_int_equal(uvperf_flush(life->handle), UV_EBUSY);
}

/* Also in callbacks without a record, and when it is stopped there. */
static void next_and_flush_inside_a_callback_are_refused(life_t *life) {
  life_open(life);
  life_start_with(life, 2, UVPERF_START_SLICE_END);
  life_write(life, 5);
  life_act(life, LIFE_SLICE, 1, ask_stopped);
  life_expect(life, "2 slice");
  life_start(life);
  life_act(life, LIFE_RECORD, 1, ask_stopped);
  life_expect(life, "1");
  life_act(life, LIFE_RECORD, 1, ask_stopped);
  assert_int_equal(uvperf_flush(life->handle), 0);
  life_expect(life, "1");
  life_start(life);
  life_expect(life, "1");
  life_turns(life, 5);
  life_uv_close_type(life->loop, UV_CHECK);
  life_act(life, LIFE_STATUS, 1, ask_stopped);
  life_write(life, 1);
  life_expect(life, "ECANCELED");
}

int main(void) {
  const unsigned int scripted = LIFE_SCRIPTED;
  const life_test_t tests[] = {
      LIFE_TEST(start_enables_unless_the_program_has, LIFE_ANY | scripted),
      LIFE_TEST(start_without_enable_leaves_that_to_the_user, LIFE_PLAIN),
      LIFE_TEST(records_from_before_the_start_are_delivered, LIFE_PLAIN),
      LIFE_TEST(start_refuses_wrong_options, LIFE_ANY),
      LIFE_TEST(start_that_fails_is_undone, LIFE_PLAIN | scripted),
      LIFE_TEST(start_without_memory_can_be_called_again,
                LIFE_PLAIN | scripted),
      LIFE_TEST(handle_keeps_the_loop_alive_while_it_is_active, LIFE_ANY),
      LIFE_TEST(slices_end_after_records_or_bytes, LIFE_PLAIN),
      LIFE_TEST(flush_has_no_slices_and_works_when_stopped, LIFE_PLAIN),
      LIFE_TEST(next_returns_records_in_order_then_eagain, LIFE_PLAIN),
      LIFE_TEST(next_start_and_flush_take_turns, LIFE_PLAIN),
      LIFE_TEST(next_and_flush_inside_a_callback_are_refused, LIFE_PLAIN),
  };

  return life_main(tests, sizeof(tests) / sizeof(tests[0]));
}
