/* SPDX-License-Identifier: MIT */
/* One perf event as a libuv handle. The loop wakes when the kernel has written
 * records, and a callback receives them decoded.
 *
 *   init (-> open_cb)
 *     -> start <-> stop -> close -> close_cb
 *
 * handle.h has the functions of all handles, and the rules for their use. */
#ifndef UVPERF_EVENT_H
#define UVPERF_EVENT_H

#include <stddef.h>
#include <stdint.h>

#include <uv.h>

#include <linux/perf_event.h>

#include "uvperf/attr.h"
#include "uvperf/count.h"
#include "uvperf/error.h"
#include "uvperf/handle.h"
#include "uvperf/record.h"
#include "uvperf/stream.h"
#include "uvperf/version.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct uvperf_event_s uvperf_event_t;

/* The handle of one event: see handle.h. */
struct uvperf_event_s {
  uvperf_handle_t handle; /* the base, for the functions of all handles */
};

/** Returns the event that a handle belongs to, for callbacks.
 *  @return NULL if it is of another type. */
static inline uvperf_event_t *uvperf_handle_event(uvperf_handle_t *handle) {
  return handle->type == UVPERF_HANDLE_EVENT ? (uvperf_event_t *)(void *)handle
                                             : NULL;
}

/* Maps no ring, even if the attr produces records. */
#define UVPERF_EVENT_NO_RING 1u
/* Adds PERF_SAMPLE_IDENTIFIER and sample_id_all to the attr, so that each
 * record has the id of the event that wrote it. Events that share a ring need
 * this: see uvperf_event_set_output. */
#define UVPERF_EVENT_IDENTIFY 2u
/* Measures on options.cpu only. */
#define UVPERF_EVENT_CPU 4u
/* Measures the tasks of the cgroup options.cgroup. */
#define UVPERF_EVENT_CGROUP 8u
/* In an attr without use_clockid, keeps perf's own clock, which no program can
 * read. Without this flag such an attr gets CLOCK_MONOTONIC, the clock of
 * uv_hrtime. A sibling always gets its leader's clock instead, because all
 * events of a group, or of a ring, must have the same clock. */
#define UVPERF_EVENT_PERF_CLOCK 32u
/* Uses the open perf event options.fd instead of opening an event. Another
 * process may have opened it and passed the fd (SCM_RIGHTS, pidfd_getfd(2)).
 * attr and options.pid, cpu, cgroup and leader must be the same as when the
 * event was opened, because the kernel does not report them. If these fields
 * differ, records come with UV_EPROTO, and the counts are of something else. An
 * event that was enabled stays enabled. A disabled event stays disabled until
 * it is started or enabled. options.open and options.fallbacks must be 0,
 * because they are only used to open an event. UVPERF_EVENT_IDENTIFY is not
 * allowed, because it changes the attr. PERF_FORMAT_GROUP in attr.read_format
 * needs PERF_FORMAT_ID. */
#define UVPERF_EVENT_FD 16u
/* options.pid is a pidfd (pidfd_open(2), clone3(2), SCM_PIDFD) of a process, or
 * of a thread (PIDFD_THREAD, Linux 6.9). The caller owns the fd, and may close
 * it after the call. Its task is measured, or the call fails. Another task that
 * gets the same id is noticed by its start time, so it must begin in the same
 * 10 ms to be measured instead.
 *
 * UV_EBADF if options.pid is no pidfd. UV_ESRCH if the task has ended or is in
 * another PID namespace. UV_EACCES if /proc hides the task (hidepid=).
 * UV_ENOENT if /proc is not mounted or shows another PID namespace.
 *
 * Source: pidfd_open(2), "Pid" in proc_pid_fdinfo(5). */
#define UVPERF_EVENT_PIDFD 64u

/* What to measure where. Start from UVPERF_EVENT_OPTIONS_INIT; NULL means the
 * same. New versions only append fields. The codes in a field's comment are
 * results of uvperf_event_init. These codes belong to no field:
 *
 *   UV_ENOMEM     out of memory, address space or mappings
 *   UV_E2BIG      options have fields that the library does not know, or the
 *                 attr has fields that the library or the kernel does not know;
 *                 reading the group would return more than 16 KiB; the path of
 *                 a uprobe is too long
 *   UV_EBUSY      another exclusive user holds the PMU
 *   UV_ENOSPC     breakpoint slots, or epoll watches (cause loop), are used up
 *   UV_EEXIST     another handle of the loop polls an fd of this number
 *   UV_EOVERFLOW  sample_max_stack is above perf_event_max_stack (UV_ENOMEM
 *                 on some kernels)
 *   UV_ENOSYS     this kernel has no perf events, or a seccomp filter forbids
 *                 them
 *   UV_EFAULT, UV_EIO  the path of a uprobe, or the file there, is unusable */
typedef struct uvperf_event_options_s {
  /* sizeof(uvperf_event_options_t). */
  size_t size;
  /* A thread's id, or a pidfd with UVPERF_EVENT_PIDFD. 0 means the calling
   * thread. -1 means every task, and needs UVPERF_EVENT_CPU. A process's id
   * stands for its first thread. With attr.inherit, threads and children that
   * the thread makes from now on are measured too. With attr.inherit and a
   * ring, open one event for each CPU: without UVPERF_EVENT_CPU this is
   * UV_EINVAL. Uprobes and kprobes by name must not be inherited: see
   * UVPERF_FALLBACK_INHERIT. */
  int32_t pid;
  /* With UVPERF_EVENT_CPU, a CPU's id. Without that flag 0 or -1, and the task
   * is measured on every CPU on which it runs. */
  int32_t cpu;
  /* With UVPERF_EVENT_CGROUP, the fd of a cgroup's directory; without it 0 or
   * -1. All tasks in the cgroup are measured. This needs UVPERF_EVENT_CPU, and
   * pid must be 0. The caller owns the fd, and may close it after init.
   *
   * UV_EBADF if it is no open fd of a cgroup's directory. UV_ENOENT if the
   * cgroup was removed or its hierarchy has no perf_event. */
  int32_t cgroup;
  /* UVPERF_EVENT_*. */
  uint32_t flags;
  /* NULL, or the leader of the group that this event joins. The leader must be
   * on the same loop and stay open until init returns. The new event opens
   * disabled. The event counts while it and its leader are both enabled.
   * - Starting or enabling the leader first enables all siblings and then the
   *   leader, so that all begin together. This also enables a sibling that was
   *   disabled alone.
   * - Disabling the leader stops all of them. The siblings count
   *   again when the leader is enabled.
   * - Starting a sibling also delivers its records. Stopping or disabling it
   *   affects no other event.
   * - Closing the leader disables its siblings. They stay open. After close_cb
   *   they have no group: to let a sibling count again, enable it.
   * - A sibling that joins while the leader runs does not count yet: enable it,
   *   or enable the leader again. If the sibling and the leader belong to
   *   different PMUs, as page-faults and task-clock do, the sibling counts from
   *   the next tick or context switch (Linux 6.12). To begin at once, disable
   *   and enable the leader.
   * - If the leader has attr.enable_on_exec, execve(2) enables it. Starting the
   *   leader then enables only the siblings without enable_on_exec.
   *
   * UV_EINVAL if the event does not fit the leader, or the leader is closed or
   * on another loop. UV_EBUSY if the leader is being opened. UV_EBADF if it
   * could not be opened. UV_EPERM if it belongs to the parent of this forked
   * process. */
  uvperf_event_t *leader;
  /* Bytes of the ring's data part, rounded up to a power of two of pages. This
   * size is never reduced. An overwritable ring must be larger than any record;
   * 64 KiB is always enough. 0 is the default: no ring for an attr that only
   * counts. For other attrs 0 means 512 KiB, or less (down to one page) if
   * perf_event_mlock_kb does not allow that: see uvperf_ring.
   *
   * If an attr only counts but writes READ records (inherit_stat), set a size
   * to get these records. The kernel writes them without a lock, on the CPU on
   * which a child ends. So no other event may write into such a ring, unless
   * all children end on the ring's CPU.
   *
   * A ring cannot be mapped later, because earlier records would be missing. An
   * event without a ring can write into another event's ring
   * (uvperf_event_set_output). Or make a dup(2) of its fd, close the event, and
   * open the copy with UVPERF_EVENT_FD.
   *
   * UV_EINVAL if the size is not above wakeup_watermark. The size of an
   * overwritable ring must also be above sample_stack_user. UV_EPERM if the
   * size is above perf_event_mlock_kb and RLIMIT_MEMLOCK. UV_EAGAIN if it is
   * above RLIMIT_MEMLOCK after mlockall(2). */
  size_t ring_bytes;
  /* enum uvperf_fallback: changes of the attr that are allowed if the kernel
   * refuses it. 0 (the default) allows none. Each change that fits the failure
   * is tried, in addition to the earlier changes, until the event opens or no
   * change is left. uvperf_changes returns the changes that were made. */
  uint32_t fallbacks;
  /* The fd with UVPERF_EVENT_FD; without that flag 0 or -1. After a successful
   * init, or an open_cb with status 0, the handle owns the fd and
   * makes it close-on-exec. After a failure the fd is the caller's again. Do
   * not use the fd while the event is being opened. The event ends when its
   * last fd is closed, so a process that has passed the fd should close its own
   * fd.
   *
   * UV_EBADF if the fd is not open. UV_ENOTTY if it is no perf event. UV_EEXIST
   * if another uvperf_event_t on the loop has this event, even a closed one. */
  int32_t fd;
  /* A function that opens the event. It receives open_arg. NULL means
   * perf_event_open(2). The function and open_arg belong to the caller, and
   * must last until the event is open and no call of the function runs. With a
   * function, UVPERF_FALLBACK_KERNEL does nothing, because that fallback asks
   * the kernel. UV_ENOTTY if the function's fd is no perf event. UV_EEXIST if
   * the event is not new: see uvperf_open_fn. */
  uvperf_open_fn open;
  void *open_arg;
  /* NULL: init opens the event before it returns. Otherwise a thread of libuv's
   * pool opens it, and then this is called: see uvperf_open_cb. The event
   * cannot be a leader until then. pid 0 is the thread that calls init. cgroup
   * is duplicated, and the leader may be closed meanwhile. If another task gets
   * the task's id meanwhile, the status is UV_ESRCH. If config1 or config2 of a
   * probe is a pointer to text, the text must stay until the call. */
  uvperf_open_cb open_cb;
  /* Milliseconds that a call of `open` may take on the pool. 0 is the default:
   * 5000. If it takes longer, open_cb gets UV_ETIMEDOUT, and what the call
   * returns later is closed: see uvperf-broker(7). */
  uint32_t open_timeout_ms;
} uvperf_event_options_t;

/* The defaults, for an initializer. */
#define UVPERF_EVENT_OPTIONS_INIT                                              \
  {                                                                            \
    sizeof(uvperf_event_options_t), 0, 0, 0, 0, NULL, 0, 0, 0, NULL, NULL,     \
        NULL, 0                                                                \
  }

/** Opens a perf event, disabled, and maps its ring if it produces records.
 *  @param loop     Must outlive the handle.
 *  @param event    Caller's, uninitialized; `data` is not touched. After an
 *    error it is the caller's again at once.
 *  @param attr     Caller's, copied: see uvperf_handle_attr.
 *  @param options  Caller's, copied; NULL for the calling thread on any CPU.
 *  @param error    May be NULL. With fallbacks, the failure of the first try.
 *  @return 0, or
 *    UV_EACCES  perf_event_paranoid or the target's owner forbids it; without
 *      privileges an attr needs exclude_kernel nearly everywhere;
 *    UV_EPERM   perf_event_paranoid above -1 forbids a tracepoint's data, a
 *      breakpoint in the kernel needs CAP_SYS_ADMIN, or a seccomp filter
 *      forbids it;
 *    UV_EINVAL  a bad attr or option, or bits that the kernel does not know; no
 *      such CPU or tracepoint; a frequency above perf_event_max_sample_rate; or
 *      samples with PERF_SAMPLE_STACK_USER would overwrite the next record,
 *      because sample_stack_user is 0, or because they can be longer than 65528
 *      bytes with PERF_SAMPLE_REGS_INTR or PERF_SAMPLE_AUX;
 *    UV_ENOENT  no such PMU or event here; no such file for a uprobe;
 *    UV_ESRCH   no such task;
 *    UV_ENODEV  the CPU is offline, or the PMU's device is gone;
 *    UV_EMFILE, UV_ENFILE  out of fds;
 *    UV_ENOTSUP  the PMU, or the CPU's breakpoints, cannot do it;
 *    another    see error->reason, and for more causes uvperf_event_options_t.
 *  Source: perf_event_open(2), "ERRORS". */
UVPERF_EXTERN int uvperf_event_init(uv_loop_t *loop, uvperf_event_t *event,
                                    const struct perf_event_attr *attr,
                                    const uvperf_event_options_t *options,
                                    uvperf_error_t *error);

/** Redirects an event's records into the ring of another event, or nowhere. The
 *  ring's owner delivers them (callback or uvperf_next), each decoded by
 *  its own event's attr. record->source->data is the writer's handle, or NULL
 *  after that is closed. Records written before the output changed or the
 *  writer closed are still delivered. UV_EOF comes when the targets of all
 *  writers are gone. The watermark is the owner's; wakeup_events are the
 *  writer's own. Events that sample the same software event should have the
 *  same attr, because a sample can have another event's id (uvperf_sample_t).
 *  If that event is another process's, record->source is NULL.
 *  @param event   Opened with UVPERF_EVENT_NO_RING. It and the output need
 *    UVPERF_EVENT_IDENTIFY (or its bits). Start it (cb NULL) or enable it.
 *  @param output  NULL for no ring. An output must have the same loop, clock
 *    and cpu (for cpu -1 the same thread). If it writes into a third event's
 *    ring, that ring is used. After it is closed, the event writes nowhere.
 *  @return 0, also if that was its output already, or, with nothing changed,
 *    UV_EINVAL  the event has a ring; the output has none, is closed or on
 *      another loop; records have no ids; cpu, thread or clock differ; only one
 *      has write_backward; overwritable ring not above sample_stack_user;
 *    UV_EOF     delivery from that ring has ended;
 *    UV_EBUSY, UV_EBADF  output is being opened; it could not be opened, or is
 *      NULL in a 32-bit program under a 64-bit kernel: close the event instead;
 *    UV_ENOMEM  out of memory;
 *    UV_EPERM, UV_EACCES, UV_ENODEV  as uvperf_enable.
 *  Source: perf_event_open(2), PERF_EVENT_IOC_SET_OUTPUT;
 *  perf_event_set_output() in kernel/events/core.c. */
UVPERF_EXTERN int uvperf_event_set_output(uvperf_event_t *event,
                                          uvperf_event_t *output,
                                          uvperf_error_t *error);

/** Reads the count.
 *  @param count  Receives the total since the event was opened. The count is
 *    scaled if attr.read_format has both times. Check its state.
 *  @return 0, or
 *    UV_EBADF   the event is pinned and the PMU could not hold it (cause busy);
 *    UV_EINVAL  count is NULL;
 *    UV_EPROTO  the size of the kernel's answer does not fit read_format;
 *    UV_ENOENT  the answer for a group does not have the event;
 *    UV_ENOMEM  out of memory for a group of more than 84 events;
 *    UV_EPERM   in a forked child;
 *    another    read(2) failed.
 *  Source: perf_event_open(2), "Reading results". */
UVPERF_EXTERN int uvperf_event_read(uvperf_event_t *event,
                                    uvperf_count_t *count,
                                    uvperf_error_t *error);

/** Reads the counts of events of one group, by one read(2).
 *  @param events  Caller's; nr events of the same group, in any order. The attr
 *    of the first event must have PERF_FORMAT_GROUP. The other bits of this
 *    attr decide what is read for each event.
 *  @param nr      Number of events, at least 1: the whole group or a part.
 *  @param counts  Caller's; receives nr counts, matched by id: counts[i] is the
 *    count of events[i]. After an error they mean nothing.
 *  @return 0, or
 *    UV_EINVAL  an argument is NULL or 0, or the first event has no
 *      PERF_FORMAT_GROUP;
 *    UV_ENOENT  an event is not in the group, or not any more;
 *    UV_EBADF, UV_EPROTO, UV_EPERM, UV_ENOMEM  as uvperf_event_read;
 *    another    see uvperf_event_read.
 *  Source: perf_event_open(2), "Reading results". */
UVPERF_EXTERN int uvperf_event_read_group(uvperf_event_t *const *events,
                                          size_t nr, uvperf_count_t *counts,
                                          uvperf_error_t *error);

/* -- control of an open event: the ioctls of perf_event_open(2) ----------- */

/** Enables the event for a number of overflows. At the last overflow the kernel
 *  disables the event. Delivery does not end: there is no UV_EOF, and the next
 *  refresh enables the event again. If the event is disabled and enabled again,
 *  the rest of the limit still applies. Siblings that it leads are enabled
 *  first.
 *
 *  Since Linux 6.16 a tracepoint, a probe or a breakpoint stays stopped after
 *  its overflows ran out, until its period is set while its target runs. So
 *  after the first refresh, each call that enables the event also sets its
 *  period, and the next sample can come early. This works for events of the
 *  calling thread and of whole CPUs. If the overflows of another thread's or a
 *  cgroup's event ran out, enabling the event returns UV_ENOTSUP: close it and
 *  open it again. More: uvperf-details(7).
 *
 *  Linux 6.16, and 6.17 before its commit "perf/core: Fix system hang caused by
 *  cpu-clock usage", can hang the machine when the overflows of cpu-clock or
 *  task-clock run out.
 *  @param overflows  Samples, 1 to INT_MAX; added to the rest of the limit.
 *  @return 0, or
 *    UV_EINVAL  overflows is 0 or above INT_MAX; or the event does not sample,
 *      or is inherited;
 *    UV_ENOTSUP  the overflows of the event or of a sibling ran out, and this
 *      kernel cannot start it again;
 *    UV_EPERM, UV_EACCES, UV_ENODEV  as uvperf_enable.
 *  Source: perf_event_open(2), PERF_EVENT_IOC_REFRESH; _perf_event_refresh. */
UVPERF_EXTERN int uvperf_event_refresh(uvperf_event_t *event,
                                       uint32_t overflows,
                                       uvperf_error_t *error);

/** Pauses or resumes the ring. While it is paused, records are dropped and
 *  counted as lost, and counting goes on. A LOST record before the next written
 *  record reports how many were dropped. This also works before start and after
 *  stop.
 *  @param is_paused  1 pauses, 0 resumes.
 *  @return 0, also if nothing changes, or
 *    UV_EBUSY   uvperf_snapshot has begun a snapshot of the ring;
 *    UV_EINVAL  the event has no ring;
 *    UV_EPERM, UV_EACCES, UV_ENODEV  as uvperf_enable.
 *  Source: perf_event_open(2), PERF_EVENT_IOC_PAUSE_OUTPUT. */
UVPERF_EXTERN int uvperf_event_pause(uvperf_event_t *event, int is_paused,
                                     uvperf_error_t *error);

/** Moves a breakpoint: changes bp_addr, bp_len, bp_type or sig_data of an open
 *  PERF_TYPE_BREAKPOINT event. No other field of an attr can be changed. A
 *  running event runs on, also after a failure, but misses hits while the
 *  kernel moves it. A stopped event stays stopped.
 *
 *  The handle knows only what start, enable, disable and refresh did to
 *  it or its group. So this call stops an event that runs by enable_on_exec,
 *  unless uvperf_enable was called before. It restarts an event whose
 *  overflows ran out (uvperf_event_refresh), or that prctl(2) or a dup of the
 *  fd has disabled. To prevent this, call uvperf_disable first.
 *  @param attr  Caller's, copied: a changed copy of uvperf_handle_attr or of
 *    the attr at opening, of any size. After success uvperf_handle_attr has its
 *    values.
 *  @return 0, or
 *    UV_EINVAL  attr is NULL or of an impossible size; it differs in other
 *      fields (the reason says where); or no such breakpoint on this machine;
 *    UV_ENOTSUP  the event is no breakpoint; the CPU has no breakpoint of that
 *      bp_len; or it was moved but stays stopped (as uvperf_enable);
 *    UV_EPERM   bp_addr is in the kernel, without CAP_SYS_ADMIN (cause
 *      permission); or as uvperf_enable;
 *    UV_E2BIG   the attr has fields that this kernel does not know;
 *    UV_ENOSPC  breakpoint slots of the new type are used up;
 *    UV_ENOMEM  out of memory;
 *    UV_EACCES, UV_ENODEV  as uvperf_enable.
 *  Source: perf_event_open(2), PERF_EVENT_IOC_MODIFY_ATTRIBUTES. */
UVPERF_EXTERN int uvperf_event_modify(uvperf_event_t *event,
                                      const struct perf_event_attr *attr,
                                      uvperf_error_t *error);

/** Returns the event's id, which its records and reads carry.
 *  @param id  Receives the id.
 *  @return 0, or
 *    UV_EINVAL  id is NULL;
 *    UV_EPERM   in a forked child.
 *  Source: perf_event_open(2), PERF_EVENT_IOC_ID. */
UVPERF_EXTERN int uvperf_event_id(uvperf_event_t *event, uint64_t *id);

/** Returns the event's fd. Use it to put the event into a BPF map, to read(2),
 *  fstat or dup it, or to pass it to another process. It is close-on-exec. Any
 *  thread may read(2) the count from it while the loop's thread reads records.
 *  The format is the read_format of uvperf_handle_attr: see perf_event_open(2),
 *  "Reading results".
 *
 *  Do not close it: uvperf_close does. Between start and stop do not poll
 *  it or a dup of it, because each wakeup is reported to one poll only. Only a
 *  program that calls uvperf_next polls the fd. If events share a ring,
 *  poll the fd of an event whose target lives, because the fds of events whose
 *  target is gone hang up for ever.
 *
 *  While a dup or a passed fd is open, the event lives on after close: it
 *  counts and stays in its group. ioctl(2) on the fd works, but the handle does
 *  not notice it (uvperf_event_modify).
 *  @return The fd, owned by the handle and valid until close; -1 while the
 *    event is being opened or if that has failed. */
UVPERF_EXTERN int uvperf_event_fd(const uvperf_event_t *event);

#ifdef __cplusplus
}
#endif

#endif
