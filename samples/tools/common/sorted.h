/* SPDX-License-Identifier: MIT */
/* Sorted arrays whose items begin with a uint64_t, the key. */
#ifndef COMMON_SORTED_H
#define COMMON_SORTED_H

#include <stddef.h>
#include <stdint.h>

/* For qsort(3). */
int common_sorted_compare(const void *left, const void *right);

/* Returns how many items have a key below this one. */
size_t common_sorted_below(const void *items, size_t nr, size_t item_bytes,
                           uint64_t key);

/* Returns the last item whose key is not above this one, or NULL. */
void *common_sorted_last(const void *items, size_t nr, size_t item_bytes,
                         uint64_t key);

#endif
