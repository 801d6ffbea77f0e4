/* SPDX-License-Identifier: MIT */
/* Lets old samples count less and less, for a table of the present. */
#ifndef PROFILE_FADE_H
#define PROFILE_FADE_H

#include "profile/account.h"

/* Everything counted so far counts 7/8 of that; called once a second, half of
 * the weight is from the last 5 seconds. Stacks whose weight is next to nothing
 * are forgotten, with their tasks. Pointers to entries become invalid.
 * account->unit must be PROFILE_FADE_UNIT. */
void profile_fade(profile_account_t *account);

/* A sample, so that parts of one can be counted. */
#define PROFILE_FADE_UNIT 256u

#endif
