/* SPDX-License-Identifier: MIT */
/* Shared by the files of this folder; other files include explain.h. The call's
 * error is not NULL here. Functions that take a call return 1 if they knew the
 * reason and filled the error, else 0. */
#ifndef UVPERF_LIB_EXPLAIN_INTERNAL_H
#define UVPERF_LIB_EXPLAIN_INTERNAL_H

#include <stddef.h>

#include "explain/explain.h"
#include "uvperf/attr.h"

/* Enough bytes for any description of an event, including the NUL. */
#define UVPERF__DESCRIBE_BYTES 104

/* Writes a text such as "'page-faults'", "tracepoint 316" or "event 0x1 of PMU
 * msr". The text is cut, never overrun. */
void uvperf__describe_event(char *text, size_t size,
                            const struct perf_event_attr *attr);

/* Fills the error: the failed call, a colon, and the reason. Sets limit and
 * needed to 0. Always returns 1. */
int uvperf__open_say(const uvperf__open_call_t *call, int cause,
                     const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* A reason for a failure of an open. */
typedef struct uvperf__open_reason_s {
  int code;                                     /* -errno; 0: any */
  int (*test)(const uvperf__open_call_t *call); /* NULL: always true */
  int cause;
  /* Fixed, or with a %d for the errno. NULL: the test fills the error itself,
   * if it is true. */
  const char *text;
} uvperf__open_reason_t;

/* Explains the failure by the first reason whose code and test fit. */
int uvperf__open_find(const uvperf__open_call_t *call,
                      const uvperf__open_reason_t *reasons, size_t nr);

/* Adds ", or allow UVPERF_FALLBACK_…" to a remedy, if there is room and the
 * caller can still allow this fallback, which may help. Always returns 1. */
int uvperf__open_or_allow(const uvperf__open_call_t *call,
                          enum uvperf_fallback fallback);

/* Fills limit and needed. Call it after a reason that names both numbers.
 * Always returns 1. */
int uvperf__open_limit(const uvperf__open_call_t *call, uint64_t limit,
                       uint64_t needed);

/* Fills the error with a fixed text, unless `fault` is NULL. */
int uvperf__open_fault(const uvperf__open_call_t *call, int cause,
                       const char *fault);

/* Explains a CPU that is not in /sys/devices/system/cpu/`list`. */
int uvperf__open_cpu(const uvperf__open_call_t *call, const char *list,
                     const char *why);

/* If the errno comes from a seccomp filter, explains it: open_denied.c. */
int uvperf__open_filtered(const uvperf__open_call_t *call);
/* EACCES and EPERM. */
int uvperf__open_denied(const uvperf__open_call_t *call);

/* EINVAL: open_einval.c. */
int uvperf__open_einval(const uvperf__open_call_t *call);
/* Explains ENODEV and EINVAL if the thread of a group has ended. */
int uvperf__open_dead_group(const uvperf__open_call_t *call);

/* Whether the event belongs to the PMU of this name, "uprobe" or "kprobe". */
int uvperf__open_is_probe(const uvperf__open_call_t *call, const char *pmu);

/* Codes that have special reasons for a breakpoint, a uprobe or a kprobe:
 * open_probes.c. */
int uvperf__open_probe(const uvperf__open_call_t *call);

/* -- filters: filter.c ----------------------------------------------------- */

/* Looks up each field of a filter in the format of a tracepoint,
 * "category:name". Writes to `text` the first field that does not exist, and
 * the fields that the tracepoint has. If all fields exist, writes only the
 * second part. Returns 0, or -errno if the format cannot be read. The text is
 * cut, never overrun. */
int uvperf__filter_describe(const char *tracepoint, const char *filter,
                            char *text, size_t size);

#endif
