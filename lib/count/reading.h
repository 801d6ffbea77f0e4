/* SPDX-License-Identifier: MIT */
/* A reading: the counts of several events (attrs) at several places (a CPU, a
 * task) at one time. It holds only values: the callers read the events and
 * subtract the counts from before a reset. */
#ifndef UVPERF_LIB_COUNT_READING_H
#define UVPERF_LIB_COUNT_READING_H

#include <stddef.h>
#include <stdint.h>

#include "count/count.h"

/* The origin of a reading. Two readings can be compared if all fields of their
 * origins are equal. */
typedef struct uvperf__reading_origin_s {
  const void *owner; /* the counters */
  uint64_t born;     /* ns: differs if another owner had the same address */
} uvperf__reading_origin_t;

/* Flag of an attr: its counts are momentary values and not totals
 * (UVPERF_ITEM_SNAPSHOT). */
#define UVPERF__READING_SNAPSHOT 1u
/* Flag of an attr on a hybrid machine: its PMU has only some of the CPUs, but
 * the event is opened for tasks on any CPU. While a task runs on another CPU,
 * its event is enabled but not running. A place that is a task on one CPU
 * behaves the same way without the flag. */
#define UVPERF__READING_PART_TIME 2u

/* Flag of an attr that is one part of an event on several kinds of cores. The
 * first part does not have the flag: it stands for the whole event. */
#define UVPERF__READING_PART 4u

/* Only reading.c uses the fields. The arrays are in one block of memory, so
 * that a reading grows completely or not at all. */
struct uvperf_reading_s {
  uvperf__reading_origin_t origin;
  uint64_t resets;
  uint64_t since;
  uvperf_reading_info_t info;
  int is_filled; /* by uvperf__reading_end */
  int is_delta;
  uvperf__cell_t *cells; /* place by place */
  uvperf_place_t *places;
  uint32_t *next_parts; /* see uvperf__reading_set_parts */
  uint8_t *attr_flags;  /* UVPERF__READING_* */
  void *memory;
  size_t room; /* bytes */
};

/* Makes room and fills the head. All cells and places are zero (NONE).
 *   resets      how many times the owner was reset
 *   since       ns: when it was made or last reset
 *   now         ns: when it is read
 *   attr_flags  nr_attrs bytes of UVPERF__READING_*, copied; NULL: all 0
 * Returns 0, or -ENOMEM with the reading unchanged. */
int uvperf__reading_begin(uvperf_reading_t *reading,
                          const uvperf__reading_origin_t *origin,
                          uint64_t resets, uint64_t since, uint64_t now,
                          size_t nr_attrs, const uint8_t *attr_flags,
                          size_t nr_places);
/* Sets the next part of the same event for each attr, or 0 for no next part.
 * The array is copied. Without this call there are no parts. */
void uvperf__reading_set_parts(uvperf_reading_t *reading,
                               const uint32_t *next_parts);
static inline uvperf_place_t *uvperf__reading_place(uvperf_reading_t *reading,
                                                    size_t place) {
  return &reading->places[place];
}
static inline uvperf__cell_t *uvperf__reading_cell(uvperf_reading_t *reading,
                                                   size_t attr, size_t place) {
  return &reading->cells[place * reading->info.nr_attrs + attr];
}
/* The same, read-only. */
static inline const uvperf__cell_t *
uvperf__reading_const_cell(const uvperf_reading_t *reading, size_t attr,
                           size_t place) {
  return &reading->cells[place * reading->info.nr_attrs + attr];
}
/* Call it when all cells and places are filled. Places are in the order of
 * targets, then of serials. */
void uvperf__reading_end(uvperf_reading_t *reading);

#endif
