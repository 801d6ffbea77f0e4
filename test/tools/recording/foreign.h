/* SPDX-License-Identifier: MIT */
/* Makes of a perf.data file what a machine of the other byte order would have
 * written: all is taken as words of 64 bits, but what the library's decoder and
 * <linux/perf_event.h> say to be smaller. */
#ifndef UVPERF_TEST_FOREIGN_H
#define UVPERF_TEST_FOREIGN_H

/* Records of perf(1) itself are left out, but those that end a round, and so
 * are most features. */
void foreign_copy(const char *from, const char *to);

#endif
