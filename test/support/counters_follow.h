/* SPDX-License-Identifier: MIT */
/* Scripted counters that follow the CPUs of a cpu_tree, which has CPUs 0 to
 * 2. */
#ifndef UVPERF_TEST_COUNTERS_FOLLOW_H
#define UVPERF_TEST_COUNTERS_FOLLOW_H

#include "counters_make.h"
#include "cpu_tree.h"

#define COUNTERS_FOLLOW_EVENTS 64

/* In the order in which they are opened. */
extern fake_event_t *counters_follow_events[COUNTERS_FOLLOW_EVENTS];

/* Setup and teardown for cmocka. */
int counters_follow_setup(void **state);
int counters_follow_teardown(void **state);

uvperf__counters_t *counters_follow_open(counters_make_t *make);
void counters_follow_end(uvperf__counters_t *counters);

/* A CPU comes, which must succeed; or it goes and comes. */
void counters_follow_come(uvperf__counters_t *counters, int cpu);
void counters_follow_come_back(uvperf__counters_t *counters, int cpu);

#endif
