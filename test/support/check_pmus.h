/* SPDX-License-Identifier: MIT */
/* Collects the names that a walk over PMUs, terms or events returns. */
#ifndef UVPERF_TEST_CHECK_PMUS_H
#define UVPERF_TEST_CHECK_PMUS_H

#include <stddef.h>

/* Each name with blanks around it, in the order of the walk. */
typedef struct check_pmus_s {
  char text[16384];
  size_t nr;
} check_pmus_t;

/* Adds a name to a check_pmus_t *. Returns 0. Fails the test if there is no
 * room. */
int check_pmus_add(const char *name, void *names);

/* Whether a name is there: 1 or 0. */
int check_pmus_has(const check_pmus_t *names, const char *name);

#endif
