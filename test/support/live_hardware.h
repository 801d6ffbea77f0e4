/* SPDX-License-Identifier: MIT */
/* Work with a known number of instructions, for tests of hardware events. Such
 * a test begins with support_need_hardware and live_need_loop. */
#ifndef UVPERF_TEST_LIVE_HARDWARE_H
#define UVPERF_TEST_LIVE_HARDWARE_H

#include "live.h"

/* The instructions of one iteration of live_loop. A call takes a few more,
 * always the same number. */
#define LIVE_LOOP_INSTRUCTIONS 2

/* Skips the test on an architecture for which the loop is not written. */
void live_need_loop(const char *test);

/* Runs at least 1 iteration. */
void live_loop(uint64_t iterations);

/* Whether an address is one of the loop's two instructions. */
int live_is_in_loop(uint64_t ip);

/* By how much two counts of the same instructions may differ. AMD's CPUs do not
 * start all counters of a group at once. */
#if defined(__aarch64__)
#define LIVE_INSTRUCTIONS_SLACK 0
#else
#define LIVE_INSTRUCTIONS_SLACK 1000
#endif

/* How many events of instructions fit on the PMU at once, without regard to its
 * other users, such as x86's NMI watchdog. Skips the test if more than
 * LIVE_COUNTERS fit, because tests could then not open too many. */
#define LIVE_COUNTERS 13
size_t live_need_few_counters(const char *test);

/* Fails the test unless a value is within 1 % of the true one. */
#define live_assert_near(value, truth)                                         \
  assert_in_range(value, (truth) - (truth) / 100, (truth) + (truth) / 100)

#endif
