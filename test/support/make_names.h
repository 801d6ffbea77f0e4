/* SPDX-License-Identifier: MIT */
/* Creates the sysfs and tracefs files that a file of names/ describes. Does not
 * need cmocka, because a fuzzer uses it too. */
#ifndef UVPERF_TEST_MAKE_NAMES_H
#define UVPERF_TEST_MAKE_NAMES_H

/* Creates the files of names/`file` below root + /sys. Returns 0, or -1 after
 * printing the fault on stderr. */
int make_names_plant(const char *root, const char *file);

#endif
