/* SPDX-License-Identifier: MIT */
/* The messages of trace on stderr. */
#ifndef TRACE_NOTES_H
#define TRACE_NOTES_H

#include "uvperf.h"

#include "trace/events.h"
#include "trace/options.h"

/* The totals of a run. */
typedef struct trace_sums_s {
  uint64_t hits;      /* that were written; with -s measured calls */
  uint64_t outsiders; /* with -s: records of tasks without an id */
  uint64_t lost;
  uint64_t late;
  uint64_t corrupt;
  uint64_t elapsed_ns;
} trace_sums_t;

/* Announces that opening many events may take long. */
void trace_notes_opening(const trace_events_t *events);

/* Prints why the set could not be opened. Returns the exit status. */
int trace_notes_refused(const trace_options_t *options,
                        const trace_events_t *events,
                        const uvperf_error_t *error);

/* Does the same for a filter that was refused. error->attr_index is the index
 * of its event. */
int trace_notes_filter(const trace_events_t *events,
                       const uvperf_error_t *error);

/* Prints the failures, and what is traced. */
void trace_notes_opened(const trace_options_t *options,
                        const trace_events_t *events, const uvperf_set_t *set);

/* Prints defects of the output, such as lost records, and the last line. */
void trace_notes_end(const trace_options_t *options, const trace_sums_t *sums);

#endif
