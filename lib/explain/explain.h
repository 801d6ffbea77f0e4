/* SPDX-License-Identifier: MIT */
/* Why the kernel refused something: a code and its circumstances to a
 * uvperf_error_t. Each function returns the code, so that a caller can end with
 * `return uvperf__explain_…`; `error` may be NULL everywhere. */
#ifndef UVPERF_LIB_EXPLAIN_EXPLAIN_H
#define UVPERF_LIB_EXPLAIN_EXPLAIN_H

#include <stddef.h>
#include <stdint.h>

#include "host/tracefs.h"
#include "uvperf/attr.h"
#include "uvperf/error.h"

/* One call of perf_event_open(2), or of uvperf_open_fn, with what it said. */
typedef struct uvperf__open_call_s {
  uvperf_error_t *error; /* to be filled; NULL: nobody wants to know */
  const char *root;      /* of /proc and /sys; "" is the real one */
  const struct perf_event_attr *attr; /* as the kernel left it */
  uint32_t asked_size; /* attr.size before the call: E2BIG overwrites it */
  int code;            /* a -errno */
  int pid;
  int cpu;
  int cgroup; /* fd, -1: none */
  /* How the leader of its group was opened (of it only attr, pid, cpu, cgroup
   * and leader count), NULL: none. */
  const struct uvperf__open_call_s *leader;
  /* Shared by all that one function of the library opens, which can be
   * thousands; NULL: there is only this one. */
  uvperf__tracefs_ids_t *tracepoints;
  int is_by_program; /* a uvperf_open_fn has said it, not the kernel */
} uvperf__open_call_t;

/* Why perf_event_open(2) failed. Reads what it needs of /proc and /sys under
 * the root. */
int uvperf__explain_open(const uvperf__open_call_t *call);

/* Why mmap(2) of a ring with `bytes` of data gave `code`. */
int uvperf__explain_map(uvperf_error_t *error, int code, const char *root,
                        const struct perf_event_attr *attr, int cpu,
                        size_t bytes);

/* One ioctl on an open event. What the request does not take is 0 or NULL. */
typedef struct uvperf__control_s {
  unsigned long request;              /* PERF_EVENT_IOC_* */
  const struct perf_event_attr *attr; /* of the event */
  /* The argument: the overflows, the period, the program's fd; for QUERY_BPF
   * the number of programs. */
  uint64_t value;
  const char *filter;
  const struct perf_event_attr *wanted; /* what MODIFY_ATTRIBUTES was given */
  int has_cookie; /* SET_BPF by a link with a cookie, which no ioctl replaces */
} uvperf__control_t;

/* Why that ioctl gave `code`. */
int uvperf__explain_control(uvperf_error_t *error, int code, const char *root,
                            const uvperf__control_t *control);

/* Why a command of bpf(2) gave `code` while `what` was tried: "the map
 * /sys/fs/bpf/events cannot be opened". */
int uvperf__explain_bpf(uvperf_error_t *error, int code, const char *root,
                        const char *what);

/* What of a breakpoint's bp_type, bp_len and bp_addr the kernel refuses by
 * `code`, -EINVAL or -EOPNOTSUPP; NULL for nothing that is known; static. */
const char *uvperf__breakpoint_fault(const struct perf_event_attr *attr,
                                     int code);

#endif
