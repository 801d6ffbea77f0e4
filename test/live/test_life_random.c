/* SPDX-License-Identifier: MIT */
/* Live: random sequences of calls, outside of callbacks and inside, of several
 * handles of all kinds on one loop, against a model: what each call returns,
 * that each record that was made arrives once and in order, and none at any
 * other time. UVPERF_RANDOM_SEEDS=first:last selects other seeds. */
#include "life.h"

#include <signal.h>
#include <unistd.h>

#include "live_thread.h"
#include "model_run.h"

#define STEPS  300
#define SLOTS  6
#define NESTED 4   /* depth of callbacks in callbacks, by flush */
#define ROOM   512 /* records that wait; a ring of 64 KiB has room for more */

enum phase {
  FREE,
  OPEN,
  WALKED,
  CLOSING
};

typedef struct model_s model_t;

/* A handle, and what the model expects of it. */
typedef struct slot_s {
  model_t *model;
  life_t *life;
  enum phase phase;
  int started, ever_started;
  int enabled, was_switched;
  int has_slice_ends;
  int ruined;    /* others have closed inner handles */
  int flushing;  /* or taking a snapshot, and no stop since */
  int snapping;  /* a snapshot with a callback is pending */
  int callbacks; /* of it, on the stack */
  int has_noise; /* records of the side band may wait */
  int ended;
  uint64_t waiting;     /* records that were not delivered or taken */
  uint64_t taken;       /* records of a snapshot that have still to come */
  uint64_t copied;      /* the same before the first of them */
  live_thread_t thread; /* the target of an event */
  int has_thread, thread_is_dead;
  uint64_t made; /* for the thread */
} slot_t;

struct model_s {
  model_run_t run;
  uv_loop_t *loop;
  uint64_t next; /* the number of the next COMM record */
  int nested;
  int is_child;
  int is_ending;
  slot_t slots[SLOTS];
};

static uint64_t draw(model_t *model, uint64_t below) {
  return model_run_draw(&model->run, below);
}

static void expect(model_t *model, int is_so, const char *what, int64_t value) {
  model_run_expect(&model->run, is_so, what, value);
}

static int is_flight(const slot_t *slot) {
  return (slot->life->kind & LIFE_FLIGHTS) != 0;
}

static int is_reader(const slot_t *slot) {
  return (slot->life->kind & LIFE_READERS) != 0;
}

static void one_call(model_t *model);

/* -- records -------------------------------------------------------------- */

static int listens(const slot_t *slot) {
  return slot->phase == OPEN && slot->enabled && !is_reader(slot) &&
         !slot->has_thread;
}

/* This thread makes some, which all its events and sets record; and a reader
 * has its own. */
static void call_make(slot_t *slot) {
  model_t *model = slot->model;
  uint64_t nr = 1 + draw(model, 10);
  cpu_set_t old;
  size_t i;

  if (is_reader(slot)) {
    if (slot->phase != OPEN || !slot->enabled || slot->waiting + nr > ROOM)
      return;
    life_write(slot->life, nr);
    slot->waiting += nr;
    return;
  }
  for (i = 0; i < SLOTS; i++)
    if (listens(&model->slots[i]) && model->slots[i].waiting + nr > ROOM)
      return;
  for (i = 0; i < SLOTS; i++)
    if (listens(&model->slots[i])) {
      model->slots[i].waiting += nr;
      model->slots[i].life->written = model->next + nr;
    }
  for (i = 0; i < nr; i++) {
    live_pin(slot->life->cpus[model->next % 2], &old);
    live_comm(&model->next, 1);
    live_unpin(&old);
  }
}

static void make_comms(void *arg) {
  slot_t *slot = arg;

  live_comm(&slot->model->next, slot->made);
}

static void call_make_in_thread(slot_t *slot) {
  uint64_t nr = 1 + draw(slot->model, 10);

  if (!slot->has_thread || slot->thread_is_dead || slot->waiting + nr > ROOM)
    return;
  slot->made = nr;
  live_thread_do(&slot->thread);
  slot->life->written = slot->model->next;
  if (slot->enabled)
    slot->waiting += nr;
}

/* A thread or a child begins or ends: events with comm record that. */
static void hear_of_a_task(model_t *model) {
  size_t i;

  for (i = 0; i < SLOTS; i++)
    model->slots[i].has_noise = 1;
}

static void end_thread(slot_t *slot) {
  if (!slot->has_thread || slot->thread_is_dead)
    return;
  live_thread_end(&slot->thread);
  slot->thread_is_dead = 1;
  hear_of_a_task(slot->model);
}

static void take_record(slot_t *slot) {
  model_t *model = slot->model;

  if (!is_flight(slot)) {
    expect(model, slot->waiting > 0, "a record that was not made", 0);
    slot->waiting -= slot->waiting > 0;
    return;
  }
  /* Records count as taken when their delivery begins. */
  if (slot->copied > 0) {
    slot->taken = slot->copied;
    slot->waiting -= slot->copied;
    slot->copied = 0;
  }
  expect(model, slot->taken > 0, "a record that is not in the snapshot", 0);
  slot->taken -= slot->taken > 0;
}

static void expect_end(slot_t *slot, int status) {
  model_t *model = slot->model;

  if (slot->ruined) {
    expect(model, status == UV_ECANCELED, "an end by others", status);
  } else {
    expect(model, status == UV_EOF && slot->thread_is_dead, "an end", status);
    expect(model, slot->waiting == 0, "an end before the last record",
           (int64_t)slot->waiting);
  }
  expect(model, !slot->ended, "a second end", 0);
  slot->ended = 1;
  slot->started = 0;
}

static void on_callback(life_t *life, enum life_place place, int status) {
  slot_t *slot = life->data;
  model_t *model = slot->model;

  expect(model, !model->is_child || place == LIFE_CLOSED || place == LIFE_DONE,
         "a callback in the child", place);
  if (place == LIFE_CLOSED) {
    expect(model, slot->phase == CLOSING, "a close callback", slot->phase);
    /* If others have closed it, closing calls back at once. */
    expect(model, slot->callbacks == 0 || slot->ruined, "in a callback",
           slot->callbacks);
    slot->phase = FREE;
    life->closed = life->is_closing = 0;
    return;
  }
  if (place == LIFE_DONE) {
    expect(model, slot->snapping, "the end of no snapshot", status);
    expect(model,
           status == UV_ECANCELED ||
               (status == 0 && slot->taken + slot->copied == 0 &&
                slot->phase == OPEN),
           "the end of a snapshot", status);
    slot->snapping = 0;
    slot->taken = slot->copied = 0;
    return;
  }
  expect(model, slot->phase == OPEN, "a callback after close", slot->phase);
  expect(model, slot->started || slot->flushing || slot->snapping,
         "a callback when stopped", place);
  slot->callbacks += 1;
  model->nested += 1;
  if (place == LIFE_RECORD)
    take_record(slot);
  else if (place == LIFE_SLICE)
    expect(model, slot->has_slice_ends, "the end of a slice", 0);
  else
    expect_end(slot, status);
  if (!model->is_ending && !model->is_child && model->nested < NESTED &&
      draw(model, 4) == 0)
    one_call(model);
  model->nested -= 1;
  slot->callbacks -= 1;
}

/* -- open and close ------------------------------------------------------- */

static void call_open(slot_t *slot) {
  model_t *model = slot->model;
  life_t *life = slot->life;

  if (slot->callbacks > 0)
    return;
  memset(slot, 0, sizeof(*slot));
  slot->model = model;
  slot->life = life;
  life->target = 0;
  life->written = is_reader(slot) ? 0 : model->next;
  life->last[0] = life->last[1] = 0;
  life->is_newest_first = 0;
  if (life->kind == LIFE_EVENT && draw(model, 2) == 0) {
    slot->has_thread = 1;
    live_thread_start(&slot->thread, make_comms, slot);
    hear_of_a_task(model);
    life->target = (pid_t)slot->thread.tid;
  }
  life_open(life);
  slot->phase = OPEN;
}

static void call_close(slot_t *slot) {
  end_thread(slot);
  slot->phase = CLOSING;
  slot->flushing = 0;
  life_close(slot->life);
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
  model_t *model = slot->model;
  walk_t walk = {draw(model, 8 * SLOTS), NULL};
  int is_ours;

  if (draw(model, 3) == 0)
    uv_walk(model->loop, pick_handle, &walk);
  if (walk.handle == NULL)
    return;
  is_ours = uvperf_walk_close(walk.handle);
  expect(model, is_ours || uv_is_closing(walk.handle), "a stranger", 0);
  for (slot = model->slots; slot < model->slots + SLOTS; slot++)
    if (slot->phase == OPEN && uvperf_is_closing(slot->life->handle))
      slot->phase = WALKED;
}

static void call_foreign_close(slot_t *slot) {
  model_t *model = slot->model;

  if (draw(model, 20) != 0)
    return;
  life_uv_close_all(model->loop);
  for (slot = model->slots; slot < model->slots + SLOTS; slot++)
    slot->ruined |= slot->phase == OPEN;
}

/* -- delivery ------------------------------------------------------------- */

static void call_start(slot_t *slot) {
  static const uint32_t records[] = {0, 1, 2, 7};
  static const uint64_t bytes[] = {0, 1, 100, 100000};
  static const uint32_t us[] = {0, 1, LIVE_SLICE_US, LIVE_SLICE_US};
  uvperf_stream_options_t options = UVPERF_STREAM_OPTIONS_INIT;
  model_t *model = slot->model;
  int expected = slot->started ? UV_EALREADY : slot->ended ? UV_EOF : 0;
  int rc;

  options.slice_records = records[draw(model, 4)];
  options.slice_bytes = bytes[draw(model, 4)];
  options.slice_us = us[draw(model, 4)];
  options.flush_ms = (int32_t)draw(model, 3) - 1;
  options.flags = (uint32_t)draw(model, 4);
  rc = life_try_start_with(slot->life, &options);
  expect(model, rc == expected || slot->ruined, "start", rc);
  if (rc != 0)
    return;
  slot->started = slot->ever_started = 1;
  slot->has_slice_ends = (options.flags & UVPERF_START_SLICE_END) != 0;
  if (!(options.flags & UVPERF_START_NO_ENABLE) && !slot->was_switched)
    slot->enabled = slot->was_switched = 1;
}

static void call_stop(slot_t *slot) {
  int rc = uvperf_stop(slot->life->handle);

  expect(slot->model, rc == 0, "stop", rc);
  slot->flushing = slot->started = 0;
}

/* Unless it is stopped or closed meanwhile, nothing is left of what was
 * there. */
static void call_flush(slot_t *slot) {
  model_t *model = slot->model;
  uint64_t waited = slot->waiting;
  uint64_t records = slot->life->records;
  int expected = is_flight(slot) || !slot->ever_started ? UV_EINVAL
                 : slot->callbacks > 0                  ? UV_EBUSY
                                                        : 0;
  int rc;

  if (expected == 0)
    slot->flushing = 1;
  rc = uvperf_flush(slot->life->handle);
  expect(model, rc == expected || slot->ruined, "flush", rc);
  if (expected != 0)
    return;
  if (slot->phase == OPEN && slot->flushing && !slot->ruined && !slot->ended)
    expect(model, slot->life->records - records >= waited,
           "records that a flush left", (int64_t)waited);
  slot->flushing = 0;
}

static int expected_of_snapshot(const slot_t *slot, int is_later) {
  if (!is_flight(slot) || !slot->ever_started)
    return UV_EINVAL;
  if (slot->snapping || slot->flushing || (slot->callbacks > 0 && !is_later))
    return UV_EBUSY;
  return 0;
}

static void call_snapshot(slot_t *slot) {
  model_t *model = slot->model;
  int expected = expected_of_snapshot(slot, 0);
  int rc;

  if (expected == 0) {
    slot->flushing = 1;
    slot->taken = slot->waiting;
    slot->waiting = 0;
  }
  rc = life_snap(slot->life, UVPERF_SNAPSHOT_OLDEST_FIRST);
  expect(model, rc == expected, "snapshot", rc);
  if (expected != 0)
    return;
  if (slot->phase == OPEN && slot->flushing && !slot->ruined)
    expect(model, slot->taken == 0, "records that a snapshot left",
           (int64_t)slot->taken);
  slot->flushing = 0;
  slot->taken = 0;
}

/* Its records are those when it is copied, so it is at once. */
static void call_snapshot_later(slot_t *slot) {
  int expected = expected_of_snapshot(slot, 1);
  int rc;

  if (slot->callbacks > 0)
    return;
  rc = life_snap_later(slot->life, UVPERF_SNAPSHOT_OLDEST_FIRST);
  expect(slot->model, rc == expected || slot->ruined, "later snapshot", rc);
  if (rc != 0)
    return;
  slot->snapping = 1;
  slot->copied = slot->waiting;
  fake_pool_finish();
}

static void call_next(slot_t *slot) {
  model_t *model = slot->model;
  int expected = slot->waiting > 0 ? 0 : UV_EAGAIN;
  int rc;

  if (slot->callbacks > 0)
    expected = UV_EBUSY;
  else if (is_flight(slot))
    expected = slot->life->kind == LIFE_FLIGHT ? UV_EBUSY : UV_EINVAL;
  else if (slot->started)
    expected = UV_EBUSY;
  else if (!slot->has_noise && !slot->ruined)
    expect(model, uvperf_has_record(slot->life->handle) == (expected == 0),
           "has_record", expected);
  rc = life_next(slot->life);
  if (expected == UV_EAGAIN && rc == UV_EOF)
    expect(model, slot->thread_is_dead, "an end while it lives", 0);
  else
    expect(model, rc == expected || slot->ruined, "next", rc);
  if (rc == 0)
    take_record(slot);
}

/* -- all the rest --------------------------------------------------------- */

static void call_enable(slot_t *slot) {
  life_enable(slot->life);
  slot->enabled = slot->was_switched = 1;
}

static void call_disable(slot_t *slot) {
  uvperf_handle_t *handle = slot->life->handle;
  int rc =
      is_reader(slot)
          ? uvperf_bpf_reader_unpublish(uvperf_handle_bpf_reader(handle), NULL)
          : uvperf_disable(handle, UVPERF_ALL, NULL);

  expect(slot->model, rc == 0, "disable", rc);
  slot->enabled = 0;
  slot->was_switched = 1;
}

static void call_questions(slot_t *slot) {
  model_t *model = slot->model;
  uvperf_handle_t *handle = slot->life->handle;
  int is_open = slot->phase == OPEN;
  int is_active = is_open && slot->started && !is_flight(slot);
  int ref = draw(model, 2) == 0;
  uvperf_stats_t stats;

  if (ref)
    uvperf_ref(handle);
  else
    uvperf_unref(handle);
  expect(model, !is_open || uvperf_has_ref(handle) == ref, "has_ref", ref);
  expect(model, uvperf_is_closing(handle) == !is_open, "is_closing", 0);
  expect(model, uvperf_is_active(handle) == is_active || slot->ruined,
         "is_active", is_active);
  if (!is_open)
    return;
  uvperf_stats(handle, &stats);
  expect(model, stats.corrupt + stats.lost_records == 0, "stats", 0);
  expect(model, uvperf_nr_rings(handle) > 0, "nr_rings", 0);
}

/* -- a forked child ------------------------------------------------------- */

static int close_in_child(model_t *model) {
  slot_t *slot;

  signal(SIGSEGV, SIG_DFL); /* not cmocka's handler, which continues with the
                             * tests */
  signal(SIGBUS, SIG_DFL);
  model->is_child = 1;
  model->run.call = "a forked child";
  if (uv_loop_fork(model->loop) != 0)
    return 1;
  for (slot = model->slots; slot < model->slots + SLOTS; slot++) {
    if (slot->phase == OPEN && (uvperf_stop(slot->life->handle) != UV_EPERM ||
                                uvperf_flush(slot->life->handle) != UV_EPERM))
      return 2;
    if (slot->phase != OPEN && slot->phase != WALKED)
      continue;
    slot->thread_is_dead = 1; /* it is not here */
    call_close(slot);
  }
  return 0;
}

static int end_child(model_t *model) {
  slot_t *slot;
  int turns;

  for (turns = 0; turns < 100; turns++)
    uv_run(model->loop, UV_RUN_NOWAIT);
  for (slot = model->slots; slot < model->slots + SLOTS; slot++)
    if (slot->phase != FREE)
      return 3;
  if (model->run.fault[0] != '\0')
    fprintf(stderr, "%s\n", model->run.fault);
  return model->run.fault[0] == '\0' && uv_loop_close(model->loop) == 0 ? 0 : 4;
}

static int run_child(void *arg) {
  int code = close_in_child(arg);

  return code != 0 ? code : end_child(arg);
}

/* In a callback the child closes everything on its stack, and returns. */
static void call_fork(slot_t *slot) {
  model_t *model = slot->model;
  pid_t pid;
  int code;

  if (draw(model, 10) != 0)
    return;
  hear_of_a_task(model);
  if (model->nested == 0) {
    pid = support_fork(run_child, model);
  } else {
    fflush(NULL);
    pid = fork();
  }
  if (pid == 0) {
    code = close_in_child(model);
    if (code != 0)
      _exit(code);
    return;
  }
  code = support_wait(pid);
  expect(model, code == 0, "a forked child", code);
}

/* -- a run ---------------------------------------------------------------- */

typedef struct call_s {
  const char *name;
  void (*call)(slot_t *slot);
  unsigned int phases; /* in which it may be called, 1 << phase */
} call_t;

#define ANY  (1u << FREE | 1u << OPEN | 1u << WALKED | 1u << CLOSING)
#define HELD (1u << OPEN | 1u << WALKED | 1u << CLOSING)

static const call_t calls[] = {
    {"open", call_open, 1u << FREE},
    {"open", call_open, 1u << FREE},
    {"start", call_start, 1u << OPEN},
    {"start", call_start, 1u << OPEN},
    {"start", call_start, 1u << OPEN},
    {"stop", call_stop, 1u << OPEN},
    {"stop", call_stop, 1u << OPEN},
    {"flush", call_flush, 1u << OPEN},
    {"flush", call_flush, 1u << OPEN},
    {"snapshot", call_snapshot, 1u << OPEN},
    {"snapshot", call_snapshot, 1u << OPEN},
    {"later snapshot", call_snapshot_later, 1u << OPEN},
    {"next", call_next, 1u << OPEN},
    {"next", call_next, 1u << OPEN},
    {"enable", call_enable, 1u << OPEN},
    {"disable", call_disable, 1u << OPEN},
    {"questions", call_questions, HELD},
    {"close", call_close, 1u << OPEN | 1u << WALKED},
    {"walk close", call_walk_close, ANY},
    {"foreign close", call_foreign_close, ANY},
    {"records", call_make, ANY},
    {"records", call_make, ANY},
    {"records", call_make, ANY},
    {"records of a thread", call_make_in_thread, 1u << OPEN},
    {"records of a thread", call_make_in_thread, 1u << OPEN},
    {"end of a thread", end_thread, 1u << OPEN},
    {"fork", call_fork, ANY},
};

static void one_call(model_t *model) {
  const call_t *call = &calls[draw(model, sizeof(calls) / sizeof(calls[0]))];
  slot_t *slot = &model->slots[draw(model, SLOTS)];
  const char *outer = model->run.call;

  if (!(call->phases & 1u << slot->phase))
    return;
  model->run.call = call->name;
  call->call(slot);
  model->run.call = outer;
}

/* All that was made comes, and each end. */
static void run_to_the_last(slot_t *slot) {
  model_t *model = slot->model;
  uint64_t deadline = live_now() + UINT64_C(20000000000);

  if (slot->phase != OPEN || slot->ruined || is_flight(slot))
    return;
  uvperf_ref(slot->life->handle); /* or it does not keep the loop running */
  if (!slot->started && !slot->ended)
    call_start(slot);
  while (model->run.fault[0] == '\0' &&
         (slot->waiting > 0 || (slot->thread_is_dead && !slot->ended)) &&
         live_now() < deadline)
    uv_run(model->loop, UV_RUN_NOWAIT);
  expect(model, live_now() < deadline, "records that never came",
         (int64_t)slot->waiting);
}

static void run_seed(model_t *model, uint64_t seed) {
  slot_t *slot;
  int turns;

  model_run_seed(&model->run, seed);
  model->run.call = "the loop";
  model->is_ending = 0;
  for (model->run.step = 0;
       model->run.step < STEPS && model->run.fault[0] == '\0';
       model->run.step++) {
    one_call(model);
    if (draw(model, 2) == 0)
      uv_run(model->loop, UV_RUN_NOWAIT);
    if (model->is_child)
      _exit(end_child(model));
  }
  model->is_ending = 1;
  for (slot = model->slots; slot < model->slots + SLOTS; slot++)
    run_to_the_last(slot);
  for (slot = model->slots; slot < model->slots + SLOTS; slot++)
    if (slot->phase == OPEN || slot->phase == WALKED)
      call_close(slot);
  for (turns = 0; turns < 100; turns++)
    uv_run(model->loop, UV_RUN_NOWAIT);
  for (slot = model->slots; slot < model->slots + SLOTS; slot++)
    expect(model, slot->phase == FREE, "a close callback that never came",
           slot->phase);
  model_run_check(&model->run, seed);
}

static void random_calls_keep_the_promises(life_t *life) {
  static const unsigned int kinds[2][SLOTS] = {
      {LIFE_EVENT, LIFE_EVENT, LIFE_FLIGHT, LIFE_SET, LIFE_ORDER,
       LIFE_ORDER_FLIGHT},
      {LIFE_READER, LIFE_READER, LIFE_READER_FLIGHT, LIFE_EVENT, LIFE_ORDER,
       LIFE_SET_FLIGHT}};
  model_t *model = calloc(1, sizeof(*model));
  uint64_t seed, last;
  size_t i;

  assert_non_null(model);
  model->loop = life->loop;
  for (i = 0; i < SLOTS; i++) {
    model->slots[i].model = model;
    model->slots[i].life = life_add(life, kinds[life->kind == LIFE_READER][i]);
    model->slots[i].life->is_other = 0;
    model->slots[i].life->hook = on_callback;
    model->slots[i].life->data = &model->slots[i];
  }
  life->fds = support_count_fds(); /* with their maps */
  model_run_seeds(25, &seed, &last);
  for (; seed <= last; seed++) {
    run_seed(model, seed);
    life_end(life);
  }
  free(model);
}

int main(void) {
  const life_test_t tests[] = {
      LIFE_TEST(random_calls_keep_the_promises,
                LIFE_EVENT | LIFE_READER | LIFE_LIVE),
  };

  return life_main(tests, sizeof(tests) / sizeof(tests[0]));
}
