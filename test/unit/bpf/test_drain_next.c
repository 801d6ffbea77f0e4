/* SPDX-License-Identifier: MIT */
/* Scripted: records of a BPF reader taken one by one, or of one ring alone. */
#include "scripted_reader.h"

#include <errno.h>

/* Takes a sample, which must be of this CPU. */
static void expect_sample(scripted_reader_t *scripted, int cpu,
                          uint64_t remaining) {
  const uvperf_record_t *sample;

  assert_int_equal(uvperf_has_record(&scripted->live.reader.handle), 1);
  assert_int_equal(uvperf_next(&scripted->live.reader.handle, &sample), 0);
  assert_int_equal(sample->cpu, cpu);
  assert_int_equal(sample->sample.raw.size, 28);
  assert_int_equal(sample->remaining, remaining);
  live_bpf_reader_on_sample(&scripted->live.reader.handle, 0, sample);
}

static void expect_code(scripted_reader_t *scripted, int code) {
  const uvperf_record_t *sample = (const uvperf_record_t *)scripted;

  assert_int_equal(uvperf_next(&scripted->live.reader.handle, &sample), code);
  if (code == UV_EPROTO)
    assert_int_equal(sample->type, UVPERF_RECORD_NONE);
  else
    assert_null(sample);
}

static void expect_empty(scripted_reader_t *scripted) {
  assert_int_equal(uvperf_has_record(&scripted->live.reader.handle), 0);
  expect_code(scripted, UV_EAGAIN);
}

static void open_reader(uv_loop_t *loop, scripted_reader_t *scripted) {
  scripted_reader_plan(scripted, 8);
  scripted_reader_open(loop, scripted);
}

/* -- next ------------------------------------------------------------------ */

static void next_checks_each_ring_in_turn(void **state) {
  scripted_reader_t scripted;
  size_t i;

  open_reader(*state, &scripted);
  expect_empty(&scripted);
  for (i = 0; i < 2; i++)
    scripted_reader_sample(&scripted, scripted.events[1]);
  scripted_reader_sample(&scripted, scripted.events[3]);
  expect_sample(&scripted, 0, 40);
  scripted_reader_sample(&scripted, scripted.events[1]);
  assert_int_equal(scripted.events[1]->page->data_tail, 0);
  expect_sample(&scripted, 0, 0);
  expect_sample(&scripted, 1, 0);
  expect_sample(&scripted, 0, 0);
  expect_empty(&scripted);
  for (i = 1; i < 4; i += 2)
    assert_int_equal(scripted.events[i]->page->data_tail,
                     scripted.events[i]->page->data_head);
  assert_int_equal(scripted.live.samples, 4);
  assert_int_equal(scripted.live.strange, 0);
  scripted_reader_close(&scripted);
}

static void next_start_and_flush_take_turns(void **state) {
  scripted_reader_t scripted;
  size_t i;

  open_reader(*state, &scripted);
  for (i = 0; i < 3; i++)
    scripted_reader_sample(&scripted, scripted.events[1]);
  expect_sample(&scripted, 0, 80);
  live_bpf_reader_start(&scripted.live, NULL);
  expect_code(&scripted, UV_EBUSY);
  assert_int_equal(uvperf_flush(&scripted.live.reader.handle), 0);
  assert_int_equal(scripted.live.samples, 3);
  assert_int_equal(uvperf_stop(&scripted.live.reader.handle), 0);
  for (i = 0; i < 3; i++)
    scripted_reader_sample(&scripted, scripted.events[3]);
  expect_sample(&scripted, 1, 80);
  assert_int_equal(uvperf_flush(&scripted.live.reader.handle), 0);
  expect_empty(&scripted);
  assert_int_equal(scripted.live.samples, 6);
  assert_int_equal(scripted.live.strange, 0);
  scripted_reader_close(&scripted);
}

static void next_of_lost_samples_says_how_many(void **state) {
  const struct {
    struct perf_event_header header;
    uint64_t id, lost;
  } record = {{PERF_RECORD_LOST, 0, 24}, 100, 7};
  const uvperf_record_t *sample;
  scripted_reader_t scripted;
  uvperf_stats_t stats;

  open_reader(*state, &scripted);
  fake_ring_append(scripted.events[1], &record, sizeof(record));
  assert_int_equal(uvperf_next(&scripted.live.reader.handle, &sample), 0);
  assert_int_equal(uvperf_record_lost(sample), 7);
  assert_null(sample->sample.raw.data);
  uvperf_stats(&scripted.live.reader.handle, &stats);
  assert_int_equal(stats.lost_records, 7);
  scripted_reader_close(&scripted);
}

static void next_of_broken_records_goes_on_until_all_are_split(void **s) {
  const uvperf_record_t *sample;
  scripted_reader_t scripted;
  uvperf_ring_info_t ring;
  uvperf_stats_t stats;

  open_reader(*s, &scripted);
  scripted_reader_junk(scripted.events[1]);
  scripted_reader_sample(&scripted, scripted.events[1]);
  scripted_reader_spoil(scripted.events[1]);
  assert_int_equal(uvperf_next(&scripted.live.reader.handle, &sample),
                   UV_EPROTO);
  assert_int_equal(sample->size, 16);
  assert_int_equal(sample->sample.raw.size, 0);
  assert_null(sample->sample.raw.data);
  expect_sample(&scripted, 0, 8);
  assert_int_equal(uvperf_next(&scripted.live.reader.handle, &sample),
                   UV_EPROTO);
  assert_int_equal(sample->type, UVPERF_RECORD_NONE);
  assert_int_equal(sample->cpu, 0);
  assert_int_equal(uvperf_ring(&scripted.live.reader.handle, 0, &ring), 0);
  assert_int_equal(ring.cpu, 0);
  assert_int_equal(ring.status, 0);
  expect_empty(&scripted);
  scripted_reader_split(scripted.events[1]);
  scripted_reader_sample(&scripted, scripted.events[3]);
  scripted_reader_split(scripted.events[3]);
  expect_code(&scripted, UV_EPROTO);
  expect_sample(&scripted, 1, 4);
  expect_code(&scripted, UV_EPROTO);
  expect_code(&scripted, UV_EOF);
  uvperf_stats(&scripted.live.reader.handle, &stats);
  assert_int_equal(stats.corrupt, 4);
  scripted_reader_close(&scripted);
}

static void ask_in_callback(live_bpf_reader_t *live, int status,
                            const uvperf_record_t *sample) {
  (void)status;
  (void)sample;
  assert_int_equal(uvperf_stop(&live->reader.handle), 0);
  assert_int_equal(uvperf_next(&live->reader.handle, &sample), UV_EBUSY);
  assert_int_equal(uvperf_has_record(&live->reader.handle), 0);
  assert_int_equal(uvperf_flush(&live->reader.handle), UV_EBUSY);
}

static void next_is_refused_if_it_cannot_work(void **state) {
  scripted_reader_t scripted;

  scripted_reader_begin(*state, &scripted);
  scripted.live.on_sample = ask_in_callback;
  scripted_reader_sample(&scripted, scripted.events[1]);
  assert_int_equal(uvperf_flush(&scripted.live.reader.handle), 0);
  assert_int_equal(scripted.live.samples, 1);
  assert_int_equal(uvperf_next(&scripted.live.reader.handle, NULL), UV_EINVAL);
  fake_process(4711);
  expect_code(&scripted, UV_EPERM);
  assert_int_equal(uvperf_has_record(&scripted.live.reader.handle), 0);
  fake_process(0);
  scripted_reader_close(&scripted);

  scripted_reader_plan(&scripted, 8);
  scripted.options.flags = UVPERF_BPF_READER_OVERWRITE;
  scripted.options.wakeup_events = 0;
  scripted_reader_open(*state, &scripted);
  expect_code(&scripted, UV_EINVAL);
  scripted_reader_close(&scripted);
}

static void close_check(uv_handle_t *handle, void *arg) {
  (void)arg;
  if (handle->type == UV_CHECK)
    uv_close(handle, NULL);
}

/* Nothing is read any more from either ring. */
static void next_after_others_closed_the_hub_is_at_the_end(void **state) {
  scripted_reader_t scripted;
  uvperf_ring_info_t ring;

  scripted_reader_begin(*state, &scripted);
  live_run_ms(*state, 5);
  uv_walk(*state, close_check, NULL);
  scripted_reader_wake(&scripted, scripted.events[1]);
  assert_true(live_run_until(*state, &scripted.live.faults, 1));
  assert_int_equal(scripted.live.fault, UV_ECANCELED);
  assert_int_equal(uvperf_ring(&scripted.live.reader.handle, 0, &ring), 0);
  assert_int_equal(ring.status, UV_EBADF);
  assert_int_equal(uvperf_ring(&scripted.live.reader.handle, 1, &ring), 0);
  assert_int_equal(ring.status, UV_ECANCELED);
  scripted_reader_sample(&scripted, scripted.events[1]);
  expect_code(&scripted, UV_EOF);
  scripted_reader_close(&scripted);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      scripted_reader_test(next_checks_each_ring_in_turn),
      scripted_reader_test(next_start_and_flush_take_turns),
      scripted_reader_test(next_of_lost_samples_says_how_many),
      scripted_reader_test(next_of_broken_records_goes_on_until_all_are_split),
      scripted_reader_test(next_is_refused_if_it_cannot_work),
      scripted_reader_test(next_after_others_closed_the_hub_is_at_the_end),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
