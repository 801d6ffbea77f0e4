/* SPDX-License-Identifier: MIT */
/* All memory that the library owns comes from here. */
#ifndef UVPERF_LIB_UTIL_ALLOC_H
#define UVPERF_LIB_UTIL_ALLOC_H

#include <stddef.h>

/* Returns zeroed memory, or NULL if there is no memory or nr * size
 * overflows. */
void *uvperf__calloc(size_t nr, size_t size);

void uvperf__free(void *memory);

#endif
