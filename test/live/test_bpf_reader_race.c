/* SPDX-License-Identifier: MIT */
/* Live: random calls of a BPF reader, outside of its callback and inside, while
 * programs on all CPUs write without a pause. Nothing is torn, nothing comes
 * that must not, and what was written while the reader was in the map is
 * accounted for. UVPERF_RANDOM_SEEDS=first:last chooses other seeds than the
 * usual. */
#include "live_storm.h"
#include "random_run.h"

#include <errno.h>

/* Of each seed. */
#define RACE_NS UINT64_C(400000000)

typedef struct world_s {
  random_run_t run;
  live_storm_t storm;
  uv_loop_t *loop;
  uvperf_bpf_reader_t *reader; /* NULL: none is open */
  int started;
  int ever_started;
  int flushing;     /* and not stopped since */
  int callbacks;    /* on the stack */
  int is_quiet;     /* callbacks call nothing */
  uint64_t closing; /* readers that are */
  uint64_t lives;
  /* What the helper had written, and lost, before this reader. */
  uint64_t written_before;
  uint64_t lost_before;
} world_t;

static uint64_t draw(world_t *world, uint64_t below) {
  return random_run_draw(&world->run, below);
}

static void expect(world_t *world, int is_so, const char *what, int64_t value) {
  random_run_expect(&world->run, is_so, what, value);
}

static void expect_code(world_t *world, int code, int expected) {
  expect(world, code == expected, "gave another code", code);
}

static void one_call(world_t *world);

static void on_sample(uvperf_bpf_reader_t *reader, int status,
                      const uvperf_bpf_sample_t *sample) {
  world_t *world = reader->data;

  expect(world, reader == world->reader, "a callback after close", status);
  expect(world, world->started || world->flushing, "a callback after stop",
         status);
  expect(world, status == 0 && sample != NULL, "a fault", status);
  live_storm_note(&world->storm, status == 0 ? sample : NULL);
  if (world->is_quiet || draw(world, 3000) != 0)
    return;
  world->callbacks += 1;
  one_call(world);
  world->callbacks -= 1;
}

static void on_closed(uvperf_bpf_reader_t *reader) {
  world_t *world = reader->data;

  world->closing -= 1;
  free(reader);
}

/* Waits until each program that ran when this was called has ended: what it
 * found in the map it has used. */
static void pass_grace(world_t *world) {
  uint64_t before[LIVE_STORM_WRITERS];
  const live_storm_t *storm = &world->storm;
  size_t i;

  for (i = 0; i < storm->nr_writers; i++)
    before[i] = live_bpf_producer_runs(&storm->producer, storm->writers[i].cpu);
  for (i = 0; i < storm->nr_writers; i++)
    while (live_storm_is_writing(storm) && storm->writers[i].code == 0 &&
           live_bpf_producer_runs(&storm->producer, storm->writers[i].cpu) <
               before[i] + 2)
      sched_yield();
}

static void open_reader(world_t *world) {
  static const size_t bytes[] = {4096, 1 << 16, 1 << 20};
  uvperf_bpf_reader_options_t options = UVPERF_BPF_READER_OPTIONS_INIT;
  uvperf_error_t error;
  int rc;

  world->run.call = "init";
  options.ring_bytes = bytes[draw(world, 3)];
  if (draw(world, 2) == 0)
    options.wakeup_events = 1;
  pass_grace(world);
  world->written_before = live_storm_written(&world->storm);
  world->lost_before = live_storm_lost(&world->storm);
  live_storm_forget(&world->storm);
  world->reader = calloc(1, sizeof(*world->reader));
  if (world->reader == NULL)
    abort();
  rc = uvperf_bpf_reader_init(world->loop, world->reader, world->storm.array,
                              &options, &error);
  expect(world, rc == 0, error.reason, rc);
  world->reader->data = world;
  world->started = world->ever_started = world->flushing = 0;
  world->lives += 1;
}

static void start_reader(world_t *world) {
  uvperf_stream_options_t options = UVPERF_STREAM_OPTIONS_INIT;

  world->run.call = "start";
  options.flush_ms = (int32_t)draw(world, 3) - 1;
  options.slice_records = (uint32_t)draw(world, 100);
  if (draw(world, 4) == 0)
    options.flags = UVPERF_START_NO_ENABLE;
  expect_code(world,
              uvperf_bpf_reader_start(world->reader, &options, on_sample, NULL),
              world->started ? UV_EALREADY : 0);
  world->started = world->ever_started = 1;
}

static void stop_reader(world_t *world) {
  world->run.call = "stop";
  expect_code(world, uvperf_bpf_reader_stop(world->reader), 0);
  world->started = world->flushing = 0;
}

static void flush_reader(world_t *world) {
  int expected = world->callbacks > 0  ? UV_EBUSY
                 : world->ever_started ? 0
                                       : UV_EINVAL;

  world->run.call = "flush";
  if (expected == 0)
    world->flushing = 1;
  expect_code(world, uvperf_bpf_reader_flush(world->reader), expected);
  if (expected == 0)
    world->flushing = 0;
}

static void close_reader(world_t *world) {
  world->run.call = "close";
  uvperf_bpf_reader_close(world->reader, on_closed);
  world->closing += 1;
  world->reader = NULL;
}

/* What was written while it was in the map has come; of what was lost that may
 * not have been told which nothing has followed. */
static void balance(world_t *world) {
  uint64_t written, lost = 0;
  size_t i;

  world->run.call = "balance";
  expect_code(world, uvperf_bpf_reader_pause(world->reader, NULL), 0);
  pass_grace(world);
  world->is_quiet = 1;
  flush_reader(world);
  world->is_quiet = 0;
  written = live_storm_written(&world->storm) - world->written_before;
  expect(world, live_storm_delivered(&world->storm) == written,
         "did not deliver what was written",
         (int64_t)(live_storm_delivered(&world->storm) - written));
  for (i = 0; i < world->storm.nr_writers; i++)
    lost += world->storm.writers[i].ledger.lost;
  expect(world, lost <= live_storm_lost(&world->storm) - world->lost_before,
         "told more than was lost", (int64_t)lost);
}

static void one_call(world_t *world) {
  if (world->reader == NULL) {
    open_reader(world);
    return;
  }
  switch (draw(world, 12)) {
    case 0:
    case 1:
    case 2:
      start_reader(world);
      break;
    case 3:
      stop_reader(world);
      break;
    case 4:
    case 5:
      world->run.call = "pause";
      expect_code(world, uvperf_bpf_reader_pause(world->reader, NULL), 0);
      break;
    case 6:
    case 7:
    case 8:
      world->run.call = "resume";
      expect_code(world, uvperf_bpf_reader_resume(world->reader, NULL), 0);
      break;
    case 9:
      flush_reader(world);
      break;
    case 10:
      if (world->ever_started && world->callbacks == 0)
        balance(world);
      break;
    default:
      if (draw(world, 3) == 0)
        close_reader(world);
      break;
  }
}

/* With the writers at rest, the last losses are told too. */
static void expect_the_whole(world_t *world) {
  uint64_t lost = 0;
  size_t i;

  if (world->reader == NULL)
    open_reader(world);
  if (!world->started)
    start_reader(world);
  balance(world);
  world->is_quiet = 1;
  expect_code(world, uvperf_bpf_reader_resume(world->reader, NULL), 0);
  live_storm_one_more(&world->storm);
  balance(world);
  for (i = 0; i < world->storm.nr_writers; i++)
    lost += world->storm.writers[i].ledger.lost;
  expect(world, lost == live_storm_lost(&world->storm) - world->lost_before,
         "did not tell what was lost", (int64_t)lost);
  close_reader(world);
}

static void run_race(uv_loop_t *loop, const char *test, uint64_t seed) {
  static world_t world;
  uint64_t start = live_now();
  int turns;

  memset(&world, 0, sizeof(world));
  random_run_seed(&world.run, seed);
  world.loop = loop;
  live_storm_open(&world.storm, test, 8, 512);
  live_storm_begin(&world.storm, UINT64_MAX);
  for (; world.run.fault[0] == '\0' && live_now() - start < RACE_NS;
       world.run.step++) {
    one_call(&world);
    world.run.call = "the loop";
    for (turns = (int)draw(&world, 4); turns > 0; turns--)
      uv_run(loop, UV_RUN_NOWAIT);
  }
  live_storm_end(&world.storm);
  if (world.run.fault[0] == '\0')
    expect_the_whole(&world);
  random_run_check(&world.run, seed);
  uv_run(loop, UV_RUN_DEFAULT);
  assert_int_equal(world.closing, 0);
  assert_in_range(world.lives, 1, UINT64_MAX);
  live_storm_is_sound(&world.storm);
  live_storm_close(&world.storm);
}

static void reader_races_with_programs_that_never_rest(void **state) {
  size_t fds = support_count_fds();
  uint64_t seed, last;
  size_t bytes;

  random_run_seeds(4, &seed, &last);
  for (; seed <= last; seed++)
    run_race(*state, __func__, seed);
  /* libuv keeps what it polls with. */
  assert_in_range(support_count_fds(), fds, fds + 1);
  assert_int_equal(support_count_rings(&bytes), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      support_loop_test(reader_races_with_programs_that_never_rest),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
