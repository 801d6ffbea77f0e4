/* SPDX-License-Identifier: MIT */
/* Shared by the tests that call at random and compare with a model: a source of
 * random numbers that a seed repeats, and the first fault. */
#ifndef UVPERF_TEST_MODEL_RUN_H
#define UVPERF_TEST_MODEL_RUN_H

#include <stdint.h>

typedef struct model_run_s {
  uint64_t random;
  int step;
  const char *call; /* what is being called */
  char fault[256];  /* "" without a fault */
} model_run_t;

void model_run_seed(model_run_t *run, uint64_t seed);

/* Returns a random number below `below`. */
uint64_t model_run_draw(model_run_t *run, uint64_t below);

/* Notes a fault if the condition is false and there was none before. Callbacks
 * must not jump out of libuv, so the fault is reported at the end. */
void model_run_expect(model_run_t *run, int is_so, const char *what,
                      int64_t value);

/* Fails the test if there was a fault. */
void model_run_check(const model_run_t *run, uint64_t seed);

/* Which seeds to run: UVPERF_RANDOM_SEEDS (first:last), otherwise 1 to
 * usual_last. */
void model_run_seeds(uint64_t usual_last, uint64_t *first, uint64_t *last);

#endif
