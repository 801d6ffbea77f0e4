/* SPDX-License-Identifier: MIT */
/* Ranks the functions, threads, processes or cgroups of a profile. */
#ifndef STACKS_RANK_H
#define STACKS_RANK_H

#include "profile/stacks/stacks.h"

typedef enum stacks_by_e {
  STACKS_BY_FUNCTION,
  STACKS_BY_THREAD,
  STACKS_BY_PROCESS,
  STACKS_BY_CGROUP,
  STACKS_BY_COMM /* all processes of a name */
} stacks_by_t;

typedef struct stacks_row_s {
  const char *name;  /* of the function, thread, process or cgroup */
  const char *where; /* the function's object, the thread's process; or "" */
  uint32_t id;       /* tid or pid; 0: of several, or none */
  uint64_t samples;  /* whose innermost function it is */
  uint64_t self;     /* their weight */
  uint64_t total;    /* weight of all stacks with it, each stack counted once */
} stacks_row_t;

/* These convert a kind of row to "function", "thread", …, and back.
 * stacks_by_parse returns 0, or -1 for another word. */
const char *stacks_by_name(stacks_by_t by);
int stacks_by_parse(const char *name, stacks_by_t *by);

/* Returns the rows, sorted by self, then by total, in an array of *nr rows.
 * Free the array with free(). The profile owns the strings. */
stacks_row_t *stacks_rank(const stacks_t *stacks, stacks_by_t by, size_t *nr);

typedef enum stacks_sort_e {
  STACKS_SORT_SELF, /* as stacks_rank does */
  STACKS_SORT_TOTAL,
  STACKS_SORT_SAMPLES
} stacks_sort_t;

/* These convert an order to "self", "total" or "samples", and back.
 * stacks_sort_parse returns 0, or -1 for another word. */
const char *stacks_sort_name(stacks_sort_t sort);
int stacks_sort_parse(const char *name, stacks_sort_t *sort);

void stacks_rank_sort(stacks_row_t *rows, size_t nr, stacks_sort_t sort);

#endif
