/* SPDX-License-Identifier: MIT */
/* What the scripted tests of the BPF reader share: a reader of a scripted map
 * on CPUs of a tree that stands for sysfs, whose rings the test writes. */
#ifndef UVPERF_TEST_SCRIPTED_READER_H
#define UVPERF_TEST_SCRIPTED_READER_H

#include "live_bpf_reader.h"

#include "fake_map.h"

#define BPF_READER_WORLD_EVENTS 64

typedef struct bpf_reader_world_s {
  live_bpf_reader_t live; /* first: `data` is its address */
  uvperf_bpf_reader_options_t options;
  fake_map_t *map;
  int map_fd; /* the caller's */
  /* In the order in which they are opened: for each CPU, ascending, its event
   * and the owner of its ring; then those of CPUs that come. */
  fake_event_t *events[BPF_READER_WORLD_EVENTS];
} bpf_reader_world_t;

/* The tree has CPUs 0 and 1; *state is a loop; uevents are the test's. */
int bpf_reader_world_setup(void **state);
int bpf_reader_world_teardown(void **state);
#define bpf_reader_world_test(f)                                               \
  support_loop_test_setup_teardown(f, bpf_reader_world_setup,                  \
                                   bpf_reader_world_teardown)

/* Whether the kernel has PERF_FORMAT_LOST; setup says no. */
void bpf_reader_world_knows_lost(int knows);

/* Forgets all scripts; a map of so many entries, options of most, events. */
void bpf_reader_world_plan(bpf_reader_world_t *world, uint32_t entries);
/* Opens the reader, as planned: what init gives. */
int bpf_reader_world_try(uv_loop_t *loop, bpf_reader_world_t *world,
                         uvperf_error_t *error);
/* The same, which must succeed. */
void bpf_reader_world_open(uv_loop_t *loop, bpf_reader_world_t *world);
/* Plans it with 8 entries, opens and starts it. */
void bpf_reader_world_begin(uv_loop_t *loop, bpf_reader_world_t *world);
/* Closes the reader, and fails the test if anything is left. */
void bpf_reader_world_close(bpf_reader_world_t *world);
/* The same where it is closed, or was never open. */
void bpf_reader_world_end(bpf_reader_world_t *world);

/* Writes a sample into the ring whose owner is an event. */
void bpf_reader_world_sample(bpf_reader_world_t *world, fake_event_t *owner);
/* The same of bytes that are none; and makes the ring one that cannot be
 * right. */
void bpf_reader_world_junk(fake_event_t *owner);
void bpf_reader_world_spoil(fake_event_t *owner);
/* Makes it one that cannot be read again: its head is no multiple of 8. */
void bpf_reader_world_split(fake_event_t *owner);
/* Wakes its reader, and runs the loop for a while. */
void bpf_reader_world_wake(bpf_reader_world_t *world, fake_event_t *owner);

/* The entries of the map that have an event, as in "0 1 5", or "". */
const char *bpf_reader_world_entries(const bpf_reader_world_t *world);

#endif
