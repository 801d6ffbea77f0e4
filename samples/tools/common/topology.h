/* SPDX-License-Identifier: MIT */
/* The place of a CPU, from /sys/devices/system/cpu/cpuN/topology. */
#ifndef COMMON_TOPOLOGY_H
#define COMMON_TOPOLOGY_H

#include <stdint.h>

/* Returns an id of a CPU. `name` is "core_id", "die_id" or
 * "physical_package_id". Returns -1 if the CPU has no such id, for example
 * because it is offline. */
int32_t common_topology_id(int cpu, const char *name);

/* Returns the memory node of a CPU; 0 if it is not known. */
int32_t common_topology_node(int cpu);

#endif
