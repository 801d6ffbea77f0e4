/* SPDX-License-Identifier: MIT */
/* The events that could not be counted, and why. */
#ifndef STAT_FAILURES_H
#define STAT_FAILURES_H

#include <stddef.h>

#include "stat/lines.h"
#include "stat/refused.h"
#include "uvperf.h"

typedef struct stat_failures_s {
  uvperf_set_failure_t *list;
  size_t nr;
  /* For each event of a report: the places where it is missing, and the reason.
   * NULL if the event is open everywhere. */
  char **whys;
  size_t nr_whys;
  size_t nr_groups;
  size_t nr_attrs;
} stat_failures_t;

/* Replaces the list with a copy of the set's failures. If no events are open,
 * copies the failures of the refused events instead. With several groups each
 * target is a group; otherwise all targets are one group. Without no_merge, the
 * failures of all parts of an event go to its first part. */
void stat_failures_take(stat_failures_t *failures, const uvperf_set_t *set,
                        const stat_refused_t *refused, size_t nr_groups,
                        int no_merge);

/* Sets `why` of each line that lacks counts; `failures` owns the strings. In a
 * table with places, a line without a place belongs to an event that is open
 * nowhere. */
void stat_failures_explain(const stat_failures_t *failures, stat_lines_t *lines,
                           enum stat_by by);

void stat_failures_free(stat_failures_t *failures);

#endif
