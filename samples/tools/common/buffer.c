/* SPDX-License-Identifier: MIT */
/* Text that grows at its end and shrinks at its start. */
#include "common/buffer.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/memory.h"

void common_buffer_reserve(common_buffer_t *buffer, size_t size) {
  while (size > buffer->capacity)
    buffer->text = common_grow(buffer->text, &buffer->capacity, 1);
}

void common_buffer_add(common_buffer_t *buffer, const void *bytes,
                       size_t size) {
  if (size == 0)
    return;
  common_buffer_reserve(buffer, buffer->used + size);
  memcpy(buffer->text + buffer->used, bytes, size);
  buffer->used += size;
}

void common_buffer_text(common_buffer_t *buffer, const char *text) {
  common_buffer_add(buffer, text, strlen(text));
}

void common_buffer_number(common_buffer_t *buffer, uint64_t number,
                          int digits) {
  char text[24], *end = text + sizeof(text), *at = end;

  while (number > 0 || end - at < digits) {
    *--at = (char)('0' + number % 10);
    number /= 10;
  }
  common_buffer_add(buffer, at, (size_t)(end - at));
}

void common_buffer_hex(common_buffer_t *buffer, uint64_t number) {
  char text[16], *end = text + sizeof(text), *at = end;

  do {
    *--at = "0123456789abcdef"[number & 15];
    number >>= 4;
  } while (number > 0);
  common_buffer_add(buffer, at, (size_t)(end - at));
}

void common_buffer_bytes(common_buffer_t *buffer, const void *bytes,
                         size_t size) {
  static const char digits[] = "0123456789abcdef";
  const unsigned char *at = bytes, *end = at + size;

  for (; at < end; at++) {
    common_buffer_add(buffer, &digits[*at >> 4], 1);
    common_buffer_add(buffer, &digits[*at & 15], 1);
  }
}

void common_buffer_print(common_buffer_t *buffer, const char *format, ...) {
  char text[256];
  va_list args;
  int size;

  va_start(args, format);
  size = vsnprintf(text, sizeof(text), format, args);
  va_end(args);
  if (size > 0)
    common_buffer_add(buffer, text,
                      (size_t)size < sizeof(text) ? (size_t)size
                                                  : sizeof(text) - 1);
}

void common_buffer_drop(common_buffer_t *buffer, size_t size) {
  memmove(buffer->text, buffer->text + size, buffer->used - size);
  buffer->used -= size;
}

void common_buffer_free(common_buffer_t *buffer) {
  free(buffer->text);
  memset(buffer, 0, sizeof(*buffer));
}
