/* SPDX-License-Identifier: MIT */
/* Lists of numbers as sysfs writes them, "0-7,32-35": of CPUs, and of the bits
 * of a PMU's terms. */
#ifndef UVPERF_LIB_UTIL_RANGE_LIST_H
#define UVPERF_LIB_UTIL_RANGE_LIST_H

/* Takes one range from a list. Its numbers are at most `most` (below UINT_MAX /
 * 16); white space around numbers is skipped. Returns 1 if another range
 * follows, with *at after the comma; 0 if the list ends here; -EINVAL for text
 * that is not a range. */
int uvperf__range_next(const char **at, unsigned int most, unsigned int *first,
                       unsigned int *last);

#endif
