/* SPDX-License-Identifier: MIT */
/* Lists of CPUs as the kernel writes them, such as "0,2-5". Allocates no
 * memory. */
#ifndef UVPERF_LIB_HOST_CPU_LIST_H
#define UVPERF_LIB_HOST_CPU_LIST_H

#include <stddef.h>

/* Far above any kernel's NR_CPUS, and low enough that no sum overflows. */
#define UVPERF__MAX_CPU 65535

/* Reads a list such as "0,2-5", with or without a newline at the end, into
 * cpus: each CPU once, ascending. On entry *nr is the room in cpus. On return
 * *nr is the number of CPUs. Returns 0, -EINVAL if the text is not a list, or
 * -ENOBUFS if there is too little room. With -ENOBUFS, *nr is the room that is
 * needed. An empty list has 0 CPUs. cpus may be NULL if *nr is 0. */
int uvperf__cpu_list_parse(const char *list, int *cpus, size_t *nr);

/* Whether a CPU is in a list. Returns 1, 0, or -EINVAL if the text is not a
 * list. */
int uvperf__cpu_list_has(const char *list, int cpu);

#endif
