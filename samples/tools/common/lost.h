/* SPDX-License-Identifier: MIT */
/* Losses, told while it goes on. */
#ifndef COMMON_LOST_H
#define COMMON_LOST_H

#include <stdint.h>

/* Says what was lost since the last time, if anything. Says nothing if that
 * would have to wait for a reader, and then says it the next time. */
void common_lost_note(uint64_t lost, uint64_t *told);

#endif
