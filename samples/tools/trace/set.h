/* SPDX-License-Identifier: MIT */
/* The set of events that trace has the records of. */
#ifndef TRACE_SET_H
#define TRACE_SET_H

#include <stdint.h>

#include "uvperf.h"

#include "common/session.h"
#include "trace/events.h"
#include "trace/options.h"

/* Opens the events of the session's command, which waits, or of what else the
 * options say. *is_open says whether the set must be closed, on failure too. 0,
 * or a UV_E*, also if only what goes with the events could be opened;
 * UV_ECANCELED after a signal, as of common_session_open_set. */
int trace_set_open(uvperf_set_t *set, common_session_t *session,
                   const trace_options_t *options, const trace_events_t *events,
                   int *is_open, uvperf_error_t *error);

/* Gives the events their filters: 0, or a UV_E* and why, with the event in
 * error->attr_index. */
int trace_set_filter(uvperf_set_t *set, const trace_events_t *events,
                     uvperf_error_t *error);

/* Hits that the kernel could not write. Those at the end of a stream are told
 * in no LOST record, but when the events are read. */
uint64_t trace_set_lost(uvperf_set_t *set, size_t nr_events);

#endif
