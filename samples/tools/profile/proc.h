/* SPDX-License-Identifier: MIT */
/* What ran before the profiler did: names and mappings out of /proc. */
#ifndef PROFILE_PROC_H
#define PROFILE_PROC_H

#include <stddef.h>
#include <stdint.h>

#include "profile/account.h"

/* Adds the threads and mappings of a process. 0, or -errno if its mappings
 * cannot be read (another user's, or gone). */
int profile_proc_read(profile_account_t *account, int32_t pid);

/* The same for all processes; returns the number of those whose mappings may
 * not be read. */
size_t profile_proc_read_all(profile_account_t *account);

#endif
