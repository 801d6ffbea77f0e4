/* SPDX-License-Identifier: MIT */
/* A process without privileges that samples its own page faults in ways that
 * affect the rings of other processes: with a clock of its own, and with more
 * fields. */
#ifndef UVPERF_TEST_LIVE_NEIGHBOUR_H
#define UVPERF_TEST_LIVE_NEIGHBOUR_H

#include "live.h"

/* The kernel's own clock. */
#define LIVE_NEIGHBOUR_NO_CLOCK (-1)

typedef struct live_neighbour_plan_s {
  int cpu;              /* where it runs */
  int clockid;          /* the event's clock */
  uint64_t sample_type; /* besides PERF_SAMPLE_TIME */
  int is_wild; /* renames itself, maps files with odd names, and forks */
} live_neighbour_plan_t;

/* Its report, in memory shared with the test. */
typedef struct live_neighbour_state_s {
  int is_over; /* set by the test: it ends */
  int error;   /* errno of perf_event_open */
  uint64_t faults;
} live_neighbour_state_t;

typedef struct live_neighbour_s {
  live_neighbour_plan_t plan;
  live_neighbour_state_t *state;
  pid_t pid;
} live_neighbour_t;

/* Skips if an event's samples have only its own fields: before Linux 6.3. */
void live_neighbour_need_shared_samples(const char *test);

/* Forks it, and waits until it causes faults. The caller must be root. */
void live_neighbour_start(live_neighbour_t *neighbour,
                          const live_neighbour_plan_t *plan);
void live_neighbour_end(live_neighbour_t *neighbour);

#endif
