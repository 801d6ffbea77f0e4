/* SPDX-License-Identifier: MIT */
/* Arrays that get one item more and one more. */
#ifndef UVPERF_LIB_UTIL_GROW_H
#define UVPERF_LIB_UTIL_GROW_H

#include <stddef.h>

/* Makes room for one item behind the `nr` that an array of uvperf__calloc has:
 * the array, or a new one that has twice the room (`first` at first), with the
 * items, in the place of the old, which is freed. NULL where memory ran out:
 * the array and *room are as they were then. */
void *uvperf__grow(void *array, size_t nr, size_t *room, size_t first,
                   size_t item_size);

#endif
