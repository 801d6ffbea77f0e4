/* SPDX-License-Identifier: MIT */
/* Fields of a tracepoint that is already looked up. */
#ifndef TRACE_FIELDS_NAMED_H
#define TRACE_FIELDS_NAMED_H

#include "uvperf/tracepoint.h"

#include "trace/fields.h"

/* Takes ownership of the tracepoint. */
trace_fields_t *trace_fields_of(uvperf_tracepoint_t *tracepoint);

#endif
