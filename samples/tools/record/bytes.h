/* SPDX-License-Identifier: MIT */
/* The encodings of perf.data, in a buffer. */
#ifndef RECORD_BYTES_H
#define RECORD_BYTES_H

#include <stddef.h>
#include <stdint.h>

#include "common/buffer.h"

void record_bytes_put_u16(common_buffer_t *buffer, uint16_t value);
void record_bytes_put_u32(common_buffer_t *buffer, uint32_t value);
void record_bytes_put_u64(common_buffer_t *buffer, uint64_t value);
void record_bytes_put_zeros(common_buffer_t *buffer, size_t size);

/* Appends zeros until the number of bytes is a multiple of `to`. */
void record_bytes_align(common_buffer_t *buffer, size_t to);

/* Appends a text with its NUL, and zeros up to a multiple of 8. */
void record_bytes_put_text(common_buffer_t *buffer, const char *text);

/* Appends a perf_header_string: the padded length, then the text with its NUL,
 * padded to a multiple of 64. */
void record_bytes_put_string(common_buffer_t *buffer, const char *text);

/* Appends the header of a record. Returns where the record begins. */
size_t record_bytes_begin(common_buffer_t *buffer, uint32_t type,
                          uint16_t misc);

/* Sets the size of the record that begins at `start` and ends here. */
void record_bytes_end(common_buffer_t *buffer, size_t start);

#endif
