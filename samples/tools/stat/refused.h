/* SPDX-License-Identifier: MIT */
/* Why none of the events can be opened. */
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

/* Returns 1 if the command runs although, because of this error, no event is
 * open; otherwise 0. A command that is measured runs, because it matters more
 * to users than its counts. A command that only determines the duration runs if
 * the machine lacks the events, as with perf-stat(1). */
int stat_refused_runs(const stat_options_t *options,
                      const uvperf_error_t *error);

/* Opens each event on each target by itself, to learn why it cannot be opened.
 * `error` is the error of opening all together. */
void stat_refused_find(stat_refused_t *refused,
                       const uvperf_event_list_t *events,
                       const common_target_list_t *targets,
                       const uvperf_error_t *error);

void stat_refused_free(stat_refused_t *refused);

#endif
