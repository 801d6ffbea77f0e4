/* SPDX-License-Identifier: MIT */
/* Software events of the calling thread, which every machine has, opened, read
 * and measured by hand, with the fewest possible system calls. */
#ifndef UVPERF_BENCH_OWN_EVENTS_H
#define UVPERF_BENCH_OWN_EVENTS_H

#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include <linux/perf_event.h>

#define OWN_GROUP 5
#define OWN_MOST  256

/* The values of an event. */
typedef struct own_count_s {
  uint64_t value;
  uint64_t enabled;
  uint64_t running;
  double scaled; /* by own_read_scaled */
} own_count_t;

typedef struct own_events_s {
  size_t nr;
  int fds[OWN_MOST];
  uint64_t ids[OWN_MOST];
  own_count_t counts[OWN_MOST];
  own_count_t before; /* of the first event, when it was last measured */
  struct timespec time;
  uint64_t failures;
} own_events_t;

/* The attr of the which-th event, with both times, of the user's side, which
 * needs no privileges. The first counts page faults. */
void own_attr(struct perf_event_attr *attr, size_t which);

/* Whether privileges allow opening one. */
int own_may_open(void);

/* Opens nr events, enabled: as one group of OWN_GROUP, or each alone. Returns
 * 0, or 1 after printing what failed. */
int own_open(own_events_t *own, size_t nr, int is_group);
void own_close(own_events_t *own);

/* Fill `counts`; what fails is counted. */
void own_read_each(own_events_t *own);
void own_read_group(own_events_t *own);
/* The same, with the additional values of a set's reading: its time, and the
 * estimated counts without multiplexing. */
void own_read_scaled(own_events_t *own);

/* Stops the first, to be measured with. */
void own_stop(own_events_t *own);
/* Measures a function by the first event, which is stopped: 0, or 1. */
int own_measure(own_events_t *own, void (*fn)(void *), void *arg);
/* Opens an event for that, and closes it. */
int own_measure_opened(own_events_t *own, void (*fn)(void *), void *arg);

#endif
