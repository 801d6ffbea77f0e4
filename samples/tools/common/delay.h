/* SPDX-License-Identifier: MIT */
/* When to measure, by -D: not from the start, because the start of a program is
 * often not typical. */
#ifndef COMMON_DELAY_H
#define COMMON_DELAY_H

#include <stddef.h>
#include <stdint.h>

#define COMMON_DELAY_TIMES 128

typedef struct common_delay_s {
  int is_set; /* measuring does not begin at once */
  /* Milliseconds after the start: measuring begins at the first, pauses at the
   * second, continues at the third. There are none with -D -1. */
  uint64_t times[COMMON_DELAY_TIMES];
  size_t nr; /* 1: it continues to the end; else even */
} common_delay_t;

/* Parses the value of -D. Returns 0, or COMMON_EXIT_USAGE after a message.
 * has_ranges allows ranges such as 10-20,30-40. */
int common_delay_parse(common_delay_t *delay, const char *text, int has_ranges);

#endif
