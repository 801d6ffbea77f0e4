/* SPDX-License-Identifier: MIT */
/* Why a call failed. perf_event_open(2)'s errnos are ambiguous (EINVAL has a
 * dozen meanings), so whatever can fail while opening, mapping, starting and
 * controlling fills a uvperf_error_t. Needs no libuv. */
#ifndef UVPERF_ERROR_H
#define UVPERF_ERROR_H

#include <stdint.h>

#include "uvperf/version.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What a program can act on. `code` says which call failed and how the kernel
 * put it; the cause says what to do about it. */
enum uvperf_cause {
  /* Nothing failed. */
  UVPERF_CAUSE_NONE = 0,
  /* An argument that cannot be right on any machine. */
  UVPERF_CAUSE_ARGUMENT = 1,
  /* perf_event_paranoid, a missing capability, a foreign task or a security
   * module. */
  UVPERF_CAUSE_PERMISSION = 2,
  /* No such PMU or event on this machine: try another event. */
  UVPERF_CAUSE_NO_EVENT = 3,
  /* The PMU is there but cannot do what was asked (branch stacks, skid). */
  UVPERF_CAUSE_NOT_SUPPORTED = 4,
  /* The attr has bits or fields that this kernel does not know. */
  UVPERF_CAUSE_OLD_KERNEL = 5,
  /* The CPU is offline or does not exist. */
  UVPERF_CAUSE_NO_CPU = 6,
  /* The task is gone or never was. */
  UVPERF_CAUSE_NO_TASK = 7,
  /* RLIMIT_NOFILE or the system's file table: see limit and needed. */
  UVPERF_CAUSE_FILES = 8,
  /* perf_event_mlock_kb and RLIMIT_MEMLOCK: see limit and needed (bytes). */
  UVPERF_CAUSE_LOCKED_MEMORY = 9,
  /* Memory ran out. */
  UVPERF_CAUSE_MEMORY = 10,
  /* Another exclusive user holds the PMU. */
  UVPERF_CAUSE_BUSY = 11,
  /* All breakpoint slots are used up. */
  UVPERF_CAUSE_BREAKPOINT_SLOTS = 12,
  /* freq above perf_event_max_sample_rate: see limit and needed (Hz). */
  UVPERF_CAUSE_SAMPLE_RATE = 13,
  /* sample_max_stack above perf_event_max_stack: see limit and needed. */
  UVPERF_CAUSE_MAX_STACK = 14,
  /* This kernel, or the container's seccomp filter, has no perf events. */
  UVPERF_CAUSE_NO_PERF = 15,
  /* libuv refused one of the inner handles. */
  UVPERF_CAUSE_LOOP = 16,
  /* The kernel said no, for a reason that could not be told apart. */
  UVPERF_CAUSE_UNKNOWN = 17,
  /* The event has a filter or a BPF program, and takes one only. */
  UVPERF_CAUSE_EXISTS = 18,
  /* More BPF programs on a tracepoint than can be, or than there is room for:
   * see limit and needed. */
  UVPERF_CAUSE_BPF_PROGRAMS = 19
};

/* Every `uvperf_error_t *` parameter may be NULL. It is written when a call
 * fails and left alone when it succeeds, but for uvperf_measure_events, which
 * tells what is missing. Nothing in it is owned by anyone. */
typedef struct uvperf_error_s {
  /* Equal to the returned value: a negative errno, the same as libuv's
   * UV_E*. */
  int code;
  /* enum uvperf_cause. */
  int cause;
  /* Which of several attrs and targets (0 where there is one). */
  uint32_t attr_index;
  uint32_t target_index;
  /* The limit that was hit and what was needed, in the unit that the cause
   * names; 0 where there is none. */
  uint64_t limit;
  uint64_t needed;
  /* Where a text that was parsed went wrong: the byte, counted from 1; 0 where
   * no text was parsed. */
  uint32_t column;
  /* What was tried, why it failed and the remedy, in English, always
   * terminated. */
  char reason[228];
} uvperf_error_t;

/** Names a cause.
 *  @param cause  A value of enum uvperf_cause.
 *  @return for example "permission"; static; "unknown" for a value that is not
 *    in the enum. */
UVPERF_EXTERN const char *uvperf_cause_name(int cause);

#ifdef __cplusplus
}
#endif

#endif
