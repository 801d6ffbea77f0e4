/* SPDX-License-Identifier: MIT */
/* Makes an event's attr from the user's attr. */
#include "event/internal.h"

#include <time.h>

#include "attr/attr.h"

/* perf_event_open() in kernel/events/core.c requires one clock for a group. */
static void choose_clock(struct perf_event_attr *attr,
                         const struct perf_event_attr *like, uint32_t flags) {
  if (uvperf__attr_clock(attr) != -1)
    return;
  if (like != NULL)
    uvperf__attr_set_clock(attr, uvperf__attr_clock(like));
  else if (!(flags & UVPERF_EVENT_PERF_CLOCK))
    uvperf__attr_set_clock(attr, CLOCK_MONOTONIC);
}

int uvperf__event_attr_copy(struct perf_event_attr **copy,
                            const struct perf_event_attr *attr,
                            const struct perf_event_attr *like, uint32_t flags,
                            uvperf_error_t *error) {
  int rc = uvperf__attr_copy(copy, attr, error);

  if (rc != 0)
    return rc;
  (*copy)->disabled = 1;
  if (flags & UVPERF_EVENT_FD)
    return 0; /* the other fields stay as the fd was opened */
  if ((*copy)->read_format & PERF_FORMAT_GROUP)
    (*copy)->read_format |= PERF_FORMAT_ID;
  if (flags & UVPERF_EVENT_IDENTIFY) {
    (*copy)->sample_type |= PERF_SAMPLE_IDENTIFIER;
    (*copy)->sample_id_all = 1;
  }
  choose_clock(*copy, like, flags);
  return 0;
}
