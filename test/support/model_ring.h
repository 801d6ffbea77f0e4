/* SPDX-License-Identifier: MIT */
/* A model of what event.h promises about rings that events share: for each
 * ring, which records must come, from which event and with which values, and
 * when the end comes. live/test_event_output_random.c makes the calls.
 *
 * Everything runs on one CPU, so that events of several threads can share a
 * ring. */
#ifndef UVPERF_TEST_MODEL_RING_H
#define UVPERF_TEST_MODEL_RING_H

#include "live_thread.h"
#include "model_run.h"

#define EVENTS       7
#define TARGETS      4 /* the first is the loop's thread */
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

/* A written record that must come. The records of one hit come in any order. */
typedef struct ring_pending_s {
  uint64_t hit;
  uint64_t number; /* the record's number; for LOST the count */
  uint64_t id;     /* the writing event's; 0 if it is not known */
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
  int samples; /* system calls; otherwise COMM, FORK and EXIT */
  int enabled;
  int was_switched;
  ring_slot_t *output; /* NULL: its own ring, or no ring */
  /* For events with a ring. */
  size_t room; /* half its bytes, for waiting records; 0 without a ring */
  int started;
  int ever_started;
  int ended;
  int flushing;  /* and no stop since */
  int ruined;    /* other code has closed its inner handles */
  int callbacks; /* callbacks of it on the stack */
  int paused;
  uint64_t lost; /* by a pause, not reported yet */
  ring_pending_t pending[MOST_PENDING];
  size_t first, last; /* of pending */
};

/* An opened event, for records that outlive it. */
typedef struct ring_opened_s {
  uint64_t id;
  uint64_t sample_type;
  uvperf_event_t *event; /* NULL once it is closed */
} ring_opened_t;

struct ring_model_s {
  model_run_t run;
  uv_loop_t *loop;
  uint64_t tracepoint;
  uint64_t number; /* of the contents of the next hit */
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
/* Notes a fault. Callbacks must not jump out of libuv, so the first fault is
 * reported at the end. */
void ring_expect(ring_model_t *model, int is_so, const char *what,
                 int64_t value);

size_t ring_waiting(const ring_slot_t *slot);
/* Whether all targets of the events that write there have ended. */
int ring_is_over(const ring_slot_t *slot);

/* Hits of a target: a name and a system call. Each event that records them
 * writes them. */
void ring_hit(ring_target_t *target);
void ring_target_start(ring_target_t *target);
void ring_target_end(ring_target_t *target);
/* The loop's thread has forked. */
void ring_hear_of_a_fork(ring_model_t *model);

/* Checks that this is the next expected record of the ring. */
void ring_expect_record(ring_slot_t *slot, const uvperf_record_t *record);
/* The record callback of all handles. */
void ring_on_record(uvperf_handle_t *handle, int status,
                    const uvperf_record_t *record);

/* -- model_ring_calls.c -- */

/* Makes any call, outside of callbacks or inside. */
void ring_one_call(ring_model_t *model);
void ring_start(ring_slot_t *slot);
void ring_close(ring_slot_t *slot);

#endif
