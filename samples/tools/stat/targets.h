/* SPDX-License-Identifier: MIT */
/* Whom stat counts, as the targets of a set. */
#ifndef STAT_TARGETS_H
#define STAT_TARGETS_H

#include <sys/types.h>

#include "common/target_list.h"
#include "stat/options.h"

/* Makes them of what was asked for; the command, 0 for none, is one only if
 * nobody else is. It counts from its exec, or when it is enabled. The strings
 * stay the options'. */
void stat_targets_make(common_target_list_t *targets,
                       const stat_options_t *options, pid_t command,
                       int from_exec);

/* Whether it is the command that is counted. */
int stat_targets_is_command(const stat_options_t *options);

/* Names them for the title of a table; for free(). */
char *stat_targets_title(const stat_options_t *options);

#endif
