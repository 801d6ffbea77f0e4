/* SPDX-License-Identifier: MIT */
/* A reading: the counts of several events (attrs) at several places (a CPU, a
 * task) at one time. Values only: the callers read the events and subtract what
 * was counted before a reset. */
#ifndef UVPERF_LIB_COUNT_READING_H
#define UVPERF_LIB_COUNT_READING_H

#include <stddef.h>
#include <stdint.h>

#include "count/count.h"

/* Whose reading it is: two can be compared if all of it is the same. */
typedef struct uvperf__reading_origin_s {
  const void *owner; /* the counters */
  uint64_t born;     /* ns: differs if another owner had the same address */
} uvperf__reading_origin_t;

/* Of an attr: its counts are values and no sums (UVPERF_ITEM_SNAPSHOT). */
#define UVPERF__READING_SNAPSHOT 1u
/* Of an attr: its PMU is of some CPUs only, and it is opened for tasks on any
 * (a hybrid machine): it is enabled, and not running, while they run on others.
 * Places of a task on one CPU are known to be so without it. */
#define UVPERF__READING_PART_TIME 2u

/* Of an attr: a part of an event of several kinds of cores, but not its first
 * one, which stands for the whole. */
#define UVPERF__READING_PART 4u

/* Its fields are for reading.c alone. The arrays are in one block of memory, so
 * that a reading grows as a whole or not at all. */
struct uvperf_reading_s {
  uvperf__reading_origin_t origin;
  uint64_t resets;
  uint64_t since;
  uint64_t time;
  uint64_t interval;
  int is_filled; /* by uvperf__reading_end */
  int is_delta;
  size_t nr_attrs;
  size_t nr_places;
  uvperf__cell_t *cells; /* of the first place, of the second … */
  uvperf_place_t *places;
  uint32_t *next_parts; /* see uvperf__reading_set_parts */
  uint8_t *attr_flags;  /* UVPERF__READING_* */
  void *memory;
  size_t room; /* bytes */
};

/* Makes room and fills the head; cells are all zero (NONE), places too.
 *   resets      how often the owner was reset: serial number
 *   since       ns: when it was made or last reset
 *   now         ns: when it is read
 *   attr_flags  nr_attrs bytes of UVPERF__READING_*, copied; NULL: all 0
 * 0 or -ENOMEM (the reading is as it was). */
int uvperf__reading_begin(uvperf_reading_t *reading,
                          const uvperf__reading_origin_t *origin,
                          uint64_t resets, uint64_t since, uint64_t now,
                          size_t nr_attrs, const uint8_t *attr_flags,
                          size_t nr_places);
/* Of each attr the next part of the same event, 0 for none; copied. Without it
 * there are no parts. */
void uvperf__reading_set_parts(uvperf_reading_t *reading,
                               const uint32_t *next_parts);
static inline uvperf_place_t *uvperf__reading_place(uvperf_reading_t *reading,
                                                    size_t place) {
  return &reading->places[place];
}
static inline uvperf__cell_t *uvperf__reading_cell(uvperf_reading_t *reading,
                                                   size_t attr, size_t place) {
  return &reading->cells[place * reading->nr_attrs + attr];
}
/* The same, to read only. */
static inline const uvperf__cell_t *
uvperf__reading_const_cell(const uvperf_reading_t *reading, size_t attr,
                           size_t place) {
  return &reading->cells[place * reading->nr_attrs + attr];
}
/* All cells and places (by target, then by serial) are filled. */
void uvperf__reading_end(uvperf_reading_t *reading);
/* least = the cell with the smaller value of the two, for each cell of least
 * (for uvperf_measure_overhead). 0; -EINVAL if they are of two owners or one
 * was never filled. */
int uvperf__reading_least(uvperf_reading_t *least,
                          const uvperf_reading_t *other);

#endif
