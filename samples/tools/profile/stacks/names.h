/* SPDX-License-Identifier: MIT */
/* Names of functions, files and tasks, each stored once and safe to print. */
#ifndef STACKS_NAMES_H
#define STACKS_NAMES_H

#include "common/tally.h"

/* The id of "[other]", which stands for all names past the limit of a tally. */
#define STACKS_NAMES_OTHER 0u

typedef struct stacks_names_s {
  common_tally_t texts; /* the index is the id */
} stacks_names_t;

void stacks_names_init(stacks_names_t *names);
void stacks_names_free(stacks_names_t *names);

/* Returns the id of a name. The stored name is made safe to print and cut at
 * 1,000 bytes. */
uint32_t stacks_names_add(stacks_names_t *names, const char *name);

/* The name is valid until stacks_names_free. */
const char *stacks_names_get(const stacks_names_t *names, uint32_t id);

#endif
