/* SPDX-License-Identifier: MIT */
/* The perf events of flight-recorder. */
#ifndef FLIGHT_RECORDER_SETS_H
#define FLIGHT_RECORDER_SETS_H

#include <stdint.h>

#include "uvperf.h"

#include "flight-recorder/options.h"

typedef struct flight_sets_s {
  uvperf_set_t switches; /* overwritable rings */
  uvperf_set_t names;
  int has_switches, has_names; /* the sets are open */
  int of_command;              /* only tasks of the command are recorded */
} flight_sets_t;

/* Opens both sets, disabled. They record all tasks if that is permitted,
 * otherwise the tasks of `command` (0: no command). Returns 0 or a UV_E*. Call
 * flight_sets_close in both cases. */
int flight_sets_open(flight_sets_t *sets, uv_loop_t *loop,
                     const flight_options_t *options, int32_t command,
                     uvperf_error_t *error);
void flight_sets_close(flight_sets_t *sets);

/* Returns the size of all rings for switches, in bytes. */
uint64_t flight_sets_bytes(const flight_sets_t *sets);

#endif
