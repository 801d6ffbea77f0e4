/* SPDX-License-Identifier: MIT */
/* Bytes that nobody has a better word for. */
#ifndef TRACE_BYTES_H
#define TRACE_BYTES_H

#include <stddef.h>

#include "common/buffer.h"

/* Adds two hexadecimal digits for each. */
void trace_bytes(common_buffer_t *buffer, const void *bytes, size_t size);

#endif
