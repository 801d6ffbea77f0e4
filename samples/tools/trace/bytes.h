/* SPDX-License-Identifier: MIT */
/* Prints bytes that have no better form. */
#ifndef TRACE_BYTES_H
#define TRACE_BYTES_H

#include <stddef.h>

#include "common/buffer.h"

/* Adds two hexadecimal digits for each byte. */
void trace_bytes(common_buffer_t *buffer, const void *bytes, size_t size);

#endif
