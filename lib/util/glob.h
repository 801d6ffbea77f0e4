/* SPDX-License-Identifier: MIT */
/* Patterns of names, as fnmatch(3) has them with FNM_NOESCAPE: *, ?,
 * [a-z], [!a-z] and [^a-z]. Byte for byte whatever the locale, and without
 * [:classes:]. No memory, no recursion. */
#ifndef UVPERF_LIB_UTIL_GLOB_H
#define UVPERF_LIB_UTIL_GLOB_H

/* Whether all of the text fits the pattern: 1 or 0. The time is bounded by the
 * product of their lengths. A [ that nothing closes stands for itself. */
int uvperf__glob_match(const char *pattern, const char *text);

/* Whether the text has *, ? or [: else it matches only itself. */
int uvperf__glob_is_pattern(const char *text);

#endif
