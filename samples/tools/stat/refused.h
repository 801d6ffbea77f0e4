/* SPDX-License-Identifier: MIT */
/* Finds out why none of the events can be opened. */
#ifndef STAT_REFUSED_H
#define STAT_REFUSED_H

#include <stddef.h>

#include "common/target_list.h"
#include "stat/options.h"
#include "uvperf.h"

/* A failure of each event on each target. */
typedef struct stat_refused_s {
  uvperf_set_failure_t *list; /* NULL: the events are open */
  size_t nr;
} stat_refused_t;

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
