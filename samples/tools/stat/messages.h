/* SPDX-License-Identifier: MIT */
/* What stat tells beside its table. */
#ifndef STAT_MESSAGES_H
#define STAT_MESSAGES_H

#include <stdint.h>

#include "stat/options.h"
#include "stat/refused.h"
#include "uvperf.h"

/* That nothing can be counted, and what would help: the status to exit with. */
int stat_messages_refused(const stat_options_t *options,
                          const uvperf_error_t *error);

/* Targets that are not there; with -v all that is otherwise than asked. */
void stat_messages_opened(const stat_options_t *options,
                          const uvperf_set_t *set,
                          const stat_refused_t *refused);

/* With -v: that from now on everything is counted, but for a command that is
 * still to begin. */
void stat_messages_counting(const stat_options_t *options,
                            const uvperf_set_t *set);

/* What is counted, for --control. */
void stat_messages_events(const uvperf_set_t *set);

/* That the run ended before -D or --control let it count. */
void stat_messages_too_short(const stat_options_t *options);

/* With -v: which run begins, counted from 0. */
void stat_messages_run(const stat_options_t *options, uint64_t run);

/* That a signal ended the runs before their number was reached. */
void stat_messages_fewer_runs(const stat_options_t *options, uint32_t runs);

#endif
