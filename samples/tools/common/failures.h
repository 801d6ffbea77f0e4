/* SPDX-License-Identifier: MIT */
/* What of a set is otherwise than asked, told on stderr. */
#ifndef COMMON_FAILURES_H
#define COMMON_FAILURES_H

#include "common/targets.h"
#include "uvperf.h"

/* The targets that are not there, of those that the user has named; not what is
 * missing of one that is there. */
void common_failures_missing(const uvperf_set_t *set, const common_ids_t *pids,
                             const common_ids_t *tids);

/* Each event that could not be opened, with its place's reason, and what was
 * changed of those that were. */
void common_failures_all(const uvperf_set_t *set);

/* The probes that do not measure what the target starts. */
void common_failures_children(const uvperf_set_t *set);

/* Names the remedy as users write it, not as programs do. */
void common_failures_for_users(uvperf_error_t *error);

/* What was changed of one event. */
void common_failures_changes(const uvperf_set_t *set, size_t attr);

#endif
