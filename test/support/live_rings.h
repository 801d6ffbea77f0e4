/* SPDX-License-Identifier: MIT */
/* Shared by the tests of the watch: rings of real events of the calling thread,
 * on a loop, drained by walking the headers. */
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
  /* The rings of the first COMM records. */
  size_t order[64];
  size_t nr_order;
  uint64_t drains_all; /* drains of rings that are read together */
  uint64_t iterations;
  uint64_t slice_ends;
  uint64_t ring_ends;
  size_t ended_ring; /* the last of them */
  uint64_t ends;
  int end_status; /* of a ring's end or of the end */
  int closed;
  /* Return this code instead of draining a ring; 0: drain. */
  int codes[LIVE_RINGS_RINGS];
  /* Rings that are read together keep all records for later. */
  int leaves;
  /* Called after each COMM record, and in each `iteration_end`; may be NULL. */
  void (*hook)(live_rings_t *watched);
  void (*iteration_hook)(live_rings_t *watched);
  uint64_t next; /* name of a COMM record */
  uint8_t scratch[UVPERF__RING_SCRATCH_BYTES];
};

/* A watch that drains ring by ring, or all rings together; and its options:
 * slices without an end, no flush timer. */
live_rings_t *live_rings_make(uv_loop_t *loop);
live_rings_t *live_rings_make_together(uv_loop_t *loop);
extern const uvperf__watch_options_t live_rings_plain;
void live_rings_unmake(live_rings_t *watched);
void live_rings_close(live_rings_t *watched);

/* Starts, with live_rings_plain; and runs until the registrations are
 * complete. */
void live_rings_start(live_rings_t *watched);
void live_rings_start_registered(live_rings_t *watched);

/* Opens an event with COMM records, of a thread on a CPU. */
int live_rings_open(pid_t pid, int cpu);
/* Maps its ring and adds it to the watch, with the fds of all events that write
 * into it. */
void live_rings_add(live_rings_t *watched, int fd, const int *fds,
                    size_t nr_fds);
/* Adds nr rings of the calling thread, each of an event of its own. */
void live_rings_add_own(live_rings_t *watched, size_t nr);
/* Adds one of the calling thread that does not wake. */
void live_rings_add_unwoken(live_rings_t *watched);

/* Makes records in the rings of the calling thread. */
void live_rings_comm(live_rings_t *watched, uint64_t nr);

/* A test of a table: of a watch with nr rings of the calling thread. */
typedef struct live_rings_row_s {
  const char *name;
  void (*run)(live_rings_t *watched);
  size_t nr;
  unsigned how;
} live_rings_row_t;

/* How a watch is before its test. */
#define LIVE_RINGS_OPEN       0u
#define LIVE_RINGS_TOGETHER   1u /* the rings are read together */
#define LIVE_RINGS_STARTED    2u
#define LIVE_RINGS_REGISTERED 4u

#define LIVE_RINGS_ROW(test, nr, how)                                          \
  { #test, test, nr, how }

/* For SUPPORT_RUN_LOOP_ROWS. */
void live_rings_run_row(void **state);

/* The number of wakeups of all its rings. */
uint64_t live_rings_wakeups(const live_rings_t *watched);

#endif
