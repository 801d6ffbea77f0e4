/* SPDX-License-Identifier: MIT */
/* The set of events whose records trace reads. */
#ifndef TRACE_SET_H
#define TRACE_SET_H

#include "uvperf.h"

#include "common/session.h"
#include "trace/events.h"
#include "trace/options.h"

/* Opens the events on the session's command, which waits, or on the target of
 * the options. *is_open is 1 if the set must be closed. It can be 1 after a
 * failure, too. Returns 0 or a UV_E*. It is an error if only the event for
 * side-band records could be opened. UV_ECANCELED means that a signal came, as
 * in common_session_open_set. */
int trace_set_open(uvperf_set_t *set, common_session_t *session,
                   const trace_options_t *options, const trace_events_t *events,
                   int *is_open, uvperf_error_t *error);

/* Sets the filters of the events. Returns 0, or a UV_E* with the reason in
 * *error and the event in error->attr_index. */
int trace_set_filter(uvperf_set_t *set, const trace_events_t *events,
                     uvperf_error_t *error);

#endif
