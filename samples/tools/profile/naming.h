/* SPDX-License-Identifier: MIT */
/* Turns stacks of addresses into stacks of functions. */
#ifndef PROFILE_NAMING_H
#define PROFILE_NAMING_H

#include "profile/account.h"
#include "profile/stacks/stacks.h"

/* Starts looking up the names of all current frames. */
void profile_naming_ask(const profile_account_t *account);

/* Starts checking if files were changed since they were opened or recorded. If
 * so, their names are given up. */
void profile_naming_check(const profile_account_t *account);

/* Adds all stacks to a profile, with the names that are known by now. Functions
 * without a name appear as "libc.so.6+0x2a0b0", and those of a JIT compiler
 * together as "[JIT]". */
void profile_naming_build(const profile_account_t *account, stacks_t *stacks);

/* An object whose samples have no function name. */
typedef struct profile_gap_s {
  const char *object;
  const char *reason; /* "" if it is not known */
  int is_jit;         /* memory of a JIT compiler */
  double share;       /* of all weight, from 0 to 1 */
  double outside;     /* the part of it outside of every known function */
} profile_gap_t;

/* Finds the heaviest gaps, at most `most`, each with at least a hundredth of
 * all weight. Returns their number. */
size_t profile_naming_gaps(const profile_account_t *account,
                           profile_gap_t *gaps, size_t most);

/* Returns the share, from 0 to 1, of user stacks whose callers were not found.
 * A stack without callers has only one function, or its outermost address is in
 * no known file. Waits since before the start are left out. */
double profile_naming_without_callers(const profile_account_t *account);

#endif
