/* SPDX-License-Identifier: MIT */
/* Text that grows at its end and goes at its start. Knows nothing of what it
 * says. */
#include "watch_buffer.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shared_memory.h"

void watch_buffer_add(watch_buffer_t *buffer, const char *text, size_t size) {
  while (size > buffer->capacity - buffer->used)
    buffer->text = shared_grow(buffer->text, &buffer->capacity, 1);
  memcpy(buffer->text + buffer->used, text, size);
  buffer->used += size;
}

void watch_buffer_print(watch_buffer_t *buffer, const char *format, ...) {
  char text[256];
  va_list args;
  int size;

  va_start(args, format);
  size = vsnprintf(text, sizeof(text), format, args);
  va_end(args);
  if (size > 0)
    watch_buffer_add(buffer, text,
                     (size_t)size < sizeof(text) ? (size_t)size
                                                 : sizeof(text) - 1);
}

void watch_buffer_drop(watch_buffer_t *buffer, size_t size) {
  memmove(buffer->text, buffer->text + size, buffer->used - size);
  buffer->used -= size;
}

void watch_buffer_free(watch_buffer_t *buffer) {
  free(buffer->text);
  memset(buffer, 0, sizeof(*buffer));
}
