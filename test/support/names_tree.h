/* SPDX-License-Identifier: MIT */
/* Puts up the sysfs and tracefs that a file of names/ describes. Without
 * cmocka, as a fuzzer uses it too. */
#ifndef UVPERF_TEST_NAMES_TREE_H
#define UVPERF_TEST_NAMES_TREE_H

/* Plants names/`file` below root + /sys. 0, or -1 and what went wrong on
 * stderr. */
int names_tree_plant(const char *root, const char *file);

#endif
