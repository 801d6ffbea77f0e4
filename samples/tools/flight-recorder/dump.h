/* SPDX-License-Identifier: MIT */
/* Makes one dump: copies the rings and turns them into text. */
#ifndef FLIGHT_RECORDER_DUMP_H
#define FLIGHT_RECORDER_DUMP_H

#include "flight-recorder/line.h"
#include "flight-recorder/options.h"
#include "flight-recorder/sets.h"

typedef struct flight_dump_s {
  const flight_options_t *options;
  flight_sets_t *sets; /* pass their records to the next two members */
  flight_switches_t switches;
  flight_names_t names;
  flight_sums_t sums; /* of the last dump */
  uint64_t cut;       /* records cut before it */
} flight_dump_t;

/* Set the time at which all rings, or the ring of a CPU, begin to record. */
void flight_dump_since(flight_dump_t *dump, uint64_t time);
void flight_dump_cpu_since(flight_dump_t *dump, int cpu, uint64_t time);

/* Begins a dump without blocking the loop. Returns 0 and calls `taken` later,
 * or returns a UV_E*. */
int flight_dump_begin(flight_dump_t *dump, uvperf_snapshot_cb taken);

/* Adds the dump to a buffer. Call it in `taken` if the status is 0. */
void flight_dump_end(flight_dump_t *dump, common_buffer_t *buffer);

/* Does both and blocks. Returns 0, or a UV_E* and adds nothing. */
int flight_dump_take(flight_dump_t *dump, common_buffer_t *buffer);

void flight_dump_free(flight_dump_t *dump);

#endif
