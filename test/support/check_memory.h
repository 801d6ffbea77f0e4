/* SPDX-License-Identifier: MIT */
/* Counts what the library allocates, with allocation functions of the user. */
#ifndef UVPERF_TEST_CHECK_MEMORY_H
#define UVPERF_TEST_CHECK_MEMORY_H

#include <stdint.h>

/* Installs the counting functions, with all counts 0. */
void check_memory_begin(void);

/* How often memory was allocated since then, and how much of it is not
 * freed. */
uint64_t check_memory_taken(void);
uint64_t check_memory_held(void);

/* A loop's teardown that restores malloc and the others. */
int check_memory_teardown(void **state);

#endif
