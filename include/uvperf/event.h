/* SPDX-License-Identifier: MIT */
/* One perf event as a libuv handle. The loop wakes when the kernel has written
 * records, and a callback receives them decoded.
 *
 *   init, or open -> open_cb
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

/** Called once when uvperf_event_open is done, on the loop's thread.
 *  @param event   The handle, which may be started or closed here.
 *  @param status
 *    0             the event is open, as after uvperf_event_init;
 *    UV_ECANCELED  the handle was closed meanwhile; close_cb comes later;
 *    another       the event could not be opened: a code of uvperf_event_init.
 *      Close the handle. Until then other functions return UV_EBADF.
 *  @param error   The reason of a failure; NULL with status 0. Owned by the
 *    library and valid until the callback returns. */
typedef void (*uvperf_event_open_cb)(uvperf_event_t *event, int status,
                                     const uvperf_error_t *error);

/** Called once when a snapshot of uvperf_event_snapshot_start has ended, after
 *  its last record. All functions may be called here, unless the handle is
 *  closing.
 *  @param event   The handle.
 *  @param status
 *    0             all records were delivered;
 *    UV_ECANCELED  the handle was stopped or closed before the end;
 *    UV_ENOMEM     out of memory; nothing was delivered;
 *    another       PERF_EVENT_IOC_PAUSE_OUTPUT failed: see
 *      uvperf_event_snapshot. */
typedef void (*uvperf_event_snapshot_cb)(uvperf_event_t *event, int status);

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
 * results of uvperf_event_init and uvperf_event_open. These codes belong to no
 * field:
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
   * - Stopping or disabling the leader stops all of them. The siblings count
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
   * on another loop. UV_EBUSY if the leader is being opened. UV_EPERM if the
   * leader belongs to the parent of this forked process. */
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
   * change is left. uvperf_event_changes returns the changes that were made. */
  uint32_t fallbacks;
  /* The fd with UVPERF_EVENT_FD; without that flag 0 or -1. After a successful
   * init, or a uvperf_event_open_cb with status 0, the handle owns the fd and
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
   * must last until the event is open. With a function, UVPERF_FALLBACK_KERNEL
   * does nothing, because that fallback asks the kernel. UV_ENOTTY if the
   * function's fd is no perf event. UV_EEXIST if the event is not new: see
   * uvperf_open_fn. */
  uvperf_open_fn open;
  void *open_arg;
} uvperf_event_options_t;

/* The defaults, for an initializer. */
#define UVPERF_EVENT_OPTIONS_INIT                                              \
  { sizeof(uvperf_event_options_t), 0, 0, 0, 0, NULL, 0, 0, 0, NULL, NULL }

/** Opens a perf event, disabled, and maps its ring if it produces records.
 *  @param loop     Must outlive the handle.
 *  @param event    Caller's, uninitialized; `data` is not touched. After an
 *    error it is the caller's again at once.
 *  @param attr     Caller's, copied: see uvperf_event_attr.
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

/** Opens an event as uvperf_event_init does, but on a thread of libuv's pool.
 *
 *  Until `cb` is called, the handle is active and keeps the loop alive, even if
 *  unref'd, and it cannot be a leader. Only close, ref, unref, has_ref,
 *  is_active, is_closing and attr work. Other functions return UV_EBUSY, or 0,
 *  NULL or -1 if they return no code. Close cancels: `cb` gets UV_ECANCELED,
 *  then comes close_cb. The kernel checks the privileges of the pool's thread.
 *  A process's first asynchronous call takes longer: see uvperf-details(7).
 *  @param loop     Must outlive the handle.
 *  @param event    As for uvperf_event_init.
 *  @param attr     Caller's, copied before this returns. If config1 or config2
 *    of a probe is a pointer to text, the text must stay until `cb`.
 *  @param options  As for uvperf_event_init; pid 0 is the thread that calls
 *    this. cgroup is duplicated, and the leader may be closed meanwhile. If
 *    another task gets the task's id meanwhile, the status is UV_ESRCH.
 *  @param cb       Called once, if this has returned 0.
 *  @param error    Receives the reason if this returns an error; may be NULL.
 *  @return 0: the handle must be closed, even if the event cannot be opened.
 *    Otherwise the handle is the caller's again and `cb` is never called:
 *    UV_EINVAL, UV_E2BIG, UV_ENOMEM  as uvperf_event_init, for errors that are
 *      found without the kernel; or cb is NULL;
 *    UV_EPERM, UV_EBUSY  the leader is a forked parent's; it is being opened;
 *    UV_EBADF, UV_EMFILE  options.cgroup is no open fd; out of fds;
 *    UV_EAGAIN, UV_EPERM, UV_ENOTSUP  the process cannot use the pool
 *      (RLIMIT_NPROC, pids.max; a seccomp filter; a child of clone(2)). */
UVPERF_EXTERN int uvperf_event_open(uv_loop_t *loop, uvperf_event_t *event,
                                    const struct perf_event_attr *attr,
                                    const uvperf_event_options_t *options,
                                    uvperf_event_open_cb cb,
                                    uvperf_error_t *error);

/** Delivers the newest records of an overwritable ring (attr.write_backward) to
 *  the callback of the last start, before it returns and without slices. Only
 *  whole records are delivered; uvperf_stats_t.cut_records counts cut records.
 *  It can be repeated at any time, also after stop or when the target is gone.
 *
 *  Output is paused while the ring is copied. It is resumed before the first
 *  callback, unless uvperf_event_pause had paused it. A LOST record before the
 *  next written record reports how many records were dropped. If less than 256
 *  KiB of the ring is free, this waits for writers on other CPUs, up to some
 *  tens of ms: see UVPERF_SNAPSHOT_NO_WAIT and uvperf_event_snapshot_start.
 *
 *  Each record comes with status 0 or UV_EPROTO. UV_EPROTO without a record
 *  comes last: older records cannot be read. Stopping or closing in a callback
 *  ends the snapshot. Then only UVPERF_SNAPSHOT_ALL delivers the rest.
 *  @param flags  UVPERF_SNAPSHOT_*.
 *  @return 0, also if there is nothing new, or
 *    UV_EINVAL  never started with a callback, no overwritable ring, or unknown
 *      flags;
 *    UV_EBUSY   in a callback, or before done_cb of an asynchronous snapshot;
 *    UV_ENOMEM  out of memory for a copy of the ring; nothing was delivered;
 *    UV_EPERM   in a forked child;
 *    another    PERF_EVENT_IOC_PAUSE_OUTPUT failed. No record was delivered; or
 *      all were, and output stays paused until the next snapshot or resume.
 *  Source: perf_event_open(2), PERF_EVENT_IOC_PAUSE_OUTPUT;
 *  __perf_output_begin() in kernel/events/ring_buffer.c. */
UVPERF_EXTERN int uvperf_event_snapshot(uvperf_event_t *event, uint32_t flags,
                                        uvperf_error_t *error);

/** Takes a snapshot as uvperf_event_snapshot does, but without blocking the
 *  loop. A thread of libuv's pool copies the ring. Then the loop delivers the
 *  copy in slices, with the limits of the last start (and
 *  UVPERF_START_SLICE_END), and calls done_cb. The loop stays alive until then,
 *  even if the handle is unref'd. Until done_cb these return UV_EBUSY: both
 *  functions for snapshots, uvperf_next, uvperf_event_pause and
 *  uvperf_event_resume.
 *
 *  uvperf_stop, also in a record callback, cancels the delivery. done_cb
 *  is called with UV_ECANCELED when the loop runs next. If no record was
 *  delivered, the next snapshot has the same records. If some records were
 *  delivered, only a snapshot with UVPERF_SNAPSHOT_ALL has the other records.
 *  uvperf_close cancels too: when the thread is done, done_cb is called
 *  and right after it close_cb. More: uvperf-details(7).
 *  @param flags    UVPERF_SNAPSHOT_*.
 *  @param done_cb  Called once if this returns 0; not NULL.
 *  @return 0, or
 *    UV_EINVAL  no done_cb, never started with a callback, no overwritable
 *      ring, unknown flags, or an inner handle was closed by uv_close;
 *    UV_EBUSY   a snapshot was begun and its done_cb not called yet; or inside
 *      a callback of uvperf_event_snapshot;
 *    UV_ENOMEM  out of memory;
 *    UV_EAGAIN, UV_EPERM  the process may make no threads; UV_EPERM also in a
 *      forked child;
 *    UV_ENOTSUP  a child of a bare clone(2), where the pool may not work. */
UVPERF_EXTERN int uvperf_event_snapshot_start(uvperf_event_t *event,
                                              uint32_t flags,
                                              uvperf_event_snapshot_cb done_cb,
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
 *    UV_EBADF   output is NULL in a 32-bit program under a 64-bit kernel: close
 *      the event instead;
 *    UV_ENOMEM  out of memory;
 *    UV_EPERM, UV_EACCES, UV_ENODEV  as uvperf_event_enable.
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

/** Returns the attr that the event was opened with. It is a copy of attr->size
 *  bytes (0 counts as 64) of the caller's attr, with these changes:
 *  - `disabled` is 1;
 *  - a read_format with PERF_FORMAT_GROUP also has PERF_FORMAT_ID, because
 *    values are matched by id;
 *  - use_clockid and clockid are set, unless the caller set use_clockid: see
 *    UVPERF_EVENT_PERF_CLOCK;
 *  - UVPERF_EVENT_IDENTIFY has added its bits, and options.fallbacks have made
 *    their changes.
 *
 *  With UVPERF_EVENT_FD only `disabled` is changed.
 *  @return The handle's own copy, valid until close. While the event is being
 *    opened the copy is valid only until `cb`, and has no changes by
 *    fallbacks. */
UVPERF_EXTERN const struct perf_event_attr *
uvperf_event_attr(const uvperf_event_t *event);

/** Returns the changes that fallbacks made to the attr to open the event.
 *  @param nr  Receives the number of changes; 0 if there are none.
 *  @return The changes in the order in which they were made; NULL if there are
 *    none. Owned by the handle and valid until close. */
UVPERF_EXTERN const uvperf_change_t *
uvperf_event_changes(const uvperf_event_t *event, size_t *nr);

/* -- control of an open event: the ioctls of perf_event_open(2) ----------- */

/** Enables counting. It is not needed after a start that enables the event.
 *  Siblings that the event leads are enabled first (options.leader). If the
 *  event's limit of overflows (uvperf_event_refresh) is used up, the event runs
 *  without a limit from now on. The call does not block, except that it may
 *  wait some hundred microseconds for another CPU.
 *  @return 0, or
 *    UV_EPERM   in a forked child, because the fd is the parent's event (cause
 *      argument); or a seccomp filter or a security module forbids it (cause
 *      permission);
 *    UV_EACCES  a security module forbids it (cause permission), as
 *      security_perf_event_write decides;
 *    UV_ENODEV  the event's PMU is gone (cause no_event; Linux 6.15);
 *    UV_ENOTSUP  the overflows of the event or of a sibling ran out, and this
 *      kernel cannot start it again (uvperf_event_refresh).
 *  Source: perf_event_open(2), PERF_EVENT_IOC_ENABLE. */
UVPERF_EXTERN int uvperf_event_enable(uvperf_event_t *event,
                                      uvperf_error_t *error);

/** Disables counting. Records in the ring stay and are still delivered. A hit
 *  on another CPU at that moment may be counted without a record, and without
 *  being counted as lost. The kernel interrupts the hit between counting and
 *  writing.
 *  @return 0, or
 *    UV_EPERM, UV_EACCES, UV_ENODEV  as uvperf_event_enable.
 *  Source: perf_event_open(2), PERF_EVENT_IOC_DISABLE. */
UVPERF_EXTERN int uvperf_event_disable(uvperf_event_t *event,
                                       uvperf_error_t *error);

/** Sets the count of this event alone to 0. The kernel never resets the times.
 *  @return 0, or
 *    UV_EPERM, UV_EACCES, UV_ENODEV  as uvperf_event_enable.
 *  Source: perf_event_open(2), PERF_EVENT_IOC_RESET. */
UVPERF_EXTERN int uvperf_event_reset(uvperf_event_t *event,
                                     uvperf_error_t *error);

/** Enables the event's whole group, as uvperf_event_enable of its leader does.
 *  All members begin to count together, unless the leader ran already
 *  (options.leader).
 *  @return 0, or a code of uvperf_event_enable.
 *  Source: perf_event_open(2), PERF_EVENT_IOC_ENABLE. */
UVPERF_EXTERN int uvperf_event_enable_group(uvperf_event_t *event,
                                            uvperf_error_t *error);

/** Disables the event's whole group: its leader and all siblings.
 *  @return 0, or
 *    UV_EPERM, UV_EACCES, UV_ENODEV  as uvperf_event_enable.
 *  Source: perf_event_open(2), PERF_IOC_FLAG_GROUP. */
UVPERF_EXTERN int uvperf_event_disable_group(uvperf_event_t *event,
                                             uvperf_error_t *error);

/** Sets the counts of the event's whole group to 0.
 *  @return 0, or
 *    UV_EPERM, UV_EACCES, UV_ENODEV  as uvperf_event_enable.
 *  Source: perf_event_open(2), PERF_IOC_FLAG_GROUP. */
UVPERF_EXTERN int uvperf_event_reset_group(uvperf_event_t *event,
                                           uvperf_error_t *error);

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
 *    UV_EPERM, UV_EACCES, UV_ENODEV  as uvperf_event_enable.
 *  Source: perf_event_open(2), PERF_EVENT_IOC_REFRESH; _perf_event_refresh. */
UVPERF_EXTERN int uvperf_event_refresh(uvperf_event_t *event,
                                       uint32_t overflows,
                                       uvperf_error_t *error);

/** Changes the period, or with attr.freq the frequency, of a running or stopped
 *  event at once. uvperf_event_attr then has the new value. A running event
 *  forgets how far it was in the old period, so its first samples can come
 *  early.
 *  @param period  Events between samples (nanoseconds for the clocks), below
 *    2^63; or Hz with attr.freq, up to perf_event_max_sample_rate. Not 0.
 *  @return 0, or
 *    UV_EINVAL  period is 0 or too large (cause sample_rate for a frequency);
 *      the event does not sample; or the PMU cannot count that far;
 *    UV_EPERM, UV_EACCES, UV_ENODEV  as uvperf_event_enable.
 *  Source: perf_event_open(2), PERF_EVENT_IOC_PERIOD. */
UVPERF_EXTERN int uvperf_event_change_period(uvperf_event_t *event,
                                             uint64_t period,
                                             uvperf_error_t *error);

/** Sets the filter of a tracepoint. Hits that do not match are neither counted
 *  nor sampled. A tracepoint takes one filter only. An event of a PMU that
 *  traces instructions takes address filters, any number of times.
 *  @param filter  For example "fd == 3 && count > 100"; copied. The fields are
 *    in events/<category>/<name>/format in tracefs.
 *  @return 0, or
 *    UV_EINVAL  the event is no tracepoint; the text is not a filter of its
 *      fields, or is as long as a page or longer;
 *    UV_EEXIST  the event has a filter already;
 *    UV_ENOTSUP  an address filter that this PMU cannot do;
 *    UV_ENOENT  an address filter's file does not exist; or a bracket in a
 *      tracepoint's filter is not closed;
 *    UV_ESRCH   a quotation mark is not closed (calc_stack in
 *      kernel/trace/trace_events_filter.c);
 *    UV_ENOSPC, UV_E2BIG  too many conditions for a kernel before 4.17;
 *    UV_ENOMEM  out of memory;
 *    UV_EPERM, UV_EACCES, UV_ENODEV  as uvperf_event_enable.
 *  Source: perf_event_open(2), PERF_EVENT_IOC_SET_FILTER. */
UVPERF_EXTERN int uvperf_event_apply_filter(uvperf_event_t *event,
                                            const char *filter,
                                            uvperf_error_t *error);

/** Attaches a BPF program until uvperf_close. At a tracepoint
 *  (BPF_PROG_TYPE_TRACEPOINT), kprobe or uprobe (BPF_PROG_TYPE_KPROBE) the
 *  program runs at every hit of any task on any CPU, from now on, even if the
 *  event is disabled. If the program returns 0, no event of any process counts
 *  or samples the hit. So a program for one target must check the task. At
 *  other events a BPF_PROG_TYPE_PERF_EVENT runs at the event's own samples.
 *  Samples for which it returns 0 are counted but dropped. A BPF link holds the
 *  program, and takes one more fd. Without a link the program ends when the
 *  loop runs after close.
 *  @param prog_fd  The caller's fd of the program; it may be closed afterwards.
 *  @param cookie   For bpf_get_attach_cookie() in the program; 0 for none.
 *  @return 0, or
 *    UV_EBADF   prog_fd is not an open fd;
 *    UV_EINVAL  the fd is no BPF program, or its type does not fit the event;
 *    UV_EEXIST  the event has a program, or the tracepoint has this program;
 *    UV_E2BIG   the tracepoint has 64 programs, the most that it can have;
 *    UV_EACCES  the program reads beyond the tracepoint's fields;
 *    UV_EPROTO  the event has precise_ip, and its samples lack the stack that
 *      the program reads;
 *    UV_ENOTSUP  this kernel lacks BPF for perf events, or links with a cookie;
 *    UV_EMFILE, UV_ENFILE, UV_EPERM  with a cookie: no fd for its BPF link, or
 *      bpf(2) is forbidden;
 *    UV_ENOMEM  out of memory;
 *    UV_EPERM, UV_EACCES, UV_ENODEV  also as uvperf_event_enable.
 *  Source: perf_event_open(2), PERF_EVENT_IOC_SET_BPF. */
UVPERF_EXTERN int uvperf_event_attach_bpf(uvperf_event_t *event, int prog_fd,
                                          uint64_t cookie,
                                          uvperf_error_t *error);

/** Returns the ids of the BPF programs that are attached to the event's
 *  tracepoint, through this event or any other. Needs CAP_PERFMON.
 *  @param ids  Caller's; receives up to *nr ids. May be NULL if *nr is 0.
 *  @param nr   In: the number of ids that fit. Out: the number of programs;
 *    unchanged unless the result is 0 or UV_ENOSPC.
 *  @return 0, or
 *    UV_ENOSPC  more programs are attached than fit; ids has the first ones;
 *    UV_EINVAL  ids or nr is NULL; no tracepoint;
 *    UV_EPERM   no CAP_PERFMON (cause permission); or as uvperf_event_enable;
 *    UV_ENOTSUP  this kernel has no BPF for perf events;
 *    UV_ENOMEM  out of memory;
 *    UV_EACCES, UV_ENODEV  as uvperf_event_enable.
 *  Source: perf_event_open(2), PERF_EVENT_IOC_QUERY_BPF. */
UVPERF_EXTERN int uvperf_event_query_bpf(uvperf_event_t *event, uint32_t *ids,
                                         size_t *nr, uvperf_error_t *error);

/** Pauses the ring: until it is resumed, records are dropped and counted as
 *  lost. Counting goes on. This also works before start and after stop.
 *  @return 0, also if it was paused already, or
 *    UV_EBUSY   uvperf_event_snapshot_start has begun a snapshot of the ring;
 *    UV_EINVAL  the event has no ring;
 *    UV_EPERM, UV_EACCES, UV_ENODEV  as uvperf_event_enable.
 *  Source: perf_event_open(2), PERF_EVENT_IOC_PAUSE_OUTPUT. */
UVPERF_EXTERN int uvperf_event_pause(uvperf_event_t *event,
                                     uvperf_error_t *error);

/** Resumes the ring. A LOST record before the next written record reports how
 *  many records were dropped.
 *  @return 0, also if it was not paused, or
 *    UV_EBUSY   uvperf_event_snapshot_start has begun a snapshot of the ring;
 *    UV_EINVAL  the event has no ring;
 *    UV_EPERM, UV_EACCES, UV_ENODEV  as uvperf_event_enable.
 *  Source: perf_event_open(2), PERF_EVENT_IOC_PAUSE_OUTPUT. */
UVPERF_EXTERN int uvperf_event_resume(uvperf_event_t *event,
                                      uvperf_error_t *error);

/** Moves a breakpoint: changes bp_addr, bp_len, bp_type or sig_data of an open
 *  PERF_TYPE_BREAKPOINT event. No other field of an attr can be changed. A
 *  running event runs on, also after a failure, but misses hits while the
 *  kernel moves it. A stopped event stays stopped.
 *
 *  The handle knows only what start, stop, enable, disable and refresh did to
 *  it or its group. So this call stops an event that runs by enable_on_exec,
 *  unless uvperf_event_enable was called before. It restarts an event whose
 *  overflows ran out (uvperf_event_refresh), or that prctl(2) or a dup of the
 *  fd has disabled. To prevent this, call uvperf_event_disable first.
 *  @param attr  Caller's, copied: a changed copy of uvperf_event_attr or of the
 *    attr at opening, of any size. After success uvperf_event_attr has its
 *    values.
 *  @return 0, or
 *    UV_EINVAL  attr is NULL or of an impossible size; it differs in other
 *      fields (the reason says where); or no such breakpoint on this machine;
 *    UV_ENOTSUP  the event is no breakpoint; the CPU has no breakpoint of that
 *      bp_len; or it was moved but stays stopped (as uvperf_event_enable);
 *    UV_EPERM   bp_addr is in the kernel, without CAP_SYS_ADMIN (cause
 *      permission); or as uvperf_event_enable;
 *    UV_E2BIG   the attr has fields that this kernel does not know;
 *    UV_ENOSPC  breakpoint slots of the new type are used up;
 *    UV_ENOMEM  out of memory;
 *    UV_EACCES, UV_ENODEV  as uvperf_event_enable.
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
 *  The format is the read_format of uvperf_event_attr: see perf_event_open(2),
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
