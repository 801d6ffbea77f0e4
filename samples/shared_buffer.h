/* SPDX-License-Identifier: MIT */
/* Text that grows. */
#ifndef SHARED_BUFFER_H
#define SHARED_BUFFER_H

#include <stddef.h>

typedef struct shared_buffer_s {
  char *text; /* not terminated */
  size_t used;
  size_t capacity;
} shared_buffer_t;

/* Makes the whole as large as `size` bytes, or larger. */
void shared_buffer_reserve(shared_buffer_t *buffer, size_t size);

void shared_buffer_add(shared_buffer_t *buffer, const char *text, size_t size);

/* For lines of numbers and fixed words, at most 255 bytes at once. */
void shared_buffer_print(shared_buffer_t *buffer, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Takes away the first bytes. */
void shared_buffer_drop(shared_buffer_t *buffer, size_t size);

void shared_buffer_free(shared_buffer_t *buffer);

#endif
