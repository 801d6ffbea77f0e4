/* SPDX-License-Identifier: MIT */
/* Shared by the scripted tests of the BPF reader: a reader of a scripted map on
 * CPUs of a tree that replaces sysfs. The test writes into its rings. */
#ifndef UVPERF_TEST_SCRIPTED_READER_H
#define UVPERF_TEST_SCRIPTED_READER_H

#include "live_bpf_reader.h"

#include "fake_map.h"

#define SCRIPTED_READER_EVENTS 64

typedef struct scripted_reader_s {
  live_bpf_reader_t live; /* first: `data` is its address */
  uvperf_bpf_reader_options_t options;
  fake_map_t *map;
  int map_fd; /* the caller's */
  /* In the order in which they are opened: for each CPU, ascending, its event
   * and the owner of its ring; then those of CPUs that come later. */
  fake_event_t *events[SCRIPTED_READER_EVENTS];
} scripted_reader_t;

/* The tree has CPUs 0 and 1; *state is a loop; the test sends uevents. */
int scripted_reader_setup(void **state);
int scripted_reader_teardown(void **state);
#define scripted_reader_test(f)                                                \
  support_loop_test_setup_teardown(f, scripted_reader_setup,                   \
                                   scripted_reader_teardown)

/* Whether the kernel has PERF_FORMAT_LOST; the setup says no. */
void scripted_reader_knows_lost(int knows);

/* Forgets all scripts; makes a map with these entries, the usual options, and
 * events. */
void scripted_reader_plan(scripted_reader_t *scripted, uint32_t entries);
/* Opens the reader as planned. Returns what init returns. */
int scripted_reader_try(uv_loop_t *loop, scripted_reader_t *scripted,
                        uvperf_error_t *error);
/* Opens the reader by init, which must succeed. */
void scripted_reader_open(uv_loop_t *loop, scripted_reader_t *scripted);
/* Closes the reader, and fails the test if anything is left. */
void scripted_reader_close(scripted_reader_t *scripted);
/* The same if it is closed, or was never open. */
void scripted_reader_end(scripted_reader_t *scripted);

/* The entries of the map that have an event, such as "0 1 5", or "". */
const char *scripted_reader_entries(const scripted_reader_t *scripted);

#endif
