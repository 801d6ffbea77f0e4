/* SPDX-License-Identifier: MIT */
/* Lists of numbers as sysfs writes them, such as "0-7,32-35". They list CPUs,
 * or the bits of a PMU's terms. */
#ifndef UVPERF_LIB_UTIL_RANGE_LIST_H
#define UVPERF_LIB_UTIL_RANGE_LIST_H

/* Reads one range of a list. The numbers of the range are at most `most` (below
 * UINT_MAX / 16). White space around numbers is skipped. Returns 1 if another
 * range follows (*at is after the comma), 0 if the list ends here, or -EINVAL
 * if the text is not a range. */
int uvperf__range_next(const char **at, unsigned int most, unsigned int *first,
                       unsigned int *last);

#endif
