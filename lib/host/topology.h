/* SPDX-License-Identifier: MIT */
/* How CPUs lie in packages, from sysfs under a root path that tests
 * can set ("" is the real one). */
#ifndef UVPERF_LIB_HOST_TOPOLOGY_H
#define UVPERF_LIB_HOST_TOPOLOGY_H

#include <stdint.h>

/* The package that a CPU is in, as a number that no other has: made of its
 * topology/physical_package_id and die_id, as events of a package are counted
 * by perf(1), once for each die. An id that is -1 (the machine has no such
 * thing), and a die_id that is not there (before Linux 5.2), count as 0. 0, or
 * -errno: -ENOENT of a CPU that is offline. */
int uvperf__cpu_package(const char *root, int cpu, uint64_t *package);

#endif
