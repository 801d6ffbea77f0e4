/* SPDX-License-Identifier: MIT */
/* The perf events of the profiler. */
#ifndef PROFILE_EVENTS_H
#define PROFILE_EVENTS_H

#include <stdint.h>

#include "uvperf.h"

#include "profile/options.h"

typedef struct profile_events_s {
  uvperf_set_t set;
  int is_open;  /* the set */
  int off_cpu;  /* context switches */
  int hardware; /* else: cycles, not cpu-clock */
  int kernel;   /* the kernel's side too */
} profile_events_t;

/* Opens the events of a target, disabled: cycles where there are any, else
 * cpu-clock, with the kernel's side where that is allowed; or for
 * options->off_cpu context switches, which are on the kernel's side only. On
 * failure nothing is left open. */
int profile_events_open(profile_events_t *events, uv_loop_t *loop,
                        const uvperf_target_t *target,
                        const profile_options_t *options,
                        uvperf_error_t *error);

/* Opens the events of a process that say only when it has ended. */
int profile_events_open_end(profile_events_t *events, uv_loop_t *loop,
                            const uvperf_target_t *target,
                            uvperf_error_t *error);

#endif
