/* SPDX-License-Identifier: MIT */
/* A made-up host with CPUs that come and go, and nothing else. Other
 * files are added with make_host.h. */
#ifndef UVPERF_TEST_MAKE_CPUS_H
#define UVPERF_TEST_MAKE_CPUS_H

/* Makes a tree with CPUs 0 to nr - 1, all online; removes it. For a setup and a
 * teardown: return 0 or -1. */
int make_cpus_begin(int nr);
int make_cpus_end(void);

/* Sets the content of /sys/devices/system/cpu/online. */
void make_cpus_list(const char *list);

/* The CPU is up (again): it gets a new topology/ directory. */
void make_cpus_bring_up(int cpu);
/* The CPU is down: it has no topology/. */
void make_cpus_take_down(int cpu);

#endif
