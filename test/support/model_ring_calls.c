/* SPDX-License-Identifier: MIT */
/* The calls that live/test_event_output_random.c makes, and what each must
 * return. */
#include "model_ring.h"

#include "fake_kernel.h"

static ring_slot_t *any_slot(ring_model_t *model) {
  return &model->slots[ring_draw(model, EVENTS)];
}

/* -- init ----------------------------------------------------------------- */

static void choose_event(ring_slot_t *slot, struct perf_event_attr *attr,
                         uvperf_event_options_t *options) {
  static const uint64_t more[] = {0, PERF_SAMPLE_CPU, PERF_SAMPLE_STREAM_ID,
                                  PERF_SAMPLE_ID | PERF_SAMPLE_PERIOD};
  ring_model_t *model = slot->model;

  live_comm_attr(attr);
  slot->samples = (int)ring_draw(model, 2);
  if (slot->samples) {
    live_syscall_attr(attr, model->tracepoint,
                      PERF_SAMPLE_TID | PERF_SAMPLE_RAW);
    attr->sample_id_all = 1;
    uvperf_attr_set_wakeup_bytes(attr, 1);
  }
  attr->sample_type |= more[ring_draw(model, 4)];
  slot->target = &model->targets[ring_draw(model, TARGETS)];
  if (!slot->target->lives)
    slot->target = &model->targets[0];
  if (slot->target != &model->targets[0])
    options->pid = (int32_t)slot->target->thread.tid;
  options->cpu = 0;
  options->flags = UVPERF_EVENT_IDENTIFY | UVPERF_EVENT_CPU;
  if (ring_draw(model, 2) != 0)
    options->flags |= UVPERF_EVENT_NO_RING;
  else
    options->ring_bytes =
        ring_draw(model, 2) ? 64 * 1024 : 2 * support_page_bytes();
}

static ring_opened_t *opened_of(ring_slot_t *slot) {
  size_t i;

  for (i = 0; slot->model->opened[i].id != slot->id; i++)
    continue;
  return &slot->model->opened[i];
}

static void set_open(ring_slot_t *slot) {
  ring_model_t *model = slot->model;
  ring_opened_t *opened = &model->opened[model->nr_opened++];

  slot->event->handle.data = slot;
  slot->phase = RING_OPEN;
  slot->room = support_ring_bytes(&slot->event->handle) / 2;
  slot->sample_type = uvperf_handle_attr(&slot->event->handle, 0)->sample_type;
  ring_expect(model, uvperf_event_id(slot->event, &slot->id) == 0, "id", 0);
  opened->id = slot->id;
  opened->sample_type = slot->sample_type;
  opened->event = slot->event;
}

static void call_init(ring_slot_t *slot) {
  uvperf_event_options_t options = UVPERF_EVENT_OPTIONS_INIT;
  ring_model_t *model = slot->model;
  struct perf_event_attr attr;
  unsigned int failures;
  int rc;

  if (model->nr_opened == MOST_OPENED)
    return;
  memset(slot, 0, sizeof(*slot));
  slot->model = model;
  slot->event = malloc(sizeof(*slot->event));
  choose_event(slot, &attr, &options);
  fake_kernel_reset();
  if (ring_draw(model, 10) == 0)
    fake_fail(FAKE_CALLOC, 1 + (unsigned int)ring_draw(model, 8), 0);
  rc = uvperf_event_init(model->loop, slot->event, &attr, &options, NULL);
  failures = fake_failures();
  fake_kernel_reset();
  ring_expect(model, rc == (failures > 0 ? UV_ENOMEM : 0), "init", rc);
  if (rc == 0)
    set_open(slot);
  else
    free(slot->event);
}

/* -- close ---------------------------------------------------------------- */

/* Its records no longer have an event as data, and events that wrote into its
 * ring have no ring. */
static void forget(ring_slot_t *slot) {
  ring_model_t *model = slot->model;
  size_t i;

  opened_of(slot)->event = NULL;
  slot->output = NULL;
  for (i = 0; i < EVENTS; i++)
    if (model->slots[i].output == slot)
      model->slots[i].output = NULL;
}

static void on_closed(uvperf_handle_t *handle) {
  uvperf_event_t *event = uvperf_handle_event(handle);

  ring_slot_t *slot = handle->data;

  ring_expect(slot->model, slot->phase == RING_CLOSING, "a close callback",
              slot->phase);
  ring_expect(slot->model, slot->callbacks == 0, "in a callback",
              slot->callbacks);
  slot->event = NULL;
  slot->phase = RING_FREE;
  free(event);
}

void ring_close(ring_slot_t *slot) {
  if (slot->phase == RING_OPEN)
    forget(slot);
  slot->phase = RING_CLOSING;
  uvperf_close(&slot->event->handle, on_closed);
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

static void call_walk_close(ring_slot_t *slot) {
  ring_model_t *model = slot->model;
  walk_t walk = {ring_draw(model, 4 * EVENTS), NULL};
  size_t i;

  if (ring_draw(model, 8) != 0)
    return;
  uv_walk(model->loop, pick_handle, &walk);
  if (walk.handle == NULL)
    return;
  ring_expect(model,
              uvperf_walk_close(walk.handle) || uv_is_closing(walk.handle),
              "a stranger", 0);
  for (i = 0; i < EVENTS; i++) {
    slot = &model->slots[i];
    if (slot->phase == RING_OPEN && uvperf_is_closing(&slot->event->handle)) {
      forget(slot);
      slot->phase = RING_WALKED;
    }
  }
}

static void call_foreign_close(ring_slot_t *slot) {
  ring_model_t *model = slot->model;
  walk_t walk = {ring_draw(model, 4 * EVENTS), NULL};
  size_t i;

  if (ring_draw(model, 30) != 0)
    return;
  uv_walk(model->loop, pick_handle, &walk);
  if (walk.handle == NULL || uv_is_closing(walk.handle))
    return;
  uv_close(walk.handle, NULL);
  for (i = 0; i < EVENTS; i++)
    model->slots[i].ruined |= model->slots[i].phase == RING_OPEN;
}

/* -- set_output ----------------------------------------------------------- */

static int expected_of_output(const ring_slot_t *slot,
                              const ring_slot_t *output) {
  const ring_slot_t *owner;

  if (slot->room > 0)
    return UV_EINVAL;
  if (output == NULL)
    return 0;
  if (output == slot || output->phase != RING_OPEN)
    return UV_EINVAL;
  owner = output->output != NULL ? output->output : output;
  if (owner->room == 0)
    return UV_EINVAL;
  if (slot->output == owner)
    return 0;
  return owner->ended ? UV_EOF : 0;
}

/* If it fails in between, nothing may change. */
static int set_output(ring_slot_t *slot, ring_slot_t *output) {
  uvperf_event_t *event = output != NULL ? output->event : NULL;
  int expected = expected_of_output(slot, output);
  ring_model_t *model = slot->model;
  int code = 0;
  int rc;

  fake_kernel_reset();
  if (ring_draw(model, 8) == 0) {
    fake_fail(FAKE_CALLOC, 1 + (unsigned int)ring_draw(model, 8), 0);
    code = UV_ENOMEM;
  } else if (ring_draw(model, 8) == 0) {
    fake_fail(FAKE_IOCTL, 1, -EIO);
    code = UV_EIO;
  }
  rc = uvperf_event_set_output(slot->event, event, NULL);
  if (fake_failures() > 0)
    expected = code;
  fake_kernel_reset();
  ring_expect(model, rc == expected, "set_output", rc);
  return rc;
}

static void call_set_output(ring_slot_t *slot) {
  ring_slot_t *output = any_slot(slot->model);

  if (ring_draw(slot->model, 4) == 0)
    output = NULL;
  else if (output->phase == RING_FREE)
    return;
  if (set_output(slot, output) != 0)
    return;
  if (output != NULL)
    output = output->output != NULL ? output->output : output;
  slot->output = output;
}

/* -- delivery ------------------------------------------------------------- */

static void choose_stream(ring_model_t *model,
                          uvperf_stream_options_t *options) {
  static const uint32_t records[] = {0, 0, 1, 3};

  options->slice_records = records[ring_draw(model, 4)];
  options->slice_us = LIVE_SLICE_US;
  options->flush_ms = ring_draw(model, 6) == 0 ? 1 : -1;
  options->flags = (uint32_t)ring_draw(model, 4);
}

void ring_start(ring_slot_t *slot) {
  uvperf_stream_options_t options = UVPERF_STREAM_OPTIONS_INIT;
  ring_model_t *model = slot->model;
  int expected = 0;
  int rc;

  choose_stream(model, &options);
  if (slot->started)
    expected = UV_EALREADY;
  else if (slot->ended)
    expected = UV_EOF;
  rc = uvperf_start(
      &slot->event->handle, &options,
      support_ring_bytes(&slot->event->handle) != 0 ? ring_on_record : NULL,
      NULL);
  ring_expect(model, rc == expected || slot->ruined, "start", rc);
  if (rc != 0)
    return;
  slot->started = 1;
  slot->ever_started = 1;
  if (!(options.flags & UVPERF_START_NO_ENABLE) && !slot->was_switched)
    slot->enabled = slot->was_switched = 1;
}

static void call_stop(ring_slot_t *slot) {
  int rc = uvperf_stop(&slot->event->handle);

  ring_expect(slot->model, rc == 0, "stop", rc);
  slot->flushing = 0;
  slot->started = 0;
}

static void call_flush(ring_slot_t *slot) {
  size_t last = slot->last;
  int expected = 0;
  int rc;

  if (slot->room == 0 || !slot->ever_started)
    expected = UV_EINVAL;
  else if (slot->callbacks > 0)
    expected = UV_EBUSY;
  slot->flushing |= expected == 0;
  rc = uvperf_flush(&slot->event->handle);
  ring_expect(slot->model, rc == expected || slot->ruined, "flush", rc);
  if (expected != 0)
    return;
  if (slot->phase == RING_OPEN && slot->flushing && !slot->ruined)
    ring_expect(slot->model, slot->first >= last, "records that a flush left",
                (int64_t)(last - slot->first));
  slot->flushing = 0;
}

static int expected_of_next(const ring_slot_t *slot) {
  if (slot->room == 0)
    return UV_EINVAL;
  if (slot->started || slot->callbacks > 0)
    return UV_EBUSY;
  if (slot->ended)
    return UV_EOF;
  return ring_waiting(slot) > 0 ? 0 : UV_EAGAIN;
}

static void call_next(ring_slot_t *slot) {
  int expected = expected_of_next(slot);
  const uvperf_record_t *record;
  int rc;

  rc = uvperf_next(&slot->event->handle, &record);
  if (expected == UV_EAGAIN && rc == UV_EOF)
    ring_expect(slot->model, ring_is_over(slot), "an end while one lives", 0);
  else
    ring_expect(slot->model, rc == expected || slot->ruined, "next", rc);
  if (rc == 0)
    ring_expect_record(slot, record);
}

/* -- controls ------------------------------------------------------------- */

static void call_enable(ring_slot_t *slot) {
  int rc = uvperf_enable(&slot->event->handle, 0, NULL);

  ring_expect(slot->model, rc == 0, "enable", rc);
  slot->enabled = slot->was_switched = 1;
}

static void call_disable(ring_slot_t *slot) {
  int rc = uvperf_disable(&slot->event->handle, 0, NULL);

  ring_expect(slot->model, rc == 0, "disable", rc);
  slot->enabled = 0;
  slot->was_switched = 1;
}

/* Pauses the ring into which the event writes. Until that is unmapped, the
 * kernel does not notice that an event has none any more. */
static void call_pause(ring_slot_t *slot) {
  ring_slot_t *owner = slot->output != NULL ? slot->output : slot;
  int paused = (int)ring_draw(slot->model, 3) == 0;
  int rc = paused ? uvperf_event_pause(slot->event, 1, NULL)
                  : uvperf_event_pause(slot->event, 0, NULL);

  ring_expect(slot->model, rc == 0 || (owner->room == 0 && rc == UV_EINVAL),
              "pause", rc);
  if (rc == 0 && owner->room > 0)
    owner->paused = paused;
}

static void call_hit(ring_slot_t *slot) {
  uint64_t nr = 1 + ring_draw(slot->model, 4);

  while (nr-- > 0)
    ring_hit(slot->phase == RING_OPEN ? slot->target
                                      : &slot->model->targets[0]);
}

static void call_target_end(ring_slot_t *slot) {
  if (ring_draw(slot->model, 3) == 0)
    ring_target_end(&slot->model->targets[ring_draw(slot->model, TARGETS)]);
}

/* Starts a new target, once no event is of the old one. */
static void call_target_start(ring_slot_t *slot) {
  ring_model_t *model = slot->model;
  ring_target_t *target = &model->targets[ring_draw(model, TARGETS)];
  size_t i;

  for (i = 0; i < EVENTS; i++)
    if (model->slots[i].phase == RING_OPEN && model->slots[i].target == target)
      return;
  if (!target->lives)
    ring_target_start(target);
}

static void fork_in_callback(ring_slot_t *slot) {
  if (slot->model->nested > 0)
    slot->model->fork_in_callback(slot->model);
}

typedef struct call_s {
  const char *name;
  void (*call)(ring_slot_t *slot);
  unsigned int phases; /* in which it may be called, 1 << phase */
  uint64_t weight;
} call_t;

#define ANY  15u
#define OPEN (1u << RING_OPEN)

static const call_t calls[] = {
    {"init", call_init, 1u << RING_FREE, 30},
    {"close", ring_close, OPEN | 1u << RING_WALKED, 4},
    {"walk close", call_walk_close, ANY, 1},
    {"foreign close", call_foreign_close, ANY, 1},
    {"set_output", call_set_output, OPEN, 40},
    {"start", ring_start, OPEN, 16},
    {"stop", call_stop, OPEN, 2},
    {"flush", call_flush, OPEN, 3},
    {"next", call_next, OPEN, 8},
    {"enable", call_enable, OPEN, 14},
    {"disable", call_disable, OPEN, 1},
    {"pause", call_pause, OPEN, 5},
    {"hit", call_hit, ANY, 50},
    {"end of a target", call_target_end, ANY, 12},
    {"start of a target", call_target_start, ANY, 16},
    {"fork in a callback", fork_in_callback, ANY, 1},
};

static uint64_t all_weights(void) {
  uint64_t sum = 0;
  size_t i;

  for (i = 0; i < COUNT_OF(calls); i++)
    sum += calls[i].weight;
  return sum;
}

void ring_one_call(ring_model_t *model) {
  ring_slot_t *slot = any_slot(model);
  const char *outer = model->run.call;
  const call_t *call = calls;
  uint64_t choice = ring_draw(model, all_weights());

  for (; choice >= call->weight; call++)
    choice -= call->weight;
  if (!(call->phases & 1u << slot->phase))
    return;
  model->run.call = call->name;
  call->call(slot);
  model->run.call = outer;
}
