/* SPDX-License-Identifier: MIT */
/* What the scripted tests of a set's records share: a set of one sampling attr
 * on two CPUs, whose rings the test writes. */
#ifndef UVPERF_TEST_SCRIPTED_SET_H
#define UVPERF_TEST_SCRIPTED_SET_H

#include "live_stream.h"

#include "counters_make.h"

typedef struct scripted_set_s {
  live_stream_t stream;
  counters_make_t make;
  /* Of each CPU an event, whose ids are 100 and 102, and the owner of its
   * ring. */
  fake_event_t *events[4];
  uint64_t base;  /* the time 0 of the scripted: when it was opened */
  uint64_t asked; /* the test's */
} scripted_set_t;

/* With an empty scripted kernel: plans it, delivered as live_stream_plan_mode
 * says, with a base of 0; opens it, with a base of now; starts it. */
void scripted_set_plan(scripted_set_t *scripted, size_t mode);
void scripted_set_open_planned(uv_loop_t *loop, scripted_set_t *scripted);
void scripted_set_open(uv_loop_t *loop, scripted_set_t *scripted, size_t mode);
void scripted_set_begin(uv_loop_t *loop, scripted_set_t *scripted, size_t mode);
/* Closes it, and fails the test if anything is left. */
void scripted_set_close(scripted_set_t *scripted);

/* Writes a sample of the event with an id into the ring of a CPU. The time is
 * from the base on. */
void scripted_set_sample(scripted_set_t *scripted, size_t cpu, uint64_t id,
                         uint64_t time);
/* The same where the rings are overwritable. */
void scripted_set_overwrite(scripted_set_t *scripted, size_t cpu, uint64_t id,
                            uint64_t time);
/* Writes a sample that ends before its fields do. */
void scripted_set_cut(scripted_set_t *scripted, size_t cpu);
/* Makes that ring one that cannot be right. */
void scripted_set_spoil(scripted_set_t *scripted, size_t cpu);
/* Makes it one that cannot be read again: its head is no multiple of 8. */
void scripted_set_split(scripted_set_t *scripted, size_t cpu);
/* Wakes its reader, and runs the loop for a while. */
void scripted_set_wake(scripted_set_t *scripted, size_t cpu);

/* A test with a loop. */
#define scripted_set_test(f)                                                   \
  support_loop_test_setup_teardown(f, fake_kernel_loop_setup,                  \
                                   fake_kernel_loop_teardown)

#endif
