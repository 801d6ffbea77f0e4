/* SPDX-License-Identifier: MIT */
/* Two processes on one CPU that hand a token to each other through pipes, and
 * know how often each was switched out by when. */
#ifndef UVPERF_TEST_SWITCH_PAIR_H
#define UVPERF_TEST_SWITCH_PAIR_H

#include <stdint.h>
#include <sys/types.h>

#define SWITCH_PAIR_HOPS 400

/* The kernel's count of switches of a thread, at a time between two of them. */
typedef struct switch_pair_mark_s {
  uint64_t time; /* ns of CLOCK_MONOTONIC */
  long switches;
} switch_pair_mark_t;

/* One of the two: before each hop, and at the end. */
typedef struct switch_pair_side_s {
  pid_t pid;
  switch_pair_mark_t marks[SWITCH_PAIR_HOPS + 1];
} switch_pair_side_t;

typedef struct switch_pair_s {
  int cpu;
  switch_pair_side_t sides[2]; /* "flight-ping", "flight-pong" */
  /* The first changes its name to this between two of its hops. */
  uint64_t renamed_after, renamed_before; /* ns */
} switch_pair_t;

#define SWITCH_PAIR_FIRST   "flight-ping"
#define SWITCH_PAIR_RENAMED "flight-p\033ng"
#define SWITCH_PAIR_SECOND  "flight-pong"

/* A pair that has run and is gone. */
switch_pair_t *switch_pair_run(void);
void switch_pair_free(switch_pair_t *pair);

#endif
