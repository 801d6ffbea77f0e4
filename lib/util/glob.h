/* SPDX-License-Identifier: MIT */
/* Patterns of names as in fnmatch(3) with FNM_NOESCAPE: *, ?, [a-z], [!a-z] and
 * [^a-z]. Compares bytes, whatever the locale, and does not know [:classes:].
 * Allocates no memory and does not recurse. */
#ifndef UVPERF_LIB_UTIL_GLOB_H
#define UVPERF_LIB_UTIL_GLOB_H

/* Returns 1 if the whole text matches the pattern, else 0. The time is bounded
 * by the product of the two lengths. A [ without a closing ] stands for
 * itself. */
int uvperf__glob_match(const char *pattern, const char *text);

/* Whether the text has *, ? or [. Without them it matches only itself. */
int uvperf__glob_is_pattern(const char *text);

#endif
