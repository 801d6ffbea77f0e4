/* SPDX-License-Identifier: MIT */
/* The lines of stat's table, made of readings. */
#ifndef STAT_LINES_H
#define STAT_LINES_H

#include <stddef.h>

#include "common/targets.h"
#include "stat/math.h"
#include "stat/places.h"
#include "stat/report.h"
#include "uvperf.h"

typedef struct stat_lines_s {
  stat_line_t *lines;
  stat_series_t *series; /* of several runs: each line's values */
  size_t nr;
  size_t capacity; /* of both */
} stat_lines_t;

/* What a reading is summed up to. */
typedef struct stat_sums_s {
  const stat_event_t *events; /* nr_groups times the attrs of the set */
  size_t nr_groups;           /* the targets are summed up, if it is 1 */
  enum stat_by by;
  /* The list of the attrs: it says which of them are parts of one event, for
   * each kind of cores. These are summed up too, unless no_merge. NULL: none
   * are. */
  const uvperf_event_list_t *list;
  int no_merge;
  const stat_places_t *places; /* by core */
} stat_sums_t;

/* Makes the lines of a reading, in place of those that there are. An event that
 * is not measured on a CPU on purpose has no line of it. */
void stat_lines_read(stat_lines_t *lines, const stat_sums_t *sums,
                     const uvperf_reading_t *reading);

/* Puts lines in the order of perf-stat(1): core by core, or of an event the
 * threads that have most first. The series of runs are not moved. */
void stat_lines_sort(stat_lines_t *lines, enum stat_by by);

/* Adds a run to the sum of all; with `sum` all zero at first. */
void stat_lines_add(stat_lines_t *sum, const stat_lines_t *run);

void stat_lines_free(stat_lines_t *lines);

#endif
