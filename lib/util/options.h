/* SPDX-License-Identifier: MIT */
/* Option structs that start with `size_t size` and only ever grow. */
#ifndef UVPERF_LIB_UTIL_OPTIONS_H
#define UVPERF_LIB_UTIL_OPTIONS_H

#include <stddef.h>

/* Copies the caller's option struct over `own`, which holds the defaults and is
 * `own_size` bytes long; what an older, shorter struct of the caller lacks
 * stays at its default. 0; -EINVAL for a size below `least` (the struct's first
 * version); -E2BIG for a newer, longer one with something non-zero behind what
 * we know. NULL options are the defaults. */
int uvperf__options_copy(void *own, size_t own_size, size_t least,
                         const void *options);

#endif
