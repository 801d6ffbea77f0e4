/* SPDX-License-Identifier: MIT */
/* Formats a dump, as lines of text or of JSON. */
#ifndef FLIGHT_RECORDER_LINE_H
#define FLIGHT_RECORDER_LINE_H

#include <stdint.h>
#include <time.h>

#include "common/buffer.h"
#include "flight-recorder/names.h"
#include "flight-recorder/switches.h"

/* The summary of a whole dump. */
typedef struct flight_sums_s {
  uint64_t dump; /* counted from 1 */
  uint64_t time; /* of its begin, in ns of CLOCK_MONOTONIC */
  uint64_t from; /* on the same clock: all CPUs are complete from here on */
  struct timespec date;
  uint64_t switches;
  uint64_t lost, cut; /* records */
} flight_sums_t;

/* Each of these functions adds whole lines to a buffer. They add the first
 * lines of a dump, a line for each CPU, a line for each switch, and the last
 * line. */
void flight_line_begin(common_buffer_t *buffer, const flight_sums_t *sums,
                       int json);
void flight_line_cpu(common_buffer_t *buffer, const flight_sums_t *sums,
                     uint32_t cpu, uint64_t from, uint64_t switches, int json);
void flight_line_switch(common_buffer_t *buffer, const flight_switch_t *item,
                        const flight_names_t *names, int json);
void flight_line_end(common_buffer_t *buffer, const flight_sums_t *sums,
                     int json);

#endif
