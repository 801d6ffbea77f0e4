/* SPDX-License-Identifier: MIT */
/* The live table: on a terminal a screen with keys, otherwise some lines each
 * second. */
#ifndef PROFILE_TOP_H
#define PROFILE_TOP_H

#include "profile/profile.h"

/* Makes profile->top, once records come. */
void profile_top_start(profile_t *profile);

/* Shows what there is now; called once a second. */
void profile_top_tick(profile_t *profile);

/* Writes the table for the last time, and closes the handles on the loop. */
void profile_top_end(profile_t *profile);

/* Once the loop is closed; profile->top may be NULL. */
void profile_top_free(profile_t *profile);

#endif
