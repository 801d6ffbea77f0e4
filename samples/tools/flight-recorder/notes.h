/* SPDX-License-Identifier: MIT */
/* The messages of flight-recorder on stderr. */
#ifndef FLIGHT_RECORDER_NOTES_H
#define FLIGHT_RECORDER_NOTES_H

#include "flight-recorder/line.h"
#include "flight-recorder/options.h"
#include "flight-recorder/sets.h"

/* Prints why the events could not be opened. Returns the exit status. */
int flight_notes_refused(const flight_options_t *options,
                         const uvperf_error_t *error);

/* Prints what is recorded, and that recording has begun. */
void flight_notes_opened(const flight_options_t *options,
                         const flight_sets_t *sets);

/* Prints the result of a dump, or why it failed. */
void flight_notes_dump(const flight_sums_t *sums);
void flight_notes_failed(int status);

/* Prints the number of lost records with names, if any, and the last line. */
void flight_notes_end(const flight_sums_t *sums, uint64_t names_lost);

#endif
