/* SPDX-License-Identifier: MIT */
/* Creates the sysfs and tracefs files that a file of names/ describes. Does not
 * need cmocka, because a fuzzer uses it too. */
#ifndef UVPERF_TEST_NAMES_TREE_H
#define UVPERF_TEST_NAMES_TREE_H

/* Creates the files of names/`file` below root + /sys. Returns 0, or -1 after
 * printing the fault on stderr. */
int names_tree_plant(const char *root, const char *file);

#endif
