/* SPDX-License-Identifier: MIT */
/* One dump: from the rings to text. */
#ifndef FLIGHT_RECORDER_DUMP_H
#define FLIGHT_RECORDER_DUMP_H

#include "flight-recorder/line.h"
#include "flight-recorder/options.h"
#include "flight-recorder/sets.h"

typedef struct flight_dump_s {
  const flight_options_t *options;
  flight_sets_t *sets; /* their records are to be given to the next two */
  flight_switches_t switches;
  flight_names_t names;
  flight_sums_t sums; /* of the last dump */
  uint64_t cut;       /* records cut before it */
} flight_dump_t;

/* When the rings begin to record, or one of them, of a CPU. */
void flight_dump_since(flight_dump_t *dump, uint64_t time);
void flight_dump_cpu_since(flight_dump_t *dump, int cpu, uint64_t time);

/* Begins a dump without stopping the loop: 0, and `taken` is called; or a
 * UV_E*. */
int flight_dump_begin(flight_dump_t *dump, uvperf_set_snapshot_cb taken);

/* In `taken` with status 0: adds the dump to a buffer. */
void flight_dump_end(flight_dump_t *dump, common_buffer_t *buffer);

/* Both at once: 0, or a UV_E* with nothing added. */
int flight_dump_take(flight_dump_t *dump, common_buffer_t *buffer);

void flight_dump_free(flight_dump_t *dump);

#endif
