/* SPDX-License-Identifier: MIT */
/* The messages of watch on stderr. */
#ifndef WATCH_NOTES_H
#define WATCH_NOTES_H

#include "uvperf.h"

#include "watch/events.h"
#include "watch/options.h"
#include "watch/timeline.h"

/* Prints why the events could not be opened. Returns the exit status. */
int watch_notes_refused(const watch_options_t *options,
                        const uvperf_error_t *error);

/* Prints the targets, and how many threads may not be watched. */
void watch_notes_opened(const watch_options_t *options,
                        const watch_events_t *events, int connector_status);

/* Prints defects of the output, such as lost records, and the last line. */
void watch_notes_end(const watch_options_t *options,
                     const watch_counts_t *counts);

#endif
