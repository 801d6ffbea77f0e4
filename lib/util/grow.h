/* SPDX-License-Identifier: MIT */
/* Arrays that grow by one item at a time. */
#ifndef UVPERF_LIB_UTIL_GROW_H
#define UVPERF_LIB_UTIL_GROW_H

#include <stddef.h>

/* Makes room for one item after the `nr` items of an array that came from
 * uvperf__calloc. Returns the array, or a new one with twice the room (`first`
 * items the first time). For a new array the items are copied and the old array
 * is freed. If there is no memory, it returns NULL and changes neither the
 * array nor *room. */
void *uvperf__grow(void *array, size_t nr, size_t *room, size_t first,
                   size_t item_size);

#endif
