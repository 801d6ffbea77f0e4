/* SPDX-License-Identifier: MIT */
/* Fields of a tracepoint that is looked up already. */
#ifndef TRACE_FIELDS_NAMED_H
#define TRACE_FIELDS_NAMED_H

#include "uvperf/tracepoint.h"

#include "trace/fields.h"

/* Takes the tracepoint over. */
trace_fields_t *trace_fields_of(uvperf_tracepoint_t *tracepoint);

#endif
