/* SPDX-License-Identifier: MIT */
/* Why a call failed. perf_event_open(2)'s errnos are ambiguous (EINVAL has a
 * dozen meanings), so all functions that open, map, start or control events
 * fill a uvperf_error_t. Needs no libuv. */
#ifndef UVPERF_ERROR_H
#define UVPERF_ERROR_H

#include <stdint.h>

#include "uvperf/version.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The cause of a failure, for programs that react to it. The code is the
 * kernel's or libuv's; the cause says why that code was returned. */
enum uvperf_cause {
  /* Nothing failed. */
  UVPERF_CAUSE_NONE = 0,
  /* An argument is wrong, whatever the machine. */
  UVPERF_CAUSE_ARGUMENT = 1,
  /* perf_event_paranoid or a security module forbids it, a capability is
   * missing, or the task belongs to another user. */
  UVPERF_CAUSE_PERMISSION = 2,
  /* No such PMU or event on this machine: try another event. */
  UVPERF_CAUSE_NO_EVENT = 3,
  /* The PMU exists but cannot do this (branch stacks, precise_ip). */
  UVPERF_CAUSE_NOT_SUPPORTED = 4,
  /* The attr has bits or fields that this kernel does not know. */
  UVPERF_CAUSE_OLD_KERNEL = 5,
  /* The CPU is offline or does not exist. */
  UVPERF_CAUSE_NO_CPU = 6,
  /* The task or the cgroup is gone, or never existed. */
  UVPERF_CAUSE_NO_TASK = 7,
  /* RLIMIT_NOFILE is reached, or the system's file table is full: see limit and
   * needed. */
  UVPERF_CAUSE_FILES = 8,
  /* The ring needs more than perf_event_mlock_kb and RLIMIT_MEMLOCK allow: see
   * limit and needed (bytes). */
  UVPERF_CAUSE_LOCKED_MEMORY = 9,
  /* Out of memory. */
  UVPERF_CAUSE_MEMORY = 10,
  /* Another exclusive user holds the PMU. */
  UVPERF_CAUSE_BUSY = 11,
  /* All breakpoint slots are in use. */
  UVPERF_CAUSE_BREAKPOINT_SLOTS = 12,
  /* freq is above perf_event_max_sample_rate: see limit and needed (Hz). */
  UVPERF_CAUSE_SAMPLE_RATE = 13,
  /* sample_max_stack is above perf_event_max_stack: see limit and needed. */
  UVPERF_CAUSE_MAX_STACK = 14,
  /* This kernel has no perf events, or the container's seccomp filter forbids
   * them. */
  UVPERF_CAUSE_NO_PERF = 15,
  /* libuv refused one of the library's inner handles. */
  UVPERF_CAUSE_LOOP = 16,
  /* The kernel refused the call, and its reason could not be found out. */
  UVPERF_CAUSE_UNKNOWN = 17,
  /* The event already has a filter or a BPF program, and can have only one. */
  UVPERF_CAUSE_EXISTS = 18,
  /* The tracepoint has as many BPF programs as the kernel allows, or more than
   * the caller's array can hold: see limit and needed. */
  UVPERF_CAUSE_BPF_PROGRAMS = 19
};

/* Why a call failed. Every `uvperf_error_t *` parameter may be NULL. A failed
 * call fills it. A successful call does not change it, except that
 * uvperf_measure_events reports missing counts in it. A uvperf_error_t holds no
 * resources, so it need not be freed. */
typedef struct uvperf_error_s {
  /* The returned code: a negative errno, which is also libuv's UV_E*. */
  int code;
  /* enum uvperf_cause. */
  int cause;
  /* The index of the attr and of the target; 0 if there is only one. */
  uint32_t attr_index;
  uint32_t target_index;
  /* The limit that was reached, and the amount that was needed. Their unit
   * depends on the cause. Both are 0 without a limit. */
  uint64_t limit;
  uint64_t needed;
  /* In a parsed text, the byte at which the mistake is, counted from 1. 0 if no
   * text was parsed. */
  uint32_t column;
  /* What was tried, why it failed, and the remedy. A terminated English
   * text. */
  char reason[228];
  uint64_t reserved[4]; /* 0; for later versions */
} uvperf_error_t;

/** Returns the name of a cause.
 *  @param cause  A value of enum uvperf_cause.
 *  @return The name, for example "permission"; "unknown" for any other value.
 *    The string is static. */
UVPERF_EXTERN const char *uvperf_cause_name(int cause);

#ifdef __cplusplus
}
#endif

#endif
