/* SPDX-License-Identifier: MIT */
/* Aside of the layers: says in words what an attempt to open was about. */
#ifndef UVPERF_LIB_EXPLAIN_DESCRIBE_H
#define UVPERF_LIB_EXPLAIN_DESCRIBE_H

#include <stddef.h>

#include "uvperf/attr.h"

/* Room for any text of this file, its end included. */
#define UVPERF__DESCRIBE_BYTES 104

/* "software event page-faults", "tracepoint 316", "event 0x1 of PMU msr" …; the
 * names of PMUs are read under `root`. Cut, never overrun. */
void uvperf__describe_event(char *text, size_t size, const char *root,
                            const struct perf_event_attr *attr);

/* " of thread 12 on CPU 3" and its like, as in perf_event_open(2); cgroup -1:
 * none. Cut, never overrun. */
void uvperf__describe_target(char *text, size_t size, int pid, int cpu,
                             int cgroup);

#endif
