/* SPDX-License-Identifier: MIT */
/* Where a CPU is, as /sys/devices/system/cpu/cpuN/topology says. */
#ifndef COMMON_TOPOLOGY_H
#define COMMON_TOPOLOGY_H

#include <stdint.h>

/* An id of a CPU: "core_id", "die_id", "physical_package_id"; -1 if there is
 * none, as of a CPU that is offline. */
int32_t common_topology_id(int cpu, const char *name);

/* The node of memory that a CPU is of; 0 where nothing is said of nodes. */
int32_t common_topology_node(int cpu);

#endif
