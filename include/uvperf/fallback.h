/* SPDX-License-Identifier: MIT */
/* What an event may fall back to where the kernel refuses it as it was asked
 * for, and what was changed then. Fallbacks are offered, not imposed: the
 * caller allows each by uvperf_event_options_t.fallbacks, and is told of every
 * change by uvperf_event_changes. Needs no libuv. */
#ifndef UVPERF_FALLBACK_H
#define UVPERF_FALLBACK_H

#include <stddef.h>
#include <stdint.h>

#include "uvperf/attr.h"
#include "uvperf/version.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What may be changed of an attr, each only for the failure that it helps
 * against. Bits; none is the default. */
enum uvperf_fallback {
  /* cycles (PERF_COUNT_HW_CPU_CYCLES of type PERF_TYPE_HARDWARE, of whichever
   * PMU its upper half names; not the same event under the type of a PMU) ->
   * PERF_COUNT_SW_TASK_CLOCK, or PERF_COUNT_SW_CPU_CLOCK for a whole CPU or
   * cgroup, where there is no PMU that has it (ENOENT, ENODEV, ENXIO) or none
   * that can sample it (EOPNOTSUPP). Both count nanoseconds, of user and
   * kernel side alike.
   *
   * A frequency is kept. A period of cycles becomes as many nanoseconds, so
   * that a CPU of 1 GHz would sample as often as before and others less often;
   * but at least 100,000, as a clock is a timer interrupt each time, and no
   * less than perf_event_max_sample_rate allows. precise_ip becomes 0. What
   * only hardware does (branch stacks, AUX) is not dropped: it still fails. */
  UVPERF_FALLBACK_CLOCK = 1,
  /* User and kernel side -> the user side alone (exclude_kernel, exclude_hv),
   * where perf_event_paranoid forbids the kernel side (EACCES, EPERM). Not for
   * an attr that excludes the user side or the kernel side itself. Of what
   * happens in the kernel alone, as context switches do and tracepoints other
   * than those of system calls, nothing is left: such an event opens, and
   * counts 0. */
  UVPERF_FALLBACK_USER = 2,
  /* precise_ip -> the highest below it that the PMU can do, 0 at last
   * (EOPNOTSUPP, EINVAL, ENOENT). */
  UVPERF_FALLBACK_PRECISE = 4,
  /* Flags, fields and bits of sample_type, read_format, branch_sample_type and
   * aux_action that this kernel does not know -> 0 (EINVAL, E2BIG). What the
   * records and counts lack then, and what is measured more (a cleared
   * inherit_thread measures child processes too), the changes tell. Flags and
   * fields newer than enum uvperf_attr_field are left alone. */
  UVPERF_FALLBACK_KERNEL = 8,
  /* All that this header has. */
  UVPERF_FALLBACK_ALL = 15
};

/* One field of an attr that a fallback changed. */
typedef struct uvperf_change_s {
  /* enum uvperf_fallback: which of them, one bit. */
  uint32_t fallback;
  /* enum uvperf_attr_field. */
  uint32_t field;
  /* Its values before and after, as by uvperf_attr_get. */
  uint64_t from;
  uint64_t to;
  uint64_t reserved;
} uvperf_change_t;

/** Describes a change in words, as in "precise_ip 3 -> 1: the PMU can do no
 *  more".
 *  @param change  Caller's, or of uvperf_event_changes.
 *  @param text    Caller's; receives the text, terminated. May be NULL if *size
 *    is 0.
 *  @param size    Bytes of text; receives the bytes needed, with the ending
 *    NUL. 128 are enough for any change.
 *  @return 0, or, with text and, but for -ENOBUFS, *size left alone,
 *    -ENOBUFS  text is too small: *size is what it needs;
 *    -EINVAL   an argument is NULL. */
UVPERF_EXTERN int uvperf_change_describe(const uvperf_change_t *change,
                                         char *text, size_t *size);

/** Tells whether the running kernel knows a field of struct perf_event_attr, or
 *  bits of one. It asks the kernel for an event that there is none of, which is
 *  refused for that only if all else is known; nothing is opened, and no
 *  privileges are needed. An answer is remembered for as long as the process
 *  lives.
 *  @param field  enum uvperf_attr_field.
 *  @param bits   Of UVPERF_ATTR_SAMPLE_TYPE, READ_FORMAT, BRANCH_SAMPLE_TYPE
 *    and AUX_ACTION: the bits to ask for. Of other fields any but 0.
 *  @return 1 if it knows all of them, 0 if it lacks one, or
 *    -EINVAL  no such field, bits is 0, or the field has no such bits;
 *    another  this process gets no answer: what the kernel, or a seccomp
 *      filter, says to each and every event (-EACCES, -EPERM, -ENOSYS), or that
 *      there are no fds (-EMFILE, -ENFILE) or no memory (-ENOMEM) left.
 *  That a kernel knows a bit does not mean that a PMU can do it.
 *  Source: perf_copy_attr() and perf_swevent_init() in kernel/events/core.c. */
UVPERF_EXTERN int uvperf_kernel_knows(enum uvperf_attr_field field,
                                      uint64_t bits);

#ifdef __cplusplus
}
#endif

#endif
