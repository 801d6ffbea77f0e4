/* SPDX-License-Identifier: MIT */
/* Reads the names and mappings of running tasks from /proc. */
#ifndef PROFILE_PROC_H
#define PROFILE_PROC_H

#include <stddef.h>
#include <stdint.h>

#include "profile/account.h"

/* Adds the threads and mappings of a process. Returns 0, or -errno if the
 * mappings cannot be read: the process belongs to another user, or has
 * ended. */
int profile_proc_read(profile_account_t *account, int32_t pid);

/* Does the same for all processes. Returns the number of processes whose
 * mappings may not be read. */
size_t profile_proc_read_all(profile_account_t *account);

#endif
