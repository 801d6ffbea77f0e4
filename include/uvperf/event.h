/* SPDX-License-Identifier: MIT */
/* One perf event as a libuv handle: opened on a loop, it wakes that loop when
 * the kernel has written records, and the records arrive decoded in a callback.
 *
 *   init, or open -> open_cb
 *     -> start <-> stop -> close -> close_cb
 *
 * Rules that hold for every function here:
 * - One handle, one loop, one thread: call from the loop's thread only.
 * - Returned codes are 0 or a negative UV_E*.
 * - A function takes a uvperf_error_t if it can fail for a reason outside of
 *   the program: the kernel, a limit, a privilege. It may be NULL; it receives
 *   the cause, the reason and the remedy. Of the other functions (stop, flush,
 *   next, id) the code says enough.
 * - All functions but uvperf_event_flush, uvperf_event_snapshot,
 *   uvperf_event_next and uvperf_event_has_record may be called inside any
 *   callback of the handle, and all inside of a uvperf_event_snapshot_cb. A
 *   callback of uvperf_event_flush or uvperf_event_snapshot may also run the
 *   loop.
 * - After fork(2) the child must call uv_loop_fork and close the handles before
 *   it runs the loop, or before the callback returns if it was forked in a
 *   record callback (the child has the ring no more, nor the record); there,
 *   all but close and the getters return UV_EPERM, and close touches neither
 *   the parent's event nor its ring. This holds for every child that has memory
 *   of its own, even one made by clone(2) directly, or one with its parent's
 *   pid in another pid namespace. (Before Linux 4.14 a child with the same pid
 *   is not noticed.) A child that shares the memory, such as one made by
 *   vfork(2), must not call any function here.
 * - libuv calls abort(3) if it cannot register an fd while it runs the loop,
 *   because memory or epoll watches (/proc/sys/fs/epoll/max_user_watches) ran
 *   out. uv_poll_start, which start calls, can run out of memory too: before
 *   libuv 1.51 it aborts then; from 1.51 on it reports no error, and the fd is
 *   not polled. It aborts, too, if it cannot make the threads of its pool: the
 *   library tries first whether the process may make as many, and if not,
 *   tracepoints and probes are closed on the loop's thread.
 * - Calling anything but ref, unref, has_ref, is_active and is_closing after
 *   uvperf_event_close is a programming error and asserts, in each
 *   build. */
#ifndef UVPERF_EVENT_H
#define UVPERF_EVENT_H

#include <stddef.h>
#include <stdint.h>

#include <uv.h>

#include <linux/perf_event.h>

#include "uvperf/attr.h"
#include "uvperf/count.h"
#include "uvperf/error.h"
#include "uvperf/record.h"
#include "uvperf/stream.h"
#include "uvperf/version.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct uvperf_event_s uvperf_event_t;

/** Called for each record, on the loop's thread.
 *  @param event   The handle.
 *  @param status
 *    0           a record, or, with UVPERF_START_SLICE_END, the end of a slice
 *                (record is NULL);
 *    UV_EPROTO   with a record: its header is sound but its body is not, or its
 *                id is unknown and the ring's events write records of different
 *                layouts; it comes raw and delivery goes on;
 *    UV_EPROTO   without a record: the ring made no sense, for example after a
 *                record longer than 64 KiB. All bytes up to its head are
 *                skipped (uvperf_stats_t.skipped_bytes), and delivery goes on.
 *                Only if the head is not a multiple of 8, delivery has ended:
 *                the next uvperf_event_start returns UV_EPROTO;
 *    UV_EOF      without a record: the target is gone and every record was
 *                delivered; delivery has ended;
 *    UV_EBADF    without a record: the event is in error state, as one that is
 *                pinned and that the PMU could not hold; delivery has ended.
 *                Before Linux 6.15 this is found when delivery starts, and
 *                then by flush_ms and uvperf_event_flush alone;
 *    another     without a record: the polled event has hung up, another event
 *                writes into the ring, and libuv refused the fd of that one
 *                (UV_EEXIST, UV_ENOSPC, UV_ENOMEM); delivery has ended.
 *  @param record  The library's, valid, with all it points to, until the
 *    callback returns. */
typedef void (*uvperf_event_record_cb)(uvperf_event_t *event, int status,
                                       const uvperf_record_t *record);

/** Called once when uvperf_event_open is done, on the loop's thread.
 *  @param event   The handle. It may be started or closed in here.
 *  @param status
 *    0             the event is as uvperf_event_init would have left it;
 *    UV_ECANCELED  it was closed meanwhile, and close_cb comes later;
 *    another       it could not be opened, as for uvperf_event_init. The handle
 *                  must be closed; until then other functions return UV_EBADF.
 *  @param error   Of a failure, valid until the callback returns; else NULL. */
typedef void (*uvperf_event_open_cb)(uvperf_event_t *event, int status,
                                     const uvperf_error_t *error);

/** Called once when a snapshot that uvperf_event_snapshot_start began has
 *  ended, after its last record. All functions may be called here, unless the
 *  handle is closing.
 *  @param event   The handle.
 *  @param status
 *    0             everything was delivered;
 *    UV_ECANCELED  the handle was stopped or closed before;
 *    UV_ENOMEM     out of memory; nothing was delivered;
 *    another       PERF_EVENT_IOC_PAUSE_OUTPUT failed: see
 *                  uvperf_event_snapshot. */
typedef void (*uvperf_event_snapshot_cb)(uvperf_event_t *event, int status);

/** Called once when a closed handle is done; the memory of the handle is the
 *  caller's again and may be freed here. */
typedef void (*uvperf_event_close_cb)(uvperf_event_t *event);

/* The caller allocates it and keeps it in place until close_cb. */
struct uvperf_event_s {
  /* public: the user's, never touched */
  void *data;
  /* read-only */
  uv_loop_t *loop;
  /* private */
  void *impl;
  uvperf_event_close_cb close_cb;
  void *reserved[4];
};

/* Maps no ring, even where the attr produces records. */
#define UVPERF_EVENT_NO_RING 1u
/* Adds PERF_SAMPLE_IDENTIFIER and sample_id_all to the attr, so that each
 * record tells which event wrote it: for events that share a ring, see
 * uvperf_event_set_output. */
#define UVPERF_EVENT_IDENTIFY 2u
/* Measures on options.cpu alone. */
#define UVPERF_EVENT_CPU 4u
/* Measures the tasks of the cgroup options.cgroup. */
#define UVPERF_EVENT_CGROUP 8u
/* Leaves an attr without use_clockid perf's own clock, which no program can
 * read. Else it gets CLOCK_MONOTONIC, which is uv_hrtime's, or, in a group, its
 * leader's clock: a group has one, and so has a ring. */
#define UVPERF_EVENT_PERF_CLOCK 32u
/* options.fd is a perf event that is open, perhaps by another process that has
 * passed its fd (SCM_RIGHTS, pidfd_getfd(2)). Nothing is opened. The kernel
 * does not say how it was opened: attr, options.pid, cpu, cgroup and leader
 * must be those with which it was, or records are UV_EPROTO and counts are of
 * something else. The event stays enabled or disabled until it is started or
 * enabled. options.open and options.fallbacks, which are for opening, must be
 * 0, and so must UVPERF_EVENT_IDENTIFY, which changes the attr. */
#define UVPERF_EVENT_FD 16u

/* What to measure where. Start from UVPERF_EVENT_OPTIONS_INIT; NULL means the
 * same. Fields are only ever appended. */
typedef struct uvperf_event_options_s {
  /* sizeof(uvperf_event_options_t). */
  size_t size;
  /* A thread's id; 0 the calling thread, -1 every task (needs a CPU). A
   * process's id is that of its first thread: with attr.inherit the threads and
   * children that it makes from now on are measured too, but with a ring that
   * takes one event for each cpu. (Not for uprobes and kprobes by name: see
   * UVPERF_FALLBACK_INHERIT.) */
  int32_t pid;
  /* With UVPERF_EVENT_CPU a CPU's id. Else 0 or -1: whichever CPU the task runs
   * on. */
  int32_t cpu;
  /* With UVPERF_EVENT_CGROUP the fd of a cgroup's directory: every task in it
   * (needs UVPERF_EVENT_CPU; pid must be 0). The caller's; it may be closed
   * after init. Else 0 or -1. */
  int32_t cgroup;
  /* UVPERF_EVENT_*. */
  uint32_t flags;
  /* NULL, or the leader of the group that this event joins; it must be on the
   * same loop and stay open until init returns. This event opens disabled, as
   * every handle does. It counts while it is enabled and its leader is too.
   * - Starting or enabling the leader enables all its siblings first and the
   *   leader last, so that all begin at once. A sibling that was disabled by
   *   itself is enabled again.
   * - Stopping or disabling the leader stops all of them. The siblings count
   *   again when the leader is enabled.
   * - Starting a sibling also delivers its records. Stopping or disabling a
   *   sibling affects no other event.
   * - Closing the leader disables its siblings. They stay open, and each is an
   *   event without a group once close_cb was called: enable it to count again.
   * - A sibling that joins while the leader runs does not count yet. Enable it,
   *   or the leader again. If the sibling and the leader belong to different
   *   PMUs, as page-faults and task-clock do, the sibling counts from the next
   *   tick or context switch on (Linux 6.12). To begin at once, disable and
   *   enable the leader.
   * - If the leader has attr.enable_on_exec, execve(2) enables it. Starting the
   *   leader then enables only the siblings without enable_on_exec. */
  uvperf_event_t *leader;
  /* Size of the data part of the ring in bytes, rounded up to a power of two
   * of pages; never made smaller behind the caller's back. 0 is the default: no
   * ring for an attr that only counts, else 512 KiB, or as much less (down to
   * one page) as perf_event_mlock_kb allows; uvperf_event_ring_bytes tells. The
   * READ records of an attr that only counts (inherit_stat) need a size. The
   * kernel writes these on the CPU on which a child ends, and no lock keeps it
   * from writing into the ring of this one at the same time: have nothing else
   * write into such a ring, or have all children end on this CPU.
   * A handle maps no ring later, as what was written before would be missing.
   * uvperf_event_set_output gives an event without one the ring of another; or
   * dup(2) its fd, close it, and give the fd to a new one (UVPERF_EVENT_FD). */
  size_t ring_bytes;
  /* enum uvperf_fallback: what may be changed of the attr if the kernel refuses
   * it. Each is tried where it fits the failure, on top of the others, until
   * the event opens or none is left; uvperf_event_changes tells what was
   * changed. 0 is the default: nothing. */
  uint32_t fallbacks;
  /* With UVPERF_EVENT_FD, else 0 or -1. After a successful init, or
   * uvperf_event_open whose callback has status 0, the handle owns it, and
   * makes it close-on-exec; after a failure it is the caller's again. While it
   * is being opened leave it alone. The event ends when its last fd is closed,
   * so the process that has passed it should close its own. */
  int32_t fd;
  /* NULL: perf_event_open(2) opens the event. Else this function does, with
   * open_arg, which is the caller's. Both must last until the event is open.
   * UVPERF_FALLBACK_KERNEL, which asks the kernel, does nothing then. */
  uvperf_open_fn open;
  void *open_arg;
} uvperf_event_options_t;

/* The defaults, for an initializer. */
#define UVPERF_EVENT_OPTIONS_INIT                                              \
  { sizeof(uvperf_event_options_t), 0, 0, 0, 0, NULL, 0, 0, 0, NULL, NULL }

/** Opens a perf event, disabled, and maps its ring if it produces records. The
 *  first task-bound event that a process opens can block for some milliseconds
 *  (an RCU grace period in the kernel).
 *  @param loop     Must outlive the handle.
 *  @param event    Caller's, uninitialized. On error it is the caller's again
 *    at once; `data` is not touched.
 *  @param attr     Caller's, copied: attr->size bytes (0 counts as 64). Only
 *    `disabled` is changed, to 1, PERF_FORMAT_ID is added to a read_format with
 *    PERF_FORMAT_GROUP, as values are matched by id, use_clockid is set (see
 *    UVPERF_EVENT_PERF_CLOCK), and what UVPERF_EVENT_IDENTIFY and
 *    options.fallbacks stand for, if they are asked for.
 *  @param options  Caller's, copied; NULL for the calling thread on any CPU.
 *  @param error    May be NULL; receives the reason of a failure: of the first,
 *    where fallbacks were tried.
 *  @return 0, or
 *    UV_EINVAL  bad options or attr; a bad combination; bits that the kernel
 *      does not know; no such CPU or tracepoint; frequency above
 *      perf_event_max_sample_rate; does not fit the leader; ring_bytes not
 *      above wakeup_watermark, or of an overwritable ring sample_stack_user;
 *      samples with PERF_SAMPLE_STACK_USER whose end the kernel would write
 *      over the next record: with sample_stack_user 0; or with
 *      PERF_SAMPLE_REGS_INTR or PERF_SAMPLE_AUX, if all fields together can be
 *      longer than 65528 bytes;
 *      inherit with a ring and without UVPERF_EVENT_CPU;
 *    UV_E2BIG   options, or the attr, have fields that the library, or the
 *      kernel, does not know; reading the group would give more than 16 KiB;
 *      the path of a uprobe is too long;
 *    UV_ENOENT  no such PMU or event here; no such file for a uprobe; the
 *      cgroup was removed or is of a hierarchy without perf_event;
 *    UV_ENODEV  the CPU is offline, or the PMU's device is gone;
 *    UV_ESRCH   no such task;
 *    UV_EACCES  perf_event_paranoid or the target's owner forbids it; without
 *      privileges an attr needs exclude_kernel nearly everywhere;
 *    UV_EPERM   a tracepoint's data above paranoid -1, a breakpoint in the
 *      kernel without CAP_SYS_ADMIN; the ring is above perf_event_mlock_kb and
 *      RLIMIT_MEMLOCK; a seccomp filter; or the leader belongs to the parent
 *      of this forked process;
 *    UV_ENOTSUP the PMU, or the CPU's breakpoints, cannot do it;
 *    UV_EMFILE, UV_ENFILE  out of fds;
 *    UV_EAGAIN  the ring does not fit into RLIMIT_MEMLOCK after mlockall(2);
 *    UV_EBUSY   another exclusive user of the PMU;
 *    UV_ENOSPC  breakpoint slots are used up; or out of epoll watches (cause
 *      loop);
 *    UV_EEXIST  another handle of the loop polls an fd of this number;
 *      options.fd is the event of another uvperf_event_t on the loop, closed or
 *      not;
 *    UV_EOVERFLOW  sample_max_stack above perf_event_max_stack (UV_ENOMEM on
 *      some kernels);
 *    UV_ENOMEM  out of memory, address space or mappings;
 *    UV_ENOSYS  no perf events in this kernel, or a seccomp filter;
 *    UV_EFAULT, UV_EIO  the path of a uprobe, or the file there, is unusable;
 *    UV_EBADF   the cgroup is not an open fd of a cgroup's directory;
 *      options.fd is not open;
 *    UV_ENOTTY  options.fd, or what options.open returned, is not the fd of a
 *      perf event;
 *    another    what error->reason gives as a number.
 *    If an inner libuv handle was already registered when init failed, the loop
 *    must run once more before uv_loop_close is 0.
 *  Source: perf_event_open(2), "ERRORS". */
UVPERF_EXTERN int uvperf_event_init(uv_loop_t *loop, uvperf_event_t *event,
                                    const struct perf_event_attr *attr,
                                    const uvperf_event_options_t *options,
                                    uvperf_error_t *error);

/** Opens an event as uvperf_event_init does, but on a thread of libuv's pool:
 *  the loop goes on. Each loop has at most one request of the library in the
 *  pool.
 *
 *  Until `cb` is called, the handle is active and keeps the loop alive, even if
 *  it is unref'd, and it cannot be a leader. Close, ref, unref, has_ref,
 *  is_active, is_closing and attr work; other functions return UV_EBUSY, and
 *  those that return no code 0, NULL or -1. Close cancels the opening after the
 *  current system calls: `cb` is called with UV_ECANCELED, then close_cb.
 *
 *  Privileges are those of the pool's threads: their capabilities, namespaces
 *  and seccomp filters, which are the process's unless a thread has changed
 *  its own. options.pid 0 is the thread that calls this. A replaced allocator
 *  (uvperf_replace_allocator) is called on those threads. A child that is
 *  forked meanwhile gets no callback of the handle, as with uvperf_event_close.
 *  @param loop     As for uvperf_event_init.
 *  @param event    As for uvperf_event_init.
 *  @param attr     As for uvperf_event_init: copied before this returns; what
 *    config1 and config2 of a probe point to must stay until `cb`.
 *  @param options  As for uvperf_event_init: copied, and options.cgroup
 *    duplicated. The leader may be closed meanwhile.
 *  @param cb       Called once, after this has returned 0.
 *  @param error    Receives why it failed at once.
 *  @return 0, and the handle must be closed, even if it cannot be opened; or,
 *    with the handle the caller's again and `cb` never called,
 *    UV_EINVAL, UV_E2BIG, UV_ENOMEM  as uvperf_event_init, for what is found
 *      without asking the kernel; or cb is NULL;
 *    UV_EPERM   the leader belongs to the parent of this forked process;
 *    UV_EBUSY   the leader is being opened itself;
 *    UV_EBADF, UV_EMFILE  options.cgroup is no open fd; no fd is left;
 *    UV_EAGAIN, UV_EPERM  the process may make no threads (RLIMIT_NPROC,
 *      pids.max; a seccomp filter). */
UVPERF_EXTERN int uvperf_event_open(uv_loop_t *loop, uvperf_event_t *event,
                                    const struct perf_event_attr *attr,
                                    const uvperf_event_options_t *options,
                                    uvperf_event_open_cb cb,
                                    uvperf_error_t *error);

/** Starts delivery and enables the event. If it leads siblings
 *  (options.leader), they are enabled before it, but their delivery is not
 *  started. An event without a ring is only enabled. So is one with an
 *  overwritable ring (attr.write_backward): uvperf_event_snapshot or
 *  uvperf_event_next delivers its records. Once started, a handle that delivers
 *  keeps the loop alive (unless unref'd) until it is stopped or its target is
 *  gone.
 *  @param event    Initialized.
 *  @param options  Caller's, copied; NULL for the defaults.
 *  @param cb       Called for each record. NULL without a ring, as nothing is
 *    delivered then; may be NULL with an overwritable ring of which there is to
 *    be no uvperf_event_snapshot.
 *  @param error    May be NULL; receives the reason of a failure.
 *  @return 0, or
 *    UV_EALREADY  already started;
 *    UV_EOF       delivery has ended (target gone);
 *    UV_EPROTO    the head of the ring is not a multiple of 8: the ring cannot
 *      be read any more;
 *    UV_EINVAL    no cb, or one for an event that only counts (without a
 *      period, a frequency or side-band records); bad options or flags; or the
 *      program has closed an inner handle by uv_close;
 *    UV_E2BIG     options that the library does not know;
 *    UV_EPERM     in a forked child;
 *    UV_EEXIST    another handle of the loop polls the event's fd;
 *    UV_ENOTSUP   its overflows, or a sibling's, ran out, and this kernel
 *      cannot start that event again (uvperf_event_refresh); the handle is
 *      stopped;
 *    another      PERF_EVENT_IOC_ENABLE failed; the handle is stopped.
 *  Source: perf_event_open(2), PERF_EVENT_IOC_ENABLE. */
UVPERF_EXTERN int uvperf_event_start(uvperf_event_t *event,
                                     const uvperf_stream_options_t *options,
                                     uvperf_event_record_cb cb,
                                     uvperf_error_t *error);

/** Disables the event, if start enabled it, and cancels delivery at once: no
 *  callback runs after it until the next start, flush or snapshot. Records that
 *  were not delivered stay in the ring and come then. Siblings that it leads
 *  stop counting with it; records in their rings are still delivered.
 *  @return 0, also when not started; or
 *    UV_EPERM  in a forked child.
 *  Source: perf_event_open(2), PERF_EVENT_IOC_DISABLE. */
UVPERF_EXTERN int uvperf_event_stop(uvperf_event_t *event);

/** Delivers, unsliced and before it returns, the records that one look at the
 *  ring shows, through the callback of the last start. Works between stop and
 *  start too.
 *  @return 0, also when the ring is empty or delivery has ended; or
 *    UV_EINVAL  never started, no ring, or an overwritable one, which has
 *      uvperf_event_snapshot;
 *    UV_EBUSY   called inside a callback of the handle;
 *    UV_ENOMEM  out of memory, which it can take inside a callback of another
 *      handle; nothing was delivered;
 *    UV_EPERM   in a forked child. */
UVPERF_EXTERN int uvperf_event_flush(uvperf_event_t *event);

/** Gives the next record, for programs that drive a loop of their own. They
 *  initialize the handle, enable it (uvperf_event_enable), wait for
 *  uvperf_event_fd to become readable, and take records until UV_EAGAIN, every
 *  time: readiness is told once for each wakeup, not while records are left, so
 *  also once after the fd was added to an epoll set, and after what flush_ms
 *  would be where records wait below a watermark. libuv need not run until the
 *  handle is closed.
 *
 *  Of an overwritable ring (attr.write_backward) it gives a snapshot, newest
 *  record first, of what came since the snapshot before: uvperf_event_pause,
 *  next until UV_EAGAIN, uvperf_event_resume. The ring must be larger than any
 *  record. A pause does not wait for a record that another CPU is just writing:
 *  it is of the next snapshot, but it may be written over what this one is
 *  given, the oldest records first, and spoil them. Where the target runs on
 *  another CPU and the ring has gone round, either let a grace period pass
 *  between pause and next (membarrier(2), MEMBARRIER_CMD_GLOBAL; some
 *  milliseconds), as uvperf_event_snapshot does, or take so many bytes less
 *  than uvperf_event_ring_bytes as the largest record has.
 *  @param event   Not inside a callback of its own, and not started, unless
 *    its ring is overwritable: start delivers nothing then.
 *  @param record  Receives the library's record, valid, with all it points to,
 *    until the next call with this handle that delivers, starts or closes. NULL
 *    where there is none.
 *  @return 0, or
 *    UV_EAGAIN  the ring is empty;
 *    UV_EPROTO  as of uvperf_event_record_cb: with a record that came raw,
 *      or without one because the ring made no sense and its bytes up to the
 *      head are skipped. (If it cannot be read any more, later calls return
 *      UV_EOF.)
 *    UV_EOF     the target is gone (or that of each event that writes into the
 *      ring) and every record was given. Told at the second call in a row that
 *      finds nothing, as asking costs a system call;
 *    UV_EBADF   the event is in error state, as one that is pinned and that the
 *      PMU could not hold;
 *    UV_EBUSY   started, inside a callback of the handle, or the ring is
 *      overwritable and not paused, or uvperf_event_snapshot_start has begun a
 *      snapshot;
 *    UV_EINVAL  record is NULL; no ring;
 *    UV_ENOMEM  out of memory, which it takes where the next record begins at
 *      the end of the ring and goes on at its start, and which it can take
 *      inside a callback of another handle; it can be asked for again;
 *    UV_EPERM   in a forked child.
 *  Source: perf_event_open(2), "MMAP layout". */
UVPERF_EXTERN int uvperf_event_next(uvperf_event_t *event,
                                    const uvperf_record_t **record);

/** Returns whether a record waits, without taking it and without a system call.
 *  @return 1, and uvperf_event_next or a flush finds it (of an overwritable
 *    ring a snapshot, or next once the ring is paused); 0; or
 *    UV_EINVAL  no ring;
 *    UV_EBUSY   inside a callback of the handle, or while it is being opened;
 *    UV_EBADF   opening has failed;
 *    UV_EPERM   in a forked child. */
UVPERF_EXTERN int uvperf_event_has_record(const uvperf_event_t *event);

/** Delivers a snapshot of an overwritable ring (attr.write_backward): the
 *  newest records that fit into it, each whole, before it returns and unsliced,
 *  through the callback of the last start. Output is paused while the ring is
 *  copied, and goes on before the first callback, unless uvperf_event_pause has
 *  paused it; what was not written in between is told by a LOST record, which
 *  the next record that is written brings. Can be repeated at any time, also
 *  after stop and when the target is gone: UV_EOF is not told.
 *
 *  Where what it delivers fills the ring, or all but 256 KiB of it, it waits
 *  until no CPU is still writing a record that it began before the pause
 *  (membarrier(2), MEMBARRIER_CMD_GLOBAL): some milliseconds, up to some tens,
 *  in which the loop stands still (uvperf_event_snapshot_start lets it go on)
 *  and the output is paused. So rings of that size or less wait whenever there
 *  is something to deliver. If that call fails (a seccomp filter, nohz_full)
 *  the snapshot is as with UVPERF_SNAPSHOT_NO_WAIT, and is counted in
 *  uvperf_stats_t.unwaited_snapshots. Of a record that newer ones have
 *  overwritten in part nothing is delivered: uvperf_stats_t.cut_records.
 *
 *  The ring must be larger than any record: of one that is not (a stack dump, a
 *  call chain and raw data together) the kernel writes the end over the header,
 *  and what comes of the ring then may be made of the bytes of that end. A ring
 *  of 64 KiB holds any.
 *
 *  Snapshots and uvperf_event_next go by what the other has seen; what next has
 *  still to give of the look that it has begun it gives all the same.
 *  @param flags  UVPERF_SNAPSHOT_*.
 *  @param error  Receives why it failed.
 *  @return 0, also when there is nothing new; or
 *    UV_EINVAL  never started with a callback, no ring, one that is not
 *      overwritable, or unknown flags;
 *    UV_EBUSY   called inside a callback of the handle; or
 *      uvperf_event_snapshot_start has begun one;
 *    UV_ENOMEM  out of memory (it takes as much as the ring for the while);
 *      nothing was delivered;
 *    UV_EPERM   in a forked child;
 *    another    PERF_EVENT_IOC_PAUSE_OUTPUT failed. If it failed to pause,
 *      nothing was delivered; the next snapshot has those records. If it failed
 *      to resume, everything was delivered and the output stays paused; the
 *      next snapshot and uvperf_event_resume try again.
 *  The status of the callback is 0 with a record; UV_EPROTO with a record that
 *  came raw; or UV_EPROTO without one, last: what is older cannot be read, and
 *  nothing more comes of this snapshot; later ones have what is written from
 *  now on. A callback that stops or closes the handle ends the snapshot too;
 *  what was not delivered is gone, but for UVPERF_SNAPSHOT_ALL.
 *  Source: perf_event_open(2), PERF_EVENT_IOC_PAUSE_OUTPUT;
 *  __perf_output_begin() in kernel/events/ring_buffer.c. */
UVPERF_EXTERN int uvperf_event_snapshot(uvperf_event_t *event, uint32_t flags,
                                        uvperf_error_t *error);

/** Begins the same snapshot without stopping the loop. A thread of libuv's
 *  pool pauses the output, waits for writers, copies the ring and resumes the
 *  output, in one request. Then the loop delivers the copy in slices, with the
 *  bounds of the last start (and UVPERF_START_SLICE_END), and calls done_cb.
 *  The snapshot holds what is written until the thread copies it, which is
 *  later than this call, above all when the pool is busy. The loop is alive
 *  until done_cb, also if the handle is unref'd.
 *
 *  Until done_cb both forms of snapshot, uvperf_event_next, uvperf_event_pause
 *  and uvperf_event_resume return UV_EBUSY. All else goes on, and can change.
 *
 *  uvperf_event_stop, also in a record callback, cancels the delivery, and
 *  done_cb comes with UV_ECANCELED when the loop runs next. The next snapshot
 *  has the same records if none was delivered, or with UVPERF_SNAPSHOT_ALL;
 *  otherwise the rest is gone. uvperf_event_close cancels too: done_cb comes
 *  right before close_cb, and both after the thread is done.
 *
 *  A child that is forked meanwhile gets no records; its uvperf_event_close
 *  calls done_cb with UV_ECANCELED. If the request was in the pool at the fork,
 *  the child cannot close its loop (UV_EBUSY).
 *  @param flags    UVPERF_SNAPSHOT_*.
 *  @param done_cb  Called once if this returns 0; must not be NULL.
 *  @param error    Receives why it failed at once.
 *  @return 0, or
 *    UV_EINVAL  no done_cb, never started with a callback, no ring, one that is
 *      not overwritable, or unknown flags;
 *      or the program has closed an inner handle by uv_close;
 *    UV_EBUSY   another was begun, and its done_cb has not been called; or
 *      called inside a callback of uvperf_event_snapshot;
 *    UV_ENOMEM  out of memory;
 *    UV_EAGAIN, UV_EPERM  the process may make no threads; UV_EPERM also in a
 *      forked child. */
UVPERF_EXTERN int uvperf_event_snapshot_start(uvperf_event_t *event,
                                              uint32_t flags,
                                              uvperf_event_snapshot_cb done_cb,
                                              uvperf_error_t *error);

/** Has an event write its records into the ring of another, or into none. They
 *  come to the callback of the ring's owner (or by its uvperf_event_next), each
 *  decoded with the attr of its own event; record->source->data is the handle
 *  that wrote it, NULL once that is closed. What was written before the output
 *  changed, or before the writer was closed, is still delivered. UV_EOF comes
 *  when the target of every writer is gone. The watermark is the owner's; a
 *  writer's own wakeup_events count. Events that sample the same software event
 *  should have the same attr, because a sample of one can carry the id of
 *  another. It can also carry the id of another process's event; record->source
 *  is NULL then. See uvperf_sample_t.
 *  @param event   Opened without a ring (UVPERF_EVENT_NO_RING), and, as the
 *    output, with UVPERF_EVENT_IDENTIFY (or the bits that it sets). It is
 *    started (with no cb) and stopped, or enabled, by itself.
 *  @param output  On the same loop, with the same cpu (and with cpu -1 the same
 *    thread) and clock. If it writes into the ring of a third, that one is
 *    meant. Once it is closed the event writes nowhere. NULL for no ring.
 *  @param error   May be NULL; receives the reason of a failure.
 *  @return 0, also if that was its output already; or
 *    UV_EINVAL  the event has a ring of its own; the output has none, is closed
 *      or is not on this loop; ids that cannot be told apart; another cpu,
 *      thread or clock, or only one has write_backward; sample_stack_user not
 *      below an overwritable ring;
 *    UV_EOF     delivery from that ring has ended;
 *    UV_EBADF   output is NULL in a 32-bit program under a 64-bit kernel, which
 *      takes -1 for an fd then: close the event instead;
 *    UV_ENOMEM  out of memory;
 *    UV_EPERM   in a forked child;
 *    another    as any ioctl can give: see below, "what can be
 *      done to an open event".
 *    On error the output is what it was.
 *  Source: perf_event_open(2), PERF_EVENT_IOC_SET_OUTPUT;
 *  perf_event_set_output() in kernel/events/core.c. */
UVPERF_EXTERN int uvperf_event_set_output(uvperf_event_t *event,
                                          uvperf_event_t *output,
                                          uvperf_error_t *error);

/** Closes the handle: this is how one cancels. Returns at once; no record
 *  callback runs after it, even in the middle of a drain. If the event leads
 *  siblings, they are disabled first, and stay open. When the loop runs next,
 *  the ring is unmapped, the fd is closed and close_cb is called, or later, as
 *  described below: run the loop until close_cb was called. A callback of
 *  a flush or snapshot may close the handle and run the loop. Then close_cb is
 *  called in there, where the handle may be freed; the record stays valid until
 *  its callback returns, and the ring and the fd are released when the flush or
 *  snapshot returns.
 *
 *  The kernel needs 30 ms and more to close a tracepoint or a probe (any event
 *  of a PMU with a type of its own is taken for one). A thread of libuv's pool
 *  does this, of each loop one at a time, the loop goes on, and close_cb is
 *  called afterwards. A process that ends meanwhile waits for the kernel. A
 *  child that is forked meanwhile gets no close_cb, keeps the fds, and cannot
 *  close its loop (UV_EBUSY); with libuv 1.44 it cannot use the pool by that
 *  loop either. The loop's thread itself closes the event after a close inside
 *  a flush or snapshot, and where a BPF program has no link (see
 *  uvperf_event_attach_bpf), as the program runs until then.
 *
 *  Call it exactly once; a second call asserts. Call it also after
 *  uvperf_walk_close, and if the program has closed the inner handles by
 *  uv_close itself. If libuv has finished closing all of them by then, close_cb
 *  is called before this returns, and the loop is not touched: it may have been
 *  closed and freed.
 *  @param close_cb  May be NULL. */
UVPERF_EXTERN void uvperf_event_close(uvperf_event_t *event,
                                      uvperf_event_close_cb close_cb);

/** Reads the count.
 *  @param count  Receives the total. It is scaled if attr.read_format asks for
 *    both times; look at its state.
 *  @param error  Receives why it failed.
 *  @return 0, or
 *    UV_EBADF   the event is pinned and the PMU could not hold it (cause busy);
 *    UV_EPROTO  the kernel's answer has not the size that read_format means;
 *    UV_ENOENT  the answer for a group does not hold the event;
 *    UV_EINVAL  count is NULL;
 *    UV_EPERM   in a forked child;
 *    UV_ENOMEM  the event is in a group of more than 84 events, and there is no
 *      memory to read it;
 *    another    read(2) failed.
 *  Source: perf_event_open(2), "Reading results". */
UVPERF_EXTERN int uvperf_event_read(uvperf_event_t *event,
                                    uvperf_count_t *count,
                                    uvperf_error_t *error);

/** Reads the counts of events of one group, by one read(2).
 *  @param events  At least one; of the same group, in any order. The attr of
 *    the first has PERF_FORMAT_GROUP; its other bits are what is read of each.
 *  @param nr      How many, all of the group or some.
 *  @param counts  Receives nr counts, the i-th of events[i], matched by id.
 *    After an error they mean nothing.
 *  @param error   Receives why it failed.
 *  @return 0, or
 *    UV_EINVAL  an argument is NULL or 0, or the first has no
 *      PERF_FORMAT_GROUP;
 *    UV_ENOENT  one of them is not in the group, or not any more;
 *    UV_EBADF, UV_EPROTO, UV_EPERM, UV_ENOMEM, another  as uvperf_event_read.
 *  Source: perf_event_open(2), "Reading results". */
UVPERF_EXTERN int uvperf_event_read_group(uvperf_event_t *const *events,
                                          size_t nr, uvperf_count_t *counts,
                                          uvperf_error_t *error);

/** Gets the attr that the event was opened with.
 *  @return The handle's own copy, attr->size bytes; valid until close. While
 *    the event is being opened: the attr as given, valid until `cb`. */
UVPERF_EXTERN const struct perf_event_attr *
uvperf_event_attr(const uvperf_event_t *event);

/** Gets what fallbacks changed of the attr to have the event opened.
 *  @param nr  Receives how many changes there are: 0 if the attr was opened as
 *    it was given.
 *  @return The handle's own, in the order in which they were made; valid until
 *    close. NULL if there are none. */
UVPERF_EXTERN const uvperf_change_t *
uvperf_event_changes(const uvperf_event_t *event, size_t *nr);

/** Gets the size of the data part of the ring that was obtained.
 *  @return Bytes; 0 without a ring. */
UVPERF_EXTERN size_t uvperf_event_ring_bytes(const uvperf_event_t *event);

/** Gets what the handle has seen.
 *  @param stats  Receives the totals since init. */
UVPERF_EXTERN void uvperf_event_stats(const uvperf_event_t *event,
                                      uvperf_stats_t *stats);

/** Lets the started handle keep the loop alive, as uv_ref. The default. */
UVPERF_EXTERN void uvperf_event_ref(uvperf_event_t *event);

/** Lets the loop end although the handle is started, as uv_unref. */
UVPERF_EXTERN void uvperf_event_unref(uvperf_event_t *event);

/** Tells whether the handle is ref'd, as uv_has_ref.
 *  @return 1 or 0. */
UVPERF_EXTERN int uvperf_event_has_ref(const uvperf_event_t *event);

/** Tells whether the handle is active, as uv_is_active: started, and its target
 *  not gone or still with records to deliver. An event without a ring never is.
 *  @return 1 or 0. */
UVPERF_EXTERN int uvperf_event_is_active(const uvperf_event_t *event);

/** Tells whether the handle is closing or closed, as uv_is_closing.
 *  @return 1 or 0. */
UVPERF_EXTERN int uvperf_event_is_closing(const uvperf_event_t *event);

/** Gets sizeof(uvperf_event_t), for other languages.
 *  @return Bytes. */
UVPERF_EXTERN size_t uvperf_event_size(void);

/** Closes the owner of an inner handle, for programs that tear down by uv_walk:
 *
 *    static void walk(uv_handle_t *handle, void *arg) {
 *      if (!uvperf_walk_close(handle) && !uv_is_closing(handle))
 *        uv_close(handle, NULL);
 *    }
 *
 *  @param handle  Any handle of any loop; it is recognised by its type and
 *    callback, never through foreign `data`.
 *  @return 1 if the handle belongs to a uvperf handle, an event, a set or a BPF
 *    reader, which is now closing; 0 if it does not, and nothing was done. The
 *    uvperf handle's memory must stay until the loop has run; one later
 *    uvperf_event_close, uvperf_set_close or uvperf_bpf_reader_close is
 *    allowed, and stores its callback. */
UVPERF_EXTERN int uvperf_walk_close(uv_handle_t *handle);

/* -- what can be done to an open event ------------------------------------ */

/* perf_event_open(2)'s ioctls, one function each. These codes can come from
 * each of them that takes a uvperf_error_t:
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

/** Enables counting. Not needed after a start that enables. If the event leads
 *  siblings, they are enabled first (options.leader). If its limit
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
 *  unless the leader ran already (options.leader).
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
UVPERF_EXTERN int uvperf_event_change_period(uvperf_event_t *event,
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
UVPERF_EXTERN int uvperf_event_apply_filter(uvperf_event_t *event,
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
 *  @param cookie   What bpf_get_attach_cookie() returns to the program; 0 for
 *    none. Another cookie needs a BPF link.
 *  @return 0, or see the top, or
 *    UV_EBADF   prog_fd is not an open fd;
 *    UV_EINVAL  it is no BPF program, or one of a type not for this event;
 *    UV_EEXIST  the event has a program, or the tracepoint this one;
 *    UV_E2BIG   64 programs are attached to the tracepoint;
 *    UV_EACCES  the program reads beyond the tracepoint's fields (or see the
 *      top);
 *    UV_EPROTO  precise_ip, and the program takes a stack that the sample does
 *      not have;
 *    UV_ENOTSUP this kernel has no BPF for perf events; or, for a cookie, no
 *      link for such a program;
 *    UV_EPERM, UV_EMFILE, UV_ENFILE  for a cookie: bpf(2) is forbidden, or no
 *      fd is left for the link;
 *    UV_ENOMEM  out of memory.
 *  Source: perf_event_open(2), PERF_EVENT_IOC_SET_BPF. */
UVPERF_EXTERN int uvperf_event_attach_bpf(uvperf_event_t *event, int prog_fd,
                                          uint64_t cookie,
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
 *  close-on-exec. Any thread may read(2) the count from it while the loop's
 *  thread reads records: in the format of uvperf_event_attr's read_format. See
 *  perf_event_open(2), "Reading results".
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
