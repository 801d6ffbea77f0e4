/* SPDX-License-Identifier: MIT */
/* Counts what the library allocates, with allocation functions of the user. */
#ifndef UVPERF_TEST_MEMORY_COUNT_H
#define UVPERF_TEST_MEMORY_COUNT_H

#include <stdint.h>

/* Installs the counting functions, with all counts 0. */
void memory_count_begin(void);

/* How often memory was allocated since then, and how much of it is not
 * freed. */
uint64_t memory_count_taken(void);
uint64_t memory_count_held(void);

/* A loop's teardown that restores malloc and the others. */
int memory_count_teardown(void **state);

#endif
