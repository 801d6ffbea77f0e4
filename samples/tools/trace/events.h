/* SPDX-License-Identifier: MIT */
/* What is traced: the events that the command line names, each once. */
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
  trace_fields_t *fields; /* NULL for what is no tracepoint */
  char *name;             /* "category:name" of a tracepoint, else NULL */
  /* With -s: the number of the call and, at its end, its result. */
  const struct uvperf_field_s *nr, *result;
  const char *call; /* its name if the event is of one call, else NULL */
} trace_event_t;

typedef struct trace_events_s {
  trace_event_t *events;
  size_t nr;
  size_t capacity;
  size_t nr_tracepoints;
  /* private: what the labels, filters and probes are of */
  uvperf_event_list_t **lists;
  size_t nr_lists;
} trace_events_t;

/* Parses all -e of the options: 0, or an exit status after a message. To be
 * followed by trace_events_free in any case. */
int trace_events_parse(trace_events_t *events, const trace_options_t *options);

/* What a tracepoint says of system calls. */
typedef enum trace_event_call_e {
  TRACE_EVENT_NO_CALL,
  TRACE_EVENT_BEGIN,
  TRACE_EVENT_END
} trace_event_call_t;

/* Finds out by its name, and sets what -s needs of it. */
trace_event_call_t trace_event_find_call(trace_event_t *event);

void trace_events_free(trace_events_t *events);

#endif
