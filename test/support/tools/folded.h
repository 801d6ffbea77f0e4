/* SPDX-License-Identifier: MIT */
/* Stacks as text, "outer;...;inner", each with its number of samples: what
 * profilers say of the same program, to be compared. */
#ifndef UVPERF_TEST_FOLDED_H
#define UVPERF_TEST_FOLDED_H

#include <stddef.h>
#include <stdio.h>

typedef struct folded_row_s {
  char *stack;
  unsigned long samples;
} folded_row_t;

/* Begin with {0}. */
typedef struct folded_s {
  folded_row_t *rows; /* each stack once, in the order of strcmp */
  size_t nr;
  unsigned long samples; /* of all */
} folded_t;

void folded_free(folded_t *folded);

/* Adds a stack; call folded_sort before anything is looked up. */
void folded_add(folded_t *folded, const char *stack, unsigned long samples);
void folded_sort(folded_t *folded);

/* Reads lines such as "process;outer;...;inner 12", without the process: those
 * of one, or with NULL of all. */
void folded_read(folded_t *folded, FILE *file, const char *process);

/* Reads what perf script makes of an event's samples in a file, whose names are
 * demangled by c++filt(1), without parameters. NULL is the only event. `words`
 * are more options. */
void folded_read_perf(folded_t *folded, const char *path, const char *event,
                      const char *words);

/* The innermost functions of all stacks. */
void folded_leaves(const folded_t *folded, folded_t *leaves);

/* Of a stack, or of a function in leaves; 0 if it is not there. */
unsigned long folded_samples(const folded_t *folded, const char *stack);

/* Of how many samples the stack is another in b than in a; prints the first
 * ones with these titles. */
unsigned long folded_differ(const folded_t *a, const char *title_a,
                            const folded_t *b, const char *title_b);

#endif
