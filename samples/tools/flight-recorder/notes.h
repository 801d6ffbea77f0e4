/* SPDX-License-Identifier: MIT */
/* What flight-recorder tells on stderr. */
#ifndef FLIGHT_RECORDER_NOTES_H
#define FLIGHT_RECORDER_NOTES_H

#include "flight-recorder/line.h"
#include "flight-recorder/options.h"
#include "flight-recorder/sets.h"

/* Says why the events could not be opened; gives the exit status. */
int flight_notes_refused(const flight_options_t *options,
                         const uvperf_error_t *error);

/* Says what is recorded, and that it is. */
void flight_notes_opened(const flight_options_t *options,
                         const flight_sets_t *sets);

/* After a dump, or one that failed. */
void flight_notes_dump(const flight_sums_t *sums);
void flight_notes_failed(int status);

/* The last line, and before it how many records were lost that would have told
 * of names. */
void flight_notes_end(const flight_sums_t *sums, uint64_t names_lost);

#endif
