/* SPDX-License-Identifier: MIT */
/* The lines of the live table. */
#ifndef PROFILE_SCREEN_H
#define PROFILE_SCREEN_H

#include <stdio.h>

#include "profile/keys.h"

typedef struct profile_screen_s {
  const profile_keys_t *keys;
  size_t columns, lines;    /* of the terminal; 0: there is none */
  size_t max_rows;          /* without a terminal */
  const char *target;       /* "all CPUs" */
  const char *event;        /* "cycles" */
  double rate;              /* samples per second */
  uint64_t lost;            /* since the start */
  uint64_t weight;          /* of all rows */
  const stacks_row_t *rows; /* sorted */
  size_t nr;
} profile_screen_t;

/* Writes lines that fit a terminal of at least 10 columns. They contain no
 * control characters except the newline at each end. */
void profile_screen_write(FILE *file, const profile_screen_t *screen);

#endif
