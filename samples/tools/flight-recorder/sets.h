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
  int of_command;              /* they are of its tasks alone */
} flight_sets_t;

/* Opens both, disabled: of all tasks if that is allowed, else of a command, if
 * there is one (0 for none). 0, or a UV_E*; to be closed in any case. */
int flight_sets_open(flight_sets_t *sets, uv_loop_t *loop,
                     const flight_options_t *options, int32_t command,
                     uvperf_error_t *error);
void flight_sets_close(flight_sets_t *sets);

/* Bytes of all rings of switches. */
uint64_t flight_sets_bytes(const flight_sets_t *sets);

#endif
