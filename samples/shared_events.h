/* SPDX-License-Identifier: MIT */
/* Perf events that are one to their user: on several CPUs and threads, started
 * and stopped together. */
#ifndef SHARED_EVENTS_H
#define SHARED_EVENTS_H

#include <stddef.h>
#include <stdint.h>

#include "uvperf.h"

typedef struct shared_events_s {
  uvperf_event_t **events; /* each stays in place while the array grows */
  size_t nr;               /* of those that are open */
  size_t capacity;
  size_t ring_bytes; /* for those that are opened from now on */
} shared_events_t;

/* Chooses the size of the rings by what the user may lock in memory, and allows
 * as many fds as the user may have. */
void shared_events_init(shared_events_t *events, size_t nr_rings,
                        size_t nr_cpus);

/* Asks for all that tells of processes: FORK, EXIT, COMM with exec, and MMAP2
 * of what is executable; stamped by the clock of uv_hrtime, which is the same
 * on all CPUs. sample_type must have TIME. */
void shared_events_follow(struct perf_event_attr *attr);

/* Opens one event more, disabled. `data` becomes its data. 0, or a UV_E*. */
int shared_events_open(shared_events_t *events, uv_loop_t *loop,
                       const struct perf_event_attr *attr, int32_t pid,
                       int32_t cpu, void *data, uvperf_error_t *error);

/* Makes the rings to come smaller: 1, or 0 if they are as small as can be. */
int shared_events_shrink(shared_events_t *events);

/* Starts and enables all. */
int shared_events_start(shared_events_t *events, uvperf_record_cb cb,
                        uvperf_error_t *error);

/* Delivers what is in the rings now. */
void shared_events_flush(shared_events_t *events);

/* Stops all and delivers what is left in the rings. */
void shared_events_stop(shared_events_t *events);

/* Sums up over all events. */
void shared_events_stats(const shared_events_t *events, uvperf_stats_t *stats);

/* Closes what is open; shared_events_free when the loop has run. */
void shared_events_close(shared_events_t *events);
void shared_events_free(shared_events_t *events);

#endif
