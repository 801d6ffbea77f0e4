/* SPDX-License-Identifier: MIT */
/* Profiles for the tests of the page. Each is freed by stacks_free. */
#ifndef UVPERF_TEST_PAGE_MODELS_H
#define UVPERF_TEST_PAGE_MODELS_H

#include "profile/stacks/stacks.h"

/* The profile has no stack at all. */
void models_empty(stacks_t *stacks);

/* Three processes: two have the same name, and one has two threads. There are
 * recursion, an inlined function, functions of the kernel and of a library,
 * functions with one or several addresses, and samples without a stack. */
void models_small(stacks_t *stacks);

/* The names would break a page, a script, or an object of JavaScript. */
void models_hostile(stacks_t *stacks);

/* One stack of nr_frames frames. With is_recursion they are all of one
 * function, otherwise each has its own function. */
void models_deep(stacks_t *stacks, size_t nr_frames, int is_recursion);

/* A build: compilers that call thousands of functions, at random but always the
 * same. With the unit "cycles" the weights differ. */
void models_random(stacks_t *stacks, const char *unit, size_t nr_stacks,
                   size_t nr_functions);

/* The names of models_hostile, NULL at the end. */
extern const char *const models_hostile_names[];

#endif
