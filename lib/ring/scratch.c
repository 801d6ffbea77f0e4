/* SPDX-License-Identifier: MIT */
#include "ring/scratch.h"

#include <errno.h>
#include <stddef.h>

#include "ring/ring.h"
#include "util/alloc.h"

/* The first bytes of a buffer that is not in use. */
typedef struct uvperf__buffer_s {
  struct uvperf__buffer_s *next;
} buffer_t;

void *uvperf__scratch_take(uvperf__scratch_t *scratch) {
  buffer_t *buffer = scratch->unused;

  if (buffer == NULL)
    return uvperf__calloc(1, UVPERF__RING_SCRATCH_BYTES);
  scratch->unused = buffer->next;
  return buffer;
}

void uvperf__scratch_give_back(uvperf__scratch_t *scratch, void *buffer) {
  buffer_t *unused = buffer;

  unused->next = scratch->unused;
  scratch->unused = unused;
}

int uvperf__scratch_reserve(uvperf__scratch_t *scratch) {
  void *buffer = uvperf__scratch_take(scratch);

  if (buffer == NULL)
    return -ENOMEM;
  uvperf__scratch_give_back(scratch, buffer);
  return 0;
}

void uvperf__scratch_free(uvperf__scratch_t *scratch) {
  while (scratch->unused != NULL)
    uvperf__free(uvperf__scratch_take(scratch));
}
