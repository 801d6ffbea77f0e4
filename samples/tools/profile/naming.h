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

/* An object in which samples have no name. */
typedef struct profile_gap_s {
  const char *object;
  const char *reason; /* "" if it is not known */
  double share;       /* of all weight, from 0 to 1 */
} profile_gap_t;

/* The heaviest ones, at most `most` of them, with at least a hundredth of all:
 * how many. */
size_t profile_naming_gaps(const profile_account_t *account,
                           profile_gap_t *gaps, size_t most);

/* The share of user stacks whose callers were not found, from 0 to 1: they have
 * one function alone, or begin at an address that is in no file. */
double profile_naming_without_callers(const profile_account_t *account);

#endif
