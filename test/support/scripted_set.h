/* SPDX-License-Identifier: MIT */
/* What the scripted tests of a set's records share: a set of one sampling attr
 * on two CPUs, whose rings the test writes. */
#ifndef UVPERF_TEST_SCRIPTED_SET_H
#define UVPERF_TEST_SCRIPTED_SET_H

#include "live_stream.h"

#include "counters_make.h"

typedef struct stream_world_s {
  live_stream_t stream;
  counters_make_t make;
  /* Of each CPU an event, whose ids are 100 and 102, and the owner of its
   * ring. */
  fake_event_t *events[4];
  uint64_t base;  /* the time 0 of the world: when it was opened */
  uint64_t asked; /* the test's */
} stream_world_t;

/* With an empty scripted kernel: plans it, delivered as live_stream_plan_mode
 * says, with a base of 0; opens it, with a base of now; starts it. */
void stream_world_plan(stream_world_t *world, size_t mode);
void stream_world_open_planned(uv_loop_t *loop, stream_world_t *world);
void stream_world_open(uv_loop_t *loop, stream_world_t *world, size_t mode);
void stream_world_begin(uv_loop_t *loop, stream_world_t *world, size_t mode);
/* Closes it, and fails the test if anything is left. */
void stream_world_close(stream_world_t *world);

/* Writes a sample of the event with an id into the ring of a CPU. The time is
 * from the base on. */
void stream_world_sample(stream_world_t *world, size_t cpu, uint64_t id,
                         uint64_t time);
/* The same where the rings are overwritable. */
void stream_world_overwrite(stream_world_t *world, size_t cpu, uint64_t id,
                            uint64_t time);
/* Writes a sample that ends before its fields do. */
void stream_world_cut(stream_world_t *world, size_t cpu);
/* Makes that ring one that cannot be right. */
void stream_world_spoil(stream_world_t *world, size_t cpu);
/* Makes it one that cannot be read again: its head is no multiple of 8. */
void stream_world_split(stream_world_t *world, size_t cpu);
/* Wakes its reader, and runs the loop for a while. */
void stream_world_wake(stream_world_t *world, size_t cpu);

/* A test with a loop. */
#define stream_world_test(f)                                                   \
  support_loop_test_setup_teardown(f, fake_kernel_loop_setup,                  \
                                   fake_kernel_loop_teardown)

#endif
