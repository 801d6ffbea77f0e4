/* SPDX-License-Identifier: MIT */
/* Explains why the kernel refused something: turns a code and its circumstances
 * into a uvperf_error_t. Each function returns the code, so that a caller can
 * end with `return uvperf__explain_…`. `error` may be NULL everywhere. */
#ifndef UVPERF_LIB_EXPLAIN_EXPLAIN_H
#define UVPERF_LIB_EXPLAIN_EXPLAIN_H

#include <stddef.h>
#include <stdint.h>

#include "host/tracefs.h"
#include "uvperf/attr.h"
#include "uvperf/error.h"

/* One failed call of perf_event_open(2), or of a uvperf_open_fn, and its
 * result. */
typedef struct uvperf__open_call_s {
  uvperf_error_t *error;              /* to be filled, or NULL */
  const struct perf_event_attr *attr; /* as the kernel left it */
  uint32_t asked_size; /* attr.size before the call: E2BIG overwrites it */
  int code;            /* a -errno */
  int pid;
  int cpu;
  int cgroup; /* fd, -1: none */
  /* The call that opened the leader of its group. NULL: no leader. Only the
   * attr, pid, cpu, cgroup and leader of that call are used. */
  const struct uvperf__open_call_s *leader;
  /* Shared by all calls that one function of the library makes, which can be
   * thousands. NULL: this is the only call. */
  uvperf__tracefs_ids_t *tracepoints;
  uint32_t fallbacks; /* enum uvperf_fallback: those that are tried */
  int may_allow;      /* the caller's options have fallbacks to allow */
  int is_by_program;  /* the code comes from a uvperf_open_fn, not the kernel */
} uvperf__open_call_t;

/* Explains why perf_event_open(2) failed. Reads /proc and /sys. */
int uvperf__explain_open(const uvperf__open_call_t *call);

/* Explains why mmap(2) of a ring with `bytes` of data failed with `code`. */
int uvperf__explain_map(uvperf_error_t *error, int code,
                        const struct perf_event_attr *attr, int cpu,
                        size_t bytes);

/* One ioctl on an open event. Fields that the request does not use are 0 or
 * NULL. */
typedef struct uvperf__control_s {
  unsigned long request;              /* PERF_EVENT_IOC_* */
  const struct perf_event_attr *attr; /* of the event */
  /* The argument: the overflows, the period, the program's fd, or for QUERY_BPF
   * the number of programs. */
  uint64_t value;
  const char *filter;
  const struct perf_event_attr *wanted; /* MODIFY_ATTRIBUTES's argument */
  int has_cookie; /* SET_BPF by a link with a cookie: no ioctl can do this */
} uvperf__control_t;

/* Explains why that ioctl failed with `code`. */
int uvperf__explain_control(uvperf_error_t *error, int code,
                            const uvperf__control_t *control);

/* Explains why a command of bpf(2) failed with `code`. `what` names the failed
 * action: "the map /sys/fs/bpf/events cannot be opened". */
int uvperf__explain_bpf(uvperf_error_t *error, int code, const char *what);

/* Finds the fault in a breakpoint's bp_type, bp_len and bp_addr for which the
 * kernel returns `code` (-EINVAL or -EOPNOTSUPP). Returns a static text, or
 * NULL if no fault is known. */
const char *uvperf__breakpoint_fault(const struct perf_event_attr *attr,
                                     int code);

#endif
