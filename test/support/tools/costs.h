/* SPDX-License-Identifier: MIT */
/* A program whose functions have known costs: see support/programs/costs/. It
 * is built by the test, with the compilers that are here. */
#ifndef UVPERF_TEST_COSTS_H
#define UVPERF_TEST_COSTS_H

#include "folded.h"
#include "tool_run.h"

#define COSTS_MAX_ROWS 32

typedef struct costs_s {
  struct {
    char name[128];
    double steps;
  } rows[COSTS_MAX_ROWS];
  size_t nr;
  double steps; /* of all */
} costs_t;

/* A directory of the test's own; costs_path() is the path of a file in it. */
int costs_setup(void **state);
int costs_teardown(void **state);
const char *costs_path(const char *name);

/* A test with the two. */
#define costs_test(f)                                                          \
  cmocka_unit_test_setup_teardown(f, costs_setup, costs_teardown)

/* Builds the program as the file "costs" there. Skips the test if a compiler is
 * missing. `variant`: see build.sh. */
void costs_build(const char *test, const char *variant);

/* Runs words of a shell in the directory, which must succeed. Its output is
 * in run->out and run->err. */
void costs_run(tool_run_t *run, const char *words);

/* Reads what the program printed at its end. Steps of a function that is
 * inlined ("name|" in front of the row of the function it is in) are of a row
 * of their own if inlined is not 0. */
void costs_read(costs_t *costs, const char *text, int inlined);

/* Fails the test if the share of a function, among the samples of all these
 * functions, differs from its cost by more than 4.5 standard errors of a
 * binomial distribution. Samples are independent enough for that: each call
 * lasts for a part of the sampling period, and calls come in a random order.
 * (By chance one function in 2,000 differs by more than 3.5 standard errors,
 * which would fail every twelfth run of all these tests.) Fails too if there
 * are less than `least` samples. */
void costs_expect(const costs_t *costs, const folded_t *stacks,
                  unsigned long least);

#endif
