/* SPDX-License-Identifier: MIT */
/* Reads the names and mappings of running tasks from /proc. */
#ifndef PROFILE_PROC_H
#define PROFILE_PROC_H

#include <stddef.h>

#include "common/targets.h"
#include "profile/account.h"

/* Adds the threads and mappings of processes. Returns the number of processes
 * whose mappings may not be read. */
size_t profile_proc_read_list(profile_account_t *account,
                              const common_ids_t *processes);

/* Does the same for all processes. */
size_t profile_proc_read_all(profile_account_t *account);

#endif
