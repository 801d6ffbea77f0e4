/* SPDX-License-Identifier: MIT */
/* Does not use realloc: tests would have to replace it too, and the new part of
 * the memory would not be zero. */
#include "util/grow.h"

#include <string.h>

#include "util/alloc.h"

void *uvperf__grow(void *array, size_t nr, size_t *room, size_t first,
                   size_t item_size) {
  size_t more = *room == 0 ? first : 2 * *room;
  void *grown;

  if (nr < *room)
    return array;
  grown = uvperf__calloc(more, item_size);
  if (grown == NULL)
    return NULL;
  if (nr > 0)
    memcpy(grown, array, nr * item_size);
  uvperf__free(array);
  *room = more;
  return grown;
}
