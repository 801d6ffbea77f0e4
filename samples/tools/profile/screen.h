/* SPDX-License-Identifier: MIT */
/* The lines of the live table. */
#ifndef PROFILE_SCREEN_H
#define PROFILE_SCREEN_H

#include <stdio.h>

#include "profile/keys.h"

typedef struct profile_screen_s {
  const profile_keys_t *keys;
  size_t columns, lines;    /* of the terminal; 0: no bound, and 20 rows */
  const char *target;       /* "all CPUs" */
  const char *event;        /* "cycles" */
  double rate;              /* samples a second */
  uint64_t lost;            /* of all the time */
  uint64_t weight;          /* of all rows */
  const stacks_row_t *rows; /* sorted */
  size_t nr;
} profile_screen_t;

/* The lines fit into the terminal, from a width of 10 columns on. They have no
 * control characters except the newline that ends each. */
void profile_screen_write(FILE *file, const profile_screen_t *screen);

#endif
