/* SPDX-License-Identifier: MIT */
/* Live: samples of BPF programs arrive from each CPU, whole, in order and on
 * time. */
#include "live_bpf_reader.h"

#define MOST_CPUS 8

/* -- delivery ------------------------------------------------------------- */

static void reader_delivers_what_each_cpu_hands_out(void **state) {
  int cpus[MOST_CPUS];
  size_t nr = live_cpus(cpus, MOST_CPUS);
  live_bpf_reader_t live;
  uvperf_stats_t stats;
  size_t i;

  live_bpf_reader_begin(__func__, *state, &live);
  live_run_ms(*state, 5); /* existing samples come without a wakeup */
  for (i = 0; i < 5 * nr; i++)
    live_bpf_reader_send_all(&live, cpus[i % nr], 1);
  assert_true(live_run_until(*state, &live.samples, 5 * nr));
  for (i = 0; i < nr; i++)
    assert_int_equal(live.by_cpu[cpus[i]], 5);
  assert_int_equal(live.strange + live.others + live.faults, 0);
  assert_int_equal(live.slice_ends, 0); /* not requested */
  uvperf_stats(&live.reader.handle, &stats);
  assert_int_equal(stats.records, 5 * nr);
  assert_int_equal(stats.corrupt + stats.lost_records, 0);
  assert_true(stats.wakeups > 0);
  live_bpf_reader_end(&live);
}

static void reader_delivers_payloads_of_any_size(void **state) {
  uvperf_bpf_reader_options_t options = live_bpf_reader_options();
  live_bpf_reader_t live;
  uint64_t sent = 0;
  size_t size;

  options.ring_bytes = 0;
  live_bpf_reader_begin_with(__func__, *state, &live, &options);
  for (size = 16; size < LIVE_BPF_MOST; size += 1 + size / 7) {
    assert_int_equal(live_bpf_reader_send(&live, live_last_cpu(), size), 0);
    assert_true(live_run_until(*state, &live.samples, ++sent));
  }
  assert_int_equal(live_bpf_reader_send(&live, live_last_cpu(), LIVE_BPF_MOST),
                   0);
  assert_true(live_run_until(*state, &live.samples, ++sent));
  assert_int_equal(live.strange, 0);
  live_bpf_reader_end(&live);
}

/* The kernel writes a LOST record only before the next one that fits. */
static void reader_counts_payloads_that_never_fit(void **state) {
  uvperf_bpf_reader_options_t options = live_bpf_reader_options();
  static uint8_t payload[LIVE_BPF_MOST];
  live_bpf_reader_t live;
  uvperf_stats_t stats;
  uvperf_ring_info_t ring;
  int cpu = live_last_cpu();
  size_t i;

  if (uvperf_kernel_knows(UVPERF_ATTR_READ_FORMAT, UVPERF_FORMAT_LOST) != 1)
    support_skip(__func__, "PERF_FORMAT_LOST");
  options.ring_bytes = support_page_bytes();
  live_bpf_reader_begin_with(__func__, *state, &live, &options);
  for (i = 1; i <= 5; i++) {
    assert_int_equal(live_bpf_output_on(&live.output, cpu, payload,
                                        support_page_bytes() + 904),
                     -ENOSPC);
    assert_int_equal(uvperf_flush(&live.reader.handle), 0);
    uvperf_stats(&live.reader.handle, &stats);
    assert_int_equal(stats.lost_records, i);
    assert_int_equal(stats.lost_is_read, 1);
    assert_int_equal(live.records, 0);
  }
  for (i = 0; uvperf_ring(&live.reader.handle, i, &ring) == 0; i++)
    assert_int_equal(ring.stats.lost_records, ring.cpu == cpu ? 5 : 0);
  /* It reports the same. */
  live_bpf_reader_send_all(&live, cpu, 1);
  assert_true(live_run_until(*state, &live.samples, 1));
  assert_int_equal(live.lost, 5);
  uvperf_stats(&live.reader.handle, &stats);
  assert_int_equal(stats.lost_records, 5);
  live_bpf_reader_end(&live);
}

typedef struct seen_s {
  uint64_t remaining[4];
  uint64_t size;
  size_t nr;
} seen_t;

static void note_remaining(live_bpf_reader_t *live, int status,
                           const uvperf_record_t *sample) {
  seen_t *seen = live->hook_data;

  assert_int_equal(status, 0);
  seen->remaining[seen->nr++ % 4] = sample->remaining;
  seen->size = sample->size;
}

static void sample_reports_what_waits_after_it(void **state) {
  live_bpf_reader_t live;
  seen_t seen = {{0}, 0, 0};

  live_bpf_reader_begin(__func__, *state, &live);
  live_run_ms(*state, 5);
  live.on_sample = note_remaining;
  live.hook_data = &seen;
  live_bpf_reader_send_all(&live, 0, 3);
  assert_int_equal(uvperf_flush(&live.reader.handle), 0);
  assert_int_equal(seen.nr, 3);
  assert_int_equal(seen.remaining[0], 2 * seen.size);
  assert_int_equal(seen.remaining[1], seen.size);
  assert_int_equal(seen.remaining[2], 0);
  live_bpf_reader_end(&live);
}

/* A LOST record comes with the first that finds room again. */
static void samples_that_did_not_fit_are_reported_as_lost(void **state) {
  uvperf_bpf_reader_options_t options = live_bpf_reader_options();
  uvperf_stats_t stats;
  live_bpf_reader_t live;
  uint64_t refused = 0;
  int i, rc;

  options.ring_bytes = 1;
  live_bpf_reader_begin_with(__func__, *state, &live, &options);
  for (i = 0; i < 100; i++) {
    rc = live_bpf_reader_send(&live, 0, 100);
    assert_true(rc == 0 || rc == -ENOSPC);
    refused += rc != 0;
  }
  assert_true(refused > 0);
  assert_int_equal(uvperf_flush(&live.reader.handle), 0);
  assert_int_equal(live.lost, 0);
  live_bpf_reader_send_all(&live, 0, 1);
  assert_int_equal(uvperf_flush(&live.reader.handle), 0);
  assert_int_equal(live.lost, refused);
  assert_int_equal(live.samples, live.sent);
  assert_int_equal(live.others, 1);
  uvperf_stats(&live.reader.handle, &stats);
  assert_int_equal(stats.lost_records, refused);
  live_bpf_reader_end(&live);
}

/* -- the user's attr ------------------------------------------------------ */

typedef struct fields_s {
  uint64_t comms;
  uint64_t samples;
  uint64_t wrong;
  uint64_t last_time;
} fields_t;

static void check_fields(live_bpf_reader_t *live, int status,
                         const uvperf_record_t *record) {
  const uint64_t asked = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU;
  fields_t *fields = live->hook_data;

  fields->wrong += status != 0 || (record->present & asked) != asked;
  if (record->type == PERF_RECORD_SAMPLE && record->tid == live_tid()) {
    fields->wrong += record->time < fields->last_time;
    fields->last_time = record->time;
    fields->samples++;
  }
  if (record->type == PERF_RECORD_COMM && record->tid == live_tid())
    fields->comms += strncmp(record->comm.comm, "live", 4) == 0;
}

static void attr_of_the_user_adds_fields_and_other_records(void **state) {
  uvperf_bpf_reader_options_t options = live_bpf_reader_options();
  fields_t fields = {0, 0, 0, 0};
  struct perf_event_attr attr;
  live_bpf_reader_t live;
  uint64_t next = 0;

  uvperf_attr_init(&attr, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_BPF_OUTPUT);
  attr.sample_period = 1;
  attr.sample_type =
      PERF_SAMPLE_RAW | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU;
  attr.comm = 1;
  attr.sample_id_all = 1;
  options.attr = &attr;
  live_bpf_reader_begin_with(__func__, *state, &live, &options);
  assert_int_equal(uvperf_handle_attr(&live.reader.handle, 0)->comm, 1);
  live.on_sample = check_fields;
  live.hook_data = &fields;
  live_bpf_reader_send_all(&live, 0, 3);
  live_comm(&next, 2);
  live_bpf_reader_send_all(&live, 0, 3);
  assert_int_equal(uvperf_flush(&live.reader.handle), 0);
  assert_int_equal(fields.samples, 6);
  assert_int_equal(fields.comms, 2);
  assert_int_equal(fields.wrong, 0);
  assert_int_equal(live.samples, 6);
  live_bpf_reader_end(&live);
}

static void attr_without_raw_has_samples_without_data(void **state) {
  uvperf_bpf_reader_options_t options = live_bpf_reader_options();
  struct perf_event_attr attr;
  live_bpf_reader_t live;

  uvperf_attr_init(&attr, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_BPF_OUTPUT);
  attr.sample_period = 1;
  attr.sample_type = PERF_SAMPLE_TID;
  options.attr = &attr;
  live_bpf_reader_begin_with(__func__, *state, &live, &options);
  live_bpf_reader_send_all(&live, 0, 1);
  assert_true(live_run_until(*state, &live.records, 1));
  /* It has no data that could be right. */
  assert_int_equal(live.strange, 1);
  assert_int_equal(live.corrupt, 0);
  live_bpf_reader_end(&live);
}

/* -- when it comes -------------------------------------------------------- */

/* Without a number it is a quarter of the ring. */
static void wakeups_come_after_a_number_of_samples_or_bytes(void **state) {
  static const struct {
    uint32_t events, bytes;
    size_t nr, size, last; /* so many samples of this size, and the last one */
  } cases[] = {{3, 0, 2, 24, 24},
               {0, 1000, 1, 500, 500},
               {0, 0, 1, 15 * 1024, 2 * 1024}};
  uvperf_bpf_reader_options_t options = live_bpf_reader_options();
  live_bpf_reader_t live;
  uvperf_stats_t stats;
  size_t i, k;

  for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
    options.wakeup_events = cases[i].events;
    options.wakeup_bytes = cases[i].bytes;
    live_bpf_reader_begin_with(__func__, *state, &live, &options);
    live_run_ms(*state, 5);
    for (k = 0; k < cases[i].nr; k++)
      assert_int_equal(live_bpf_reader_send(&live, 0, cases[i].size), 0);
    live_run_ms(*state, 20);
    assert_int_equal(live.samples, 0);
    assert_int_equal(live_bpf_reader_send(&live, 0, cases[i].last), 0);
    assert_true(live_run_until(*state, &live.samples, cases[i].nr + 1));
    uvperf_stats(&live.reader.handle, &stats);
    assert_int_equal(stats.wakeups, 1);
    live_bpf_reader_end(&live);
  }
}

/* They do not count as samples: with wakeup_events 1 any byte wakes. */
static void records_beside_samples_wake_at_once(void **state) {
  uvperf_bpf_reader_options_t options = live_bpf_reader_options();
  struct perf_event_attr attr;
  fields_t fields = {0, 0, 0, 0};
  live_bpf_reader_t live;
  uint64_t next = 0;
  cpu_set_t old;

  uvperf_attr_init(&attr, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_BPF_OUTPUT);
  attr.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU;
  attr.comm = 1;
  attr.sample_id_all = 1;
  options.attr = &attr;
  live_bpf_reader_begin_with(__func__, *state, &live, &options);
  live.on_sample = check_fields;
  live.hook_data = &fields;
  live_run_ms(*state, 5);
  live_pin(0, &old);
  live_comm(&next, 1);
  assert_true(live_run_until(*state, &fields.comms, 1));
  live_unpin(&old);
  live_bpf_reader_end(&live);
}

static void samples_below_the_watermark_come_by_the_flush_timer(void **state) {
  uvperf_stream_options_t stream = UVPERF_STREAM_OPTIONS_INIT;
  uvperf_bpf_reader_options_t options = live_bpf_reader_options();
  uvperf_stats_t stats;
  live_bpf_reader_t live;
  int i;

  live_bpf_reader_make(__func__, &live, 0);
  for (i = 0; i < 2; i++) {
    options.wakeup_events = i == 0 ? 0 : 1000;
    stream.flush_ms = i == 0 ? 0 : 1;
    live.samples = 0;
    live_bpf_reader_open(*state, &live, &options);
    live_bpf_reader_start(&live, &stream);
    live_run_ms(*state, 5);
    live_bpf_reader_send_all(&live, 0, 2);
    assert_true(live_run_until(*state, &live.samples, 2));
    uvperf_stats(&live.reader.handle, &stats);
    assert_int_equal(stats.wakeups, 0);
    live_bpf_reader_close(&live);
  }
  live_bpf_reader_unmake(&live);
}

static void count_timers(uv_handle_t *handle, void *arg) {
  *(uint32_t *)arg += handle->type == UV_TIMER && uv_is_active(handle) &&
                      uv_timer_get_due_in((uv_timer_t *)handle) < INT64_MAX;
}

/* If a sample may have to wait. */
static void flush_timer_runs_if_not_each_sample_wakes(void **state) {
  static const uint32_t wakeups[][3] = {
      {1, 0, 0}, {0, 1, 0}, {2, 0, 1}, {0, 100, 1}, {0, 0, 1}};
  uvperf_stream_options_t stream = UVPERF_STREAM_OPTIONS_INIT;
  uvperf_bpf_reader_options_t options = live_bpf_reader_options();
  live_bpf_reader_t live;
  uint32_t timers;
  size_t i;

  options.flags = UVPERF_BPF_READER_FIXED_CPUS; /* no other timer */
  live_bpf_reader_make(__func__, &live, 0);
  for (i = 0; i < sizeof(wakeups) / sizeof(wakeups[0]); i++) {
    options.wakeup_events = wakeups[i][0];
    options.wakeup_bytes = wakeups[i][1];
    live_bpf_reader_open(*state, &live, &options);
    live_bpf_reader_start(&live, &stream);
    timers = 0;
    uv_walk(*state, count_timers, &timers);
    assert_int_equal(timers, wakeups[i][2]);
    live_bpf_reader_close(&live);
  }
  live_bpf_reader_unmake(&live);
}

#define LIVE(test) support_loop_test(test)

int main(void) {
  const struct CMUnitTest tests[] = {
      LIVE(reader_delivers_what_each_cpu_hands_out),
      LIVE(reader_delivers_payloads_of_any_size),
      LIVE(reader_counts_payloads_that_never_fit),
      LIVE(sample_reports_what_waits_after_it),
      LIVE(samples_that_did_not_fit_are_reported_as_lost),
      LIVE(attr_of_the_user_adds_fields_and_other_records),
      LIVE(attr_without_raw_has_samples_without_data),
      LIVE(wakeups_come_after_a_number_of_samples_or_bytes),
      LIVE(records_beside_samples_wake_at_once),
      LIVE(samples_below_the_watermark_come_by_the_flush_timer),
      LIVE(flush_timer_runs_if_not_each_sample_wakes),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
