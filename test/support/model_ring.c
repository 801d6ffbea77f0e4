/* SPDX-License-Identifier: MIT */
#include "model_ring.h"

#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The size of the longest record here. */
#define MOST_BYTES 136

uint64_t ring_draw(ring_model_t *model, uint64_t below) {
  return model_run_draw(&model->run, below);
}

void ring_expect(ring_model_t *model, int is_so, const char *what,
                 int64_t value) {
  model_run_expect(&model->run, is_so, what, value);
}

/* -- writing -------------------------------------------------------------- */

size_t ring_waiting(const ring_slot_t *slot) {
  return slot->last - slot->first;
}

/* The ring into which an event writes; NULL for none. */
static ring_slot_t *ring_of(ring_slot_t *slot) {
  if (slot->output != NULL)
    return slot->output;
  return slot->room > 0 ? slot : NULL;
}

int ring_is_over(const ring_slot_t *owner) {
  const ring_model_t *model = owner->model;
  size_t i;

  for (i = 0; i < EVENTS; i++) {
    const ring_slot_t *slot = &model->slots[i];

    if (slot->phase == RING_OPEN && (slot == owner || slot->output == owner) &&
        slot->target->lives)
      return 0;
  }
  return 1;
}

static void push(ring_slot_t *owner, const ring_pending_t *pending) {
  owner->pending[owner->last++ % MOST_PENDING] = *pending;
}

/* The event writes, if it runs and records this. */
static void write_one(ring_slot_t *slot, enum ring_record type, uint64_t number,
                      uint64_t hit) {
  ring_pending_t pending = {hit, number, slot->id, type};
  ring_slot_t *owner = ring_of(slot);

  if (slot->phase != RING_OPEN || !slot->enabled || owner == NULL ||
      slot->samples != (type == RING_SYSCALL))
    return;
  if (owner->paused) {
    owner->lost += 1;
    return;
  }
  if (owner->lost > 0) {
    ring_pending_t lost = {hit, owner->lost, 0, RING_LOST};

    push(owner, &lost);
    owner->lost = 0;
  }
  push(owner, &pending);
}

static void write_all(ring_target_t *target, enum ring_record type,
                      uint64_t number) {
  ring_model_t *model = target->model;
  size_t i;

  model->hit += 1;
  for (i = 0; i < EVENTS; i++)
    if (model->slots[i].target == target)
      write_one(&model->slots[i], type, number, model->hit);
}

/* Whether every ring has room for everything that a hit of the target may
 * write. */
static int fits(ring_target_t *target) {
  ring_model_t *model = target->model;
  size_t i;

  for (i = 0; i < EVENTS; i++) {
    ring_slot_t *slot = &model->slots[i];
    ring_slot_t *owner = ring_of(slot);

    if (slot->phase == RING_OPEN && slot->target == target && slot->enabled &&
        owner != NULL &&
        (ring_waiting(owner) + 2 * EVENTS + 1) * MOST_BYTES > owner->room)
      return 0;
  }
  return 1;
}

static void hit_as(uint64_t number) {
  uint64_t next = number;

  live_comm(&next, 1);
  syscall(SYS_getpgid, number);
}

static void hit_in_thread(void *arg) {
  ring_target_t *target = arg;

  hit_as(target->model->number);
}

void ring_hit(ring_target_t *target) {
  ring_model_t *model = target->model;

  if (!target->lives || !fits(target))
    return;
  model->number += 1;
  write_all(target, RING_COMM, model->number);
  write_all(target, RING_SYSCALL, model->number);
  if (target == &model->targets[0])
    hit_as(model->number);
  else
    live_thread_do(&target->thread);
}

void ring_hear_of_a_fork(ring_model_t *model) {
  write_all(&model->targets[0], RING_FORK, 0);
}

void ring_target_start(ring_target_t *target) {
  ring_hear_of_a_fork(target->model);
  live_thread_start(&target->thread, hit_in_thread, target);
  target->lives = 1;
}

/* Its EXIT is written before its number is free. */
void ring_target_end(ring_target_t *target) {
  if (!target->lives || target == &target->model->targets[0])
    return;
  write_all(target, RING_EXIT, 0);
  live_thread_end(&target->thread);
  target->lives = 0;
}

/* -- delivery ------------------------------------------------------------- */

static const ring_opened_t *find_opened(const ring_model_t *model,
                                        uint64_t id) {
  size_t i;

  for (i = 0; i < model->nr_opened; i++)
    if (model->opened[i].id == id)
      return &model->opened[i];
  return NULL;
}

static int says(const uvperf_record_t *record, const ring_pending_t *pending) {
  static const uint32_t types[] = {PERF_RECORD_COMM, PERF_RECORD_SAMPLE,
                                   PERF_RECORD_FORK, PERF_RECORD_EXIT,
                                   PERF_RECORD_LOST};
  char name[16];
  uint64_t number;

  if (record->type != types[pending->type])
    return 0;
  if (pending->type == RING_LOST)
    return record->lost.lost == pending->number;
  if (record->id != pending->id)
    return 0;
  if (pending->type == RING_COMM) {
    snprintf(name, sizeof(name), "live%u", (unsigned int)pending->number);
    return strcmp(record->comm.comm, name) == 0;
  }
  if (pending->type == RING_SYSCALL) {
    /* struct syscall_trace_enter: 8 bytes, the number, its arguments. */
    if (record->sample.raw.size < 24)
      return 0;
    memcpy(&number, (const char *)record->sample.raw.data + 16, 8);
    return number == pending->number;
  }
  return 1;
}

/* Takes the ring's next record, or another one of the same hit. A LOST record
 * is its hit's first. */
static int take(ring_slot_t *slot, const uvperf_record_t *record) {
  ring_pending_t *first = &slot->pending[slot->first % MOST_PENDING];
  size_t i;

  for (i = slot->first; i < slot->last; i++) {
    ring_pending_t *pending = &slot->pending[i % MOST_PENDING];
    ring_pending_t found = *pending;

    if (found.hit != first->hit)
      return 0;
    if (says(record, &found)) {
      *pending = *first;
      *first = found;
      slot->first += 1;
      return 1;
    }
    if (found.type == RING_LOST)
      return 0;
  }
  return 0;
}

static void expect_source(ring_model_t *model, const uvperf_record_t *record) {
  const ring_opened_t *opened = find_opened(model, record->id);
  const uint64_t not_in_others =
      PERF_SAMPLE_RAW | PERF_SAMPLE_IP | PERF_SAMPLE_ADDR | PERF_SAMPLE_PERIOD;

  ring_expect(model, opened != NULL, "an unknown id", (int64_t)record->id);
  if (opened == NULL)
    return;
  ring_expect(model, record->source->data == opened->event,
              "another source's data", (int64_t)opened->id);
  ring_expect(model, record->source->attr->sample_type == opened->sample_type,
              "another attr", (int64_t)record->source->attr->sample_type);
  ring_expect(model,
              (record->present | not_in_others) ==
                  (opened->sample_type | not_in_others),
              "other fields", (int64_t)record->present);
}

void ring_expect_record(ring_slot_t *slot, const uvperf_record_t *record) {
  ring_model_t *model = slot->model;

  ring_expect(model, ring_waiting(slot) > 0, "a record that was not written",
              record->type);
  if (ring_waiting(slot) == 0)
    return;
  ring_expect(model, record->size <= MOST_BYTES, "a long record", record->size);
  ring_expect(model, take(slot, record), "another record's turn", record->type);
  expect_source(model, record);
}

static void expect_end(ring_slot_t *slot, int status) {
  ring_model_t *model = slot->model;

  ring_expect(model, status == UV_EOF, "an end that is not UV_EOF", status);
  ring_expect(model, ring_is_over(slot), "an end while a target lives", 0);
  ring_expect(model, ring_waiting(slot) == 0, "an end before the last record",
              (int64_t)ring_waiting(slot));
  ring_expect(model, !slot->ended, "a second end", 0);
  slot->ended = 1;
  slot->started = 0;
}

void ring_on_record(uvperf_handle_t *base, int status,
                    const uvperf_record_t *record) {
  uvperf_event_t *event = uvperf_handle_event(base);
  ring_slot_t *slot = base->data;
  ring_model_t *model = slot->model;

  ring_expect(model, !model->is_child, "a callback in the child", 0);
  ring_expect(model, slot->phase == RING_OPEN && slot->event == event,
              "a callback after close", slot->phase);
  ring_expect(model, slot->started || slot->flushing, "a callback when stopped",
              slot->ended);
  slot->callbacks += 1;
  model->nested += 1;
  if (record->type != UVPERF_RECORD_NONE) {
    ring_expect(model, status == 0, "a record with a status", status);
    ring_expect_record(slot, record);
  } else if (status != 0) {
    expect_end(slot, status);
  }
  if (!model->is_quiet && !model->is_child && model->nested < 4 &&
      ring_draw(model, record->type == UVPERF_RECORD_NONE ? 1 : 4) == 0)
    ring_one_call(model);
  model->nested -= 1;
  slot->callbacks -= 1;
}
