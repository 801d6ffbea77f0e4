/* SPDX-License-Identifier: MIT */
/* What could not be counted, and why. */
#ifndef STAT_FAILURES_H
#define STAT_FAILURES_H

#include <stddef.h>

#include "stat/lines.h"
#include "stat/refused.h"
#include "uvperf.h"

typedef struct stat_failures_s {
  uvperf_set_failure_t *list;
  size_t nr;
  /* Of each event of a report, in words; NULL where it is open everywhere. */
  char **whys;
  size_t nr_whys;
  size_t nr_groups;
  size_t nr_attrs;
} stat_failures_t;

/* Copies those of a set, or with nothing open those that were refused, in place
 * of those that there are. With several groups
 * each target is one, else all are one. Failures of all parts of an event go to
 * its first part, unless no_merge. */
void stat_failures_take(stat_failures_t *failures, const uvperf_set_t *set,
                        const stat_refused_t *refused, size_t nr_groups,
                        int no_merge);

/* Tells each line that lacks something why; the words are the failures'. A line
 * of no place is of an event that is open nowhere. */
void stat_failures_explain(const stat_failures_t *failures, stat_lines_t *lines,
                           enum stat_by by);

void stat_failures_free(stat_failures_t *failures);

#endif
