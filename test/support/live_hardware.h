/* SPDX-License-Identifier: MIT */
/* Work of which the number of instructions is known, for tests of hardware
 * events. Such a test begins with support_need_hardware and live_need_loop. */
#ifndef UVPERF_TEST_LIVE_HARDWARE_H
#define UVPERF_TEST_LIVE_HARDWARE_H

#include "live.h"

/* What one iteration of live_loop executes. Calling it takes a few instructions
 * more, always the same number. */
#define LIVE_LOOP_INSTRUCTIONS 2

/* Skips the test on an architecture for which the loop is not written. */
void live_need_loop(const char *test);

/* Runs so many iterations, at least 1. */
void live_loop(uint64_t iterations);

/* Whether an address is one of the loop's two instructions. */
int live_is_in_loop(uint64_t ip);

#endif
