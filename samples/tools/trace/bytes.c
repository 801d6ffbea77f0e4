/* SPDX-License-Identifier: MIT */
#include "trace/bytes.h"

void trace_bytes(common_buffer_t *buffer, const void *bytes, size_t size) {
  static const char digits[] = "0123456789abcdef";
  const unsigned char *at = bytes;
  char two[2];
  size_t i;

  for (i = 0; i < size; i++) {
    two[0] = digits[at[i] >> 4];
    two[1] = digits[at[i] & 15];
    common_buffer_add(buffer, two, 2);
  }
}
