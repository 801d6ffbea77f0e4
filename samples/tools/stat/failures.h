/* SPDX-License-Identifier: MIT */
/* The events that could not be counted, and why. */
#ifndef STAT_FAILURES_H
#define STAT_FAILURES_H

#include <stddef.h>

#include "stat/lines.h"
#include "uvperf.h"
#include "common/target_list.h"
#include "stat/options.h"

/* A failure of each event on each target. */
typedef struct stat_refused_s {
  uvperf_set_failure_t *list; /* NULL: the events are open */
  size_t nr;
} stat_refused_t;

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

/* Returns 1 if the command runs even though this error left no event open,
 * otherwise 0. A measured command runs, because it matters more to users than
 * its counts. But it does not run after an error that is not about the events,
 * such as a lack of fds or memory. A command that only determines the duration
 * runs only if the machine lacks the events, as with perf-stat(1). */
int stat_refused_runs(const stat_options_t *options,
                      const uvperf_error_t *error);

/* Opens each event on each target by itself, to learn why it cannot be opened.
 * `error` is the error from opening all events together. */
void stat_refused_find(stat_refused_t *refused,
                       const uvperf_event_list_t *events,
                       const common_target_list_t *targets,
                       const uvperf_error_t *error);

void stat_refused_free(stat_refused_t *refused);

#endif
