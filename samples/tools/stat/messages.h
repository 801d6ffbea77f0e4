/* SPDX-License-Identifier: MIT */
/* The messages of stat, apart from its table. */
#ifndef STAT_MESSAGES_H
#define STAT_MESSAGES_H

#include <stdint.h>

#include "stat/options.h"
#include "stat/failures.h"
#include "uvperf.h"

/* Says why nothing can be counted, and what would help. Returns the exit
 * status. */
int stat_messages_refused(const stat_options_t *options,
                          const uvperf_error_t *error);

/* Reports targets that do not exist. With -v reports all failures and
 * changes. */
void stat_messages_opened(const stat_options_t *options,
                          const uvperf_set_t *set,
                          const stat_refused_t *refused);

/* With -v: says that everything is counted from now on. A command may still
 * have to begin. */
void stat_messages_counting(const stat_options_t *options,
                            const uvperf_set_t *set);

/* Prints the names of the events, for --control. */
void stat_messages_events(const uvperf_set_t *set);

/* Says that the run ended before -D or --control started counting. */
void stat_messages_too_short(const stat_options_t *options);

/* With -v: says which run begins. Runs are counted from 0. */
void stat_messages_run(const stat_options_t *options, uint64_t run);

/* Says that a signal ended the runs before all were done. */
void stat_messages_fewer_runs(const stat_options_t *options, uint32_t runs);

#endif
