/* SPDX-License-Identifier: MIT */
/* What is profiled: the targets of the options, and the processes that run when
 * profiling starts. */
#ifndef PROFILE_TARGETS_H
#define PROFILE_TARGETS_H

#include <stdint.h>

#include "common/target_list.h"
#include "profile/options.h"

typedef struct profile_targets_s {
  /* The processes of -p with their descendants, the processes of -t, or the
   * command. Empty for the whole machine and for cgroups. */
  common_ids_t processes;
} profile_targets_t;

/* Finds the processes. `command` is the pid of the command, or 0. Replaces the
 * threads of -p by their processes. Returns 0, or 1 after a message if one does
 * not exist. */
int profile_targets_find(profile_targets_t *targets, profile_options_t *options,
                         int32_t command);

/* Fills an empty list with the targets of the events. */
void profile_targets_list(const profile_targets_t *targets,
                          const profile_options_t *options, int32_t command,
                          common_target_list_t *list);

#endif
