/* SPDX-License-Identifier: MIT */
/* The directories of cgroups. */
#ifndef UVPERF_LIB_HOST_CGROUP_H
#define UVPERF_LIB_HOST_CGROUP_H

#include "uvperf/error.h"

/* Opens the directory of a cgroup for perf_event_open(2), which does not accept
 * an fd that was opened with O_PATH.
 *
 * A path that leads to a cgroup, or to a place at or below the mount of a
 * hierarchy, is used as it is. Any other path is a path as in /proc/PID/cgroup.
 * Such a path is looked up below the mount of the hierarchy that has
 * perf_event. This is the v1 mount with the option perf_event, or the v2 mount
 * if there is no such v1 mount. If there are several such mounts, the first is
 * used.
 *
 * Returns the fd, which is close-on-exec, or a code with an error that explains
 * it. The code is the code of open(2), or
 *   -ENOENT  also if no such hierarchy is mounted;
 *   -EINVAL  it is a directory, but not the directory of a cgroup. */
int uvperf__cgroup_open(const char *path, uvperf_error_t *error);

#endif
