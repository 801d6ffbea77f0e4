/* SPDX-License-Identifier: MIT */
/* The values of -k and -j. */
#ifndef RECORD_VALUES_H
#define RECORD_VALUES_H

#include <stdint.h>

/* Parses the name of a clock, with or without CLOCK_, or its number, into an
 * int. Returns 0, or COMMON_EXIT_USAGE after a message. It is also an error if
 * this machine has no such clock. */
int record_clock_parse(void *clock, const char *text);

/* Reads a clock and the time of day at one moment, in nanoseconds. Returns 0,
 * or -1. */
int record_clock_pair(int clock, uint64_t *time, uint64_t *realtime);

/* Parses "any_call,u" to PERF_SAMPLE_BRANCH_*, into a uint64_t. It is an error
 * if this is not 0 before. Returns 0, or COMMON_EXIT_USAGE after a message. If
 * the text names only sides, such as "u", it means any branch on those
 * sides. */
int record_branches_parse(void *bits, const char *text);

#endif
