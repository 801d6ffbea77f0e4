/* SPDX-License-Identifier: MIT */
/* The option --filter. It applies to the events of the -e before it. */
#ifndef COMMON_FILTERS_H
#define COMMON_FILTERS_H

#include <stddef.h>

#include "uvperf.h"

/* A filter and its events: a range of bytes in the joined names of all -e. */
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

/* Adds the names of an -e to `names`. Returns 0. */
int common_filters_events(common_filters_t *filters, char **names,
                          const char *text);

/* Adds a filter for the last -e. The text must stay valid. Returns 0, or
 * COMMON_EXIT_USAGE after a message. */
int common_filters_add(common_filters_t *filters, const char *names,
                       const char *text);

/* Sets the filters of all events. Returns 0, or the exit status after a
 * message. `parse` is the function that made `list` from the names, such as
 * common_list_parse. */
int common_filters_apply(const common_filters_t *filters, const char *names,
                         int (*parse)(uvperf_event_list_t **list,
                                      const char *names),
                         const uvperf_event_list_t *list, uvperf_set_t *set);

void common_filters_free(common_filters_t *filters);

#endif
