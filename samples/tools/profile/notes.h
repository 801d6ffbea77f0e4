/* SPDX-License-Identifier: MIT */
/* What the profiler says on stderr. */
#ifndef PROFILE_NOTES_H
#define PROFILE_NOTES_H

#include <stddef.h>

#include "uvperf.h"

#include "profile/events.h"
#include "profile/options.h"
#include "profile/profile.h"

/* Says why the events could not be opened; gives the exit status. */
int profile_notes_refused(const profile_options_t *options,
                          const uvperf_error_t *error);

/* Says what is sampled, and what more privileges would add. */
void profile_notes_opened(const profile_options_t *options,
                          const profile_events_t *events);

/* The line of every second; `new_samples` came since the last one. On a
 * terminal it overwrites the last one. */
void profile_notes_live(const profile_totals_t *totals, uint64_t new_samples);

/* Ends the live line. */
void profile_notes_live_end(void);

/* Says what went wrong with the records, if anything did. */
void profile_notes_stats(const profile_options_t *options,
                         const uvperf_stats_t *stats);

/* Says which samples have no function name, and why. */
void profile_notes_gaps(const profile_account_t *account);

/* Says how many user stacks lack their callers, if they are more than a few and
 * copied stacks would have them. */
void profile_notes_callers(const profile_account_t *account,
                           const profile_options_t *options);

/* Says of how many waits the length is not known, if there are any. */
void profile_notes_waits(uint64_t nr_unknown);

/* Says for how much of the time the CPUs were idle, if that was most of it: an
 * idle CPU is not sampled, so a quiet machine has next to no samples. */
void profile_notes_idle(const profile_options_t *options,
                        const profile_totals_t *totals, size_t nr_cpus);

/* Says how much of a target's CPU time has no samples, if that is more than
 * chance, and why. Both in nanoseconds. */
void profile_notes_unsampled(const profile_options_t *options,
                             const profile_events_t *events, uint64_t cpu_ns,
                             uint64_t unsampled_ns);

/* Says how a command ended if it did not end well; its wait status. */
void profile_notes_command(int status);

/* How many user stacks are not whole, and what helps. */
void profile_notes_unwound(const profile_unwinding_t *unwinding,
                           const profile_options_t *options);

#endif
