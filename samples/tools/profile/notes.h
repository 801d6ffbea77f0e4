/* SPDX-License-Identifier: MIT */
/* The profiler's messages on stderr. */
#ifndef PROFILE_NOTES_H
#define PROFILE_NOTES_H

#include <stddef.h>

#include "uvperf.h"

#include "profile/events.h"
#include "profile/options.h"
#include "profile/profile.h"

/* Prints why the events could not be opened. Returns the exit status. */
int profile_notes_refused(const profile_options_t *options,
                          const uvperf_error_t *error);

/* Prints what is sampled, and what more privileges would add. */
void profile_notes_opened(const profile_options_t *options,
                          const profile_events_t *events);

/* Reports targets that could not be opened, except tasks that ended while they
 * were listed. */
void profile_notes_missing(const profile_events_t *events);

/* Prints the line of each second over the last line, on a terminal only.
 * `new_samples` is the number of samples since the last line. */
void profile_notes_live(const profile_options_t *options,
                        const profile_totals_t *totals, uint64_t new_samples);

/* Ends the live line. */
void profile_notes_live_end(const profile_options_t *options);

/* Reports lost and damaged records, if there were any. */
void profile_notes_stats(const profile_options_t *options,
                         const profile_events_t *events,
                         const profile_totals_t *totals, uint64_t damaged);

/* Reports samples whose stacks were not kept. */
void profile_notes_other(const profile_account_t *account);

/* Reports which samples have no function name, and why, and whether names were
 * read with all protection. */
void profile_notes_gaps(const profile_account_t *account);

/* Reports the share of user stacks without callers, if the share is large and
 * copied stacks would have the callers. */
void profile_notes_callers(const profile_account_t *account,
                           const profile_options_t *options);

/* Reports the number of waits of unknown length, if it is not 0. */
void profile_notes_waits(uint64_t nr_unknown);

/* Reports how much of the time the CPUs were idle, if that was more than half.
 * Idle CPUs are not sampled, so a quiet machine has few samples. */
void profile_notes_idle(const profile_options_t *options,
                        const profile_totals_t *totals, size_t nr_cpus);

/* Reports how a command ended, if it failed. `status` is its wait status. */
void profile_notes_command(int status);

/* Reports how many user stacks are incomplete, and what to do. */
void profile_notes_unwound(const profile_unwinding_t *unwinding,
                           const profile_options_t *options);

#endif
