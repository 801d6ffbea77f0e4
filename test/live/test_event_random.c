/* SPDX-License-Identifier: MIT */
/* Live: random sequences of the calls of event.h, outside of callbacks and
 * inside, against a model of what it promises: what each call returns, and that
 * every record that was made arrives once and in order, and none at any other
 * time. UVPERF_RANDOM_SEEDS=first:last selects other seeds. */
#include "event_model.h"

#include <signal.h>
#include <unistd.h>

#define STEPS 300

/* -- init and close ------------------------------------------------------- */

static void choose_event(slot_t *slot, struct perf_event_attr *attr,
                         uvperf_event_options_t *options) {
  static const size_t bytes[] = {1, 64 * 1024, 0};
  event_model_t *model = slot->model;

  live_comm_attr(attr);
  options->ring_bytes = bytes[random_draw(model, 3)];
  if (random_draw(model, 8) == 0) {
    options->ring_bytes = 0;
    options->flags = UVPERF_EVENT_NO_RING;
  }
  if (random_draw(model, 3) != 0)
    return;
  random_thread_start(slot);
  options->pid = (int32_t)slot->thread.tid;
}

static void call_init(slot_t *slot) {
  uvperf_event_options_t options = UVPERF_EVENT_OPTIONS_INIT;
  event_model_t *model = slot->model;
  struct perf_event_attr attr;
  int rc;

  memset(slot, 0, sizeof(*slot));
  slot->model = model;
  slot->event = malloc(sizeof(*slot->event));
  choose_event(slot, &attr, &options);
  rc = uvperf_event_init(model->loop, slot->event, &attr, &options, NULL);
  /* Rings that are still closing count against RLIMIT_MEMLOCK too. */
  random_expect(model, rc == 0 || rc == UV_EPERM, "init", rc);
  if (rc != 0) {
    random_thread_end(slot);
    free(slot->event);
    return;
  }
  slot->event->handle.data = slot;
  slot->phase = OPEN;
  /* No record here has more than 64 bytes, and half of a ring is enough. */
  slot->room = support_ring_bytes(&slot->event->handle) / 64 / 2;
}

static void call_bad_init(slot_t *slot) {
  uvperf_event_options_t options = UVPERF_EVENT_OPTIONS_INIT;
  uvperf_event_t *event = malloc(sizeof(*event));
  struct perf_event_attr attr;
  uvperf_error_t error;
  int expected = UV_ENOENT;
  int rc;

  live_comm_attr(&attr);
  if (slot->phase == CLOSING || slot->phase == WALKED) {
    options.leader = slot->event;
    expected = UV_EINVAL;
  } else if (random_draw(slot->model, 2)) {
    attr.type = 42;
  } else {
    options.ring_bytes = support_page_bytes();
    uvperf_attr_set_wakeup_bytes(&attr, (uint32_t)support_page_bytes());
    expected = UV_EINVAL;
  }
  rc = uvperf_event_init(slot->model->loop, event, &attr, &options, &error);
  random_expect(slot->model, rc == expected && error.code == expected,
                "bad init", rc);
  free(event);
}

static void on_closed(uvperf_handle_t *handle) {
  uvperf_event_t *event = uvperf_handle_event(handle);

  slot_t *slot = handle->data;

  random_expect(slot->model, slot->phase == CLOSING, "a close callback",
                slot->phase);
  random_expect(slot->model, slot->event == event, "of another handle", 0);
  random_expect(slot->model, slot->callbacks == 0, "in a callback",
                slot->callbacks);
  slot->event = NULL;
  slot->phase = FREE;
  free(event);
}

static void call_close(slot_t *slot) {
  event_model_t *model = slot->model;
  uvperf_event_t *event = slot->event;

  random_thread_end(slot);
  if (model->nr_zombies < MAX_ZOMBIES && random_draw(model, 4) == 0) {
    model->zombies[model->nr_zombies++] = event;
    event->handle.data = &model->gone;
    slot->event = NULL;
    slot->phase = FREE;
    uvperf_close(&event->handle, NULL);
    return;
  }
  slot->phase = CLOSING;
  uvperf_close(&event->handle, on_closed);
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
  event_model_t *model = slot->model;
  walk_t walk = {random_draw(model, 4 * SLOTS), NULL};
  int is_ours;

  uv_walk(model->loop, pick_handle, &walk);
  if (walk.handle == NULL)
    return;
  is_ours = uvperf_walk_close(walk.handle);
  random_expect(model, is_ours || uv_is_closing(walk.handle), "a stranger", 0);
  for (slot = model->slots; slot < model->slots + SLOTS; slot++)
    if (slot->phase == OPEN && uvperf_is_closing(&slot->event->handle))
      slot->phase = WALKED;
}

static void uv_close_all(uv_handle_t *handle, void *arg) {
  (void)arg;
  if (!uv_is_closing(handle))
    uv_close(handle, NULL);
}

static void call_foreign_close(slot_t *slot) {
  event_model_t *model = slot->model;

  if (random_draw(model, 20) != 0)
    return;
  uv_walk(model->loop, uv_close_all, NULL);
  for (slot = model->slots; slot < model->slots + SLOTS; slot++)
    slot->ruined |= slot->phase == OPEN;
}

/* -- start, stop, flush --------------------------------------------------- */

static void choose_stream(event_model_t *model,
                          uvperf_stream_options_t *options) {
  static const uint32_t records[] = {0, 1, 2, 7};
  static const uint64_t bytes[] = {0, 1, 100, 100000};
  static const uint32_t us[] = {0, 1, LIVE_SLICE_US, LIVE_SLICE_US};

  options->slice_records = records[random_draw(model, 4)];
  options->slice_bytes = bytes[random_draw(model, 4)];
  options->slice_us = us[random_draw(model, 4)];
  options->flush_ms = (int32_t)random_draw(model, 3) - 1;
  options->flags = (uint32_t)random_draw(model, 4);
}

static void call_start(slot_t *slot) {
  uvperf_stream_options_t options = UVPERF_STREAM_OPTIONS_INIT;
  event_model_t *model = slot->model;
  int expected = 0;
  int rc;

  choose_stream(model, &options);
  if (slot->started)
    expected = UV_EALREADY;
  else if (slot->ended)
    expected = UV_EOF;
  rc = uvperf_start(
      &slot->event->handle, &options,
      support_ring_bytes(&slot->event->handle) != 0 ? random_on_record : NULL,
      NULL);
  random_expect(model, rc == expected || slot->ruined, "start", rc);
  if (rc != 0)
    return;
  slot->started = 1;
  slot->ever_started = 1;
  slot->has_slice_ends = (options.flags & UVPERF_START_SLICE_END) != 0;
  if (!(options.flags & UVPERF_START_NO_ENABLE) && !slot->was_switched)
    slot->enabled = slot->was_switched = 1;
}

static void call_stop(slot_t *slot) {
  int rc;

  rc = uvperf_stop(&slot->event->handle);
  random_expect(slot->model, rc == 0, "stop", rc);
  slot->flushing = 0;
  slot->started = 0;
}

static void call_flush(slot_t *slot) {
  uint64_t last = slot->last;
  event_model_t *model = slot->model;
  int expected = 0;
  int rc;

  if (slot->room == 0 || !slot->ever_started)
    expected = UV_EINVAL;
  else if (slot->callbacks > 0)
    expected = UV_EBUSY;
  if (expected == 0)
    slot->flushing = 1;
  rc = uvperf_flush(&slot->event->handle);
  random_expect(model, rc == expected || slot->ruined, "flush", rc);
  if (expected != 0)
    return;
  /* Neither closed nor stopped: then everything in the ring has come. */
  if (slot->phase == OPEN && slot->flushing && !slot->ruined)
    random_expect(model, slot->first >= last, "records that a flush left",
                  (int64_t)(last - slot->first));
  slot->flushing = 0;
}

static int expected_of_next(const slot_t *slot) {
  if (slot->room == 0)
    return UV_EINVAL;
  if (slot->started || slot->callbacks > 0)
    return UV_EBUSY;
  return random_waiting(slot) > 0 ? 0 : UV_EAGAIN;
}

/* If the target is gone, the second call in a row that finds no record reports
 * the end; a later start reports it again. */
static void call_next(slot_t *slot) {
  event_model_t *model = slot->model;
  const uvperf_record_t *record;
  int expected = expected_of_next(slot);
  int rc;

  rc = uvperf_next(&slot->event->handle, &record);
  if (expected == UV_EAGAIN && rc == UV_EOF)
    random_expect(model, slot->thread_is_dead, "an end while it lives", 0);
  else
    random_expect(model, rc == expected || slot->ruined, "next", rc);
  random_expect(model, (rc == 0 || rc == UV_EPROTO) == (record != NULL),
                "a record of next", rc);
  if (rc == 0)
    random_expect_record(slot, record);
}

/* -- all the rest --------------------------------------------------------- */

static void call_enable(slot_t *slot) {
  int rc = uvperf_enable(&slot->event->handle, 0, NULL);

  random_expect(slot->model, rc == 0, "enable", rc);
  slot->enabled = slot->was_switched = 1;
}

static void call_disable(slot_t *slot) {
  int rc = uvperf_disable(&slot->event->handle, 0, NULL);

  random_expect(slot->model, rc == 0, "disable", rc);
  slot->enabled = 0;
  slot->was_switched = 1;
}

static void call_questions(slot_t *slot) {
  event_model_t *model = slot->model;
  uvperf_count_t count;
  uvperf_stats_t stats;
  uint64_t id = 0;

  random_expect(model, uvperf_reset(&slot->event->handle, 0, NULL) == 0,
                "reset", 0);
  random_expect(model, uvperf_event_read(slot->event, &count, NULL) == 0,
                "read", 0);
  random_expect(model, count.value == 0, "the count of a dummy", 0);
  random_expect(model, uvperf_event_id(slot->event, &id) == 0 && id != 0, "id",
                0);
  uvperf_stats(&slot->event->handle, &stats);
  random_expect(model, stats.corrupt + stats.lost_records == 0, "stats", 0);
  random_expect(model,
                uvperf_handle_attr(&slot->event->handle, 0)->disabled == 1,
                "attr", 0);
}

/* These may be asked until the memory is gone. */
static void ask_always(slot_t *slot) {
  event_model_t *model = slot->model;
  uvperf_event_t *event = slot->event;
  int is_open = slot->phase == OPEN;
  int is_active = is_open && slot->room > 0 && slot->started && !slot->ended;
  int ref = random_draw(model, 2) == 0;

  random_expect(model, uvperf_is_closing(&event->handle) == !is_open,
                "is_closing", 0);
  random_expect(model,
                uvperf_is_active(&event->handle) == is_active || slot->ruined,
                "is_active", is_active);
  if (ref)
    uvperf_ref(&event->handle);
  else
    uvperf_unref(&event->handle);
  random_expect(
      model, !is_open || slot->ruined || uvperf_has_ref(&event->handle) == ref,
      "has_ref", ref);
}

typedef struct call_s {
  const char *name;
  void (*call)(slot_t *slot);
  unsigned int phases; /* in which it may be called, 1 << phase */
} call_t;

#define ANY  (1u << FREE | 1u << OPEN | 1u << WALKED | 1u << CLOSING)
#define HELD (1u << OPEN | 1u << WALKED | 1u << CLOSING)

static void call_make(slot_t *slot) {
  random_make(slot->model);
}

static void fork_in_callback(slot_t *slot);

static const call_t calls[] = {
    {"init", call_init, 1u << FREE},
    {"init", call_init, 1u << FREE},
    {"bad init", call_bad_init, ANY},
    {"start", call_start, 1u << OPEN},
    {"start", call_start, 1u << OPEN},
    {"start", call_start, 1u << OPEN},
    {"stop", call_stop, 1u << OPEN},
    {"stop", call_stop, 1u << OPEN},
    {"flush", call_flush, 1u << OPEN},
    {"flush", call_flush, 1u << OPEN},
    {"next", call_next, 1u << OPEN},
    {"next", call_next, 1u << OPEN},
    {"enable", call_enable, 1u << OPEN},
    {"disable", call_disable, 1u << OPEN},
    {"questions", call_questions, 1u << OPEN},
    {"questions", ask_always, HELD},
    {"close", call_close, 1u << OPEN | 1u << WALKED},
    {"walk close", call_walk_close, ANY},
    {"foreign close", call_foreign_close, ANY},
    {"records", call_make, ANY},
    {"records", call_make, ANY},
    {"records of a thread", random_make_in_thread, 1u << OPEN},
    {"records of a thread", random_make_in_thread, 1u << OPEN},
    {"end of a thread", random_thread_end, 1u << OPEN},
    {"fork in a callback", fork_in_callback, ANY},
};

static void one_call(event_model_t *model) {
  const call_t *call =
      &calls[random_draw(model, sizeof(calls) / sizeof(calls[0]))];
  slot_t *slot = &model->slots[random_draw(model, SLOTS)];
  const char *outer = model->run.call;

  if (!(call->phases & 1u << slot->phase))
    return;
  model->run.call = call->name;
  call->call(slot);
  model->run.call = outer;
}

/* -- a forked child ------------------------------------------------------- */

static int close_in_child(event_model_t *model) {
  slot_t *slot;

  signal(SIGSEGV, SIG_DFL); /* not cmocka's handler, which continues with the
                             * tests */
  signal(SIGBUS, SIG_DFL);
  model->is_child = 1;
  model->run.call = "a forked child";
  if (uv_loop_fork(model->loop) != 0)
    return 1;
  for (slot = model->slots; slot < model->slots + SLOTS; slot++) {
    if (slot->phase == OPEN &&
        (uvperf_stop(&slot->event->handle) != UV_EPERM ||
         uvperf_flush(&slot->event->handle) != UV_EPERM ||
         uvperf_start(&slot->event->handle, NULL, random_on_record, NULL) !=
             UV_EPERM))
      return 2;
    if (slot->phase != OPEN && slot->phase != WALKED)
      continue;
    slot->phase = CLOSING;
    uvperf_close(&slot->event->handle, on_closed);
  }
  return 0;
}

static int end_child(event_model_t *model) {
  slot_t *slot;

  while (uv_run(model->loop, UV_RUN_DEFAULT) != 0)
    continue;
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

static void expect_child(event_model_t *model, pid_t pid) {
  int code = support_wait(pid);

  random_expect(model, code == 0, "a forked child", code);
}

static void fork_child(event_model_t *model) {
  random_hear_of_a_fork(model);
  expect_child(model, support_fork(run_child, model));
}

/* The child closes everything on its stack, and returns. */
static void fork_in_callback(slot_t *slot) {
  event_model_t *model = slot->model;
  pid_t pid;
  int code;

  if (model->nested == 0 || random_draw(model, 10) != 0)
    return;
  random_hear_of_a_fork(model);
  pid = fork();
  if (pid > 0) {
    expect_child(model, pid);
    return;
  }
  code = pid == 0 ? close_in_child(model) : 1;
  if (code != 0)
    _exit(code);
}

/* -- the end -------------------------------------------------------------- */

/* All that was made comes, and each end. */
static void run_to_the_last(slot_t *slot) {
  event_model_t *model = slot->model;
  uint64_t deadline = live_now() + UINT64_C(20000000000);

  if (slot->phase != OPEN || slot->ruined || slot->room == 0)
    return;
  uvperf_ref(&slot->event->handle); /* or it does not keep the loop running */
  if (!slot->started && !slot->ended)
    call_start(slot);
  while (model->run.fault[0] == '\0' && slot->phase == OPEN && !slot->ruined &&
         (random_waiting(slot) > 0 || (slot->thread_is_dead && !slot->ended)) &&
         live_now() < deadline)
    uv_run(model->loop, UV_RUN_NOWAIT);
  random_expect(model, live_now() < deadline, "records that never came",
                (int64_t)random_waiting(slot));
}

static void close_all(event_model_t *model) {
  slot_t *slot;
  size_t i;

  for (slot = model->slots; slot < model->slots + SLOTS; slot++)
    if (slot->phase == OPEN || slot->phase == WALKED)
      call_close(slot);
  while (uv_run(model->loop, UV_RUN_DEFAULT) != 0)
    continue;
  for (slot = model->slots; slot < model->slots + SLOTS; slot++)
    random_expect(model, slot->phase == FREE,
                  "a close callback that never came", slot->phase);
  for (i = 0; i < model->nr_zombies; i++)
    free(model->zombies[i]);
}

static void one_step(event_model_t *model) {
  uint64_t choice = random_draw(model, 10);

  model->run.call = "a turn";
  if (choice < 3)
    uv_run(model->loop, UV_RUN_NOWAIT);
  else if (choice == 3 && random_draw(model, 30) == 0)
    fork_child(model);
  else
    one_call(model);
  if (model->is_child)
    _exit(end_child(model));
}

static void run_seed(uv_loop_t *loop, uint64_t seed) {
  static event_model_t model;
  size_t fds = support_count_fds();
  slot_t *slot;

  memset(&model, 0, sizeof(model));
  model.loop = loop;
  model.one_call = one_call;
  random_run_seed(&model.run, seed);
  model.gone.model = &model;
  model.gone.phase = CLOSING;
  for (slot = model.slots; slot < model.slots + SLOTS; slot++)
    slot->model = &model;
  for (; model.run.step < STEPS && model.run.fault[0] == '\0'; model.run.step++)
    one_step(&model);
  model.run.call = "the end";
  model.is_ending = 1;
  for (slot = model.slots; slot < model.slots + SLOTS; slot++)
    run_to_the_last(slot);
  close_all(&model);
  random_run_check(&model.run, seed);
  assert_int_equal(support_count_fds(), fds);
}

static void event_of_random_calls_keeps_its_promises(void **state) {
  uint64_t first, last;

  support_need_own_events(__func__);
  random_run_seeds(100, &first, &last);
  for (; first <= last; first++)
    run_seed(*state, first);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      support_loop_test(event_of_random_calls_keeps_its_promises),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
