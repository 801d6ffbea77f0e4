/* SPDX-License-Identifier: MIT */
/* Source: tools/perf/Documentation/perf.data-file-format.txt. */
#include "record/bytes.h"

#include <stdlib.h>
#include <string.h>

#include "common/memory.h"

/* NAME_ALIGN of tools/perf/util/header.c. */
#define STRING_ALIGN 64

static unsigned char *reserve(record_bytes_t *buffer, size_t size) {
  unsigned char *place;

  while (buffer->capacity - buffer->used < size)
    buffer->bytes = common_grow(buffer->bytes, &buffer->capacity, 1);
  place = buffer->bytes + buffer->used;
  buffer->used += size;
  return place;
}

void record_bytes_put(record_bytes_t *buffer, const void *bytes, size_t size) {
  if (size > 0)
    memcpy(reserve(buffer, size), bytes, size);
}

void record_bytes_put_u32(record_bytes_t *buffer, uint32_t value) {
  record_bytes_put(buffer, &value, sizeof(value));
}

void record_bytes_put_u64(record_bytes_t *buffer, uint64_t value) {
  record_bytes_put(buffer, &value, sizeof(value));
}

void record_bytes_put_zeros(record_bytes_t *buffer, size_t size) {
  if (size > 0)
    memset(reserve(buffer, size), 0, size);
}

void record_bytes_align(record_bytes_t *buffer, size_t to) {
  record_bytes_put_zeros(buffer, (to - buffer->used % to) % to);
}

void record_bytes_put_string(record_bytes_t *buffer, const char *text) {
  size_t size = strlen(text) + 1;
  size_t padded = (size + STRING_ALIGN - 1) / STRING_ALIGN * STRING_ALIGN;

  record_bytes_put_u32(buffer, (uint32_t)padded);
  record_bytes_put(buffer, text, size);
  record_bytes_put_zeros(buffer, padded - size);
}

void record_bytes_free(record_bytes_t *buffer) {
  free(buffer->bytes);
  memset(buffer, 0, sizeof(*buffer));
}
