/* SPDX-License-Identifier: MIT */
/* The library's own copy of an attr, and why there is none. */
#ifndef UVPERF_LIB_ATTR_COPY_H
#define UVPERF_LIB_ATTR_COPY_H

#include "uvperf/attr.h"
#include "uvperf/error.h"

/* uvperf__attr_dup, whose failures are explained: 0, or a code and the
 * error. */
int uvperf__attr_copy(struct perf_event_attr **copy,
                      const struct perf_event_attr *attr,
                      uvperf_error_t *error);

#endif
