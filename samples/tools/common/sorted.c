/* SPDX-License-Identifier: MIT */
#include "common/sorted.h"

int common_sorted_compare(const void *left, const void *right) {
  const uint64_t *a = left, *b = right;

  return (*a > *b) - (*a < *b);
}

static const uint64_t *key_at(const void *items, size_t i, size_t item_bytes) {
  return (const void *)((const char *)items + i * item_bytes);
}

size_t common_sorted_below(const void *items, size_t nr, size_t item_bytes,
                           uint64_t key) {
  size_t low = 0, high = nr, middle;

  while (low < high) {
    middle = low + (high - low) / 2;
    if (*key_at(items, middle, item_bytes) < key)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

void *common_sorted_last(const void *items, size_t nr, size_t item_bytes,
                         uint64_t key) {
  size_t after = key == UINT64_MAX
                     ? nr
                     : common_sorted_below(items, nr, item_bytes, key + 1);

  return after == 0 ? NULL
                    : (void *)(uintptr_t)key_at(items, after - 1, item_bytes);
}
