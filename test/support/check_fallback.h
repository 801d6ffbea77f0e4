/* SPDX-License-Identifier: MIT */
/* Shared by the tests of fallbacks: scripted failures, and expected changes. */
#ifndef UVPERF_TEST_CHECK_FALLBACK_H
#define UVPERF_TEST_CHECK_FALLBACK_H

#include "support.h"

#include "explain/fallback.h"

/* The fallbacks that may be tried for an event of a task. */
uvperf__fallback_t fallback_allow(uint32_t allowed);

/* Calls uvperf__fallback_next for this failure. */
int fallback_next(uvperf__fallback_t *fallback, struct perf_event_attr *attr,
                  int code, int cause);

/* Fails the test unless these are all changes, as "clock: type 0 to 1, clock:
 * config 0 to 1": the fallback, the field, its values. */
void fallback_changed(const uvperf__fallback_t *fallback, const char *expected);

/* Fails the test unless the change is this one. */
void fallback_is(const uvperf_change_t *change, uint32_t which, uint32_t field,
                 uint64_t from, uint64_t to);

#endif
