/* SPDX-License-Identifier: MIT */
/* Text that grows. */
#ifndef COMMON_BUFFER_H
#define COMMON_BUFFER_H

#include <stddef.h>
#include <stdint.h>

typedef struct common_buffer_s {
  char *text; /* not terminated */
  size_t used;
  size_t capacity;
} common_buffer_t;

/* Makes the capacity at least `size` bytes. */
void common_buffer_reserve(common_buffer_t *buffer, size_t size);

void common_buffer_add(common_buffer_t *buffer, const void *bytes, size_t size);

/* Fast functions for frequent use. They add a text, a number with at least
 * `digits` digits, or a number in hexadecimal. */
void common_buffer_text(common_buffer_t *buffer, const char *text);
void common_buffer_number(common_buffer_t *buffer, uint64_t number, int digits);
void common_buffer_hex(common_buffer_t *buffer, uint64_t number);

/* Adds two hexadecimal digits for each byte. */
void common_buffer_bytes(common_buffer_t *buffer, const void *bytes,
                         size_t size);

/* Use it for numbers and fixed words. It adds at most 255 bytes at once. */
void common_buffer_print(common_buffer_t *buffer, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Removes the first bytes. */
void common_buffer_drop(common_buffer_t *buffer, size_t size);

void common_buffer_free(common_buffer_t *buffer);

#endif
