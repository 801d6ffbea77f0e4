/* SPDX-License-Identifier: MIT */
/* Live: programs on all CPUs send data as fast as they can. All of it arrives,
 * byte by byte and in order, or is reported as lost. */
#include "live_storm.h"

#include <unistd.h>

#define MOST_NS UINT64_C(20000000000)

/* Calls of all storms together. */
#ifdef __SANITIZE_ADDRESS__
#define SMALL_CALLS 1000000
#define LARGE_CALLS 6000
#else
#define SMALL_CALLS 5000000
#define LARGE_CALLS 20000
#endif

typedef struct way_s {
  uint64_t share; /* per cent of the calls */
  size_t ring_bytes;
  uint32_t wakeup_events;
  uint32_t wakeup_bytes;
  int32_t flush_ms;
  uint32_t slice_records;
  int pauses;       /* each millisecond: the reader is paused */
  int others;       /* ... a reader of another map is paused, or resumed */
  uint64_t batches; /* each delivered before the next; 0: all at once */
} way_t;

/* Rings of 4 KiB, rounded up to a page, lose the most. If each sample wakes, a
 * call takes twenty times as long. */
static const way_t small_ways[] = {
    {2, 4096, 1, 0, 5, 0, 0, 0, 0},
    {12, 4096, 0, 0, 5, 0, 0, 0, 0},
    {2, 65536, 0, 1, 0, 7, 0, 0, 0},
    {14, 65536, 1000, 0, 1, 0, 0, 0, 0},
    {2, 1 << 20, 1, 0, 0, 0, 0, 0, 0},
    {14, 1 << 20, 0, 65536, 5, 0, 0, 0, 0},
    {18, 1 << 24, 0, 0, 5, 0, 0, 0, 0},
    {16, 65536, 0, 0, 5, 0, 1, 0, 0},
    {2, 1 << 20, 1, 0, 5, 1000, 1, 0, 0},
    {18, 65536, 0, 1000, 5, 0, 0, 1, 0},
};

static const way_t large_ways[] = {
    {10, 1 << 16, 0, 0, 5, 0, 0, 0, 0},   {10, 1 << 20, 1, 0, 0, 0, 0, 0, 0},
    {10, 1 << 23, 0, 0, 5, 3, 0, 0, 0},   {10, 1 << 20, 0, 1, 5, 0, 1, 0, 0},
    {60, 1 << 23, 1, 0, 0, 0, 0, 0, 300},
};

typedef struct fixture_s {
  live_storm_t storm;
  uvperf_bpf_reader_t reader;
  uvperf_bpf_reader_t other; /* with a map of its own */
  int other_array;
  const way_t *way;
  uv_timer_t timer;
  uint64_t ticks;
  int is_calm; /* nothing is paused any more */
  int code;    /* of the first call that failed */
} fixture_t;

static void on_sample(uvperf_handle_t *handle, int status,
                      const uvperf_record_t *sample) {
  fixture_t *fixture = handle->data;

  live_storm_note(&fixture->storm, status == 0 ? sample : NULL);
}

/* Until a program was refused: refused calls are so fast that there would be
 * few others. */
static void pause_for_a_moment(fixture_t *fixture) {
  uint64_t before = live_storm_refused(&fixture->storm);
  unsigned looks = 0;
  int code;

  code = uvperf_bpf_reader_unpublish(&fixture->reader, NULL);
  while (live_storm_is_writing(&fixture->storm) &&
         live_storm_refused(&fixture->storm) == before)
    if (++looks % 1000 == 0) /* all may be on this CPU */
      sched_yield();
  if (code == 0)
    code = uvperf_bpf_reader_publish(&fixture->reader, NULL);
  if (fixture->code == 0)
    fixture->code = code;
}

static void pause_another(fixture_t *fixture) {
  int code;

  if (fixture->ticks % 2 == 1)
    code = uvperf_bpf_reader_unpublish(&fixture->other, NULL);
  else
    code = uvperf_bpf_reader_publish(&fixture->other, NULL);
  if (fixture->code == 0)
    fixture->code = code;
}

/* The loop never sleeps for long, so that a missing sample fails the test in
 * time. The tick itself delivers nothing. */
static void on_tick(uv_timer_t *timer) {
  fixture_t *fixture = timer->data;

  fixture->ticks += 1;
  if (fixture->is_calm)
    return;
  if (fixture->way->pauses)
    pause_for_a_moment(fixture);
  if (fixture->way->others)
    pause_another(fixture);
}

static void open_reader(uv_loop_t *loop, fixture_t *fixture,
                        uvperf_bpf_reader_t *reader, int array) {
  uvperf_bpf_reader_options_t options = UVPERF_BPF_READER_OPTIONS_INIT;
  uvperf_stream_options_t stream = UVPERF_STREAM_OPTIONS_INIT;
  uvperf_error_t error;

  options.ring_bytes = fixture->way->ring_bytes;
  options.wakeup_events = fixture->way->wakeup_events;
  options.wakeup_bytes = fixture->way->wakeup_bytes;
  if (uvperf_bpf_reader_init(loop, reader, array, &options, &error) != 0)
    fail_msg("%s", error.reason);
  reader->handle.data = fixture;
  stream.flush_ms = fixture->way->flush_ms;
  stream.slice_records = fixture->way->slice_records;
  if (uvperf_start(&reader->handle, &stream, on_sample, &error) != 0)
    fail_msg("%s", error.reason);
}

static void open_fixture(uv_loop_t *loop, fixture_t *fixture, const way_t *way,
                         const char *test, uint32_t most) {
  memset(fixture, 0, sizeof(*fixture));
  fixture->way = way;
  live_storm_open(&fixture->storm, test, 8, most);
  open_reader(loop, fixture, &fixture->reader, fixture->storm.array);
  if (way->others) {
    fixture->other_array = live_bpf_array_make(test, 0);
    open_reader(loop, fixture, &fixture->other, fixture->other_array);
  }
  uv_timer_init(loop, &fixture->timer);
  fixture->timer.data = fixture;
  uv_timer_start(&fixture->timer, on_tick, 1, 1);
}

static void close_fixture(uv_loop_t *loop, fixture_t *fixture) {
  uvperf_close(&fixture->reader.handle, NULL);
  if (fixture->way->others) {
    uvperf_close(&fixture->other.handle, NULL);
    close(fixture->other_array);
  }
  uv_close((uv_handle_t *)&fixture->timer, NULL);
  uv_run(loop, UV_RUN_DEFAULT);
  live_storm_close(&fixture->storm);
}

/* All that was written has come, without a flush from outside. */
static void expect_all(uv_loop_t *loop, const fixture_t *fixture) {
  uint64_t start = live_now();
  uint64_t written = live_storm_written(&fixture->storm);

  while (live_storm_delivered(&fixture->storm) < written &&
         live_now() - start < MOST_NS)
    uv_run(loop, UV_RUN_ONCE);
  assert_int_equal(live_storm_delivered(&fixture->storm), written);
}

static void expect_stats(const fixture_t *fixture) {
  uvperf_stats_t stats;

  uvperf_stats(&fixture->reader.handle, &stats);
  assert_int_equal(stats.lost_records, live_storm_lost(&fixture->storm));
  assert_int_equal(stats.corrupt, 0);
  assert_in_range(stats.records, live_storm_written(&fixture->storm),
                  UINT64_MAX);
}

static void write_batch(uv_loop_t *loop, fixture_t *fixture, uint64_t nr) {
  uint64_t start = live_now();

  live_storm_begin(&fixture->storm, nr);
  while (live_storm_is_writing(&fixture->storm) && live_now() - start < MOST_NS)
    uv_run(loop, UV_RUN_ONCE);
  live_storm_end(&fixture->storm);
}

/* Large payloads outrun any ring: in batches all of them come. */
static void write_batches(uv_loop_t *loop, fixture_t *fixture, uint64_t nr) {
  uint64_t i;

  for (i = 0; i < fixture->way->batches; i++) {
    write_batch(loop, fixture, nr / fixture->way->batches);
    expect_all(loop, fixture);
  }
  assert_int_equal(live_storm_lost(&fixture->storm), 0);
}

static void run_storm(uv_loop_t *loop, const way_t *way, const char *test,
                      uint32_t most, uint64_t calls) {
  static fixture_t fixture;
  uint64_t nr = calls * way->share / 100;

  open_fixture(loop, &fixture, way, test, most);
  if (way->batches > 0)
    write_batches(loop, &fixture, nr);
  else
    write_batch(loop, &fixture, nr);
  fixture.is_calm = 1;
  assert_int_equal(fixture.code, 0);
  expect_all(loop, &fixture);
  live_storm_one_more(&fixture.storm);
  expect_all(loop, &fixture);
  live_storm_balance(&fixture.storm);
  if (!way->pauses)
    assert_int_equal(live_storm_refused(&fixture.storm), 0);
  expect_stats(&fixture);
  close_fixture(loop, &fixture);
}

static void reader_storm_of_small_payloads_is_accounted_for(void **state) {
  size_t i;

  for (i = 0; i < COUNT_OF(small_ways); i++)
    run_storm(*state, &small_ways[i], __func__, 256, SMALL_CALLS);
}

static void reader_storm_of_large_payloads_is_accounted_for(void **state) {
  size_t i;

  for (i = 0; i < COUNT_OF(large_ways); i++)
    run_storm(*state, &large_ways[i], __func__, LIVE_BPF_MOST, LARGE_CALLS);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      support_loop_test(reader_storm_of_small_payloads_is_accounted_for),
      support_loop_test(reader_storm_of_large_payloads_is_accounted_for),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
