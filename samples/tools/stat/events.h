/* SPDX-License-Identifier: MIT */
/* What stat counts. */
#ifndef STAT_EVENTS_H
#define STAT_EVENTS_H

#include <stddef.h>

#include "stat/options.h"
#include "stat/report.h"
#include "uvperf.h"

typedef struct stat_events_s {
  uvperf_event_list_t *list;
  size_t nr_attrs;
  /* For a report: all attrs in the first cgroup, then in the second… */
  stat_event_t *events;
  size_t nr_events;
  int has_user_only; /* the kernel's side of some is forbidden */
} stat_events_t;

/* Parses what was asked for, or the usual events: 0, or COMMON_EXIT_USAGE after
 * a message, or 1 where memory or files do not suffice. */
int stat_events_parse(stat_events_t *events, const stat_options_t *options);

/* Describes them as a set has opened them: all of it is copied, but for the
 * names of cgroups. */
void stat_events_describe(stat_events_t *events, const stat_options_t *options,
                          const uvperf_set_t *set);

void stat_events_free(stat_events_t *events);

#endif
