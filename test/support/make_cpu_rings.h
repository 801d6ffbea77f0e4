/* SPDX-License-Identifier: MIT */
/* Makes and finds rings of CPUs, or fails the test. */
#ifndef UVPERF_TEST_MAKE_CPU_RINGS_H
#define UVPERF_TEST_MAKE_CPU_RINGS_H

#include "ring/cpu_rings.h"

/* For this machine: the default size, the kernel's clock. */
extern const uvperf__cpu_rings_options_t cpu_rings_defaults;

uvperf__cpu_rings_t *make_cpu_rings(const uvperf__cpu_rings_options_t *options);
uvperf__cpu_ring_t *cpu_rings_of(uvperf__cpu_rings_t *rings, int cpu);

#endif
