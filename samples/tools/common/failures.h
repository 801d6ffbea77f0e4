/* SPDX-License-Identifier: MIT */
/* Reports on stderr how an open set differs from what the user requested. */
#ifndef COMMON_FAILURES_H
#define COMMON_FAILURES_H

#include "common/targets.h"
#include "uvperf.h"

/* Reports the targets that the user named and that do not exist. Does not
 * report missing parts of a target that exists. */
void common_failures_missing(const uvperf_set_t *set, const common_ids_t *pids,
                             const common_ids_t *tids);

/* Names the descendants of processes that run already: they are not measured,
 * unlike those that are started from now on. */
void common_failures_left_out(const common_ids_t *pids);

/* Reports each event that could not be opened, with the place and the reason.
 * Reports the changes of the other events. */
void common_failures_all(const uvperf_set_t *set);

/* Reports the changes of one event. */
void common_failures_changes(const uvperf_set_t *set, size_t attr,
                             const char *label);

/* Says what a tool needs privileges for, and the use of the tool that needs
 * none. */
void common_failures_privileges(const char *what, const char *verb);

/* Reports the probes that do not measure children of the target. */
void common_failures_children(const uvperf_set_t *set);

#endif
