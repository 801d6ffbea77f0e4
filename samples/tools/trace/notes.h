/* SPDX-License-Identifier: MIT */
/* What trace tells on stderr. */
#ifndef TRACE_NOTES_H
#define TRACE_NOTES_H

#include "uvperf.h"

#include "trace/events.h"
#include "trace/options.h"

/* What came of it all. */
typedef struct trace_sums_s {
  uint64_t hits;      /* that were told, or with -s calls */
  uint64_t outsiders; /* with -s: records of tasks without an id */
  uint64_t lost;
  uint64_t late;
  uint64_t corrupt;
  uint64_t elapsed_ns;
} trace_sums_t;

/* Before what may take long. */
void trace_notes_opening(const trace_events_t *events);

/* Says why the set could not be opened; gives the exit status. */
int trace_notes_refused(const trace_options_t *options,
                        const trace_events_t *events,
                        const uvperf_error_t *error);

/* The same of the filter of the event that the error is of. */
int trace_notes_filter(const trace_events_t *events,
                       const uvperf_error_t *error);

/* Says what is traced, and what is not. */
void trace_notes_opened(const trace_options_t *options,
                        const trace_events_t *events, const uvperf_set_t *set);

/* The last line, and before it what is wrong with what was told. */
void trace_notes_end(const trace_options_t *options, const trace_sums_t *sums);

#endif
