/* SPDX-License-Identifier: MIT */
/* What can be done to an open event: perf_event_open(2)'s ioctls, one function
 * each. The rules of event.h hold here too. These codes can come from each of
 * them that takes a uvperf_error_t:
 *
 *   UV_EPERM   in a forked child: its fd is the parent's event (cause
 *              argument); or a seccomp filter or a security module forbids it
 *              (cause permission);
 *   UV_EACCES  a security module forbids it (cause permission), as
 *              security_perf_event_write decides;
 *   UV_ENODEV  the event's PMU is gone (cause no_event; Linux 6.15).
 *
 * `error` may be NULL; it receives the cause, the reason and the remedy of a
 * failure. None of these blocks, but each that reaches another CPU waits for it
 * (ENABLE some hundred microseconds). */
#ifndef UVPERF_EVENT_CONTROL_H
#define UVPERF_EVENT_CONTROL_H

#include "uvperf/event.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Enables counting. Not needed after a start that enables. If the event leads
 *  siblings, they are enabled first (options.leader in event.h). If its limit
 *  of overflows is used up (uvperf_event_refresh), it now runs without a limit.
 *  @return 0, or see the top, or
 *    UV_ENOTSUP its overflows, or a sibling's, ran out, and this kernel cannot
 *      start that event again (uvperf_event_refresh).
 *  Source: perf_event_open(2), PERF_EVENT_IOC_ENABLE. */
UVPERF_EXTERN int uvperf_event_enable(uvperf_event_t *event,
                                      uvperf_error_t *error);

/** Disables counting; records in the ring stay and are still delivered. A hit
 *  that the target has on another CPU at that moment may be counted without
 *  being written or counted as lost: the kernel interrupts it in between.
 *  @return 0, or see the top.
 *  Source: perf_event_open(2), PERF_EVENT_IOC_DISABLE. */
UVPERF_EXTERN int uvperf_event_disable(uvperf_event_t *event,
                                       uvperf_error_t *error);

/** Sets the count of this event alone to 0; the times are never reset by the
 *  kernel.
 *  @return 0, or see the top.
 *  Source: perf_event_open(2), PERF_EVENT_IOC_RESET. */
UVPERF_EXTERN int uvperf_event_reset(uvperf_event_t *event,
                                     uvperf_error_t *error);

/** Enables the whole group that the event belongs to: the same as
 *  uvperf_event_enable of its leader. All members begin to count at once,
 *  unless the leader ran already (options.leader in event.h).
 *  @return 0, or as uvperf_event_enable.
 *  Source: perf_event_open(2), PERF_EVENT_IOC_ENABLE. */
UVPERF_EXTERN int uvperf_event_enable_group(uvperf_event_t *event,
                                            uvperf_error_t *error);

/** Disables the whole group that the event belongs to: its leader and every
 *  sibling.
 *  @return 0, or see the top.
 *  Source: perf_event_open(2), PERF_IOC_FLAG_GROUP. */
UVPERF_EXTERN int uvperf_event_disable_group(uvperf_event_t *event,
                                             uvperf_error_t *error);

/** Sets the counts of the whole group that the event belongs to to 0.
 *  @return 0, or see the top.
 *  Source: perf_event_open(2), PERF_IOC_FLAG_GROUP. */
UVPERF_EXTERN int uvperf_event_reset_group(uvperf_event_t *event,
                                           uvperf_error_t *error);

/** Enables the event for a number of overflows. At the last one the kernel
 *  disables it. That does not end delivery: no UV_EOF comes, and the next
 *  refresh enables it again. The rest of the limit survives disable and enable.
 *  If the event leads siblings, they are enabled first.
 *
 *  Since Linux 6.16 a tracepoint, a probe or a breakpoint whose overflows ran
 *  out stays stopped, even when it is enabled, until its period is set while
 *  its target runs. After the first refresh of such an event, the library
 *  therefore sets the period in each call that enables the event (refresh,
 *  enable, start, modify, also of its leader). The period begins again then,
 *  and the next sample can come early. This works for the calling thread and
 *  for whole CPUs, which run at that moment. Another thread, or a cgroup, may
 *  not run then: once its overflows ran out, enabling its event is UV_ENOTSUP.
 *  Close that event and open it again. The library knows from the count that
 *  the overflows ran out, but not if uvperf_event_reset, set_period or set_bpf
 *  was called since the refresh.
 *
 *  Linux 6.16, and 6.17 before its commit "perf/core: Fix system hang caused by
 *  cpu-clock usage", can hang the machine when the overflows of cpu-clock or
 *  task-clock run out.
 *  @param overflows  Samples, 1 to INT_MAX; added to the rest of the limit.
 *  @return 0, or see the top, or
 *    UV_EINVAL  overflows is 0 or above INT_MAX; or the event does not sample,
 *      or is inherited;
 *    UV_ENOTSUP its overflows, or a sibling's, ran out, and this kernel cannot
 *      start that event again.
 *  Source: perf_event_open(2), PERF_EVENT_IOC_REFRESH; _perf_event_refresh. */
UVPERF_EXTERN int uvperf_event_refresh(uvperf_event_t *event,
                                       uint32_t overflows,
                                       uvperf_error_t *error);

/** Changes the period, or with attr.freq the frequency, at once, running or
 *  not. uvperf_event_attr has it then. A running event forgets how far it was
 *  in the old period, and its first samples can come early.
 *  @param period  Events between samples (nanoseconds for the clocks), below
 *    2^63; or Hz with attr.freq, up to perf_event_max_sample_rate. Not 0.
 *  @return 0, or see the top, or
 *    UV_EINVAL  0 or too large (cause sample_rate for a frequency); the event
 *      does not sample; or the PMU cannot count so far.
 *  Source: perf_event_open(2), PERF_EVENT_IOC_PERIOD. */
UVPERF_EXTERN int uvperf_event_set_period(uvperf_event_t *event,
                                          uint64_t period,
                                          uvperf_error_t *error);

/** Sets the filter of a tracepoint, once: hits that do not match are neither
 *  counted nor sampled. (An event of a PMU that traces instructions takes
 *  filters of addresses, and those again and again.)
 *  @param filter  For example "fd == 3 && count > 100"; copied. Fields are
 *    those of events/<category>/<name>/format in tracefs.
 *  @return 0, or see the top, or
 *    UV_EINVAL  no tracepoint; not a filter of its fields; or a page long or
 *      longer;
 *    UV_EEXIST  the event has a filter;
 *    UV_ENOSPC, UV_E2BIG  too many conditions for a kernel before 4.17;
 *    UV_ENOMEM  out of memory;
 *    UV_ENOTSUP an address filter that this PMU cannot do;
 *    UV_ENOENT  an address filter whose file is not there; of a tracepoint's
 *      filter a bracket that is not closed;
 *    UV_ESRCH   a quotation mark that is not closed (calc_stack in
 *      kernel/trace/trace_events_filter.c).
 *  Source: perf_event_open(2), PERF_EVENT_IOC_SET_FILTER. */
UVPERF_EXTERN int uvperf_event_set_filter(uvperf_event_t *event,
                                          const char *filter,
                                          uvperf_error_t *error);

/** Attaches a BPF program, until uvperf_event_close. (By a BPF link, one more
 *  fd; before Linux 5.15, without fds, or where bpf(2) is forbidden, by
 *  ioctl(2): then the program ends when the loop runs next. A forked child has
 *  copies of the fds: the program runs until it has closed them too.) A
 *  tracepoint takes
 *  BPF_PROG_TYPE_TRACEPOINT, a kprobe or uprobe BPF_PROG_TYPE_KPROBE: up to 64
 *  such programs run there at every hit, on any CPU, from this call on and
 *  whether the event is enabled or not; and a hit for which one returns 0 is
 *  neither counted nor sampled, by no event of anybody's. One that means its
 *  own target must look at the task. Other events take
 *  BPF_PROG_TYPE_PERF_EVENT, which runs at their own samples and drops those
 *  for which it returns 0; they are counted.
 *  @param prog_fd  An fd of the program, the caller's; it may be closed then.
 *  @return 0, or see the top, or
 *    UV_EBADF   prog_fd is not an open fd;
 *    UV_EINVAL  it is no BPF program, or one of a type not for this event;
 *    UV_EEXIST  the event has a program, or the tracepoint this one;
 *    UV_E2BIG   64 programs are attached to the tracepoint;
 *    UV_EACCES  the program reads beyond the tracepoint's fields (or see the
 *      top);
 *    UV_EPROTO  precise_ip, and the program takes a stack that the sample does
 *      not have;
 *    UV_ENOTSUP this kernel has no BPF for perf events;
 *    UV_ENOMEM  out of memory.
 *  Source: perf_event_open(2), PERF_EVENT_IOC_SET_BPF. */
UVPERF_EXTERN int uvperf_event_set_bpf(uvperf_event_t *event, int prog_fd,
                                       uvperf_error_t *error);

/** Gets the ids of the BPF programs that are attached to the event's
 *  tracepoint, through this event or any other. Needs CAP_PERFMON.
 *  @param ids  Caller's; receives up to *nr ids. May be NULL if *nr is 0.
 *  @param nr   In: room in ids. Out: how many are attached.
 *  @return 0, or see the top, or
 *    UV_ENOSPC  more are attached than there is room; ids has the first;
 *    UV_EINVAL  ids or nr is NULL; no tracepoint;
 *    UV_EPERM   without CAP_PERFMON (cause permission);
 *    UV_ENOTSUP this kernel has no BPF for perf events;
 *    UV_ENOMEM  out of memory. On all but UV_ENOSPC *nr is left alone.
 *  Source: perf_event_open(2), PERF_EVENT_IOC_QUERY_BPF. */
UVPERF_EXTERN int uvperf_event_query_bpf(uvperf_event_t *event, uint32_t *ids,
                                         size_t *nr, uvperf_error_t *error);

/** Pauses the ring: until resumed, records are dropped and counted as lost.
 *  Counting goes on. Before start or while stopped it is the same; a second
 *  pause is 0.
 *  @return 0, or see the top, or
 *    UV_EBUSY   uvperf_event_snapshot_start has begun a snapshot of the ring;
 *    UV_EINVAL  the event has no ring.
 *  Source: perf_event_open(2), PERF_EVENT_IOC_PAUSE_OUTPUT. */
UVPERF_EXTERN int uvperf_event_pause(uvperf_event_t *event,
                                     uvperf_error_t *error);

/** Resumes the ring. What was dropped is told by a LOST record before the next
 *  record that is written. 0 when it was not paused.
 *  @return 0, or see the top, or
 *    UV_EBUSY   uvperf_event_snapshot_start has begun a snapshot of the ring;
 *    UV_EINVAL  the event has no ring.
 *  Source: perf_event_open(2), PERF_EVENT_IOC_PAUSE_OUTPUT. */
UVPERF_EXTERN int uvperf_event_resume(uvperf_event_t *event,
                                      uvperf_error_t *error);

/** Moves a breakpoint: gives an open PERF_TYPE_BREAKPOINT event another
 *  bp_addr, bp_len, bp_type or sig_data; nothing else of an attr can be
 *  changed. On success and on failure a running event runs on (hits while the
 *  kernel moves it are missed), and a stopped one stays stopped: by what start,
 *  stop, the group's and this handle's enable, disable and refresh did. What
 *  the kernel or others do is not known to the handle: an event that runs by
 *  enable_on_exec is stopped by modify unless uvperf_event_enable was called
 *  before; one whose overflows ran out (uvperf_event_refresh), or that was
 *  disabled by prctl(2) or through a dup of the fd, runs again unless
 *  uvperf_event_disable was called.
 *  @param attr  Caller's, copied: a changed copy of uvperf_event_attr, or of
 *    the attr that the event was opened with, of the same or another size.
 *    After success uvperf_event_attr has its values.
 *  @return 0, or see the top, or
 *    UV_EINVAL  attr is NULL or of an impossible size; it differs in more than
 *      that (the reason says where); or no such breakpoint on this machine;
 *    UV_ENOTSUP the event is no breakpoint; or the CPU has none of that bp_len;
 *      or the overflows ran out, and this kernel cannot start the event again
 *      (uvperf_event_refresh): then it has moved, but stays stopped;
 *    UV_EPERM   a bp_addr in the kernel, without CAP_SYS_ADMIN (cause
 *      permission; or see the top);
 *    UV_E2BIG   the attr has fields that this kernel does not know;
 *    UV_ENOSPC  breakpoint slots of the new type are used up;
 *    UV_ENOMEM  out of memory.
 *  Source: perf_event_open(2), PERF_EVENT_IOC_MODIFY_ATTRIBUTES. */
UVPERF_EXTERN int uvperf_event_modify(uvperf_event_t *event,
                                      const struct perf_event_attr *attr,
                                      uvperf_error_t *error);

/** Gets the event's id, which its records and reads carry.
 *  @param id  Receives the id.
 *  @return 0; UV_EINVAL if id is NULL; or UV_EPERM in a forked child.
 *  Source: perf_event_open(2), PERF_EVENT_IOC_ID. */
UVPERF_EXTERN int uvperf_event_id(uvperf_event_t *event, uint64_t *id);

/** Gets the event's fd, for what the library does not do: to put it into a BPF
 *  map, to read(2) it, to fstat or dup it, to pass it to another process. It is
 *  close-on-exec.
 *  Do not close it: that is uvperf_event_close. Between start and stop do not
 *  poll it, nor a dup of it: one poll takes the wakeup that another waits for.
 *  Whoever reads by uvperf_event_next polls it. Where events share a ring poll
 *  that of one whose target lives: the others hang up for ever.
 *  Do not keep a dup, or what was passed, beyond close unless the event is to
 *  live on: it counts, and a group has it as a member, until the last of them
 *  is closed. Enabling and the like by ioctl(2) works, but the handle does not
 *  know of it (uvperf_event_modify).
 *  @return The fd, the handle's own, valid until close. */
UVPERF_EXTERN int uvperf_event_fd(const uvperf_event_t *event);

#ifdef __cplusplus
}
#endif

#endif
