/* SPDX-License-Identifier: MIT */
/* From stacks of addresses to stacks of functions. */
#ifndef PROFILE_NAMING_H
#define PROFILE_NAMING_H

#include "common/stacks/stacks.h"
#include "profile/account.h"

/* Asks for the names of all frames that there are now. */
void profile_naming_ask(const profile_account_t *account);

/* Adds all stacks to a profile, by the names that are known by now; others are
 * "libc.so.6+0x2a0b0". */
void profile_naming_build(const profile_account_t *account, stacks_t *stacks);

#endif
