/* SPDX-License-Identifier: MIT */
/* Measures a function with an open event and the siblings that it leads.
 * Nothing runs between enabling the leader and the call, or between the call
 * and disabling the leader. */
#include "uvperf/measure.h"

#include "event/internal.h"
#include "util/alloc.h"
#include "util/error.h"

/* The event and its siblings, and their counts before the call. */
typedef struct group_s {
  uvperf_event_t **events;
  uvperf_count_t *before;
  size_t nr;
} group_t;

static int event_check_measure(const event_t *impl, size_t nr,
                               uvperf_error_t *error) {
  const event_t *member;
  size_t nr_events = 1;
  int rc = uvperf__handle_check(&impl->base, error);

  if (rc != 0)
    return rc;
  if (impl->leader != NULL)
    return uvperf__error_argument(
        error,
        "the event counts only while its leader does; measure the leader");
  for (member = impl->members; member != NULL; member = member->next_member)
    nr_events++;
  if (nr != nr_events)
    return uvperf__error_argument(
        error,
        "the group has %zu events, but nr is %zu; pass one count per event",
        nr_events, nr);
  if (impl->enabled)
    return uvperf__error_set(
        error, UV_EBUSY, UVPERF_CAUSE_BUSY,
        "the event is enabled; disable it before the measurement");
  return 0;
}

static int group_read(const group_t *group, uvperf_count_t *counts,
                      uvperf_error_t *error) {
  const event_t *leader = uvperf__handle_impl(&group->events[0]->handle);
  size_t i;
  int rc = 0;

  if (leader->attr->read_format & PERF_FORMAT_GROUP)
    return uvperf_event_read_group(group->events, group->nr, counts, error);
  for (i = 0; i < group->nr && rc == 0; i++)
    rc = uvperf_event_read(group->events[i], &counts[i], error);
  return rc;
}

static int group_measure(const group_t *group, uvperf_measure_fn fn, void *arg,
                         uvperf_count_t *counts, uvperf_error_t *error) {
  event_t *leader = uvperf__handle_impl(&group->events[0]->handle);
  size_t i;
  int rc = group_read(group, group->before, error);

  if (rc != 0)
    return rc;
  rc = uvperf__event_enable(leader, error);
  if (rc != 0)
    return rc; /* the leader is enabled last, so nothing counts */
  fn(arg);
  rc = uvperf__event_disable(leader, error);
  if (rc == 0)
    rc = group_read(group, counts, error);
  for (i = 0; i < group->nr && rc == 0; i++)
    rc = uvperf_count_delta(&group->before[i], &counts[i], &counts[i]);
  return rc;
}

/* Lists the events in the order of opening, as the kernel returns them. The
 * list of members begins with the latest event. */
int uvperf_event_measure(uvperf_event_t *event, uvperf_measure_fn fn, void *arg,
                         uvperf_count_t *counts, size_t nr,
                         uvperf_error_t *error) {
  const event_t *member;
  group_t group = {.nr = nr};
  event_t *impl;
  int rc;

  if (event == NULL || fn == NULL || counts == NULL)
    return uvperf__error_argument(error,
                                  "event, fn and counts must not be NULL");
  impl = uvperf__handle_impl(&event->handle);
  rc = event_check_measure(impl, nr, error);
  if (rc != 0)
    return rc;
  group.before =
      uvperf__calloc(nr, sizeof(group.before[0]) + sizeof(group.events[0]));
  if (group.before == NULL)
    return uvperf__error_shortage(error, UV_ENOMEM,
                                  "cannot measure the function");
  group.events = (uvperf_event_t **)(group.before + nr);
  group.events[0] = event;
  for (member = impl->members; member != NULL; member = member->next_member)
    group.events[--nr] = member->base.handle;
  rc = group_measure(&group, fn, arg, counts, error);
  uvperf__free(group.before);
  return rc;
}
