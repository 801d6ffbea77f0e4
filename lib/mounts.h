/* SPDX-License-Identifier: MIT */
/* Layer 1: what is mounted where, as root + /proc/self/mounts tells ("" is the
 * real one). No fds kept, no memory. */
#ifndef UVPERF_LIB_MOUNTS_H
#define UVPERF_LIB_MOUNTS_H

/* Called with the place and the type of each mount, valid during the call; what
 * it returns other than 0 ends the walk and is returned. */
typedef int (*uvperf__mounts_each_fn)(const char *place, const char *type,
                                      void *data);

/* Each mount, in the order of the file. Places that no path can name (longer
 * than PATH_MAX, or not absolute) and types of more than 31 bytes are passed
 * over. 0, or -errno where the file cannot be read. */
int uvperf__mounts_each(const char *root, uvperf__mounts_each_fn each,
                        void *data);

#endif
