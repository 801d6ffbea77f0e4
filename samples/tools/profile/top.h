/* SPDX-License-Identifier: MIT */
/* The live table: printed each second, on a terminal over the last one. */
#ifndef PROFILE_TOP_H
#define PROFILE_TOP_H

#include "profile/profile.h"

/* Creates profile->top. Call it when the events have started. */
void profile_top_start(profile_t *profile);

/* Updates the table. Call it once a second. */
void profile_top_tick(profile_t *profile);

/* Call it once, when the sampling has ended. Returns 1 if the table waits for
 * names. When it has them, it calls profile_end. */
int profile_top_stop(profile_t *profile);

/* Writes the last table. */
void profile_top_end(profile_t *profile);

/* Call it when the loop is closed. profile->top may be NULL. */
void profile_top_free(profile_t *profile);

#endif
