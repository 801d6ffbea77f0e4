/* SPDX-License-Identifier: MIT */
/* The paths of cgroups. A sample has only the id of its cgroup. The id is the
 * file handle of the cgroup's directory. On 64-bit machines the id equals the
 * inode. */
#ifndef COMMON_CGROUPS_H
#define COMMON_CGROUPS_H

#include <stdint.h>

/* `path` begins at the mount of cgroup2: the root is "/". `path` is valid until
 * the callback returns. Return nonzero to stop. */
typedef int (*common_cgroup_cb)(void *arg, uint64_t id, const char *path);

/* Calls cb for each cgroup that exists now. Returns 0, or the value that cb
 * returned. */
int common_cgroups(common_cgroup_cb cb, void *arg);

#endif
