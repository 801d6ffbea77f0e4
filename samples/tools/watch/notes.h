/* SPDX-License-Identifier: MIT */
/* What watch tells on stderr. */
#ifndef WATCH_NOTES_H
#define WATCH_NOTES_H

#include "uvperf.h"

#include "watch/events.h"
#include "watch/options.h"
#include "watch/story.h"

/* Says why the events could not be opened; gives the exit status. */
int watch_notes_refused(const watch_options_t *options,
                        const uvperf_error_t *error);

/* Says what is watched, and what is not. */
void watch_notes_opened(const watch_options_t *options,
                        const watch_events_t *events, int connector_status);

/* The last line. */
void watch_notes_end(const watch_options_t *options,
                     const watch_counts_t *counts);

#endif
