/* SPDX-License-Identifier: MIT */
/* The options -e and --filter. A filter applies to the events of the -e before
 * it. */
#ifndef COMMON_FILTERS_H
#define COMMON_FILTERS_H

#include <stddef.h>

#include "uvperf.h"

/* A filter and its events: a range of bytes in the names. */
typedef struct common_filter_s {
  const char *text;
  size_t begin, end;
} common_filter_t;

typedef struct common_events_s {
  char *names; /* of all -e, joined; NULL: none */
  common_filter_t *list;
  size_t nr;
  size_t capacity;
  size_t last; /* where the last -e begins */
} common_events_t;

/* Adds the names of an -e. Returns 0. */
int common_events_add(common_events_t *events, const char *names);

/* Adds a filter for the last -e. The text must stay valid. Returns 0, or
 * COMMON_EXIT_USAGE after a message. */
int common_events_add_filter(common_events_t *events, const char *text);

/* Sets the filters of all events. Returns 0, or the exit status after a
 * message. `parse` is the function that made `list` from the names, such as
 * common_list_parse. */
int common_events_filter(const common_events_t *events,
                         int (*parse)(uvperf_event_list_t **list,
                                      const char *names),
                         const uvperf_event_list_t *list, uvperf_set_t *set);

void common_events_free(common_events_t *events);

#endif
