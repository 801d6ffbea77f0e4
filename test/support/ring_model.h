/* SPDX-License-Identifier: MIT */
/* What event.h promises of rings that events share, as a model: for each ring
 * which records must come, whose each is and what it says, and when the end
 * comes. The calls are those of live/test_event_output_random.c.
 *
 * All runs on one CPU, so that events of several threads can share a ring. */
#ifndef UVPERF_TEST_RING_MODEL_H
#define UVPERF_TEST_RING_MODEL_H

#include "live_thread.h"
#include "random_run.h"

#define EVENTS       7
#define TARGETS      4 /* the first is the thread of the loop */
#define MOST_PENDING 1024
#define MOST_OPENED  1024

typedef struct ring_model_s ring_model_t;

enum ring_record {
  RING_COMM,
  RING_SYSCALL,
  RING_FORK,
  RING_EXIT,
  RING_LOST
};

enum ring_phase {
  RING_FREE,
  RING_OPEN,
  RING_WALKED,
  RING_CLOSING
};

/* A record that was written and must come. Those of one hit come in any
 * order. */
typedef struct ring_pending_s {
  uint64_t hit;
  uint64_t number; /* what the record says; for LOST how many */
  uint64_t id;     /* of the event that wrote it; 0 where nobody knows */
  enum ring_record type;
} ring_pending_t;

typedef struct ring_target_s {
  ring_model_t *model;
  live_thread_t thread;
  int lives;
} ring_target_t;

typedef struct ring_slot_s ring_slot_t;

struct ring_slot_s {
  ring_model_t *model;
  uvperf_event_t *event;
  enum ring_phase phase;
  ring_target_t *target;
  uint64_t id;
  uint64_t sample_type;
  int samples; /* system calls, else COMM, FORK and EXIT */
  int enabled;
  int enabled_by_start;
  ring_slot_t *output; /* NULL for its own ring or none */
  /* Of one with a ring. */
  size_t room; /* half of it in bytes, for what waits; 0 without one */
  int started;
  int ever_started;
  int ended;
  int flushing;  /* and not stopped since */
  int ruined;    /* somebody has closed its inner handles */
  int callbacks; /* of it on the stack */
  int paused;
  uint64_t lost; /* by a pause, not told yet */
  ring_pending_t pending[MOST_PENDING];
  size_t first, last; /* of pending */
};

/* An event that was opened, for records that outlive it. */
typedef struct ring_opened_s {
  uint64_t id;
  uint64_t sample_type;
  uvperf_event_t *event; /* NULL once it is closed */
} ring_opened_t;

struct ring_model_s {
  random_run_t run;
  uv_loop_t *loop;
  uint64_t tracepoint;
  uint64_t number; /* of the next hit's contents */
  uint64_t hit;
  int nested;
  int is_child;
  int is_quiet; /* callbacks call nothing */
  void (*fork_in_callback)(ring_model_t *model);
  ring_target_t targets[TARGETS];
  ring_slot_t slots[EVENTS];
  ring_opened_t opened[MOST_OPENED];
  size_t nr_opened;
};

uint64_t ring_draw(ring_model_t *model, uint64_t below);
/* Callbacks must not jump out of libuv: the first fault is told at the end. */
void ring_expect(ring_model_t *model, int is_so, const char *what,
                 int64_t value);

size_t ring_waiting(const ring_slot_t *slot);
/* Whether no target of an event that writes there lives. */
int ring_is_over(const ring_slot_t *slot);

/* Hits of a target: a name and a system call, which each event that means it
 * writes down. */
void ring_hit(ring_target_t *target);
void ring_target_start(ring_target_t *target);
void ring_target_end(ring_target_t *target);
/* The thread of the loop has forked. */
void ring_hear_of_a_fork(ring_model_t *model);

/* It is this record's turn in that ring. */
void ring_expect_record(ring_slot_t *slot, const uvperf_record_t *record);
/* The record callback of all of them. */
void ring_on_record(uvperf_event_t *event, int status,
                    const uvperf_record_t *record);

/* -- ring_model_calls.c -- */

/* Any call, outside of callbacks and inside. */
void ring_one_call(ring_model_t *model);
void ring_start(ring_slot_t *slot);
void ring_close(ring_slot_t *slot);

#endif
