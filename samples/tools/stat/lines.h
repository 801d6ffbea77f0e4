/* SPDX-License-Identifier: MIT */
/* The lines of stat's table, made from readings. */
#ifndef STAT_LINES_H
#define STAT_LINES_H

#include <stddef.h>
#include <stdint.h>

#include "common/targets.h"
#include "stat/places.h"
#include "stat/report.h"
#include "uvperf.h"

/* Values seen so far; all zero at first. */
typedef struct stat_series_s {
  uint64_t nr;
  double mean;
  double m2; /* the sum of the squares of the differences from the mean */
} stat_series_t;

typedef struct stat_lines_s {
  stat_line_t *lines;
  stat_series_t *series; /* each line's values in several runs */
  size_t nr;
  size_t capacity; /* of both */
} stat_lines_t;

/* The rules by which a reading is added up to lines. */
typedef struct stat_sums_s {
  const stat_event_t *events; /* nr_groups times the attrs of the set */
  size_t nr_groups;           /* 1: all targets are added up */
  enum stat_by by;
  /* The list of the attrs. The list shows which attrs are parts of one event,
   * for different kinds of cores. Without no_merge, parts are added up too.
   * NULL: there are no parts. */
  const uvperf_event_list_t *list;
  int no_merge;
  const stat_places_t *places; /* by core */
} stat_sums_t;

/* Makes the lines of a reading, and drops the old lines. An event has no line
 * for a CPU on which it is deliberately not measured. */
void stat_lines_read(stat_lines_t *lines, const stat_sums_t *sums,
                     const uvperf_reading_t *reading);

/* Sorts lines as perf-stat(1) does: core by core, or by thread. Of the threads
 * of an event, those with the highest counts come first. The series of runs are
 * not sorted. */
void stat_lines_sort(stat_lines_t *lines, enum stat_by by);

/* Adds a run to the sum of all runs. `sum` is all zero at first. */
void stat_lines_add(stat_lines_t *sum, const stat_lines_t *run);

void stat_lines_free(stat_lines_t *lines);

void stat_series_add(stat_series_t *series, double value);

/* Returns the standard deviation of the mean (not of the values), in percent of
 * the mean, as `perf stat -r` prints it. Returns 0 for fewer than two values,
 * or if the mean is 0. */
double stat_series_deviation_percent(const stat_series_t *series);

#endif
