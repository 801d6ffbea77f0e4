/* SPDX-License-Identifier: MIT */
/* A model of what event.h promises: for each handle, which calls are allowed,
 * and which records must come, in which order, and when none may come.
 * live/test_event_random.c makes the calls. */
#ifndef UVPERF_TEST_EVENT_MODEL_H
#define UVPERF_TEST_EVENT_MODEL_H

#include "live_thread.h"
#include "random_run.h"

#define SLOTS       5
#define NESTED      4    /* depth of callbacks in callbacks, by flush */
#define PENDING     8192 /* more than fit into a ring */
#define MAX_ZOMBIES 512

enum phase {
  FREE,
  OPEN,
  WALKED,
  CLOSING
};

typedef struct event_model_s event_model_t;

/* What the model knows of a handle. Its memory is freed as soon as that is
 * allowed, so that the sanitizer catches any later use. */
typedef struct slot_s {
  event_model_t *model;
  uvperf_event_t *event;
  enum phase phase;
  size_t room; /* records that may wait in its ring; 0 without one */
  int started;
  int ever_started;
  int enabled;
  int was_switched;
  int has_slice_ends;
  int ended;
  int ruined;           /* other code has closed its inner handles */
  int flushing;         /* and no stop since */
  int callbacks;        /* callbacks of it on the stack */
  live_thread_t thread; /* the handle's target */
  int has_thread;
  int thread_is_dead;
  uint64_t made; /* records that the thread has to make */
  uint64_t first;
  uint64_t last;
  uint64_t pending[PENDING]; /* numbers of COMM records, or another type */
} slot_t;

struct event_model_s {
  random_run_t run;
  uv_loop_t *loop;
  uint64_t next; /* number of the next COMM record */
  int nested;
  int is_child;
  int is_ending;
  void (*one_call)(event_model_t *model); /* makes any call, in a callback
                                           * too */
  slot_t slots[SLOTS];
  slot_t gone; /* data of handles closed without a callback */
  uvperf_event_t *zombies[MAX_ZOMBIES];
  size_t nr_zombies;
};

/* Returns a random number below `below`. */
uint64_t random_draw(event_model_t *model, uint64_t below);
/* Notes a fault. Callbacks must not jump out of libuv, so the first fault is
 * reported at the end. */
void random_expect(event_model_t *model, int is_so, const char *what,
                   int64_t value);

/* Records that were made and have not come yet. */
uint64_t random_waiting(const slot_t *slot);
/* Makes some records, by this thread or by the target of a handle. */
void random_make(event_model_t *model);
void random_make_in_thread(slot_t *slot);
/* The handle's target becomes a thread of its own. */
void random_thread_start(slot_t *slot);
void random_thread_end(slot_t *slot);
/* This thread creates a thread or a child: events with comm record that. */
void random_hear_of_a_fork(event_model_t *model);

/* Checks that this is the next expected record. */
void random_expect_record(slot_t *slot, const uvperf_record_t *record);
/* The record callback of all handles. */
void random_on_record(uvperf_handle_t *handle, int status,
                      const uvperf_record_t *record);

#endif
