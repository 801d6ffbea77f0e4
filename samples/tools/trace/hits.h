/* SPDX-License-Identifier: MIT */
/* Turns records, live or from a file, into lines. With -s turns them into sums
 * of system calls. */
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

/* All zero at first. The owner fills the events and the output. */
typedef struct trace_hits_s {
  const trace_options_t *options;
  trace_events_t events;
  trace_form_t form;
  common_output_t output;
  trace_names_t names;
  trace_calls_t calls;
  uint32_t own_pid; /* the process whose hits are left out; 0: none */
  int is_recorded;  /* from a file: only records have names of tasks */
  uint64_t lost;    /* hits, as reported by LOST records */
  uint64_t nr;      /* of written hits or, with -s, of measured calls */
  uint64_t newest;  /* the latest time of a record */
} trace_hits_t;

void trace_hits_init(trace_hits_t *hits, const trace_options_t *options);
void trace_hits_free(trace_hits_t *hits);

/* Processes a record. `event` is the index of its event, or SIZE_MAX if the
 * event is not known. Returns 1 if the limit of hits is reached, otherwise
 * 0. */
int trace_hits_record(trace_hits_t *hits, const uvperf_record_t *record,
                      size_t event);

/* Adds the summary, with -s, and the last line, with --json. Call it after the
 * last record. */
void trace_hits_finish(trace_hits_t *hits, uint64_t time, uint64_t lost,
                       uint64_t late);

#endif
