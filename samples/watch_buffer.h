/* SPDX-License-Identifier: MIT */
/* Text that grows. */
#ifndef WATCH_BUFFER_H
#define WATCH_BUFFER_H

#include <stddef.h>

typedef struct watch_buffer_s {
  char *text; /* not terminated */
  size_t used;
  size_t capacity;
} watch_buffer_t;

void watch_buffer_add(watch_buffer_t *buffer, const char *text, size_t size);

/* For lines of numbers and fixed words, at most 255 bytes at once. */
void watch_buffer_print(watch_buffer_t *buffer, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Takes away the first bytes. */
void watch_buffer_drop(watch_buffer_t *buffer, size_t size);

void watch_buffer_free(watch_buffer_t *buffer);

#endif
