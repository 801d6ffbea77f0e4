/* SPDX-License-Identifier: MIT */
/* Scripted: records of a BPF reader taken one by one, or of one ring alone. */
#include "scripted_reader.h"

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

int main(void) {
  const struct CMUnitTest tests[] = {
      scripted_reader_test(next_checks_each_ring_in_turn),
      scripted_reader_test(next_of_lost_samples_says_how_many),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
