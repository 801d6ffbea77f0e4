/* SPDX-License-Identifier: MIT */
/* The directories of cgroups, under a root path that tests can set (""
 * is the real one). */
#ifndef UVPERF_LIB_HOST_CGROUP_H
#define UVPERF_LIB_HOST_CGROUP_H

#include "uvperf/error.h"

/* Opens the directory of a cgroup for perf_event_open(2), which takes none that
 * is opened with O_PATH. A path at or below the place where a hierarchy is
 * mounted is itself; any other is as in /proc/PID/cgroup, below the place where
 * the hierarchy with perf_event is mounted: that of v1 which has the option,
 * else v2; of several mounts the first. The fd, which is close-on-exec; or,
 * explained, what open(2) says, and
 *   -ENOENT  also where no such hierarchy is mounted;
 *   -EINVAL  it is a directory, but none of a cgroup. */
int uvperf__cgroup_open(const char *root, const char *path,
                        uvperf_error_t *error);

#endif
