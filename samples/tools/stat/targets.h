/* SPDX-License-Identifier: MIT */
/* The targets that stat counts, as targets of a set. */
#ifndef STAT_TARGETS_H
#define STAT_TARGETS_H

#include <sys/types.h>

#include "common/target_list.h"
#include "stat/options.h"

/* Makes the targets from the options. The command (0: none) is a target only if
 * there is no other target. With from_exec the command is counted from its exec
 * on, otherwise from the moment when the set is enabled. The options still own
 * the strings. */
void stat_targets_make(common_target_list_t *targets,
                       const stat_options_t *options, pid_t command,
                       int from_exec);

/* Returns 1 if the command itself is counted. */
int stat_targets_is_command(const stat_options_t *options);

/* Returns the targets' names for the title of a table. The caller frees
 * them. */
char *stat_targets_title(const stat_options_t *options);

#endif
