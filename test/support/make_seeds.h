/* SPDX-License-Identifier: MIT */
/* The seeds of a fuzzer, which tests replay. */
#ifndef UVPERF_TEST_MAKE_SEEDS_H
#define UVPERF_TEST_MAKE_SEEDS_H

#include <stddef.h>
#include <stdint.h>

typedef struct seed_s {
  const char *name; /* of its file */
  size_t size;
  uint8_t bytes[4096 + 256]; /* 0 after the seed, at least 256 bytes */
} seed_t;

/* Calls a function with each seed of fuzz/`fuzzer`, in the order of the
 * alphabet. There are more than `least`. The function may change the seed. */
void seeds_each(const char *fuzzer, int least,
                void (*each)(seed_t *seed, void *arg), void *arg);

#endif
