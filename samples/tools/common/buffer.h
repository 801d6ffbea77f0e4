/* SPDX-License-Identifier: MIT */
/* Text that grows. */
#ifndef COMMON_BUFFER_H
#define COMMON_BUFFER_H

#include <stddef.h>
#include <stdint.h>

typedef struct shared_buffer_s {
  char *text; /* not terminated */
  size_t used;
  size_t capacity;
} shared_buffer_t;

/* Makes the whole as large as `size` bytes, or larger. */
void shared_buffer_reserve(shared_buffer_t *buffer, size_t size);

void shared_buffer_add(shared_buffer_t *buffer, const char *text, size_t size);

/* For what is written often, in the time that it takes to copy it: a text; a
 * number with at least so many digits; a number in hexadecimal. */
void shared_buffer_text(shared_buffer_t *buffer, const char *text);
void shared_buffer_number(shared_buffer_t *buffer, uint64_t number, int digits);
void shared_buffer_hex(shared_buffer_t *buffer, uint64_t number);

/* For lines of numbers and fixed words, at most 255 bytes at once. */
void shared_buffer_print(shared_buffer_t *buffer, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Takes away the first bytes. */
void shared_buffer_drop(shared_buffer_t *buffer, size_t size);

void shared_buffer_free(shared_buffer_t *buffer);

#endif
