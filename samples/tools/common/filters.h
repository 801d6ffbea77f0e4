/* SPDX-License-Identifier: MIT */
/* --filter, which is of the events of the -e before it. */
#ifndef COMMON_FILTERS_H
#define COMMON_FILTERS_H

#include <stddef.h>

#include "uvperf.h"

/* Of the names of all -e joined, the events that begin at a byte and end before
 * another. */
typedef struct common_filter_s {
  const char *text;
  size_t begin, end;
} common_filter_t;

typedef struct common_filters_s {
  common_filter_t *list;
  size_t nr;
  size_t capacity;
  size_t last; /* where the last -e begins */
} common_filters_t;

/* Adds the names of an -e to all: 0. */
int common_filters_events(common_filters_t *filters, char **names,
                          const char *text);

/* Adds a filter of the last -e, which keeps the text: 0, or COMMON_EXIT_USAGE
 * after a message. */
int common_filters_add(common_filters_t *filters, const char *names,
                       const char *text);

/* Sets the filters at all places: 0, or the status to exit with after a
 * message. `parse` is what has made the list of the names, as
 * common_list_parse. */
int common_filters_apply(const common_filters_t *filters, const char *names,
                         int (*parse)(uvperf_event_list_t **list,
                                      const char *names),
                         const uvperf_event_list_t *list, uvperf_set_t *set);

void common_filters_free(common_filters_t *filters);

#endif
