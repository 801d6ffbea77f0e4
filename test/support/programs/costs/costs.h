/* SPDX-License-Identifier: MIT */
/* Functions of known cost, in C and C++. A program has a table of them and
 * calls them in a random order, with a number of steps that takes a part of a
 * millisecond. Each step takes equally long: it has six operations that need
 * each other's results. At its end the program prints how many steps each
 * function made. */
#ifndef COSTS_H
#define COSTS_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define COSTS_STEPS 100000

#define COSTS_NOINLINE __attribute__((noinline))
#ifdef __clang__
#define COSTS_ALONE __attribute__((noinline))
#else
#define COSTS_ALONE __attribute__((noipa)) /* no inlining, no clones */
#endif

/* Makes the steps in the function that has this, and counts them for it. */
#define COSTS_BURN(row, nr)                                                    \
  do {                                                                         \
    uint64_t costs_x = costs_state, costs_i;                                   \
    for (costs_i = (nr); costs_i > 0; costs_i--) {                             \
      costs_x ^= costs_x << 13;                                                \
      costs_x ^= costs_x >> 7;                                                 \
      costs_x ^= costs_x << 17;                                                \
    }                                                                          \
    costs_state = costs_x;                                                     \
    (row) += (nr);                                                             \
  } while (0)

typedef struct costs_call_s {
  void (*call)(uint64_t steps);
  unsigned weight;
} costs_call_t;

typedef struct costs_row_s {
  const char *name; /* demangled, without parameters and clones */
  const uint64_t *steps;
} costs_row_t;

extern uint64_t costs_state;

/* Waits for the end of stdin, runs this number of rounds, and prints. */
static inline int costs_run(int argc, char **argv, const costs_call_t *calls,
                            size_t nr_calls, const costs_row_t *rows,
                            size_t nr_rows) {
  unsigned long rounds = argc > 1 ? strtoul(argv[1], NULL, 10) : 1000;
  uint64_t random = 88172645463325252u;
  unsigned total = 0, pick;
  size_t i;

  while (getchar() != EOF)
    continue;
  for (i = 0; i < nr_calls; i++)
    total += calls[i].weight;
  while (rounds-- > 0) {
    random = random * 6364136223846793005u + 1442695040888963407u;
    pick = (unsigned)((random >> 33) % total);
    for (i = 0; pick >= calls[i].weight; i++)
      pick -= calls[i].weight;
    calls[i].call(COSTS_STEPS);
  }
  for (i = 0; i < nr_rows; i++)
    printf("%llu %s\n", (unsigned long long)*rows[i].steps, rows[i].name);
  return fflush(stdout) != 0;
}

#endif
