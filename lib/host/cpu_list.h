/* SPDX-License-Identifier: MIT */
/* Lists of CPUs as the kernel writes them, "0,2-5". No memory. */
#ifndef UVPERF_LIB_HOST_CPU_LIST_H
#define UVPERF_LIB_HOST_CPU_LIST_H

#include <stddef.h>

/* Far above any kernel's NR_CPUS, and low enough that no sum overflows. */
#define UVPERF__MAX_CPU 65535

/* Reads a list such as "0,2-5", with or without a newline at the end, into
 * cpus: each CPU once, ascending. *nr is the room in cpus and receives the
 * number of CPUs. Returns 0; -EINVAL for text that is not a list; -ENOBUFS for
 * too little room (*nr is the room that is needed). An empty list has 0 CPUs.
 * cpus may be NULL if *nr is 0. */
int uvperf__cpu_list_parse(const char *list, int *cpus, size_t *nr);

/* Whether a CPU is in a list: 1, 0, or -EINVAL for text that is not a list. */
int uvperf__cpu_list_has(const char *list, int cpu);

#endif
