/* SPDX-License-Identifier: MIT */
/* Lists of CPUs as the kernel writes them, such as "0,2-5". Allocates no
 * memory. uvperf_cpu_list_parse is in uvperf/system.h. */
#ifndef UVPERF_LIB_HOST_CPU_LIST_H
#define UVPERF_LIB_HOST_CPU_LIST_H

#include "uvperf/system.h"

/* Far above any kernel's NR_CPUS, and low enough that no sum overflows. */
#define UVPERF__MAX_CPU 65535

/* Whether a CPU is in a list. Returns 1, 0, or -EINVAL if the text is not a
 * list. */
int uvperf__cpu_list_has(const char *list, int cpu);

#endif
