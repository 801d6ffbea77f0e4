/* SPDX-License-Identifier: MIT */
/* The names of cgroups: a sample has only the id of its own, which is the file
 * handle of its directory. On 64-bit machines the inode is the same. */
#ifndef COMMON_CGROUPS_H
#define COMMON_CGROUPS_H

#include <stdint.h>

/* path is below the mount of cgroup2, "/" for the root; valid until the
 * callback returns. Not 0: enough. */
typedef int (*common_cgroup_cb)(void *arg, uint64_t id, const char *path);

/* Shows all cgroups that there are now: 0, or what cb returned. */
int common_cgroups(common_cgroup_cb cb, void *arg);

#endif
