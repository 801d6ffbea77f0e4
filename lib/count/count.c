/* SPDX-License-Identifier: MIT */
/* Arithmetic on counts: scaling and differences. Values only. */
#include "uvperf/count.h"

#include <errno.h>
#include <stddef.h>

#include <linux/perf_event.h>

/* 128 bits: compilers have no such type for 32-bit machines. */
typedef struct wide_s {
  uint64_t high;
  uint64_t low;
} wide_t;

static wide_t multiply(uint64_t a, uint64_t b) {
  uint64_t a0 = (uint32_t)a, a1 = a >> 32, b0 = (uint32_t)b, b1 = b >> 32;
  /* Neither sum overflows: (2^32 - 1)^2 + 2 * (2^32 - 1) is 2^64 - 1. */
  uint64_t middle = a1 * b0 + (a0 * b0 >> 32);
  uint64_t other = a0 * b1 + (uint32_t)middle;
  wide_t product = {a1 * b1 + (middle >> 32) + (other >> 32),
                    other << 32 | (uint32_t)(a0 * b0)};

  return product;
}

/* The quotient, which must fit: number.high < divisor. Bit by bit, as on paper:
 * only what was multiplexed gets here, and its read cost more. */
static uint64_t divide(wide_t number, uint64_t divisor) {
  uint64_t rest = number.high, low = number.low;
  int bit;

  if (rest == 0)
    return low / divisor;
  for (bit = 0; bit < 64; bit++) {
    uint64_t carry = rest >> 63;

    rest = rest << 1 | low >> 63;
    low <<= 1; /* its free end takes the quotient */
    if (carry != 0 || rest >= divisor) {
      rest -= divisor;
      low |= 1;
    }
  }
  return low;
}

int uvperf_scale(uint64_t value, uint64_t enabled, uint64_t running,
                 uint64_t *scaled) {
  wide_t product;

  if (scaled == NULL)
    return -EINVAL;
  *scaled = value;
  if (running >= enabled)
    return 0;
  *scaled = 0;
  if (running == 0)
    return -ENODATA;
  product = multiply(value, enabled);
  if (product.high >= running) {
    *scaled = UINT64_MAX;
    return -EOVERFLOW;
  }
  *scaled = divide(product, running);
  return 0;
}

static uint64_t less(uint64_t newer, uint64_t older) {
  return newer >= older ? newer - older : newer;
}

int uvperf_count_delta(const uvperf_count_t *older, const uvperf_count_t *newer,
                       uvperf_count_t *delta) {
  uvperf_count_t result;

  if (older == NULL || newer == NULL || delta == NULL)
    return -EINVAL;
  if ((older->present & newer->present & PERF_FORMAT_ID) != 0 &&
      older->id != newer->id)
    return -EINVAL;
  result = *newer;
  result.value = less(newer->value, older->value);
  result.lost = less(newer->lost, older->lost);
  /* The ratio of a difference and a total would mean nothing. */
  if (newer->time_enabled >= older->time_enabled &&
      newer->time_running >= older->time_running) {
    result.time_enabled -= older->time_enabled;
    result.time_running -= older->time_running;
  }
  *delta = result;
  return 0;
}
