/* SPDX-License-Identifier: MIT */
/* Reports lost records while measuring. */
#ifndef COMMON_LOST_H
#define COMMON_LOST_H

#include <stdint.h>

/* Reports the records that were lost since the last call, if any. *reported is
 * the number that was already reported. If stderr would block, the next call
 * reports them instead. */
void common_lost_note(uint64_t lost, uint64_t *reported);

#endif
