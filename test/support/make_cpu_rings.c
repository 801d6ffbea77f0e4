/* SPDX-License-Identifier: MIT */
#include "make_cpu_rings.h"

#include "support.h"

const uvperf__cpu_rings_options_t cpu_rings_defaults = {.clockid = -1};

uvperf__cpu_rings_t *
make_cpu_rings(const uvperf__cpu_rings_options_t *options) {
  uvperf__cpu_rings_t *rings;
  uvperf_error_t error;

  if (uvperf__cpu_rings_check(options, &error) != 0)
    fail_msg("%s", error.reason);
  assert_int_equal(uvperf__cpu_rings_new(&rings, options), 0);
  return rings;
}

uvperf__cpu_ring_t *cpu_rings_of(uvperf__cpu_rings_t *rings, int cpu) {
  uvperf__cpu_ring_t *ring;
  uvperf_error_t error;

  if (uvperf__cpu_rings_get(rings, cpu, &ring, &error) != 0)
    fail_msg("%s", error.reason);
  return ring;
}
