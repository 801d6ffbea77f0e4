/* SPDX-License-Identifier: MIT */
/* What the tests of the watch share: rings of this kernel, of events of the
 * calling thread, on a loop, drained by walking headers. */
#ifndef UVPERF_TEST_LIVE_RINGS_H
#define UVPERF_TEST_LIVE_RINGS_H

#include "live.h"

#include "loop/watch.h"
#include "ring/ring.h"

#define LIVE_RINGS_RINGS 16

typedef struct live_rings_s live_rings_t;
struct live_rings_s {
  uv_loop_t *loop;
  uvperf__watch_t *watch;
  uvperf__teardown_t teardown;
  uvperf__ring_t rings[LIVE_RINGS_RINGS];
  int fds[LIVE_RINGS_RINGS];
  size_t nr;
  uint64_t drains[LIVE_RINGS_RINGS];
  uint64_t skips[LIVE_RINGS_RINGS];
  uint64_t records[LIVE_RINGS_RINGS]; /* COMM records */
  uint64_t total;
  /* The rings in which the first COMM records lay. */
  size_t order[64];
  size_t nr_order;
  uint64_t drains_all; /* of rings that are read together */
  uint64_t iterations;
  uint64_t slice_ends;
  uint64_t ring_ends;
  size_t ended_ring; /* the last of them */
  uint64_t ends;
  int end_status; /* of either */
  int closed;
  /* Instead of draining a ring: this code; 0: drains. */
  int codes[LIVE_RINGS_RINGS];
  /* Rings that are read together leave all records for later. */
  int leaves;
  /* Called after each COMM record, and in each `iteration_end`; may be NULL. */
  void (*hook)(live_rings_t *watched);
  void (*iteration_hook)(live_rings_t *watched);
  uint8_t scratch[UVPERF__RING_SCRATCH_BYTES];
};

/* A watch that drains ring by ring, or all rings together, and its options:
 * slices without an end, no flush timer. */
live_rings_t *live_rings_make(uv_loop_t *loop);
live_rings_t *live_rings_make_together(uv_loop_t *loop);
extern const uvperf__watch_options_t live_rings_plain;
void live_rings_unmake(live_rings_t *watched);
void live_rings_close(live_rings_t *watched);

/* Starts, with live_rings_plain. */
void live_rings_start(live_rings_t *watched);

/* An event with COMM records, of a thread on a CPU. */
int live_rings_open(pid_t pid, int cpu);
/* Maps its ring and has it watched, with the fds of all that write into it. */
void live_rings_add(live_rings_t *watched, int fd, const int *fds,
                    size_t nr_fds);
/* Rings of the calling thread, each of its own event. */
void live_rings_add_own(live_rings_t *watched, size_t nr);

#endif
