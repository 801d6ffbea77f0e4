/* SPDX-License-Identifier: MIT */
/* Scales the count of an event that was on a counter for a part of the time:
 * multiplies by time_enabled / time_running, exactly, in 128 bits. */
#include "count/count.h"

#include <errno.h>
#include <stddef.h>

/* A number of 128 bits. Compilers have no such type on 32-bit machines. */
typedef struct wide_s {
  uint64_t high;
  uint64_t low;
} wide_t;

static wide_t wide_multiply(uint64_t a, uint64_t b) {
  uint64_t a0 = (uint32_t)a, a1 = a >> 32, b0 = (uint32_t)b, b1 = b >> 32;
  /* Neither sum overflows: (2^32 - 1)^2 + 2 * (2^32 - 1) is 2^64 - 1. */
  uint64_t middle = a1 * b0 + (a0 * b0 >> 32);
  uint64_t other = a0 * b1 + (uint32_t)middle;
  wide_t product = {a1 * b1 + (middle >> 32) + (other >> 32),
                    other << 32 | (uint32_t)(a0 * b0)};

  return product;
}

/* Returns the quotient. It must fit into 64 bits, so number.high must be less
 * than divisor. Divides bit by bit, as on paper. This is fast enough: only
 * multiplexed counts need it, and reading them takes longer. */
static uint64_t wide_divide(wide_t number, uint64_t divisor) {
  uint64_t rest = number.high, low = number.low;
  int bit;

  if (rest == 0)
    return low / divisor;
  for (bit = 0; bit < 64; bit++) {
    uint64_t carry = rest >> 63;

    rest = rest << 1 | low >> 63;
    low <<= 1; /* the lowest bit takes the quotient */
    if (carry != 0 || rest >= divisor) {
      rest -= divisor;
      low |= 1;
    }
  }
  return low;
}

int uvperf__count_scale(uint64_t value, uint64_t enabled, uint64_t running,
                        uint64_t *scaled) {
  wide_t product;

  *scaled = value;
  if (running >= enabled)
    return 0;
  *scaled = 0;
  if (running == 0)
    return -ENODATA;
  product = wide_multiply(value, enabled);
  if (product.high >= running) {
    *scaled = UINT64_MAX;
    return -EOVERFLOW;
  }
  *scaled = wide_divide(product, running);
  return 0;
}
