/* SPDX-License-Identifier: MIT */
/* The events to trace, from the command line, each once. */
#ifndef TRACE_EVENTS_H
#define TRACE_EVENTS_H

#include <stddef.h>

#include "uvperf.h"

#include "trace/fields.h"
#include "trace/options.h"

typedef struct trace_event_s {
  const char *label;
  const char *filter; /* NULL: none */
  struct perf_event_attr *attr;
  trace_fields_t *fields; /* NULL if the event is not a tracepoint */
  char *name;             /* "category:name" of a tracepoint, else NULL */
  /* With -s: the fields for the number and the result of a call. The begin of a
   * call has no result. */
  const struct uvperf_field_s *nr, *result;
  const char *call; /* its name if the event is about one call, else NULL */
} trace_event_t;

typedef struct trace_events_s {
  trace_event_t *events;
  size_t nr;
  size_t capacity;
  size_t nr_tracepoints;
  /* private: own the labels and probes */
  uvperf_event_list_t **lists;
  size_t nr_lists;
} trace_events_t;

/* Parses all -e of the options. Returns 0, or an exit status after a message.
 * Call trace_events_free in both cases. */
int trace_events_parse(trace_events_t *events, const trace_options_t *options);

/* Says whether a tracepoint is the begin or the end of a system call. */
typedef enum trace_event_call_e {
  TRACE_EVENT_NO_CALL,
  TRACE_EVENT_BEGIN,
  TRACE_EVENT_END
} trace_event_call_t;

/* Finds out from an event's name whether it is a begin or an end. Sets the
 * members for -s. */
trace_event_call_t trace_event_find_call(trace_event_t *event);

void trace_events_free(trace_events_t *events);

#endif
