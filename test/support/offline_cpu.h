/* SPDX-License-Identifier: MIT */
/* A CPU of this machine that a test may take away, where that is asked for by
 * UVPERF_TEST_OFFLINE_CPU=1, say. */
#ifndef UVPERF_TEST_OFFLINE_CPU_H
#define UVPERF_TEST_OFFLINE_CPU_H

/* Its id; or skips the test: `test` is __func__. */
int offline_cpu_need(const char *test);

/* Takes it away, and gives it back, also if the test fails in between and by
 * when the process exits; what fails fails the test. */
void offline_cpu_take(int cpu);
void offline_cpu_give_back(int cpu);
/* Both. */
void offline_cpu_bounce(int cpu);

#endif
