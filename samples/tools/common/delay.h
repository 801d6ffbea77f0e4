/* SPDX-License-Identifier: MIT */
/* When to measure, by -D: not at once, as the start of a program is often very
 * different. */
#ifndef COMMON_DELAY_H
#define COMMON_DELAY_H

#include <stddef.h>
#include <stdint.h>

#define COMMON_DELAY_TIMES 128

typedef struct common_delay_s {
  int is_set; /* measuring does not begin by itself */
  /* Milliseconds after the start: measuring begins at the first, pauses at the
   * second, goes on at the third. None: -D -1. */
  uint64_t times[COMMON_DELAY_TIMES];
  size_t nr; /* 1: it goes on to the end; else even */
} common_delay_t;

/* Reads the value of -D: 0, or COMMON_EXIT_USAGE after a message. Ranges such
 * as 10-20,30-40 are for a tool that says so. */
int common_delay_parse(common_delay_t *delay, const char *text, int has_ranges);

#endif
