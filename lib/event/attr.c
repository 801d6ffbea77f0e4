/* SPDX-License-Identifier: MIT */
/* The attr that a handle gives the kernel: the user's, with what every handle
 * asks for. */
#include "event/internal.h"

#include "attr/attr.h"

int uvperf__event_attr_copy(struct perf_event_attr **copy,
                            const struct perf_event_attr *attr, uint32_t flags,
                            uvperf_error_t *error) {
  int rc = uvperf__attr_copy(copy, attr, error);

  if (rc != 0)
    return rc;
  (*copy)->disabled = 1;
  if ((*copy)->read_format & PERF_FORMAT_GROUP)
    (*copy)->read_format |= PERF_FORMAT_ID;
  if (flags & UVPERF_EVENT_IDENTIFY) {
    (*copy)->sample_type |= PERF_SAMPLE_IDENTIFIER;
    (*copy)->sample_id_all = 1;
  }
  return 0;
}
