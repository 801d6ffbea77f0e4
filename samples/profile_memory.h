/* SPDX-License-Identifier: MIT */
/* Memory for the profiler: it cannot go on without, so that these functions
 * end the program with a message instead of returning NULL. */
#ifndef PROFILE_MEMORY_H
#define PROFILE_MEMORY_H

#include <stddef.h>

/* Zeroed memory for free(). */
void *profile_calloc(size_t nr, size_t size);

/* Doubles *capacity (from 16 on) and the array with it; the new part is not
 * initialized. */
void *profile_grow(void *array, size_t *capacity, size_t item_size);

#endif
