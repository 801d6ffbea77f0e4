/* SPDX-License-Identifier: MIT */
/* BPF programs that were loaded before the first record. */
#ifndef PROFILE_PROGRAMS_H
#define PROFILE_PROGRAMS_H

#include "profile/account.h"

/* Adds the functions of all programs. */
void profile_programs_read(profile_account_t *account);

/* Checks that these programs are still loaded, for a profile of tasks, in which
 * other tasks' unloads have no records. Another program may have taken the
 * place of one that has gone, so no sample there has a name. Numbers of
 * programs are not used again. */
void profile_programs_check(const profile_account_t *account);

#endif
