/* SPDX-License-Identifier: MIT */
/* Lists of CPUs as the kernel writes them, "0,2-5". No memory. */
#ifndef UVPERF_LIB_HOST_CPU_LIST_H
#define UVPERF_LIB_HOST_CPU_LIST_H

#include <stddef.h>

/* Far above any kernel's NR_CPUS, and so low that no sum overflows. */
#define UVPERF__MAX_CPU 65535

/* Reads a list such as "0,2-5", an ending newline allowed, into cpus, each once
 * and ascending. *nr is the room in cpus and receives their number. 0; -EINVAL
 * for what is no list; -ENOBUFS (*nr is what is needed) for too little room.
 * An empty list is 0 CPUs. cpus may be NULL where *nr is 0. */
int uvperf__cpu_list_parse(const char *list, int *cpus, size_t *nr);

/* Whether a CPU is in a list: 1, 0, or -EINVAL for what is no list. */
int uvperf__cpu_list_has(const char *list, int cpu);

#endif
