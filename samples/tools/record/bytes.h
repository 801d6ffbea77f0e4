/* SPDX-License-Identifier: MIT */
/* A growing buffer, with functions for the encodings of perf.data. */
#ifndef RECORD_BYTES_H
#define RECORD_BYTES_H

#include <stddef.h>
#include <stdint.h>

typedef struct record_bytes_s {
  unsigned char *bytes;
  size_t used;
  size_t capacity;
} record_bytes_t;

void record_bytes_put(record_bytes_t *buffer, const void *bytes, size_t size);
void record_bytes_put_u32(record_bytes_t *buffer, uint32_t value);
void record_bytes_put_u64(record_bytes_t *buffer, uint64_t value);
void record_bytes_put_zeros(record_bytes_t *buffer, size_t size);

/* Appends zeros until the number of bytes is a multiple of `to`. */
void record_bytes_align(record_bytes_t *buffer, size_t to);

/* Appends a perf_header_string: the padded length, then the text with its NUL,
 * padded to a multiple of 64. */
void record_bytes_put_string(record_bytes_t *buffer, const char *text);

void record_bytes_free(record_bytes_t *buffer);

#endif
