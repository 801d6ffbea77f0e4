/* SPDX-License-Identifier: MIT */
/* Whether a decoded record stays inside of its bytes, whatever these were.
 * Without cmocka, for the fuzzer too. */
#ifndef UVPERF_TEST_RECORD_BOUNDS_H
#define UVPERF_TEST_RECORD_BOUNDS_H

#include "uvperf/record.h"

/* Reads all that a record that was decoded points to. NULL, or what of it does
 * not lie inside of its bytes. */
const char *record_bounds_fault(const uvperf_record_t *record);

#endif
