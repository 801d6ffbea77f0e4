/* SPDX-License-Identifier: MIT */
/* Live: the checks of cilium/ebpf's tests of its perf.Reader about the end of a
 * Read. Here a deadline is a timer of the loop that calls
 * uvperf_flush. The whole list is in ORIGINS. */
#include "cilium_reader.h"

/* -- deadlines ------------------------------------------------------------ */

typedef struct deadline_s {
  uv_timer_t timer;
  cilium_reader_t *cilium;
  uint64_t ticks;
  int code; /* result of the last flush */
} deadline_t;

static void on_deadline(uv_timer_t *timer) {
  deadline_t *deadline = timer->data;

  deadline->ticks += 1;
  deadline->code = uvperf_flush(&deadline->cilium->live.reader.handle);
  uv_stop(timer->loop); /* otherwise the loop may wait for something after it */
}

static void deadline_in(deadline_t *deadline, cilium_reader_t *cilium,
                        uint64_t ms) {
  memset(deadline, 0, sizeof(*deadline));
  deadline->cilium = cilium;
  uv_timer_init(cilium->live.reader.handle.loop, &deadline->timer);
  deadline->timer.data = deadline;
  uv_update_time(cilium->live.reader.handle.loop);
  uv_timer_start(&deadline->timer, on_deadline, ms, 0);
}

static void deadline_passes(deadline_t *deadline) {
  uv_loop_t *loop = deadline->timer.loop;

  assert_true(live_run_until(loop, &deadline->ticks, 1));
  assert_int_equal(deadline->ticks, 1);
  assert_int_equal(deadline->code, 0);
  uv_close((uv_handle_t *)&deadline->timer, NULL);
  uv_run(loop, UV_RUN_NOWAIT);
}

/* cilium TestReaderSetDeadline: two deadlines that have passed already, and a
 * later one. None of them ends the reader. */
static void reader_deadline_without_samples_delivers_nothing(void **state) {
  uvperf_bpf_reader_options_t options = cilium_reader_page();
  static const uint64_t ms[] = {0, 0, 10};
  deadline_t deadline;
  cilium_reader_t cilium;
  size_t i;

  cilium_reader_open(*state, &cilium, __func__, &options);
  cilium_reader_start(&cilium, NULL);
  for (i = 0; i < sizeof(ms) / sizeof(ms[0]); i++) {
    deadline_in(&deadline, &cilium, ms[i]);
    deadline_passes(&deadline);
    assert_int_equal(cilium.callbacks, 0);
    assert_int_equal(uvperf_is_active(&cilium.live.reader.handle), 1);
  }
  cilium_reader_close(&cilium);
}

/* cilium TestReaderSetDeadlinePendingEvents and TestReadWithoutWakeup: a record
 * that does not wake the loop comes at the deadline, once. Later records come
 * at the next deadline. */
static void reader_deadline_delivers_records_that_did_not_wake(void **state) {
  uvperf_bpf_reader_options_t options = cilium_reader_every_second();
  deadline_t deadline;
  cilium_reader_t cilium;

  cilium_reader_open(*state, &cilium, __func__, &options);
  cilium_reader_start(&cilium, NULL);
  cilium_reader_run_pending(&cilium);
  assert_int_equal(cilium_reader_put_out(&cilium, 5, 0), 0);
  cilium_reader_silence(&cilium, 10);
  deadline_in(&deadline, &cilium, 0);
  deadline_passes(&deadline);
  assert_int_equal(cilium.samples, 1);
  cilium_reader_expect(&cilium, 5, 0);
  deadline_in(&deadline, &cilium, 0);
  deadline_passes(&deadline);
  assert_int_equal(cilium.callbacks, 1);
  assert_int_equal(cilium_reader_put_out(&cilium, 6, 1), 0);
  deadline_in(&deadline, &cilium, 1);
  deadline_passes(&deadline);
  cilium_reader_wait_for(&cilium, 2);
  cilium_reader_expect(&cilium, 6, 1);
  cilium_reader_close(&cilium);
}

/* cilium TestReaderFlushPendingEvents: a flush while the loop sleeps delivers
 * the waiting records, once, before it returns. */
static void reader_flush_delivers_once_records_that_did_not_wake(void **state) {
  uvperf_bpf_reader_options_t options = cilium_reader_every_second();
  deadline_t deadline;
  cilium_reader_t cilium;

  cilium_reader_open(*state, &cilium, __func__, &options);
  cilium_reader_start(&cilium, NULL);
  cilium_reader_run_pending(&cilium);
  assert_int_equal(cilium_reader_put_out(&cilium, 5, 7), 0);
  deadline_in(&deadline, &cilium, 20);
  deadline_passes(&deadline);
  assert_int_equal(cilium.samples, 1);
  cilium_reader_expect(&cilium, 5, 7);
  assert_int_equal(uvperf_flush(&cilium.live.reader.handle), 0);
  assert_int_equal(cilium.callbacks, 1);
  cilium_reader_silence(&cilium, 10);
  cilium_reader_close(&cilium);
}

/* flush_ms works without a timer of the program. */
static void reader_flushes_by_itself(void **state) {
  uvperf_stream_options_t stream = live_bpf_reader_plain;
  uvperf_bpf_reader_options_t options = cilium_reader_every_second();
  cilium_reader_t cilium;

  cilium_reader_open(*state, &cilium, __func__, &options);
  stream.flush_ms = 5;
  cilium_reader_start(&cilium, &stream);
  cilium_reader_run_pending(&cilium);
  assert_int_equal(cilium_reader_put_out(&cilium, 5, 7), 0);
  cilium_reader_wait_for(&cilium, 1);
  cilium_reader_expect(&cilium, 5, 7);
  cilium_reader_close(&cilium);
}

/* cilium TestPollerDeadline: the latest possible deadline has not passed
 * yet. */
static void reader_deadline_far_away_wakes_by_samples(void **state) {
  uvperf_stream_options_t stream = live_bpf_reader_plain;
  uvperf_bpf_reader_options_t options = cilium_reader_every_second();
  deadline_t deadline;
  cilium_reader_t cilium;

  cilium_reader_open(*state, &cilium, __func__, &options);
  stream.flush_ms = INT32_MAX;
  cilium_reader_start(&cilium, &stream);
  cilium_reader_run_pending(&cilium);
  deadline_in(&deadline, &cilium, UINT64_MAX);
  assert_int_equal(cilium_reader_put_out(&cilium, 5, 0), 0);
  cilium_reader_silence(&cilium, 10);
  assert_int_equal(cilium_reader_put_out(&cilium, 5, 1), 0);
  cilium_reader_wait_for(&cilium, 2);
  assert_int_equal(deadline.ticks, 0);
  uv_close((uv_handle_t *)&deadline.timer, NULL);
  cilium_reader_close(&cilium);
}

/* cilium TestPerfReaderWakeupEvents: every second sample wakes the loop. */
static void reader_wakes_with_each_second_sample(void **state) {
  uvperf_bpf_reader_options_t options = cilium_reader_every_second();
  cilium_reader_t cilium;
  uint8_t i;

  cilium_reader_open(*state, &cilium, __func__, &options);
  cilium_reader_start(&cilium, NULL);
  cilium_reader_run_pending(&cilium);
  for (i = 0; i < 6; i += 2) {
    assert_int_equal(cilium_reader_put_out(&cilium, 5, i), 0);
    cilium_reader_silence(&cilium, 5);
    assert_int_equal(cilium_reader_put_out(&cilium, 5, (uint8_t)(i + 1)), 0);
    cilium_reader_wait_for(&cilium, i + 2u);
    cilium_reader_expect(&cilium, 5, (uint8_t)(i + 1));
  }
  cilium_reader_close(&cilium);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      support_loop_test(reader_deadline_without_samples_delivers_nothing),
      support_loop_test(reader_deadline_delivers_records_that_did_not_wake),
      support_loop_test(reader_flush_delivers_once_records_that_did_not_wake),
      support_loop_test(reader_flushes_by_itself),
      support_loop_test(reader_deadline_far_away_wakes_by_samples),
      support_loop_test(reader_wakes_with_each_second_sample),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
