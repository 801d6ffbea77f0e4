/* SPDX-License-Identifier: MIT */
/* The times at which to measure, from -D. Users often leave out the start of a
 * program, because it is not typical. */
#ifndef COMMON_DELAY_H
#define COMMON_DELAY_H

#include <stddef.h>
#include <stdint.h>

#define COMMON_DELAY_TIMES 128

typedef struct common_delay_s {
  int is_set; /* measuring does not begin at once */
  /* Milliseconds after the start. Measuring begins at the first time, pauses at
   * the second, continues at the third, and so on. With -D -1 there are no
   * times. */
  uint64_t times[COMMON_DELAY_TIMES];
  size_t nr; /* 1: measuring goes on to the end; else even */
} common_delay_t;

/* Parses the value of -D. Returns 0, or COMMON_EXIT_USAGE after a message.
 * has_ranges allows ranges such as 10-20,30-40. */
int common_delay_parse(common_delay_t *delay, const char *text, int has_ranges);

#endif
