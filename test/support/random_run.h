/* SPDX-License-Identifier: MIT */
/* Shared by the tests that call at random and compare with a model: a source of
 * random numbers that a seed repeats, and the first fault. */
#ifndef UVPERF_TEST_RANDOM_RUN_H
#define UVPERF_TEST_RANDOM_RUN_H

#include <stdint.h>

typedef struct random_run_s {
  uint64_t random;
  int step;
  const char *call; /* what is being called */
  char fault[256];  /* "" without a fault */
} random_run_t;

void random_run_seed(random_run_t *run, uint64_t seed);

/* Returns a random number below `below`. */
uint64_t random_run_draw(random_run_t *run, uint64_t below);

/* Notes a fault if the condition is false and there was none before. Callbacks
 * must not jump out of libuv, so the fault is reported at the end. */
void random_run_expect(random_run_t *run, int is_so, const char *what,
                       int64_t value);

/* Fails the test if there was a fault. */
void random_run_check(const random_run_t *run, uint64_t seed);

/* Which seeds to run: UVPERF_RANDOM_SEEDS (first:last), otherwise 1 to
 * usual_last. */
void random_run_seeds(uint64_t usual_last, uint64_t *first, uint64_t *last);

#endif
