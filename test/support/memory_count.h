/* SPDX-License-Identifier: MIT */
/* Counts what the library allocates, by functions of a user. */
#ifndef UVPERF_TEST_MEMORY_COUNT_H
#define UVPERF_TEST_MEMORY_COUNT_H

#include <stdint.h>

/* Puts the counting functions in, with nothing counted yet. */
void memory_count_begin(void);

/* How often memory was taken since then, and how much of that is not freed. */
uint64_t memory_count_taken(void);
uint64_t memory_count_held(void);

/* A loop's teardown that puts malloc and the others back. */
int memory_count_teardown(void **state);

#endif
