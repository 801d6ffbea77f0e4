/* SPDX-License-Identifier: MIT */
/* The shared library of program.c. */
#include "library.h"

uint64_t costs_state = 88172645463325252u;
uint64_t costs_library_steps, costs_library_local_steps;

static COSTS_ALONE void costs_library_local(uint64_t steps) {
  COSTS_BURN(costs_library_local_steps, steps);
}

void costs_library(uint64_t steps) {
  COSTS_BURN(costs_library_steps, steps / 2);
  costs_library_local(steps / 2);
  costs_state++;
}
