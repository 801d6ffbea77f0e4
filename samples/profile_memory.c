/* SPDX-License-Identifier: MIT */
/* Allocation that does not fail. Knows nothing of what is stored. */
#include "profile_memory.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static void out_of_memory(void) {
  fputs("profile: out of memory\n", stderr);
  exit(1);
}

void *profile_calloc(size_t nr, size_t size) {
  void *memory = calloc(nr, size);

  if (memory == NULL)
    out_of_memory();
  return memory;
}

void *profile_grow(void *array, size_t *capacity, size_t item_size) {
  size_t nr = *capacity == 0 ? 16 : *capacity * 2;
  void *grown;

  if (nr > SIZE_MAX / item_size)
    out_of_memory();
  grown = realloc(array, nr * item_size);
  if (grown == NULL)
    out_of_memory();
  *capacity = nr;
  return grown;
}
