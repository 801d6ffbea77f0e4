/* SPDX-License-Identifier: MIT */
/* What the files that explain a failed perf_event_open(2) share; the others
 * include explain.h. The call's error is not NULL here. Functions of a call
 * return whether they knew the reason, and filled the error. */
#ifndef UVPERF_LIB_EXPLAIN_INTERNAL_H
#define UVPERF_LIB_EXPLAIN_INTERNAL_H

#include <stddef.h>

#include "explain/explain.h"
#include "uvperf/attr.h"

/* Room for any text of this file, its end included. */
#define UVPERF__DESCRIBE_BYTES 104

/* "software event page-faults", "tracepoint 316", "event 0x1 of PMU msr" …; the
 * names of PMUs are read under `root`. Cut, never overrun. */
void uvperf__describe_event(char *text, size_t size, const char *root,
                            const struct perf_event_attr *attr);

/* Fills the error: what was tried, a colon, and the reason. limit and needed
 * become 0. Always 1. */
int uvperf__open_say(const uvperf__open_call_t *call, int cause,
                     const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Fills limit and needed, after a reason that has the two. Always 1. */
int uvperf__open_limit(const uvperf__open_call_t *call, uint64_t limit,
                       uint64_t needed);

/* Says a fixed text, if there is one. */
int uvperf__open_fault(const uvperf__open_call_t *call, int cause,
                       const char *fault);

/* Whether the CPU is not in /sys/devices/system/cpu/`list`. */
int uvperf__open_cpu(const uvperf__open_call_t *call, const char *list,
                     const char *why);

/* Any errno, if it is of a seccomp filter: open_denied.c. */
int uvperf__open_filtered(const uvperf__open_call_t *call);
/* EACCES and EPERM. */
int uvperf__open_denied(const uvperf__open_call_t *call);

/* EINVAL: open_einval.c. */
int uvperf__open_einval(const uvperf__open_call_t *call);
/* ENODEV and EINVAL, if the thread of a group has ended. */
int uvperf__open_dead_group(const uvperf__open_call_t *call);

/* Whether the event is of the PMU of this name, "uprobe" or "kprobe". */
int uvperf__open_is_probe(const uvperf__open_call_t *call, const char *pmu);

/* Any errno that a breakpoint, or a uprobe or kprobe, has reasons of its own
 * for: open_probes.c. */
int uvperf__open_breakpoint(const uvperf__open_call_t *call);
int uvperf__open_probe(const uvperf__open_call_t *call);

#endif
