/* SPDX-License-Identifier: MIT */
/* A made-up host with CPUs that come and go, and nothing else. Other
 * files are added with host_tree.h. */
#ifndef UVPERF_TEST_CPU_TREE_H
#define UVPERF_TEST_CPU_TREE_H

/* Makes a tree with CPUs 0 to nr - 1, all online; removes it. For a setup and a
 * teardown: return 0 or -1. */
int cpu_tree_begin(int nr);
int cpu_tree_end(void);

/* Sets the content of /sys/devices/system/cpu/online. */
void cpu_tree_list(const char *list);

/* The CPU is up (again): it gets a new topology/ directory. */
void cpu_tree_bring_up(int cpu);
/* The CPU is down: it has no topology/. */
void cpu_tree_take_down(int cpu);

#endif
