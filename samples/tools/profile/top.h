/* SPDX-License-Identifier: MIT */
/* The live table: on a terminal a screen with keys, otherwise lines printed
 * each second. */
#ifndef PROFILE_TOP_H
#define PROFILE_TOP_H

#include "profile/profile.h"

/* Creates profile->top. Call it when the events have started. */
void profile_top_start(profile_t *profile);

/* Updates the table. Call it once a second. */
void profile_top_tick(profile_t *profile);

/* Ends the live table, and closes the handles on the loop. Call it once. */
void profile_top_stop(profile_t *profile);

/* Whether the table waits for names. When it has them after the stop, it calls
 * profile_end. */
int profile_top_is_naming(const profile_t *profile);

/* Writes the last table. */
void profile_top_end(profile_t *profile);

/* Call it when the loop is closed. profile->top may be NULL. */
void profile_top_free(profile_t *profile);

#endif
