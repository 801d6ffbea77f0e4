/* SPDX-License-Identifier: MIT */
/* A dump, as lines of text or of JSON. */
#ifndef FLIGHT_RECORDER_LINE_H
#define FLIGHT_RECORDER_LINE_H

#include <stdint.h>
#include <time.h>

#include "common/buffer.h"
#include "flight-recorder/names.h"
#include "flight-recorder/switches.h"

/* What there is to tell of one dump as a whole. */
typedef struct flight_sums_s {
  uint64_t dump; /* counted from 1 */
  uint64_t time; /* ns of CLOCK_MONOTONIC: when it was asked for */
  uint64_t from; /* the same: since when all CPUs are covered */
  struct timespec date;
  uint64_t switches;
  uint64_t lost, cut; /* records */
} flight_sums_t;

/* Each adds whole lines to a buffer: the first of a dump; one for each CPU;
 * those of the switches; the last. */
void flight_line_begin(common_buffer_t *buffer, const flight_sums_t *sums,
                       int json);
void flight_line_cpu(common_buffer_t *buffer, const flight_sums_t *sums,
                     uint32_t cpu, uint64_t from, uint64_t switches, int json);
void flight_line_switch(common_buffer_t *buffer, const flight_switch_t *item,
                        const flight_names_t *names, int json);
void flight_line_end(common_buffer_t *buffer, const flight_sums_t *sums,
                     int json);

#endif
