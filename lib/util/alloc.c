/* SPDX-License-Identifier: MIT */
/* The only place that allocates memory. It uses the functions that the user
 * chose. Tests can make the allocation fail. */
#include "util/alloc.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>

#include "uvperf/version.h"

/* These variables are global state. lib/README.md lists all other global
 * state. */
static uvperf_calloc_func user_calloc = calloc;
static uvperf_free_func user_free = free;

int uvperf_replace_allocator(uvperf_malloc_func malloc_func,
                             uvperf_realloc_func realloc_func,
                             uvperf_calloc_func calloc_func,
                             uvperf_free_func free_func) {
  if (malloc_func == NULL || realloc_func == NULL || calloc_func == NULL ||
      free_func == NULL)
    return -EINVAL;
  user_calloc = calloc_func;
  user_free = free_func;
  return 0;
}

void *uvperf__calloc(size_t nr, size_t size) {
  /* The calloc of a user may not check for overflow: many just multiply and
   * call malloc. */
  if (size != 0 && nr > SIZE_MAX / size)
    return NULL;
  return user_calloc(nr, size);
}

void uvperf__free(void *memory) {
  if (memory != NULL)
    user_free(memory);
}
