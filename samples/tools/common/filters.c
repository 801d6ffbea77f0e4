/* SPDX-License-Identifier: MIT */
/* Finds the events of a set to which a filter applies: counts the events in the
 * names before the filter. */
#include "common/filters.h"

#include <stdlib.h>
#include <string.h>

#include "common/list.h"
#include "common/memory.h"
#include "common/options.h"
#include "common/say.h"

int common_events_add(common_events_t *events, const char *names) {
  events->last = events->names == NULL ? 0 : strlen(events->names) + 1;
  common_list_add(&events->names, names);
  return 0;
}

/* The kernel accepts one filter per event. */
int common_events_add_filter(common_events_t *events, const char *text) {
  common_filter_t *filter;

  if (events->names == NULL)
    return common_options_bad("--filter must follow the -e whose events it "
                              "filters");
  if (events->nr > 0 && events->list[events->nr - 1].begin == events->last)
    return common_options_bad("one --filter for each -e: join conditions "
                              "with && and ||");
  filter = COMMON_ADD(events->list, events->nr, events->capacity);
  filter->text = text;
  filter->begin = events->last;
  filter->end = strlen(events->names);
  return 0;
}

/* Counts the events in the first bytes of the names. The names were parsed
 * before, so parsing succeeds. */
static size_t count_events(const char *names, size_t size,
                           int (*parse)(uvperf_event_list_t **list,
                                        const char *names)) {
  uvperf_event_list_t *list;
  char *first = common_calloc(1, size + 1);
  size_t nr = 0;

  memcpy(first, names, size);
  if (size > 0 && parse(&list, first) == 0) {
    while (nr < uvperf_event_list_count(list) &&
           uvperf_event_list_get(list, nr)->first == nr)
      nr++; /* the parts of these events follow */
    uvperf_event_list_free(list);
  }
  free(first);
  return nr;
}

static int apply(const common_filter_t *filter, size_t begin, size_t end,
                 const uvperf_event_list_t *list, uvperf_set_t *set) {
  uvperf_error_t error;
  size_t i;

  for (i = begin; i < end; i++) {
    if (uvperf_apply_filter(&set->handle, i, filter->text, &error) == 0)
      continue;
    common_say("%s: --filter '%s': %s\n", uvperf_event_list_get(list, i)->label,
               filter->text, error.reason);
    return error.cause == UVPERF_CAUSE_ARGUMENT ? COMMON_EXIT_USAGE : 1;
  }
  return 0;
}

int common_events_filter(const common_events_t *events,
                         int (*parse)(uvperf_event_list_t **list,
                                      const char *names),
                         const uvperf_event_list_t *list, uvperf_set_t *set) {
  const common_filter_t *filter;
  size_t i, begin;
  int rc = 0;

  for (i = 0; i < events->nr && rc == 0; i++) {
    filter = &events->list[i];
    begin = filter->begin == 0
                ? 0
                : count_events(events->names, filter->begin - 1, parse);
    rc = apply(filter, begin, count_events(events->names, filter->end, parse),
               list, set);
  }
  return rc;
}

void common_events_free(common_events_t *events) {
  free(events->names);
  free(events->list);
  memset(events, 0, sizeof(*events));
}
