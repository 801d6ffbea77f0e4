/* SPDX-License-Identifier: MIT */
/* Collects the names that a walk over PMUs, terms or events returns. */
#ifndef UVPERF_TEST_PMU_NAMES_H
#define UVPERF_TEST_PMU_NAMES_H

#include <stddef.h>

/* Each name with blanks around it, in the order of the walk. */
typedef struct pmu_names_s {
  char text[16384];
  size_t nr;
} pmu_names_t;

/* Adds a name to a pmu_names_t *. Returns 0. Fails the test if there is no
 * room. */
int pmu_names_add(const char *name, void *names);

/* Whether a name is there: 1 or 0. */
int pmu_names_has(const pmu_names_t *names, const char *name);

#endif
