/* SPDX-License-Identifier: MIT */
/* Live: random calls of a BPF reader, outside of its callback and inside, while
 * programs on all CPUs write without a pause. No sample is damaged or
 * unexpected, and everything written while the reader was in the map is
 * accounted for. UVPERF_RANDOM_SEEDS=first:last selects other seeds. */
#include "live_storm.h"
#include "model_run.h"

/* For each seed. */
#define RACE_NS UINT64_C(400000000)

typedef struct fixture_s {
  model_run_t run;
  live_storm_t storm;
  uv_loop_t *loop;
  uvperf_bpf_reader_t *reader; /* NULL: none is open */
  int started;
  int ever_started;
  int flushing;     /* and no stop since */
  int callbacks;    /* on the stack */
  int is_quiet;     /* callbacks call nothing */
  uint64_t closing; /* readers that are */
  uint64_t lives;
  /* What the helper had written, and lost, before this reader. */
  uint64_t written_before;
  uint64_t lost_before;
} fixture_t;

static uint64_t draw(fixture_t *fixture, uint64_t below) {
  return model_run_draw(&fixture->run, below);
}

static void expect(fixture_t *fixture, int is_so, const char *what,
                   int64_t value) {
  model_run_expect(&fixture->run, is_so, what, value);
}

static void expect_code(fixture_t *fixture, int code, int expected) {
  expect(fixture, code == expected, "returned another code", code);
}

static void one_call(fixture_t *fixture);

static void on_sample(uvperf_handle_t *base, int status,
                      const uvperf_record_t *sample) {
  uvperf_bpf_reader_t *reader = uvperf_handle_bpf_reader(base);
  fixture_t *fixture = base->data;

  expect(fixture, reader == fixture->reader, "a callback after close", status);
  expect(fixture, fixture->started || fixture->flushing,
         "a callback after stop", status);
  expect(fixture, status == 0 && sample->type != UVPERF_RECORD_NONE, "a fault",
         status);
  live_storm_note(&fixture->storm, status == 0 ? sample : NULL);
  if (fixture->is_quiet || draw(fixture, 3000) != 0)
    return;
  fixture->callbacks += 1;
  one_call(fixture);
  fixture->callbacks -= 1;
}

static void on_closed(uvperf_handle_t *handle) {
  uvperf_bpf_reader_t *reader = uvperf_handle_bpf_reader(handle);

  fixture_t *fixture = handle->data;

  fixture->closing -= 1;
  free(reader);
}

/* Waits until each program that was running when this was called has ended, and
 * no longer uses what it found in the map. */
static void pass_grace(fixture_t *fixture) {
  uint64_t before[LIVE_STORM_WRITERS];
  const live_storm_t *storm = &fixture->storm;
  size_t i;

  for (i = 0; i < storm->nr_writers; i++)
    before[i] = live_bpf_producer_runs(&storm->producer, storm->writers[i].cpu);
  for (i = 0; i < storm->nr_writers; i++)
    while (live_storm_is_writing(storm) &&
           __atomic_load_n(&storm->writers[i].code, __ATOMIC_RELAXED) == 0 &&
           live_bpf_producer_runs(&storm->producer, storm->writers[i].cpu) <
               before[i] + 2)
      sched_yield();
}

static void open_reader(fixture_t *fixture) {
  static const size_t bytes[] = {4096, 1 << 16, 1 << 20};
  uvperf_bpf_reader_options_t options = UVPERF_BPF_READER_OPTIONS_INIT;
  uvperf_error_t error;
  int rc;

  fixture->run.call = "init";
  options.ring_bytes = bytes[draw(fixture, 3)];
  if (draw(fixture, 2) == 0)
    options.wakeup_events = 1;
  pass_grace(fixture);
  fixture->written_before = live_storm_written(&fixture->storm);
  fixture->lost_before = live_storm_lost(&fixture->storm);
  live_storm_forget(&fixture->storm);
  fixture->reader = calloc(1, sizeof(*fixture->reader));
  if (fixture->reader == NULL)
    abort();
  rc = uvperf_bpf_reader_init(fixture->loop, fixture->reader,
                              fixture->storm.array, &options, &error);
  expect(fixture, rc == 0, error.reason, rc);
  fixture->reader->handle.data = fixture;
  fixture->started = fixture->ever_started = fixture->flushing = 0;
  fixture->lives += 1;
}

static void start_reader(fixture_t *fixture) {
  uvperf_stream_options_t options = UVPERF_STREAM_OPTIONS_INIT;

  fixture->run.call = "start";
  options.flush_ms = (int32_t)draw(fixture, 3) - 1;
  options.slice_records = (uint32_t)draw(fixture, 100);
  if (draw(fixture, 4) == 0)
    options.flags = UVPERF_START_NO_ENABLE;
  expect_code(fixture,
              uvperf_start(&fixture->reader->handle, &options, on_sample, NULL),
              fixture->started ? UV_EALREADY : 0);
  fixture->started = fixture->ever_started = 1;
}

static void stop_reader(fixture_t *fixture) {
  fixture->run.call = "stop";
  expect_code(fixture, uvperf_stop(&fixture->reader->handle), 0);
  fixture->started = fixture->flushing = 0;
}

static void flush_reader(fixture_t *fixture) {
  int expected = fixture->callbacks > 0  ? UV_EBUSY
                 : fixture->ever_started ? 0
                                         : UV_EINVAL;

  fixture->run.call = "flush";
  if (expected == 0)
    fixture->flushing = 1;
  expect_code(fixture, uvperf_flush(&fixture->reader->handle), expected);
  if (expected == 0)
    fixture->flushing = 0;
}

static void close_reader(fixture_t *fixture) {
  fixture->run.call = "close";
  uvperf_close(&fixture->reader->handle, on_closed);
  fixture->closing += 1;
  fixture->reader = NULL;
}

/* Everything written while it was in the map has come. Losses that no later
 * record has followed may not be reported yet. */
static void balance(fixture_t *fixture) {
  uint64_t written, lost = 0;
  size_t i;

  fixture->run.call = "balance";
  expect_code(fixture, uvperf_bpf_reader_unpublish(fixture->reader, NULL), 0);
  pass_grace(fixture);
  fixture->is_quiet = 1;
  flush_reader(fixture);
  fixture->is_quiet = 0;
  written = live_storm_written(&fixture->storm) - fixture->written_before;
  expect(fixture, live_storm_delivered(&fixture->storm) == written,
         "did not deliver all samples",
         (int64_t)(live_storm_delivered(&fixture->storm) - written));
  for (i = 0; i < fixture->storm.nr_writers; i++)
    lost += fixture->storm.writers[i].ledger.lost;
  expect(fixture,
         lost <= live_storm_lost(&fixture->storm) - fixture->lost_before,
         "reported more than was lost", (int64_t)lost);
}

static void one_call(fixture_t *fixture) {
  if (fixture->reader == NULL) {
    open_reader(fixture);
    return;
  }
  switch (draw(fixture, 12)) {
    case 0:
    case 1:
    case 2:
      start_reader(fixture);
      break;
    case 3:
      stop_reader(fixture);
      break;
    case 4:
    case 5:
      fixture->run.call = "pause";
      expect_code(fixture, uvperf_bpf_reader_unpublish(fixture->reader, NULL),
                  0);
      break;
    case 6:
    case 7:
    case 8:
      fixture->run.call = "resume";
      expect_code(fixture, uvperf_bpf_reader_publish(fixture->reader, NULL), 0);
      break;
    case 9:
      flush_reader(fixture);
      break;
    case 10:
      if (fixture->ever_started && fixture->callbacks == 0)
        balance(fixture);
      break;
    default:
      if (draw(fixture, 3) == 0)
        close_reader(fixture);
      break;
  }
}

/* When the writers have stopped, the last losses are reported too. */
static void expect_the_whole(fixture_t *fixture) {
  uint64_t lost = 0;
  size_t i;

  if (fixture->reader == NULL)
    open_reader(fixture);
  if (!fixture->started)
    start_reader(fixture);
  balance(fixture);
  fixture->is_quiet = 1;
  expect_code(fixture, uvperf_bpf_reader_publish(fixture->reader, NULL), 0);
  live_storm_one_more(&fixture->storm);
  balance(fixture);
  for (i = 0; i < fixture->storm.nr_writers; i++)
    lost += fixture->storm.writers[i].ledger.lost;
  expect(fixture,
         lost == live_storm_lost(&fixture->storm) - fixture->lost_before,
         "did not report all losses", (int64_t)lost);
  close_reader(fixture);
}

static void run_race(uv_loop_t *loop, const char *test, uint64_t seed) {
  static fixture_t fixture;
  uint64_t start = live_now();
  int turns;

  memset(&fixture, 0, sizeof(fixture));
  model_run_seed(&fixture.run, seed);
  fixture.loop = loop;
  live_storm_open(&fixture.storm, test, 8, 512);
  live_storm_begin(&fixture.storm, UINT64_MAX);
  for (; fixture.run.fault[0] == '\0' && live_now() - start < RACE_NS;
       fixture.run.step++) {
    one_call(&fixture);
    fixture.run.call = "the loop";
    for (turns = (int)draw(&fixture, 4); turns > 0; turns--)
      uv_run(loop, UV_RUN_NOWAIT);
  }
  live_storm_end(&fixture.storm);
  if (fixture.run.fault[0] == '\0')
    expect_the_whole(&fixture);
  model_run_check(&fixture.run, seed);
  uv_run(loop, UV_RUN_DEFAULT);
  assert_int_equal(fixture.closing, 0);
  assert_in_range(fixture.lives, 1, UINT64_MAX);
  live_storm_is_sound(&fixture.storm);
  live_storm_close(&fixture.storm);
}

static void reader_races_with_programs_that_never_rest(void **state) {
  size_t fds = support_count_fds();
  uint64_t seed, last;
  size_t bytes;

  model_run_seeds(4, &seed, &last);
  for (; seed <= last; seed++)
    run_race(*state, __func__, seed);
  /* libuv keeps the fd with which it polls. */
  assert_in_range(support_count_fds(), fds, fds + 1);
  assert_int_equal(support_count_rings(&bytes), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      support_loop_test(reader_races_with_programs_that_never_rest),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
