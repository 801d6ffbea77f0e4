/* SPDX-License-Identifier: MIT */
/* Buffers are kept after use: a program that delivers records inside a callback
 * once will do so again. */
#include "ring/scratch.h"

#include <errno.h>
#include <stdalign.h>
#include <stddef.h>
#include <stdint.h>

#include "ring/ring.h"
#include "util/alloc.h"

typedef struct buffer_s buffer_t;
struct buffer_s {
  buffer_t *inner; /* for a delivery inside this one; or NULL */
  /* Aligned like a record in a ring. On i386 alignas(uint64_t) would be 4. */
  alignas(8) uint8_t bytes[UVPERF__RING_SCRATCH_BYTES];
};

struct uvperf__scratch_s {
  size_t users;
  /* The number of current deliveries, each inside the delivery before it. */
  size_t depth;
  buffer_t outer;
};

uvperf__scratch_t *uvperf__scratch_new(void) {
  uvperf__scratch_t *scratch = uvperf__calloc(1, sizeof(*scratch));

  if (scratch != NULL)
    scratch->users = 1;
  return scratch;
}

uvperf__scratch_t *uvperf__scratch_share(uvperf__scratch_t *scratch) {
  scratch->users += 1;
  return scratch;
}

void uvperf__scratch_free(uvperf__scratch_t *scratch) {
  buffer_t *buffer, *inner;

  if (scratch == NULL || --scratch->users > 0)
    return;
  for (buffer = scratch->outer.inner; buffer != NULL; buffer = inner) {
    inner = buffer->inner;
    uvperf__free(buffer);
  }
  uvperf__free(scratch);
}

/* Returns the buffer of the next delivery, and makes it if necessary. */
static buffer_t *find_buffer(uvperf__scratch_t *scratch) {
  buffer_t *buffer = &scratch->outer;
  size_t depth;

  for (depth = 0; depth < scratch->depth && buffer != NULL; depth++) {
    if (buffer->inner == NULL)
      buffer->inner = uvperf__calloc(1, sizeof(*buffer));
    buffer = buffer->inner;
  }
  return buffer;
}

void *uvperf__scratch_enter(uvperf__scratch_t *scratch) {
  buffer_t *buffer = find_buffer(scratch);

  if (buffer == NULL)
    return NULL;
  scratch->depth += 1;
  return buffer->bytes;
}

void uvperf__scratch_leave(uvperf__scratch_t *scratch) {
  scratch->depth -= 1;
}

int uvperf__scratch_reserve(uvperf__scratch_t *scratch) {
  return find_buffer(scratch) != NULL ? 0 : -ENOMEM;
}
