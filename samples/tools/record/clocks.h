/* SPDX-License-Identifier: MIT */
/* The clocks of -k. */
#ifndef RECORD_CLOCKS_H
#define RECORD_CLOCKS_H

#include <stdint.h>

/* A name, with or without CLOCK_, or a number: 0, or COMMON_EXIT_USAGE after a
 * message, also where this machine has no such clock. */
int record_clock_parse(const char *text, int *clock);

/* What a clock said at a time of day, in nanoseconds: 0, or -1. */
int record_clock_pair(int clock, uint64_t *time, uint64_t *realtime);

#endif
