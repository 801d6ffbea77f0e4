/* SPDX-License-Identifier: MIT */
/* The one place that allocates, so that tests can make it fail. */
#include "alloc.h"

#include <stdlib.h>

void *uvperf__calloc(size_t nr, size_t size) {
  return calloc(nr, size);
}

void uvperf__free(void *memory) {
  free(memory);
}
