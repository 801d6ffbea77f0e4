/* SPDX-License-Identifier: MIT */
/* A tree that stands for sysfs, with CPUs that come and go. */
#ifndef UVPERF_TEST_CPU_TREE_H
#define UVPERF_TEST_CPU_TREE_H

/* Makes one of so many CPUs, from 0 on, that are online; and removes it. For a
 * setup and teardown: 0, or -1. */
int cpu_tree_begin(int nr);
int cpu_tree_end(void);

/* Its root, valid until the end. */
const char *cpu_tree_root(void);

/* Writes another file of it. */
void cpu_tree_write(const char *path, const char *text);

/* What /sys/devices/system/cpu/online says from now on. */
void cpu_tree_list(const char *list);

/* The CPU is up (again): its topology/ is another than any before. */
void cpu_tree_bring_up(int cpu);
/* It is down: it has no topology/. */
void cpu_tree_take_down(int cpu);

#endif
