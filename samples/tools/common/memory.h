/* SPDX-License-Identifier: MIT */
/* Memory for the tools. Tools cannot continue without memory, so these
 * functions end the program with a message instead of returning NULL. */
#ifndef COMMON_MEMORY_H
#define COMMON_MEMORY_H

#include <stddef.h>

/* Returns zeroed memory. Free it with free(). */
void *common_calloc(size_t nr, size_t size);

/* Doubles *capacity and the array. The first capacity is 16. The new part is
 * not initialized. */
void *common_grow(void *array, size_t *capacity, size_t item_size);

#endif
