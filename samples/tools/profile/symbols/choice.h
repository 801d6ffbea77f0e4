/* SPDX-License-Identifier: MIT */
/* Chooses which of several symbols at one address is shown. It is the symbol
 * that perf shows. */
#ifndef SYMBOLS_CHOICE_H
#define SYMBOLS_CHOICE_H

typedef struct symbols_choice_s {
  const char *name;
  unsigned char has_size, has_type, is_weak, is_global;
} symbols_choice_t;

/* Returns 1 if `a`, which comes later in the file, is shown instead of `b`. */
int symbols_choice_is_better(const symbols_choice_t *a,
                             const symbols_choice_t *b);

#endif
