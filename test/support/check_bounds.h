/* SPDX-License-Identifier: MIT */
/* Checks that a decoded record stays within its bytes, whatever these are. Does
 * not need cmocka, because the fuzzer uses it too. */
#ifndef UVPERF_TEST_CHECK_BOUNDS_H
#define UVPERF_TEST_CHECK_BOUNDS_H

#include "uvperf/record.h"

/* Reads everything that a decoded record points to. Returns NULL, or the name
 * of what lies outside its bytes. If the bytes may be changing, texts may have
 * another length than when they were decoded. */
const char *check_bounds_fault(const uvperf_record_t *record, int may_change);

#endif
