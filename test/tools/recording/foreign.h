/* SPDX-License-Identifier: MIT */
/* Converts a perf.data file to the form that a machine of the other byte order
 * would have written. All contents are swapped as words of 64 bits, except
 * fields that the library's decoder and <linux/perf_event.h> declare
 * smaller. */
#ifndef UVPERF_TEST_FOREIGN_H
#define UVPERF_TEST_FOREIGN_H

/* Leaves out records of perf(1) itself, except those that end a round, and most
 * features. */
void foreign_copy(const char *from, const char *to);

#endif
