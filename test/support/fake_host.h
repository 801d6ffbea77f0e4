/* SPDX-License-Identifier: MIT */
/* A made-up host: a directory that replaces / when the library reads /proc,
 * /sys and cgroups. Tests are linked with --wrap for the functions of
 * util/file.h that take the path of a system file, so the library itself knows
 * nothing of it. Files that the user names (uvperf__file_open_regular), and
 * open files (uvperf__file_path_of), are always real.
 *
 * Threads of the pool read files too. Change the host only while they do not.
 * Does not need cmocka, because a fuzzer uses it too. */
#ifndef UVPERF_TEST_FAKE_HOST_H
#define UVPERF_TEST_FAKE_HOST_H

/* Replaces /. NULL is the real host. */
void fake_host_set(const char *root);

/* Setup and teardown for cmocka: a host without any file; the real one. */
int fake_host_empty(void **state);
int fake_host_real(void **state);

/* Called with the path of each file that the library opens, without the root. A
 * code other than 0 is returned to the library instead. NULL: not called. */
extern int (*fake_host_opens)(const char *path);

#endif
