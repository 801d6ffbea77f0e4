/* SPDX-License-Identifier: MIT */
/* Finds the name of an attr's event, in perf(1)'s language. */
#ifndef UVPERF_LIB_NAME_LABEL_H
#define UVPERF_LIB_NAME_LABEL_H

#include <stddef.h>
#include <stdint.h>

#include "uvperf/attr.h"

/* Enough bytes for the "category:name" of a tracepoint. */
#define UVPERF__TRACEPOINT_BYTES 512

/* As uvperf_attr_label for a caller that knows the tracepoint with the id in
 * attr->config. Pass its "category:name", or "" if there is no such tracepoint.
 * Then tracefs is not searched. */
int uvperf__attr_label_known(const struct perf_event_attr *attr,
                             const char *tracepoint, char *label, size_t *size);

/* Enough bytes for a label: the path of a uprobe and all terms. */
#define UVPERF__LABEL_BYTES 6144

#endif
