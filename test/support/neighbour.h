/* SPDX-License-Identifier: MIT */
/* A process without privileges that samples its own page faults in ways that
 * affect the rings of other processes: with a clock of its own, and with more
 * fields. */
#ifndef UVPERF_TEST_NEIGHBOUR_H
#define UVPERF_TEST_NEIGHBOUR_H

#include "live.h"

/* The kernel's own clock. */
#define NEIGHBOUR_NO_CLOCK (-1)

typedef struct neighbour_plan_s {
  int cpu;              /* where it runs */
  int clockid;          /* the event's clock */
  uint64_t sample_type; /* besides PERF_SAMPLE_TIME */
  int is_wild; /* renames itself, maps files with odd names, and forks */
} neighbour_plan_t;

/* Its report, in memory shared with the test. */
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

/* Skips if an event's samples have only its own fields: before Linux 6.3. */
void neighbour_need_shared_samples(const char *test);

/* Forks it, and waits until it causes faults. The caller must be root. */
void neighbour_start(neighbour_t *neighbour, const neighbour_plan_t *plan);
void neighbour_end(neighbour_t *neighbour);

#endif
