/* SPDX-License-Identifier: MIT */
/* The events that stat counts. */
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
  int has_user_only; /* some count the user side only, for lack of privileges */
} stat_events_t;

/* Parses the events of -e, or the default events. Returns 0; COMMON_EXIT_USAGE
 * after a message; or 1 if memory, files or privileges are insufficient. */
int stat_events_parse(stat_events_t *events, const stat_options_t *options);

/* Describes the events as the set has opened them. Everything is copied, except
 * the names of cgroups. */
void stat_events_describe(stat_events_t *events, const stat_options_t *options,
                          const uvperf_set_t *set);

void stat_events_free(stat_events_t *events);

#endif
