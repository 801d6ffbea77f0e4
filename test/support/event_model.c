/* SPDX-License-Identifier: MIT */
#include "event_model.h"

#include <signal.h>
#include <unistd.h>

#define EXIT_OF UINT64_MAX
#define FORK_OF (UINT64_MAX - 1)

uint64_t random_draw(event_model_t *model, uint64_t below) {
  return random_run_draw(&model->run, below);
}

void random_expect(event_model_t *model, int is_so, const char *what,
                   int64_t value) {
  random_run_expect(&model->run, is_so, what, value);
}

/* -- records -------------------------------------------------------------- */

uint64_t random_waiting(const slot_t *slot) {
  return slot->last - slot->first;
}

static void push(slot_t *slot, uint64_t number) {
  slot->pending[slot->last++ % PENDING] = number;
}

static int listens(const slot_t *slot, int has_thread) {
  return slot->phase == OPEN && slot->room > 0 && slot->enabled &&
         slot->has_thread == has_thread;
}

/* The number of records that fit into every ring that receives them. */
static uint64_t fitting(event_model_t *model, uint64_t nr) {
  slot_t *slot;

  for (slot = model->slots; slot < model->slots + SLOTS; slot++)
    if (listens(slot, 0) && random_waiting(slot) + nr > slot->room)
      return 0;
  return nr;
}

void random_make(event_model_t *model) {
  uint64_t nr = fitting(model, 1 + random_draw(model, 10));
  slot_t *slot;
  uint64_t i;

  for (slot = model->slots; slot < model->slots + SLOTS; slot++)
    for (i = 0; listens(slot, 0) && i < nr; i++)
      push(slot, model->next + i);
  live_comm(&model->next, nr);
}

static void make_comms(void *arg) {
  slot_t *slot = arg;

  live_comm(&slot->model->next, slot->made);
}

void random_make_in_thread(slot_t *slot) {
  uint64_t nr = 1 + random_draw(slot->model, 10);
  uint64_t i;

  if (!slot->has_thread || slot->thread_is_dead)
    return;
  if (slot->room > 0 && random_waiting(slot) + nr > slot->room)
    return;
  for (i = 0; listens(slot, 1) && i < nr; i++)
    push(slot, slot->model->next + i);
  slot->made = nr;
  live_thread_do(&slot->thread);
}

void random_hear_of_a_fork(event_model_t *model) {
  slot_t *slot;

  for (slot = model->slots; slot < model->slots + SLOTS; slot++)
    if (listens(slot, 0))
      push(slot, FORK_OF);
}

void random_thread_start(slot_t *slot) {
  slot->has_thread = 1;
  random_hear_of_a_fork(slot->model);
  live_thread_start(&slot->thread, make_comms, slot);
}

/* Its EXIT is written before its number is free. */
void random_thread_end(slot_t *slot) {
  if (!slot->has_thread || slot->thread_is_dead)
    return;
  live_thread_end(&slot->thread);
  slot->thread_is_dead = 1;
  if (listens(slot, 1))
    push(slot, EXIT_OF);
}

void random_expect_record(slot_t *slot, const uvperf_record_t *record) {
  event_model_t *model = slot->model;
  char name[16];
  uint64_t number;

  random_expect(model, random_waiting(slot) > 0, "a record that was not made",
                0);
  if (random_waiting(slot) == 0)
    return;
  number = slot->pending[slot->first++ % PENDING];
  if (number == EXIT_OF || number == FORK_OF) {
    random_expect(model,
                  record->type ==
                      (number == EXIT_OF ? PERF_RECORD_EXIT : PERF_RECORD_FORK),
                  "no EXIT or FORK", record->type);
    return;
  }
  snprintf(name, sizeof(name), "live%u", (unsigned int)number);
  random_expect(model, record->type == PERF_RECORD_COMM, "no COMM",
                record->type);
  random_expect(model,
                record->type == PERF_RECORD_COMM &&
                    strcmp(record->comm.comm, name) == 0,
                "another record's turn", (int64_t)number);
}

static void expect_end(slot_t *slot, int status) {
  event_model_t *model = slot->model;

  random_expect(model, status == UV_EOF, "an end that is not UV_EOF", status);
  random_expect(model, slot->thread_is_dead, "an end while it lives", 0);
  random_expect(model, random_waiting(slot) == 0,
                "an end before the last record", (int64_t)random_waiting(slot));
  random_expect(model, !slot->ended, "a second end", 0);
  slot->ended = 1;
  slot->started = 0;
}

void random_on_record(uvperf_handle_t *handle, int status,
                      const uvperf_record_t *record) {
  slot_t *slot = handle->data;
  event_model_t *model = slot->model;

  random_expect(model, !model->is_child, "a callback in the child", 0);
  random_expect(model, slot->phase == OPEN, "a callback after close",
                slot->phase);
  random_expect(model, slot->started || slot->flushing,
                "a callback when stopped", slot->ended);
  slot->callbacks += 1;
  model->nested += 1;
  if (record->type != UVPERF_RECORD_NONE) {
    random_expect(model, status == 0, "a record with a status", status);
    random_expect_record(slot, record);
  } else if (status == 0) {
    random_expect(model, slot->has_slice_ends, "the end of a slice", 0);
  } else {
    expect_end(slot, status);
  }
  if (!model->is_ending && !model->is_child && model->nested < NESTED &&
      random_draw(model, 4) == 0)
    model->one_call(model);
  model->nested -= 1;
  slot->callbacks -= 1;
}
