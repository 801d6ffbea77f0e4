/* SPDX-License-Identifier: MIT */
/* Copies what the user gave, so that it may be changed and outlives the
 * call. */
#include "attr/copy.h"

#include <errno.h>

#include "attr/attr.h"
#include "util/error.h"

int uvperf__attr_copy(struct perf_event_attr **copy,
                      const struct perf_event_attr *attr,
                      uvperf_error_t *error) {
  int rc = uvperf__attr_dup(copy, attr);

  if (rc == -ENOMEM)
    return uvperf__error_set(error, rc, UVPERF_CAUSE_MEMORY,
                             "no memory for a copy of the attr");
  if (rc != 0)
    return uvperf__error_set(
        error, rc, UVPERF_CAUSE_ARGUMENT,
        "attr.size %u is not a size of struct perf_event_attr", attr->size);
  return 0;
}
