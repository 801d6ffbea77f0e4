/* SPDX-License-Identifier: MIT */
/* Scripted counters that follow the CPUs of a cpu_tree, which has CPUs 0 to
 * 2. */
#ifndef UVPERF_TEST_COUNTERS_FOLLOW_H
#define UVPERF_TEST_COUNTERS_FOLLOW_H

#include "evlist_make.h"
#include "cpu_tree.h"

#define COUNTERS_FOLLOW_EVENTS 64

/* In the order in which they are opened. */
extern fake_event_t *evlist_follow_events[COUNTERS_FOLLOW_EVENTS];

/* Setup and teardown for cmocka. */
int evlist_follow_setup(void **state);
int evlist_follow_teardown(void **state);

uvperf__evlist_t *evlist_follow_open(evlist_make_t *make);
void evlist_follow_end(uvperf__evlist_t *evlist);

/* A CPU comes, which must succeed; or it goes and comes. */
void evlist_follow_come(uvperf__evlist_t *evlist, int cpu);
void evlist_follow_come_back(uvperf__evlist_t *evlist, int cpu);

#endif
