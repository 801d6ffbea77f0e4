/* SPDX-License-Identifier: MIT */
/* Reduces the counts of old samples, so that a table shows the recent past. */
#ifndef PROFILE_FADE_H
#define PROFILE_FADE_H

#include "profile/account.h"

/* Multiplies all counts by 7/8. If it is called once a second, half of the
 * weight comes from the last 5 seconds. Stacks whose weight is almost 0 are
 * forgotten, with their tasks. Pointers to entries become invalid.
 * account->unit must be PROFILE_FADE_UNIT. */
void profile_fade(profile_account_t *account);

/* The count of one sample, so that fractions of a sample can be counted. */
#define PROFILE_FADE_UNIT 256u

#endif
