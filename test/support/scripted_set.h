/* SPDX-License-Identifier: MIT */
/* Shared by the scripted tests of a set's records: a set of one sampling attr
 * on two CPUs. The test writes into its rings. */
#ifndef UVPERF_TEST_SCRIPTED_SET_H
#define UVPERF_TEST_SCRIPTED_SET_H

#include "live_stream.h"

#include "make_evlist.h"

typedef struct scripted_set_s {
  live_stream_t stream;
  evlist_make_t make;
  /* For each CPU an event, with ids 100 and 102, and the owner of its ring. */
  fake_event_t *events[4];
  uint64_t base;  /* the scripted time 0: when the set was opened */
  uint64_t asked; /* for the test */
} scripted_set_t;

/* Plan it on an empty scripted kernel, delivered as live_stream_plan_mode says,
 * with a base of 0; open it, with a base of now; start it. */
void scripted_set_plan(scripted_set_t *scripted, size_t mode);
void scripted_set_open_planned(uv_loop_t *loop, scripted_set_t *scripted);
void scripted_set_open(uv_loop_t *loop, scripted_set_t *scripted, size_t mode);
void scripted_set_begin(uv_loop_t *loop, scripted_set_t *scripted, size_t mode);
/* Closes it, and fails the test if anything is left. */
void scripted_set_close(scripted_set_t *scripted);

/* Writes a sample of the event with this id into the ring of a CPU. The time
 * counts from the base. */
void scripted_set_sample(scripted_set_t *scripted, size_t cpu, uint64_t id,
                         uint64_t time);
/* The same if the rings are overwritable. */
void scripted_set_overwrite(scripted_set_t *scripted, size_t cpu, uint64_t id,
                            uint64_t time);
/* Wakes its reader, and runs the loop for a while. */
void scripted_set_wake(scripted_set_t *scripted, size_t cpu);

/* A test with a loop. */
#define scripted_set_test(f)                                                   \
  support_loop_test_setup_teardown(f, fake_kernel_loop_setup,                  \
                                   fake_kernel_loop_teardown)

#endif
