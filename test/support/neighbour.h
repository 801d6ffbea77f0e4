/* SPDX-License-Identifier: MIT */
/* A process without privileges that samples its own page faults in ways that
 * reach into the rings of others: with a clock of its own, and with more
 * fields. */
#ifndef UVPERF_TEST_NEIGHBOUR_H
#define UVPERF_TEST_NEIGHBOUR_H

#include "live.h"

/* The kernel's own clock. */
#define NEIGHBOUR_NO_CLOCK (-1)

typedef struct neighbour_plan_s {
  int cpu;              /* where it runs */
  int clockid;          /* of its event */
  uint64_t sample_type; /* beside PERF_SAMPLE_TIME */
  int is_wild; /* renames itself, maps files with odd names, and forks */
} neighbour_plan_t;

/* What it reports, in memory that it shares with the test. */
typedef struct neighbour_state_s {
  int is_over; /* set by the test: it ends */
  int error;   /* errno of perf_event_open */
  uint64_t faults;
} neighbour_state_t;

typedef struct neighbour_s {
  neighbour_plan_t plan;
  neighbour_state_t *state;
  pid_t pid;
} neighbour_t;

/* Skips where an event's samples are of its own only: before Linux 6.3. */
void neighbour_need_shared_samples(const char *test);

/* Forks it, and waits until it makes faults. The caller is root. */
void neighbour_start(neighbour_t *neighbour, const neighbour_plan_t *plan);
void neighbour_end(neighbour_t *neighbour);

#endif
