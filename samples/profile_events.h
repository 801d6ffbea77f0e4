/* SPDX-License-Identifier: MIT */
/* The perf events of the profiler: one for each thread and CPU. */
#ifndef PROFILE_EVENTS_H
#define PROFILE_EVENTS_H

#include <stddef.h>
#include <stdint.h>

#include "uvperf.h"

#include "shared_events.h"
#include "shared_targets.h"

/* What to sample; the lists stay the caller's. */
typedef struct profile_plan_s {
  uint64_t frequency_hz;
  const shared_ids_t *cpus;
  const shared_ids_t *threads; /* NULL for all tasks */
  int on_exec;                 /* begins when the thread execs */
} profile_plan_t;

typedef struct profile_events_s {
  shared_events_t all;
  struct perf_event_attr attr; /* with which all of them were opened */
  int hardware;                /* cycles, not cpu-clock */
  int kernel;                  /* the kernel's side too */
} profile_events_t;

/* Opens the events, disabled: cycles where there are any, else cpu-clock, with
 * the kernel's side where that is allowed. CPUs that are offline and threads
 * that are gone are left out. `data` becomes the data of each event. On failure
 * those that were opened stay open until shared_events_close. */
int profile_events_open(profile_events_t *events, uv_loop_t *loop,
                        const profile_plan_t *plan, void *data,
                        uvperf_error_t *error);

#endif
