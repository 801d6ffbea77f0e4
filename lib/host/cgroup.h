/* SPDX-License-Identifier: MIT */
/* The directories of cgroups, under a root path that tests can set ("" is the
 * real one). */
#ifndef UVPERF_LIB_HOST_CGROUP_H
#define UVPERF_LIB_HOST_CGROUP_H

#include "uvperf/error.h"

/* Opens the directory of a cgroup for perf_event_open(2), which does not accept
 * an fd that was opened with O_PATH.
 *
 * A path at or below the mount of a hierarchy is used as it is. Any other path
 * is a path as in /proc/PID/cgroup. It is looked up below the mount of the
 * hierarchy with perf_event: the v1 mount that has this option, else the v2
 * mount. Of several such mounts the first is used.
 *
 * Returns the fd, which is close-on-exec, or the code of open(2), explained, or
 *   -ENOENT  also if no such hierarchy is mounted;
 *   -EINVAL  it is a directory, but not of a cgroup. */
int uvperf__cgroup_open(const char *root, const char *path,
                        uvperf_error_t *error);

#endif
