/* SPDX-License-Identifier: MIT */
/* The part of program.c that is in a shared library. */
#ifndef COSTS_LIBRARY_H
#define COSTS_LIBRARY_H

#include "costs.h"

extern uint64_t costs_library_steps, costs_library_local_steps;

void costs_library(uint64_t steps);

#endif
