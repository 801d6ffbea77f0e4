/* SPDX-License-Identifier: MIT */
/* Source: tools/perf/Documentation/perf.data-file-format.txt. */
#include "record/bytes.h"

#include <string.h>

#include <linux/perf_event.h>

/* NAME_ALIGN of tools/perf/util/header.c. */
#define STRING_ALIGN 64

void record_bytes_put_u16(common_buffer_t *buffer, uint16_t value) {
  common_buffer_add(buffer, &value, sizeof(value));
}

void record_bytes_put_u32(common_buffer_t *buffer, uint32_t value) {
  common_buffer_add(buffer, &value, sizeof(value));
}

void record_bytes_put_u64(common_buffer_t *buffer, uint64_t value) {
  common_buffer_add(buffer, &value, sizeof(value));
}

void record_bytes_put_zeros(common_buffer_t *buffer, size_t size) {
  common_buffer_reserve(buffer, buffer->used + size);
  if (size > 0)
    memset(buffer->text + buffer->used, 0, size);
  buffer->used += size;
}

void record_bytes_align(common_buffer_t *buffer, size_t to) {
  record_bytes_put_zeros(buffer, (to - buffer->used % to) % to);
}

void record_bytes_put_text(common_buffer_t *buffer, const char *text) {
  common_buffer_add(buffer, text, strlen(text) + 1);
  record_bytes_align(buffer, sizeof(uint64_t));
}

void record_bytes_put_string(common_buffer_t *buffer, const char *text) {
  size_t size = strlen(text) + 1;
  size_t padded = (size + STRING_ALIGN - 1) / STRING_ALIGN * STRING_ALIGN;

  record_bytes_put_u32(buffer, (uint32_t)padded);
  common_buffer_add(buffer, text, size);
  record_bytes_put_zeros(buffer, padded - size);
}

size_t record_bytes_begin(common_buffer_t *buffer, uint32_t type,
                          uint16_t misc) {
  struct perf_event_header header = {type, misc, 0};

  common_buffer_add(buffer, &header, sizeof(header));
  return buffer->used - sizeof(header);
}

void record_bytes_end(common_buffer_t *buffer, size_t start) {
  uint16_t size = (uint16_t)(buffer->used - start);

  memcpy(buffer->text + start + offsetof(struct perf_event_header, size), &size,
         sizeof(size));
}
