/* SPDX-License-Identifier: MIT */
/* The mounts of the calling thread, from /proc/thread-self/mounts. Keeps
 * no fds and allocates no memory. */
#ifndef UVPERF_LIB_HOST_MOUNTS_H
#define UVPERF_LIB_HOST_MOUNTS_H

/* A mount, valid during the call of `each`. */
typedef struct uvperf__mount_s {
  const char *place;
  const char *type;
  const char *options; /* "rw,nosuid,…"; of a very long line cut */
} uvperf__mount_t;

/* Called with each mount. If it returns a value other than 0, the walk ends and
 * returns that value. */
typedef int (*uvperf__mounts_each_fn)(const uvperf__mount_t *mount, void *data);

/* Whether a mount has an option. */
int uvperf__mount_has(const uvperf__mount_t *mount, const char *option);

/* Calls `each` with each mount, in the order of the file. Skips places that no
 * path can name (longer than PATH_MAX, or not absolute). Returns 0, or -errno
 * if the file cannot be read. */
int uvperf__mounts_each(uvperf__mounts_each_fn each, void *data);

#endif
