/* SPDX-License-Identifier: MIT */
/* The form of a reason: "cannot open 'cycles' on CPU 3: no PMU here; try
 * cpu-clock". What was tried, if it is not plain from the call, ends with a
 * colon; the remedy comes after a semicolon. */
#ifndef UVPERF_TEST_CHECK_REASON_H
#define UVPERF_TEST_CHECK_REASON_H

/* Returns what is wrong with the reason, or NULL. */
const char *check_reason_fault(const char *reason);

/* The same for a text of the source, which may be a part of a reason and have
 * conversions of printf(3). */
const char *check_reason_text_fault(const char *text);

#endif
