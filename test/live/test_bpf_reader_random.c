/* SPDX-License-Identifier: MIT */
/* Live: random sequences of the calls of bpf.h, outside of callbacks and
 * inside, against a model of what it promises: what each call returns, when
 * programs find the events, and that every accepted sample arrives once and in
 * order, and none at any other time. UVPERF_RANDOM_SEEDS=first:last selects
 * other seeds. */
#include "live_bpf_reader.h"

#include <errno.h>
#include <signal.h>
#include <unistd.h>

#include "fake_kernel.h"
#include "random_run.h"

#define STEPS 300
#define SLOTS 2
/* At most these samples of 40 bytes are in a ring: less than half of 64 KiB. */
#define PENDING 512
#define CPUS    2

typedef enum phase_e {
  FREE,
  OPEN,
  WALKED,
  CLOSING
} phase_t;

/* The numbers of samples that wait in the ring of a CPU. */
typedef struct queue_s {
  uint64_t numbers[PENDING];
  uint64_t first;
  uint64_t last;
} queue_t;

typedef struct fixture_s fixture_t;

/* A reader, and what the model expects of it. */
typedef struct slot_s {
  fixture_t *fixture;
  live_bpf_reader_t live; /* its map lives as long as the test */
  queue_t queues[CPUS];
  phase_t phase;
  int started;
  int ever_started;
  int is_in; /* the map, unless it closes */
  int was_switched;
  int has_slice_ends;
  int flushing;
  int callbacks; /* in which this is called */
  int ruined;    /* others have closed inner handles */
} slot_t;

struct fixture_s {
  uv_loop_t *loop;
  random_run_t run;
  int cpus[CPUS];
  int nested;
  slot_t slots[SLOTS];
};

static uint64_t draw(fixture_t *fixture, uint64_t below) {
  return random_run_draw(&fixture->run, below);
}

static void expect(fixture_t *fixture, int is_so, const char *what,
                   int64_t value) {
  random_run_expect(&fixture->run, is_so, what, value);
}

static uint64_t waiting(const slot_t *slot) {
  uint64_t nr = 0;
  size_t i;

  for (i = 0; i < CPUS; i++)
    nr += slot->queues[i].last - slot->queues[i].first;
  return nr;
}

static int is_in_map(const slot_t *slot) {
  return slot->phase == OPEN && slot->is_in;
}

static void one_call(fixture_t *fixture);

/* -- delivery ------------------------------------------------------------- */

static void take_sample(slot_t *slot, const uvperf_record_t *sample) {
  fixture_t *fixture = slot->fixture;
  queue_t *queue = &slot->queues[(int)sample->cpu == fixture->cpus[0] ? 0 : 1];
  uint64_t number;

  if (sample->sample.raw.size < sizeof(number)) {
    expect(fixture, 0, "a sample without data",
           (int64_t)sample->sample.raw.size);
    return;
  }
  memcpy(&number, sample->sample.raw.data, sizeof(number));
  expect(fixture,
         queue->first < queue->last &&
             number == queue->numbers[queue->first % PENDING],
         "another sample than the next", (int64_t)number);
  queue->first++;
}

static void on_sample(live_bpf_reader_t *live, int status,
                      const uvperf_record_t *sample) {
  slot_t *slot = live->hook_data;
  fixture_t *fixture = slot->fixture;

  expect(fixture, slot->phase == OPEN && (slot->started || slot->flushing),
         "a callback", slot->phase);
  expect(fixture, status == 0 || slot->ruined, "a status", status);
  expect(fixture, live->strange + live->others + live->corrupt == 0,
         "a strange sample", 0);
  if (sample->type != UVPERF_RECORD_NONE)
    take_sample(slot, sample);
  else
    expect(fixture, slot->has_slice_ends || status != 0, "the end of a slice",
           0);
  slot->callbacks++;
  if (fixture->nested++ < 3 && draw(fixture, 4) == 0)
    one_call(fixture);
  fixture->nested--;
  slot->callbacks--;
}

/* -- the calls ------------------------------------------------------------ */

static void call_init(slot_t *slot) {
  uvperf_bpf_reader_options_t options = live_bpf_reader_options();
  fixture_t *fixture = slot->fixture;
  live_bpf_reader_t *live = &slot->live;
  int rc;

  options.wakeup_events = (uint32_t)draw(fixture, 4);
  options.flags = draw(fixture, 2) ? UVPERF_BPF_READER_FIXED_CPUS : 0;
  rc = uvperf_bpf_reader_init(fixture->loop, &live->reader, live->array,
                              &options, NULL);
  expect(fixture, rc == 0, "init", rc);
  if (rc != 0)
    return;
  live->reader.handle.data = live;
  memset(slot->queues, 0, sizeof(slot->queues));
  slot->phase = OPEN;
  slot->started = slot->ever_started = 0;
  slot->is_in = slot->was_switched = 0;
  slot->ruined = 0;
}

static void call_start(slot_t *slot) {
  static const uint32_t records[] = {0, 1, 2, 7};
  uvperf_stream_options_t stream = live_bpf_reader_plain;
  fixture_t *fixture = slot->fixture;
  int rc;

  stream.slice_records = records[draw(fixture, 4)];
  stream.flush_ms = (int32_t)draw(fixture, 3) - 1;
  stream.flags = (uint32_t)draw(fixture, 4);
  rc = uvperf_start(&slot->live.reader.handle, &stream,
                    live_bpf_reader_on_sample, NULL);
  expect(fixture, rc == (slot->started ? UV_EALREADY : 0) || slot->ruined,
         "start", rc);
  if (rc != 0)
    return;
  slot->started = slot->ever_started = 1;
  slot->has_slice_ends = (stream.flags & UVPERF_START_SLICE_END) != 0;
  if (!(stream.flags & UVPERF_START_NO_ENABLE) && !slot->was_switched)
    slot->is_in = slot->was_switched = 1;
}

static void call_stop(slot_t *slot) {
  int rc = uvperf_stop(&slot->live.reader.handle);

  expect(slot->fixture, rc == 0, "stop", rc);
  slot->started = slot->flushing = 0;
}

static void call_pause(slot_t *slot) {
  int rc = uvperf_bpf_reader_unpublish(&slot->live.reader, NULL);

  expect(slot->fixture, rc == 0, "pause", rc);
  slot->is_in = 0;
  slot->was_switched = 1;
}

static void call_resume(slot_t *slot) {
  int rc = uvperf_bpf_reader_publish(&slot->live.reader, NULL);

  expect(slot->fixture, rc == 0, "resume", rc);
  slot->is_in = slot->was_switched = 1;
}

static void call_flush(slot_t *slot) {
  fixture_t *fixture = slot->fixture;
  int expected = 0;
  int rc;

  if (!slot->ever_started)
    expected = UV_EINVAL;
  else if (slot->callbacks > 0)
    expected = UV_EBUSY;
  if (expected == 0)
    slot->flushing = 1;
  rc = uvperf_flush(&slot->live.reader.handle);
  expect(fixture, rc == expected, "flush", rc);
  if (expected == 0)
    slot->flushing = 0;
}

/* Alone, without calls in its callbacks: then nothing is left. */
static void call_last_flush(slot_t *slot) {
  fixture_t *fixture = slot->fixture;

  if (fixture->nested > 0 || !slot->ever_started || slot->ruined)
    return;
  fixture->nested = 3;
  call_flush(slot);
  fixture->nested = 0;
  expect(fixture, waiting(slot) == 0, "samples that a flush left",
         (int64_t)waiting(slot));
}

static void call_send(slot_t *slot) {
  fixture_t *fixture = slot->fixture;
  size_t at = (size_t)draw(fixture, CPUS);
  queue_t *queue = &slot->queues[at];
  uint64_t nr = 1 + draw(fixture, 10);
  uint64_t number;
  int rc;

  if (fixture->cpus[at] == fixture->cpus[0])
    queue = &slot->queues[0];
  while (nr-- > 0 && queue->last - queue->first < PENDING) {
    number = slot->live.sent;
    rc = live_bpf_reader_send(&slot->live, fixture->cpus[at], 24);
    expect(fixture, rc == (is_in_map(slot) ? 0 : -ENOENT), "a program's call",
           rc);
    if (rc == 0)
      queue->numbers[queue->last++ % PENDING] = number;
  }
}

static void call_questions(slot_t *slot) {
  uvperf_bpf_reader_t *reader = &slot->live.reader;
  fixture_t *fixture = slot->fixture;
  uvperf_ring_info_t ring;
  uvperf_stats_t stats;

  expect(fixture, uvperf_snapshot(&reader->handle, 0, NULL, NULL) == UV_EINVAL,
         "snapshot", 0);
  expect(fixture, uvperf_bpf_reader_cpu_status(reader, fixture->cpus[0]) == 0,
         "cpu_status", 0);
  expect(fixture, uvperf_ring(&reader->handle, 0, &ring) == 0, "ring", 0);
  uvperf_stats(&reader->handle, &stats);
  expect(fixture, stats.corrupt + stats.lost_records == 0, "stats", 0);
  expect(fixture,
         uvperf_is_active(&reader->handle) == slot->started || slot->ruined,
         "is_active", slot->started);
}

static void on_closed(uvperf_handle_t *handle) {
  slot_t *slot = ((live_bpf_reader_t *)handle->data)->hook_data;

  expect(slot->fixture, slot->phase == CLOSING, "a close callback",
         slot->phase);
  expect(slot->fixture, slot->callbacks == 0, "in a callback", slot->callbacks);
  slot->phase = FREE;
}

static void call_close(slot_t *slot) {
  slot->phase = CLOSING;
  slot->flushing = 0;
  uvperf_close(&slot->live.reader.handle, on_closed);
}

typedef struct walk_s {
  uint64_t index;
  uv_handle_t *handle;
} walk_t;

static void pick_handle(uv_handle_t *handle, void *arg) {
  walk_t *walk = arg;

  if (walk->index-- == 0)
    walk->handle = handle;
}

/* For any handle of the loop: all of them are ours. */
static void call_walk_close(slot_t *slot) {
  fixture_t *fixture = slot->fixture;
  walk_t walk = {draw(fixture, 20), NULL};
  int is_ours;

  if (draw(fixture, 4) != 0)
    return;
  uv_walk(fixture->loop, pick_handle, &walk);
  if (walk.handle == NULL)
    return;
  is_ours = uvperf_walk_close(walk.handle);
  expect(fixture, is_ours || uv_is_closing(walk.handle), "a stranger", 0);
  for (slot = fixture->slots; slot < fixture->slots + SLOTS; slot++)
    if (slot->phase == OPEN && uvperf_is_closing(&slot->live.reader.handle))
      slot->phase = WALKED;
}

static void uv_close_all(uv_handle_t *handle, void *arg) {
  (void)arg;
  if (!uv_is_closing(handle))
    uv_close(handle, NULL);
}

static void call_foreign_close(slot_t *slot) {
  fixture_t *fixture = slot->fixture;

  if (draw(fixture, 20) != 0)
    return;
  uv_walk(fixture->loop, uv_close_all, NULL);
  for (slot = fixture->slots; slot < fixture->slots + SLOTS; slot++)
    slot->ruined |= slot->phase == OPEN;
}

static int run_child(void *arg) {
  fixture_t *fixture = arg;
  slot_t *slot;

  signal(SIGSEGV, SIG_DFL); /* not cmocka's handler, which continues with the
                             * tests */
  signal(SIGBUS, SIG_DFL);
  if (uv_loop_fork(fixture->loop) != 0)
    return 1;
  for (slot = fixture->slots; slot < fixture->slots + SLOTS; slot++) {
    if (slot->phase == OPEN &&
        (uvperf_stop(&slot->live.reader.handle) != UV_EPERM ||
         uvperf_bpf_reader_publish(&slot->live.reader, NULL) != UV_EPERM))
      return 2;
    if (slot->phase == OPEN || slot->phase == WALKED)
      call_close(slot);
  }
  while (uv_run(fixture->loop, UV_RUN_DEFAULT) != 0)
    continue;
  for (slot = fixture->slots; slot < fixture->slots + SLOTS; slot++)
    if (slot->phase != FREE)
      return 3;
  return fixture->run.fault[0] == '\0' && uv_loop_close(fixture->loop) == 0 ? 0
                                                                            : 4;
}

static void call_fork(slot_t *slot) {
  fixture_t *fixture = slot->fixture;
  int code;

  if (fixture->nested > 0 || draw(fixture, 10) != 0)
    return;
  code = support_wait(support_fork(run_child, fixture));
  expect(fixture, code == 0, "a forked child", code);
}

typedef struct call_s {
  const char *name;
  void (*call)(slot_t *slot);
  unsigned int phases; /* in which it may be called, 1 << phase */
} call_t;

#define ANY (1u << FREE | 1u << OPEN | 1u << WALKED | 1u << CLOSING)

static const call_t calls[] = {
    {"init", call_init, 1u << FREE},
    {"init", call_init, 1u << FREE},
    {"init", call_init, 1u << FREE},
    {"start", call_start, 1u << OPEN},
    {"start", call_start, 1u << OPEN},
    {"stop", call_stop, 1u << OPEN},
    {"pause", call_pause, 1u << OPEN},
    {"resume", call_resume, 1u << OPEN},
    {"resume", call_resume, 1u << OPEN},
    {"flush", call_flush, 1u << OPEN},
    {"flush", call_last_flush, 1u << OPEN},
    {"programs", call_send, ANY},
    {"programs", call_send, ANY},
    {"programs", call_send, ANY},
    {"questions", call_questions, 1u << OPEN},
    {"close", call_close, 1u << OPEN | 1u << WALKED},
    {"walk close", call_walk_close, ANY},
    {"foreign close", call_foreign_close, ANY},
    {"fork", call_fork, ANY},
};

static void one_call(fixture_t *fixture) {
  const call_t *call = &calls[draw(fixture, sizeof(calls) / sizeof(calls[0]))];
  slot_t *slot = &fixture->slots[draw(fixture, SLOTS)];
  const char *outer = fixture->run.call;

  if (!(call->phases & 1u << slot->phase))
    return;
  fixture->run.call = call->name;
  call->call(slot);
  fixture->run.call = outer;
}

/* -- the whole ------------------------------------------------------------ */

/* All that was taken comes. */
static void run_to_the_last(slot_t *slot) {
  fixture_t *fixture = slot->fixture;
  uint64_t deadline = live_now() + UINT64_C(20000000000);

  if (slot->phase != OPEN || slot->ruined)
    return;
  if (!slot->started)
    call_start(slot);
  fixture->nested = 3;
  while (fixture->run.fault[0] == '\0' && waiting(slot) > 0 &&
         live_now() < deadline)
    if (uv_run(fixture->loop, UV_RUN_NOWAIT) == 0 || draw(fixture, 1000) == 0)
      call_flush(slot);
  fixture->nested = 0;
  expect(fixture, live_now() < deadline, "samples that never came",
         (int64_t)waiting(slot));
}

static void close_all(fixture_t *fixture) {
  slot_t *slot;

  for (slot = fixture->slots; slot < fixture->slots + SLOTS; slot++)
    if (slot->phase == OPEN || slot->phase == WALKED)
      call_close(slot);
  while (uv_run(fixture->loop, UV_RUN_DEFAULT) != 0)
    continue;
  for (slot = fixture->slots; slot < fixture->slots + SLOTS; slot++)
    expect(fixture, slot->phase == FREE, "a close callback that never came",
           slot->phase);
}

static void run_seed(fixture_t *fixture, uint64_t seed) {
  size_t fds = support_count_fds();
  slot_t *slot;

  random_run_seed(&fixture->run, seed);
  fixture->run.call = "the loop";
  fixture->run.fault[0] = '\0';
  for (fixture->run.step = 0;
       fixture->run.step < STEPS && fixture->run.fault[0] == '\0';
       fixture->run.step++) {
    one_call(fixture);
    if (draw(fixture, 2) == 0)
      uv_run(fixture->loop, UV_RUN_NOWAIT);
  }
  for (slot = fixture->slots; slot < fixture->slots + SLOTS; slot++)
    run_to_the_last(slot);
  close_all(fixture);
  random_run_check(&fixture->run, seed);
  assert_int_equal(support_count_fds(), fds);
  fake_assert_clean();
}

static void reader_random_calls_keep_the_promises(void **state) {
  uint64_t seed, last;
  int cpus[CPUS];
  fixture_t *fixture;
  size_t i, nr;

  /* Skips, if it does, before anything is there. */
  close(live_bpf_array_make(__func__, 0));
  fixture = calloc(1, sizeof(*fixture));
  assert_non_null(fixture);
  fixture->loop = *state;
  nr = live_cpus(cpus, CPUS);
  fixture->cpus[0] = cpus[0];
  fixture->cpus[1] = cpus[nr - 1];
  for (i = 0; i < SLOTS; i++) {
    fixture->slots[i].fixture = fixture;
    live_bpf_reader_make(__func__, &fixture->slots[i].live, 0);
    fixture->slots[i].live.on_sample = on_sample;
    fixture->slots[i].live.hook_data = &fixture->slots[i];
  }
  random_run_seeds(25, &seed, &last);
  for (; seed <= last; seed++)
    run_seed(fixture, seed);
  for (i = 0; i < SLOTS; i++)
    live_bpf_reader_unmake(&fixture->slots[i].live);
  free(fixture);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      support_loop_test(reader_random_calls_keep_the_promises),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
