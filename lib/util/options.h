/* SPDX-License-Identifier: MIT */
/* Option structs that start with `size_t size` and only grow. */
#ifndef UVPERF_LIB_UTIL_OPTIONS_H
#define UVPERF_LIB_UTIL_OPTIONS_H

#include <stddef.h>

/* Copies the caller's option struct over `own`, which is `own_size` bytes long
 * and holds the defaults. Fields that an older, shorter struct does not have
 * keep their defaults. NULL options mean the defaults. Returns 0, -EINVAL or
 * -E2BIG. -EINVAL means that the size is below `least`, the size of the
 * struct's first version. -E2BIG means that the struct is newer and longer, and
 * has a non-zero byte after the fields that we know. */
int uvperf__options_copy(void *own, size_t own_size, size_t least,
                         const void *options);

#endif
