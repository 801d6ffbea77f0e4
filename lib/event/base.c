/* SPDX-License-Identifier: MIT */
/* Makes an event's attr from the user's attr. */
#include "event/internal.h"

#include <time.h>

#include "attr/attr.h"

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
  /* A group must have one clock (perf_event_open() in kernel/events/core.c). */
  if (uvperf__attr_clock(*copy) != -1)
    return 0;
  if (like != NULL)
    uvperf__attr_set_clock(*copy, uvperf__attr_clock(like));
  else if (!(flags & UVPERF_EVENT_PERF_CLOCK))
    uvperf__attr_set_clock(*copy, CLOCK_MONOTONIC);
  return 0;
}
