/* SPDX-License-Identifier: MIT */
/* Rings of CPUs that are made, and had, or the test fails. */
#ifndef UVPERF_TEST_CPU_RINGS_MAKE_H
#define UVPERF_TEST_CPU_RINGS_MAKE_H

#include "ring/cpu_rings.h"

/* Of this machine, of the default size, with the kernel's clock. */
extern const uvperf__cpu_rings_options_t cpu_rings_defaults;

uvperf__cpu_rings_t *cpu_rings_make(const uvperf__cpu_rings_options_t *options);
uvperf__cpu_ring_t *cpu_rings_of(uvperf__cpu_rings_t *rings, int cpu);

#endif
