/* SPDX-License-Identifier: MIT */
/* The perf events of the profiler. */
#ifndef PROFILE_EVENTS_H
#define PROFILE_EVENTS_H

#include "uvperf.h"

#include "common/target_list.h"
#include "profile/options.h"

typedef struct profile_events_s {
  uvperf_set_t set;
  int is_open;       /* the set */
  int off_cpu;       /* context switches */
  int hardware;      /* 1: cycles, 0: cpu-clock */
  int kernel;        /* kernel code is sampled too */
  size_t ring_bytes; /* of each CPU */
} profile_events_t;

/* Opens the events of the targets, disabled: cycles if the machine can count
 * them, otherwise cpu-clock. Kernel code is sampled if that is allowed. With
 * options->off_cpu it opens context switches, which cannot be measured without
 * the kernel. On failure nothing is left open. */
int profile_events_open(profile_events_t *events, uv_loop_t *loop,
                        const common_target_list_t *targets,
                        const profile_options_t *options,
                        uvperf_error_t *error);

/* Opens events of processes that only report their end. */
int profile_events_open_end(profile_events_t *events, uv_loop_t *loop,
                            const common_target_list_t *targets,
                            uvperf_error_t *error);

#endif
