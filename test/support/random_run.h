/* SPDX-License-Identifier: MIT */
/* What the tests share that call at random and compare with a model: a source
 * of random numbers that a seed repeats, and the first fault. */
#ifndef UVPERF_TEST_RANDOM_RUN_H
#define UVPERF_TEST_RANDOM_RUN_H

#include <stdint.h>

typedef struct random_run_s {
  uint64_t random;
  int step;
  const char *call; /* what is being called */
  char fault[256];  /* "" while all is well */
} random_run_t;

void random_run_seed(random_run_t *run, uint64_t seed);

/* A number below another. */
uint64_t random_run_draw(random_run_t *run, uint64_t below);

/* Notes the fault if something is not so, and no fault came before: callbacks
 * must not jump out of libuv, so it is told at the end. */
void random_run_expect(random_run_t *run, int is_so, const char *what,
                       int64_t value);

/* Fails the test if there was a fault. */
void random_run_check(const random_run_t *run, uint64_t seed);

/* Which seeds to run: those of UVPERF_RANDOM_SEEDS (first:last), else 1 to the
 * usual last. */
void random_run_seeds(uint64_t usual_last, uint64_t *first, uint64_t *last);

#endif
