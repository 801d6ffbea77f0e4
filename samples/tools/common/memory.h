/* SPDX-License-Identifier: MIT */
/* Memory for the tools. Tools cannot continue without memory, so these
 * functions end the program with a message instead of returning NULL. */
#ifndef COMMON_MEMORY_H
#define COMMON_MEMORY_H

#include <stddef.h>
#include <stdio.h>

/* Returns zeroed memory. Free it with free(). */
void *common_calloc(size_t nr, size_t size);

/* Returns a copy, with a NUL after it. Free it with free(). */
void *common_copy(const void *bytes, size_t size);

char *common_copy_text(const char *text);

/* Opens a file whose bytes become *text. The end of the file makes the text
 * valid, with a NUL after it. Free it with free(). */
FILE *common_memory_open(char **text, size_t *size);
void common_memory_close(FILE *file);

/* Doubles *capacity and the array. The first capacity is 16. The new part is
 * zero. */
void *common_grow(void *array, size_t *capacity, size_t item_size);

/* Returns a pointer to a new item at the end of an array of `nr` items, which
 * grows if necessary. The item is zero if the array never had more items. The
 * three are lvalues. */
#define COMMON_ADD(array, nr, capacity)                                        \
  ((nr) == (capacity)                                                          \
       ? ((array) = common_grow((array), &(capacity), sizeof(*(array))),       \
          &(array)[(nr)++])                                                    \
       : &(array)[(nr)++])

#endif
