/* SPDX-License-Identifier: MIT */
/* What becomes of records, live or of a file: lines, or with -s sums of system
 * calls. */
#ifndef TRACE_HITS_H
#define TRACE_HITS_H

#include <stdint.h>

#include "uvperf/record.h"

#include "common/output.h"
#include "trace/calls.h"
#include "trace/events.h"
#include "trace/line.h"
#include "trace/names.h"
#include "trace/options.h"

/* All zero at first; the events, the output and calls.by are the owner's. */
typedef struct trace_hits_s {
  const trace_options_t *options;
  trace_events_t events;
  trace_form_t form;
  common_output_t output;
  trace_names_t names;
  trace_calls_t calls;
  uint32_t own_pid; /* whose hits are left out; 0: none */
  int is_recorded;  /* names of tasks are in the records alone */
  uint64_t lost;    /* of which LOST records said so */
  uint64_t nr;     /* that were written or, with -s, calls that were measured */
  uint64_t newest; /* the latest time of a record */
} trace_hits_t;

void trace_hits_init(trace_hits_t *hits, const trace_options_t *options);
void trace_hits_free(trace_hits_t *hits);

/* Takes a record of an event by its index, SIZE_MAX if it is not known. 1 if
 * there are as many hits as wanted now, else 0. */
int trace_hits_record(trace_hits_t *hits, const uvperf_record_t *record,
                      size_t event);

/* After the last record: adds the summary, if there is one, and in JSON the
 * last line. */
void trace_hits_finish(trace_hits_t *hits, uint64_t time, uint64_t lost,
                       uint64_t late);

#endif
