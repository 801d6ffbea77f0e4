/* SPDX-License-Identifier: MIT */
/* Shared by the live tests of an event's controls. */
#ifndef UVPERF_TEST_LIVE_CONTROL_H
#define UVPERF_TEST_LIVE_CONTROL_H

#include "live.h"

/* Opens a sampling event and starts delivery, but does not enable it. */
void live_control_begin(uv_loop_t *loop, live_collector_t *collector,
                        const struct perf_event_attr *attr);

/* Runs the loop until nr records have come in total, and a few turns more. */
void live_control_expect_records(live_collector_t *collector, uint64_t nr);

/* Checks the result of a call and its explanation: see explain_check. */
void live_control_expect_refused(int rc, const uvperf_error_t *error, int code,
                                 int cause, const char *piece);

/* The event's count. */
uint64_t live_control_count(live_collector_t *collector);

#endif
