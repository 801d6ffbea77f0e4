/* SPDX-License-Identifier: MIT */
/* A CPU of this machine that a test may take offline, if
 * UVPERF_TEST_OFFLINE_CPU=1, for example, allows that. */
#ifndef UVPERF_TEST_LIVE_OFFLINE_CPU_H
#define UVPERF_TEST_LIVE_OFFLINE_CPU_H

/* Returns its number, or skips the test: `test` is __func__. */
int live_offline_cpu_need(const char *test);

/* Takes it offline, and brings it back, also if the test fails in between, and
 * at the latest when the process exits. Any failure fails the test. */
void live_offline_cpu_take(int cpu);
void live_offline_cpu_give_back(int cpu);
/* Takes it offline and brings it back. */
void live_offline_cpu_bounce(int cpu);

#endif
