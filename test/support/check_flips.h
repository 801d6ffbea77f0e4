/* SPDX-License-Identifier: MIT */
/* A thread that changes a word of memory again and again while the test reads
 * it, as another process may that writes to a ring. Does not need cmocka. */
#ifndef UVPERF_TEST_CHECK_FLIPS_H
#define UVPERF_TEST_CHECK_FLIPS_H

#include <stdint.h>

/* A word, its value, and the value that it has now and then. */
typedef struct flip_s {
  uint64_t *word;
  uint64_t value;
  uint64_t other;
} flip_t;

typedef struct flipper_s flipper_t;

/* Starts the thread, which changes nothing of the test yet. */
flipper_t *flipper_start(void);

/* Changes this word from now on, and the word before it no more: that gets its
 * value back soon. Both flips must stay until flipper_rest. */
void flipper_change(flipper_t *flipper, const flip_t *flip);

/* Returns when all words have their values again, and are not changed. */
void flipper_rest(flipper_t *flipper);

/* Ends the thread, and frees it. */
void flipper_end(flipper_t *flipper);

#endif
