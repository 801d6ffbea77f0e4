/* SPDX-License-Identifier: MIT */
/* Several events as one libuv handle: attrs × targets, opened together, enabled
 * together and read together.
 *
 *   init, or open -> open_cb
 *     -> enable <-> disable -> close -> close_cb
 *        read, read_start <-> read_stop
 *
 * A target stands for one or more places: a CPU, a thread, a thread on a CPU.
 * Each attr is opened at each place, in its group if it is in one; a group is
 * read by one system call at each place. What a place cannot give is told by
 * uvperf_set_failures and in readings, and the rest works.
 *
 * Not of a set, but of a uvperf_event_t: refresh, as each place would have a
 * limit of its own and end at another time; pause, as all events of a CPU share
 * its ring (uvperf_set_disable, or UVPERF_SET_OVERWRITE and a snapshot);
 * query_bpf, as each event of a tracepoint gives the same answer; and modify.
 *
 * Rules that hold for every function here:
 * - One handle, one loop, one thread: call from the loop's thread only.
 * - Returned codes are 0 or a negative UV_E*.
 * - `error` may be NULL; it receives the cause, the reason and the remedy of a
 *   failure. event.h says which functions have it.
 * - All functions may be called inside the handle's callbacks, except
 *   uvperf_set_flush, uvperf_set_snapshot, uvperf_set_next and
 *   uvperf_set_has_record. A callback of the first two may also run the loop.
 * - After fork(2) the child must call uv_loop_fork and close the handles before
 *   it runs the loop; there, all but close and the getters return UV_EPERM, and
 *   close leaves the parent's events alone. event.h describes which children
 *   this is true for.
 * - Calling anything but ref, unref, has_ref, is_active and is_closing after
 *   uvperf_set_close is a programming error and asserts, in each build.
 * - uvperf_set_init and uvperf_set_add_target wait for the kernel: up to 15 ms
 *   for the first event of a process, and some microseconds for each event.
 *   uvperf_set_open and uvperf_set_open_target leave that to libuv's thread
 *   pool, as uvperf_set_close and uvperf_set_remove_target leave the closing of
 *   tracepoints, some tens of ms each (perf_trace_event_unreg).
 * - Enabling an event of another CPU takes some hundred microseconds, reading
 *   it some tens. Enabling or disabling an event of a task interrupts the CPU
 *   on which the task ran last, even if it sleeps now: 2,000 threads take 4 ms
 *   if that is the loop's CPU, else 35 to 70 ms (task_function_call in
 *   kernel/events/core.c). UVPERF_SET_ENABLED leaves enabling to the pool. */
#ifndef UVPERF_SET_H
#define UVPERF_SET_H

#include <stddef.h>
#include <stdint.h>

#include <uv.h>

#include "uvperf/attr.h"
#include "uvperf/count.h"
#include "uvperf/error.h"
#include "uvperf/name.h"
#include "uvperf/record.h"
#include "uvperf/set_options.h"
#include "uvperf/stream.h"
#include "uvperf/version.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct uvperf_set_s uvperf_set_t;

/** Called for each reading of uvperf_set_read_start, on the loop's thread.
 *  @param set      The handle.
 *  @param status   0; or UV_ENOMEM, with reading and delta NULL: this one could
 *    not be read, and the next delta covers its interval too.
 *  @param reading  What was counted since init or the last uvperf_set_reset.
 *    What single events could not tell is in the states of their counts. The
 *    set's, valid until the callback returns: uvperf_reading_copy keeps it.
 *  @param delta    What was counted since the last callback with status 0, or
 *    since uvperf_set_read_start; uvperf_reading_interval tells how long that
 *    was. As valid. */
typedef void (*uvperf_set_read_cb)(uvperf_set_t *set, int status,
                                   const uvperf_reading_t *reading,
                                   const uvperf_reading_t *delta);

/** Called once when uvperf_set_open is done, on the loop's thread.
 *  @param set     The handle. It may be started or closed in here.
 *  @param status
 *    0             the set is as uvperf_set_init would have left it;
 *    UV_ECANCELED  it was closed meanwhile, and close_cb comes later;
 *    another       it could not be opened, as for uvperf_set_init. No event is
 *                  left open, but the handle must be closed. Until then other
 *                  functions return UV_EBADF.
 *  @param error   Of a failure, valid until the callback returns; else NULL. */
typedef void (*uvperf_set_open_cb)(uvperf_set_t *set, int status,
                                   const uvperf_error_t *error);

/** Called once when uvperf_set_open_target is done, on the loop's thread.
 *  @param set     The handle.
 *  @param status
 *    0             the target was added. If not, nothing was added:
 *    UV_ECANCELED  the set was closed meanwhile;
 *    UV_EAGAIN     meanwhile an attr was opened elsewhere with other fallbacks,
 *                  or got another period or filter, or a CPU came that the set
 *                  follows: try again;
 *    another       as for uvperf_set_add_target.
 *  @param data    The target's uvperf_target_t.data.
 *  @param index   The target's index, if status is 0.
 *  @param error   Of a failure, valid until the callback returns; else NULL. */
typedef void (*uvperf_set_target_cb)(uvperf_set_t *set, int status, void *data,
                                     uint32_t index,
                                     const uvperf_error_t *error);

/** Called once when a closed handle is done; the memory of the handle is the
 *  caller's again and may be freed here. */
typedef void (*uvperf_set_close_cb)(uvperf_set_t *set);

/* The caller allocates it and keeps it in place until close_cb. */
struct uvperf_set_s {
  /* public: the user's, never touched */
  void *data;
  /* read-only */
  uv_loop_t *loop;
  /* private */
  void *impl;
  uvperf_set_close_cb close_cb;
  void *reserved[4];
};

/** Opens every attr at every place of every target. Nothing counts before
 *  uvperf_set_enable; of a UVPERF_TARGET_COMMAND nothing before its execve(2),
 *  and that by itself. Opening takes 3 to 20 microseconds for each event.
 *
 *  What cannot be opened is left out, and told by uvperf_set_failures, unless
 *  options.flags has UVPERF_SET_STRICT: then the first failure is that of the
 *  call. Without it the call fails if there are targets and nothing could be
 *  opened at all (but what options.side_band adds), and where fds or memory run
 *  out: a set of half of its CPUs would be no set.
 *  @param loop     Must outlive the handle.
 *  @param set      Caller's, uninitialized. On error it is the caller's again
 *    at once, and nothing is left open or known to the loop. `data` is not
 *    touched.
 *  @param options  Caller's; it and what it points to are copied, see there. Of
 *    an attr are changed: disabled and, as the target says, inherit and
 *    enable_on_exec; read_format, to what the library reads; sample_type, that
 *    has no PERF_SAMPLE_READ where there are no records; with
 *    UVPERF_SET_RECORDS what is said there; and what options.fallbacks allow.
 *  @param error    Receives why it failed: of several failures the one that
 *    tells most; attr_index and target_index say where it was.
 *  @return 0 if an event was opened, or there are no targets yet; or
 *    UV_EINVAL  loop, set or options is NULL; no targets without
 *      UVPERF_SET_TARGETS_LATER; no attrs, or attrs and events,
 *      or one of the attrs is NULL; a leader that is not before its member, or
 *      is a member itself; a target that cannot be right (see its fields);
 *      unknown flags or fallbacks; options of records without
 *      UVPERF_SET_RECORDS, slack_us without UVPERF_SET_TIME_ORDER, unknown bits
 *      of side_band, its BUILD_ID without mappings, no such ring_bytes,
 *      wakeup_bytes of more than half of a ring, attrs with different clocks
 *      or inherit_stat, or with write_backward and no UVPERF_SET_OVERWRITE,
 *      or samples with PERF_SAMPLE_STACK_USER whose end the kernel would write
 *      over the next record (see uvperf_event_init); with UVPERF_SET_OVERWRITE
 *      wakeup_bytes, slack_us, or sample_stack_user not below the size of a
 *      ring; or what uvperf_event_init says of EINVAL;
 *    UV_E2BIG   options, a target or an attr have fields that the library, or
 *      the kernel, does not know; or there are more than 65536 attrs;
 *    UV_EMFILE, UV_ENFILE  the fds do not suffice (cause files): error->needed
 *      is the RLIMIT_NOFILE that the whole set takes, error->limit that of now;
 *    UV_ENOMEM  out of memory;
 *    UV_EPERM, UV_EAGAIN  a ring cannot be locked in memory (cause
 *      locked_memory), with UVPERF_SET_RECORDS;
 *    UV_ESRCH   no such thread or process;
 *    UV_ENOENT  no such cgroup; no such PMU or event here;
 *    UV_ENODEV  the CPUs are offline; or the event's PMU counts on others;
 *    UV_EACCES, UV_EPERM  perf_event_paranoid, or the target's owner, forbids
 *      it: targets other than one's own tasks need CAP_PERFMON nearly
 *      everywhere, one's own an attr with exclude_kernel;
 *    another    as uvperf_event_init gives it, or as error->reason tells.
 *  Source: perf_event_open(2), "ERRORS". */
UVPERF_EXTERN int uvperf_set_init(uv_loop_t *loop, uvperf_set_t *set,
                                  const uvperf_set_options_t *options,
                                  uvperf_error_t *error);

/** Opens a set as uvperf_set_init does, but on threads of libuv's pool, so that
 *  the loop goes on: opening many tracepoints or a process of many threads
 *  takes milliseconds, and the first event of a process 5 to 15 ms. Each loop
 *  has at most one request of the library in the pool, for about a millisecond
 *  or one system call.
 *
 *  Until `cb` is called, the handle is active and keeps the loop alive, even if
 *  it is unref'd. Close, ref, unref, has_ref, is_active, is_closing, on_end and
 *  on_cpu work; other functions return UV_EBUSY, and those that return no code
 *  0, NULL or -1. Close cancels the opening after the current system call: `cb`
 *  is called with UV_ECANCELED, then close_cb.
 *
 *  Privileges are those of the pool's threads: their capabilities, namespaces
 *  and seccomp filters, which are the process's unless a thread has changed
 *  its own. UVPERF_TARGET_SELF is the thread that calls this. A replaced
 *  allocator (uvperf_replace_allocator) is called on those threads. A child
 *  that is forked meanwhile gets no callback of the handle, as with
 *  uvperf_set_close.
 *  @param loop     As for uvperf_set_init.
 *  @param set      As for uvperf_set_init.
 *  @param options  As for uvperf_set_init: copied before this returns.
 *  @param cb       Called once, after this has returned 0.
 *  @param error    Receives why it failed at once.
 *  @return 0, and the handle must be closed, even if it cannot be opened; or,
 *    with the handle the caller's again and `cb` never called,
 *    UV_EINVAL, UV_E2BIG, UV_ENOMEM  as uvperf_set_init, for what is found
 *      without asking the kernel; or cb is NULL;
 *    UV_EAGAIN, UV_EPERM  the process may make no threads (RLIMIT_NPROC,
 *      pids.max; a seccomp filter). */
UVPERF_EXTERN int uvperf_set_open(uv_loop_t *loop, uvperf_set_t *set,
                                  const uvperf_set_options_t *options,
                                  uvperf_set_open_cb cb, uvperf_error_t *error);

/** Has everything count that is open, and what targets that are added later
 *  open. The members of a group begin together, at each place. A command that
 *  has not called execve(2) yet is left alone: the kernel enables it then. A
 *  pinned event that was in error state is tried again. Events of a CPU that
 *  was offline stay turned off, although the kernel says that they are enabled:
 *  see UVPERF_SET_FOLLOW_CPUS.
 *  @param error  Receives the first failure; attr_index and target_index say
 *    where it was.
 *  @return 0, also if it was enabled before; or, with all enabled that could
 *    be,
 *    UV_EPERM   in a forked child (cause argument); or a seccomp filter or a
 *      security module forbids it (cause permission);
 *    UV_EACCES  a security module forbids it (cause permission);
 *    UV_ENODEV  an event's PMU is gone (cause no_event).
 *  Source: perf_event_open(2), PERF_EVENT_IOC_ENABLE. */
UVPERF_EXTERN int uvperf_set_enable(uvperf_set_t *set, uvperf_error_t *error);

/** Has everything stop counting, and no target that is added later begin. What
 *  was counted stays; uvperf_set_enable goes on from there. A command that has
 *  not called execve(2) yet is left alone: it counts from then on all the same.
 *  @param error  As of uvperf_set_enable.
 *  @return 0, also if it was disabled before; or, with all disabled that could
 *    be, as uvperf_set_enable.
 *  Source: perf_event_open(2), PERF_EVENT_IOC_DISABLE. */
UVPERF_EXTERN int uvperf_set_disable(uvperf_set_t *set, uvperf_error_t *error);

/** Has all counts and times begin at 0 again, those of each group as one,
 *  running or not. It reads, and from then on takes off what it read:
 *  PERF_EVENT_IOC_RESET would leave the times as they are, and what children
 *  that are gone have counted. Values that are no sums (UVPERF_ITEM_SNAPSHOT)
 *  are left. A delta over a reset counts from it. An event that cannot be read
 *  now is ERROR also in the first reading in which it can be, and counts from
 *  that.
 *  @param error  Receives why it failed.
 *  @return 0, or
 *    UV_EPERM  in a forked child. */
UVPERF_EXTERN int uvperf_set_reset(uvperf_set_t *set, uvperf_error_t *error);

/** Reads everything, by one read(2) for each group, and for each attr that is
 *  in none, at each place. One that cannot be read does not fail the reading:
 *  the state of its counts tells. For each task but the calling thread that has
 *  not run since the reading before, /proc is asked whether it is gone, which
 *  takes longer than a read: some 15 microseconds.
 *  @param reading  Caller's, of uvperf_reading_new; filled anew.
 *  @param error    Receives why it failed.
 *  @return 0, or, with reading left alone,
 *    UV_EINVAL  reading is NULL;
 *    UV_ENOMEM  out of memory;
 *    UV_EPERM   in a forked child.
 *  Source: perf_event_open(2), "Reading results". */
UVPERF_EXTERN int uvperf_set_read(uvperf_set_t *set, uvperf_reading_t *reading,
                                  uvperf_error_t *error);

/** Reads everything at once and then every so many milliseconds, and tells what
 *  is new. The kth callback is not before k intervals after this call are over;
 *  a loop that was late for several gets one callback, whose delta is of all
 *  the time, and the next at the next multiple of the interval. So there are
 *  never two for one interval, and the deltas add up to what was counted since
 *  this call. Without uvperf_set_enable (or UVPERF_SET_ENABLED) every
 *  count is 0 and its state UVPERF_COUNT_NOT_ENABLED.
 *
 *  Many events are read in slices: in each turn of the loop 32 groups, and more
 *  for up to a millisecond. (An attr that is in no group is a group of its own,
 *  at each place.) The callback comes when all are read, and intervals that end
 *  before that are left out. A set of up to 32 groups is read in one turn. The
 *  members of a group are read together, and other events at different times,
 *  each with its own time_enabled. The time of the reading is when it was
 *  begun.
 *
 *  Everything may be called between two slices:
 *  - A target that is removed is not in the reading. One that is added is, and
 *    so are places on a CPU that comes, with what they have counted when they
 *    are read, or with 0.
 *  - uvperf_set_reset begins the reading again.
 *  - uvperf_set_read and uvperf_measure read the rest too: the callback comes
 *    in the next turn, with values and the time of that call.
 *  - uvperf_set_enable and uvperf_set_disable take effect at once: events that
 *    were read before have what they counted until then.
 *
 *  The first reading, at which the first delta begins, is made by this call, as
 *  what happens right after it is in the first delta. It takes one read(2) for
 *  each group, which is about a microsecond for a task that sleeps. /proc is
 *  only asked later.
 *
 *  The handle keeps the loop alive (unless unref'd) until it is stopped, also
 *  where every task that it measures is gone: a target can be added.
 *  @param interval_ms  Milliseconds, at least 1.
 *  @param cb           Called for each.
 *  @param error        Receives why it failed.
 *  @return 0, or
 *    UV_EINVAL    interval_ms is 0, or cb is NULL; or another part of the
 *      program has closed an inner handle;
 *    UV_EALREADY  already started: stop it first;
 *    UV_ENOMEM    out of memory;
 *    UV_EPERM     in a forked child;
 *    another      with UVPERF_SET_FOLLOW_CPUS: why
 *      /sys/devices/system/cpu/online cannot be read. */
UVPERF_EXTERN int uvperf_set_read_start(uvperf_set_t *set, uint64_t interval_ms,
                                        uvperf_set_read_cb cb,
                                        uvperf_error_t *error);

/** Ends that at once, also between two slices: no callback comes after it.
 *  Counting goes on.
 *  @return 0, also when not started; or
 *    UV_EPERM  in a forked child. */
UVPERF_EXTERN int uvperf_set_read_stop(uvperf_set_t *set);

/** Opens every attr at every place of one target more, with the filters,
 *  periods and BPF programs that were set; it counts at once if the set is
 *  enabled. What cannot be opened is treated as by uvperf_set_init.
 *  @param target  Caller's, copied.
 *  @param index   Receives the target's index, as it is in failures and places:
 *    one that no other target of the set has or had. May be NULL.
 *  @param error   Receives why it failed, as of uvperf_set_init.
 *  @return 0, or, with nothing added,
 *    UV_EINVAL  target is NULL;
 *    UV_EPERM   in a forked child (cause argument);
 *    UV_EEXIST  another handle of the loop polls the fd of a new ring;
 *    UV_ENOSPC  out of epoll watches for a new ring (cause loop);
 *    another    what uvperf_set_init says of targets, and uvperf_set_enable of
 *      events. */
UVPERF_EXTERN int uvperf_set_add_target(uvperf_set_t *set,
                                        const uvperf_target_t *target,
                                        uint32_t *index, uvperf_error_t *error);

/** Adds a target as uvperf_set_add_target does, but opens its events on threads
 *  of libuv's pool, as uvperf_set_open does. The set goes on meanwhile; several
 *  targets may be opened at once. When all is open the events join the set, on
 *  the loop's thread: they write into its rings (that of a CPU that had none is
 *  made there) and get its programs. If the set is enabled, the pool enables
 *  them before that; with UVPERF_SET_RECORDS the loop's thread does. Close
 *  cancels it: `cb` with UV_ECANCELED.
 *  @param target  Caller's, copied before this returns; UVPERF_TARGET_SELF is
 *    the thread that calls this.
 *  @param cb      Called once, after this has returned 0.
 *  @param error   Receives why it failed at once.
 *  @return 0, or, and `cb` is not called,
 *    UV_EINVAL, UV_E2BIG  target or cb is NULL; a target that cannot be right;
 *    UV_ENOMEM  out of memory;
 *    UV_EBUSY   the set is being opened;
 *    UV_EAGAIN, UV_EPERM  the process may make no threads; UV_EPERM also in a
 *      forked child (cause argument). */
UVPERF_EXTERN int uvperf_set_open_target(uvperf_set_t *set,
                                         const uvperf_target_t *target,
                                         uvperf_set_target_cb cb,
                                         uvperf_error_t *error);

/** Closes the events of one target and forgets its failures. Its places are in
 *  no reading from then on, and its counts in no total. Records that it has
 *  written, and that wait in rings, come all the same, with their source.
 *  Tracepoints and probes, and 64 events or more, are closed by libuv's thread
 *  pool, as by uvperf_set_close: uvperf_set_nr_closing is 0 when all fds are
 *  free.
 *  @param index  The target's: those of options count from 0.
 *  @return 0, or
 *    UV_ENOENT  there is no such target;
 *    UV_EPERM   in a forked child. */
UVPERF_EXTERN int uvperf_set_remove_target(uvperf_set_t *set, uint32_t index);

/** Returns how many fds libuv's thread pool still has to close, of targets that
 *  were removed and of CPUs that came back. */
UVPERF_EXTERN size_t uvperf_set_nr_closing(const uvperf_set_t *set);

/** Sets the filter of one attr at all places, those of targets that are added
 *  later too; see uvperf_event_apply_filter. Once for each attr.
 *  @param attr    The attr's index. The first part of an event stands for all
 *    of its parts (uvperf_event_item_t.first), here and in the two functions
 *    below.
 *  @param filter  Copied.
 *  @param error   Receives the first failure.
 *  @return 0, or
 *    UV_EINVAL  there is no such attr, or filter is NULL;
 *    UV_ENOMEM  out of memory;
 *    UV_EPERM   in a forked child (cause argument);
 *    another    what uvperf_event_apply_filter gives.
 *  Source: perf_event_open(2), PERF_EVENT_IOC_SET_FILTER. */
UVPERF_EXTERN int uvperf_set_apply_filter(uvperf_set_t *set, size_t attr,
                                          const char *filter,
                                          uvperf_error_t *error);

/** Sets the period of one attr at all places, those of targets that are added
 *  later too; see uvperf_event_change_period. For attrs that sample: without
 *  UVPERF_SET_RECORDS nothing is written, but BPF programs run at their
 *  samples.
 *  @param attr    The attr's index.
 *  @param period  As of uvperf_event_change_period.
 *  @param error   Receives the first failure.
 *  @return 0, or
 *    UV_EINVAL  there is no such attr, or it does not sample;
 *    UV_EPERM   in a forked child (cause argument);
 *    another    what uvperf_event_change_period gives.
 *  Source: perf_event_open(2), PERF_EVENT_IOC_PERIOD. */
UVPERF_EXTERN int uvperf_set_change_period(uvperf_set_t *set, size_t attr,
                                           uint64_t period,
                                           uvperf_error_t *error);

/** Attaches a BPF program to one attr at all places, those of targets that are
 *  added later too; see uvperf_event_attach_bpf for which programs and what
 *  they decide. Once for each attr, and until uvperf_set_close, which has
 *  detached it when it returns.
 *
 *  A program of samples is attached to each event, and runs while that is
 *  enabled; a sample for which it returns 0 is not written, not while the
 *  event is being closed either. A tracepoint gets it through the event of one
 *  place, and if that goes, of another, with a moment between the two: it runs
 *  there for the hits of all of them, and from this call on, as the kernel does
 *  not ask whether they are enabled. If it must not run before
 *  uvperf_set_enable, call this right before that. So it is with a kprobe or
 *  uprobe, but each event of these (by the PMUs of that name) is a probe of its
 *  own: on so many CPUs the program runs so many times for a hit. For one run
 *  measure one CPU: the probe is on all.
 *
 *  It is attached by a BPF link for each event (Linux 5.15), which takes an fd;
 *  where bpf(2) gives none, by PERF_EVENT_IOC_SET_BPF: then a tracepoint runs
 *  it until close_cb.
 *  @param attr     The attr's index.
 *  @param prog_fd  An fd of the program, the caller's; it may be closed then.
 *  @param cookie   What bpf_get_attach_cookie() returns to the program at each
 *    of these events; 0 for none. Another cookie needs BPF links.
 *  @param error    Receives the first failure.
 *  @return 0, or
 *    UV_EINVAL  there is no such attr;
 *    UV_EEXIST  it has a program;
 *    UV_EMFILE  out of fds: the set keeps a duplicate;
 *    UV_EPERM   in a forked child (cause argument);
 *    another    what uvperf_event_attach_bpf gives.
 *  Source: bpf(2); perf_event_open(2), PERF_EVENT_IOC_SET_BPF. */
UVPERF_EXTERN int uvperf_set_attach_bpf(uvperf_set_t *set, size_t attr,
                                        int prog_fd, uint64_t cookie,
                                        uvperf_error_t *error);

/** Keeps a map of type BPF_MAP_TYPE_PERF_EVENT_ARRAY filled with the events of
 *  one attr, until uvperf_set_close: under each CPU's id the event of that CPU.
 *  Programs that run there read its count by bpf_perf_event_read_value() with
 *  BPF_F_CURRENT_CPU. Targets that are added and removed are followed, and so
 *  are CPUs with UVPERF_SET_FOLLOW_CPUS. On a CPU without an event of the attr
 *  programs get -ENOENT.
 *
 *  The events are those of UVPERF_TARGET_CPUS; of several at a CPU that of the
 *  first target. Events of tasks and cgroups are in no map. Programs see the
 *  kernel's count of the event: uvperf_set_reset does not change it, and after
 *  a CPU has come back it begins at 0.
 *
 *  What another has put under the same key is replaced. Close deletes only what
 *  the set has put there. Removing a target, and a CPU that comes back, delete
 *  by the key, also what another has put there since. Without CAP_SYS_ADMIN,
 *  and in a map with BPF_F_PRESERVE_ELEMS, close does so too.
 *  @param attr    The attr's index. Each attr fills one map.
 *  @param map_fd  Of the map; the caller's, and it may be closed then.
 *  @param error   Receives why it failed.
 *  @return 0, also if the set has no target yet; or, with no entry changed but
 *    those that were replaced before the failure, which are deleted,
 *    UV_EINVAL  there is no such attr; the set has targets, but none of CPUs;
 *      it is not a map, or of another type (cause argument);
 *    UV_EBADF   map_fd is not open;
 *    UV_EEXIST  the attr fills a map already;
 *    UV_E2BIG   a CPU has no entry in the map (max_entries). For a CPU that
 *      comes, uvperf_set_cpu_cb has that code; a target that is added fails;
 *    UV_ENOTSUP attr.inherit is set: the kernel takes no such event into a map;
 *    UV_EPERM   in a forked child (cause argument); the map is frozen or was
 *      opened for reading only, or bpf(2) is refused (cause permission);
 *    UV_EMFILE, UV_ENFILE  out of fds: the set keeps one for the map;
 *    UV_ENOMEM  out of memory;
 *    UV_EBUSY   the set is being opened;
 *    another    what bpf(2) gives.
 *  Source: bpf(2), BPF_MAP_UPDATE_ELEM; bpf-helpers(7),
 *  bpf_perf_event_read_value(). */
UVPERF_EXTERN int uvperf_set_fill_map(uvperf_set_t *set, size_t attr,
                                      int map_fd, uvperf_error_t *error);

/** Gets what could not be opened, of the targets of now: one failure for each
 *  attr and place, or, where a target could not be told into places, for each
 *  attr.
 *  @param nr  Receives how many there are.
 *  @return The set's own, ordered by target, place and attr; valid until a
 *    target is added or removed, a CPU comes (uvperf_set_on_cpu), or close.
 *    NULL if there are none. */
UVPERF_EXTERN const uvperf_set_failure_t *
uvperf_set_failures(const uvperf_set_t *set, size_t *nr);

/** Tells how many attrs the set has, opened or not, with all parts of events;
 *  that of options.side_band is the last.
 *  @return at least 1. */
UVPERF_EXTERN size_t uvperf_set_nr_attrs(const uvperf_set_t *set);

/** Gets what is known of an attr: label, scale, unit, group. Its `attr` is as
 *  opened, fallbacks applied, but for disabled, inherit and enable_on_exec,
 *  which are as given; without a place as it will be tried.
 *
 *  The label and the unit describe the event that was opened. After
 *  UVPERF_FALLBACK_USER the label has the modifier u, as in perf(1). After
 *  UVPERF_FALLBACK_CLOCK or UVPERF_FALLBACK_PRECISE the label is the one of
 *  uvperf_attr_label, even if the user gave a name (name=, options.labels).
 *
 *  Events of options.events and attrs with options.labels have a label from the
 *  start; other attrs and that of options.side_band do not. The first call for
 *  one of these makes the labels of all of them: see uvperf_attr_label. If
 *  tracepoints are among them, it reads tracefs once, which takes some
 *  milliseconds. If memory or fds run out, the label is "type=…,config=…" for
 *  now, and the next call tries again. A label that was returned before stays
 *  valid as long as the item.
 *  @param attr  The attr's index.
 *  @return The set's own, valid until a target is added, or close; NULL where
 *    there is none. */
UVPERF_EXTERN const uvperf_event_item_t *
uvperf_set_item(const uvperf_set_t *set, size_t attr);

/** Gets what fallbacks changed of an attr, at all places alike; but
 *  UVPERF_FALLBACK_INHERIT is of the targets with inheritance alone.
 *  @param attr  The attr's index.
 *  @param nr    Receives how many changes there are: 0 if it is open as it was
 *    given, or nowhere, or there is no such attr.
 *  @return The set's own, in the order in which they were made; valid until a
 *    target is added, or close. NULL if there are none. */
UVPERF_EXTERN const uvperf_change_t *
uvperf_set_changes(const uvperf_set_t *set, size_t attr, size_t *nr);

/** Tells how many events, and so fds, are open; beside those that own rings.
 *  @return 0 and more. */
UVPERF_EXTERN size_t uvperf_set_nr_open(const uvperf_set_t *set);

/** Gets the fd of an attr at a place, for what the library does not do: to put
 *  it into a BPF map (where it is looked up by CPU, for example). It is
 *  close-on-exec. Do not close it.
 *  @param attr    The attr's index.
 *  @param serial  Of the place, uvperf_place_t.serial.
 *  @return The fd, the set's, valid until its target is removed, its CPU comes
 *    back (uvperf_set_on_cpu), or close; -1 where it is not open. */
UVPERF_EXTERN int uvperf_set_fd(const uvperf_set_t *set, size_t attr,
                                uint64_t serial);

/** Closes the handle. Returns at once; no reading and no record comes after it,
 *  also in the middle of a turn, BPF programs are off, and everything is
 *  disabled. When the loop runs next, the fds are closed and close_cb is
 *  called. Tracepoints and probes, and sets of 64 events and more, are disabled
 *  and then closed by a thread of libuv's pool, and close_cb is called
 *  afterwards: until that thread runs they still count. See uvperf_event_close
 *  for that, for a close inside a flush or snapshot, and for one after the loop
 *  was closed. Call it exactly once, also after uvperf_walk_close.
 *  @param close_cb  May be NULL. */
UVPERF_EXTERN void uvperf_set_close(uvperf_set_t *set,
                                    uvperf_set_close_cb close_cb);

/** Lets the handle keep the loop alive while it is active, as uv_ref. The
 *  default. */
UVPERF_EXTERN void uvperf_set_ref(uvperf_set_t *set);

/** Lets the loop end although the handle is active, as uv_unref. */
UVPERF_EXTERN void uvperf_set_unref(uvperf_set_t *set);

/** Tells whether the handle is ref'd, as uv_has_ref.
 *  @return 1 or 0. */
UVPERF_EXTERN int uvperf_set_has_ref(const uvperf_set_t *set);

/** Tells whether the handle is active, as uv_is_active: while it or a target is
 *  being opened, between uvperf_set_read_start and uvperf_set_read_stop, or
 *  between uvperf_set_start and uvperf_set_stop or the end of all that it
 *  measures.
 *  @return 1 or 0. */
UVPERF_EXTERN int uvperf_set_is_active(const uvperf_set_t *set);

/** Tells whether the handle is closing or closed, as uv_is_closing.
 *  @return 1 or 0. */
UVPERF_EXTERN int uvperf_set_is_closing(const uvperf_set_t *set);

/** Gets sizeof(uvperf_set_t), for other languages.
 *  @return Bytes. */
UVPERF_EXTERN size_t uvperf_set_size(void);

/* -- records of a set ----------------------------------------------------- */

/* Many events on many CPUs or tasks, one ring for each CPU, one callback. The
 * set is made with UVPERF_SET_RECORDS.
 *
 *   init -> start <-> stop -> close -> close_cb
 *
 * With UVPERF_SET_OVERWRITE the rings hold the newest records, and give them to
 * uvperf_set_snapshot alone.
 *
 * All functions but uvperf_set_flush and uvperf_set_snapshot may be called
 * inside any callback of the handle. */

/** Called for each record, on the loop's thread.
 *  @param set     The handle.
 *  @param status
 *    0           a record, or, with UVPERF_START_SLICE_END, the end of a slice
 *                (record is NULL);
 *    UV_EPROTO   with a record: its header is sound but its body is not, or its
 *                id is unknown and the ring's events write records of different
 *                layouts; it comes raw and delivery goes on;
 *    UV_EPROTO   without a record: a ring made no sense, for example after a
 *                record longer than 64 KiB; uvperf_set_failed_ring returns
 *                which ring. All bytes up to its head are skipped
 *                (uvperf_stats_t.skipped_bytes), and delivery goes on. Only if
 *                the head is not a multiple of 8, nothing more comes from that
 *                ring (uvperf_ring_info_t.status), even if a target is added;
 *                if it was the last ring, delivery has stopped. In a snapshot:
 *                the older records of a ring cannot be read, and the snapshot
 *                goes on. The callback comes after the newer records of that
 *                ring, or with UVPERF_SET_TIME_ORDER after all records;
 *    UV_EOF      without a record: every task that was to be measured is gone
 *                and every record was delivered, or is there for a snapshot;
 *                delivery has stopped;
 *    another     without a record: a ring can no longer be polled, and nothing
 *                more comes from it (uvperf_set_failed_ring). Either libuv
 *                refused its fd; or the process's first thread has ended, which
 *                hangs up the fd, and another fd could not be opened
 *                (UV_EMFILE, for example).
 *  @param record  The library's, valid, with all it points to, until the
 *    callback returns. record->source tells the attr (attr_index: see
 *    uvperf_set_item), the target (target_index), the place and the target's
 *    `data`. It is NULL if the record's event is unknown. For a sample this can
 *    happen if several events of the set sample on its CPU, and another process
 *    samples the same software event as one of them (uvperf_sample_t). */
typedef void (*uvperf_set_record_cb)(uvperf_set_t *set, int status,
                                     const uvperf_record_t *record);

/** Called when a target is gone: each of its tasks, and of what they made if
 *  attr.inherit had those measured. All of its records were delivered before,
 *  or, with UVPERF_SET_OVERWRITE, wait for a snapshot. (Of a target whose
 *  events all only count, or could not be opened, its own tasks are looked for
 *  in /proc, and not what they made.) The target stays in the set until
 *  uvperf_set_remove_target, which may be called in here. UV_EOF comes after
 *  the last one, unless that was removed: a set without targets waits for more.
 *  After UV_EOF one that is added is delivered from the next uvperf_set_start
 *  on.
 *  @param set     The handle.
 *  @param target  The target's index. */
typedef void (*uvperf_set_end_cb)(uvperf_set_t *set, uint32_t target);

/** Called when a CPU has gone offline or come online, and what that takes is
 *  done.
 *  @param set     The handle.
 *  @param cpu     The CPU's id.
 *  @param status  UV_ENODEV without an error: it has gone, its events have
 *    stopped, and its ring is being drained. 0: it has come, and its events are
 *    open and, if the set's are, enabled. Any with an error: it has come, and
 *    this is the first failure there of those that uvperf_set_failures tells;
 *    UV_ENODEV too, of an event whose PMU counts on others.
 *  @param error   Of a failure, valid until the callback returns; else NULL. */
typedef void (*uvperf_set_cpu_cb)(uvperf_set_t *set, int cpu, int status,
                                  const uvperf_error_t *error);

/** Starts delivery, and enables the set as uvperf_set_enable does. A handle
 *  that delivers keeps the loop alive (unless unref'd) until it is stopped or
 *  its last target is gone; with CPUs, cgroups, or no target at all, until it
 *  is stopped. So does one with UVPERF_SET_OVERWRITE, which follows CPUs and
 *  tells ends as others do, but delivers no record.
 *
 *  Without UVPERF_SET_TIME_ORDER a ring's records come in the order in which
 *  the kernel wrote them, and rings take turns. With it all records come in the
 *  order of their time: a turn of the loop takes the time, looks at all rings,
 *  and delivers what is older than that by slack_us; the rest waits in its
 *  ring for the next turn, which comes within flush_ms or, if that is never,
 *  soon after slack_us. So a quiet ring holds up nobody. Nothing is copied (but
 *  a record that wraps) or sorted: beside the rings it takes about a hundred
 *  bytes for each. While any ring is more than half full nothing waits for the
 *  slack. A record that becomes visible later than that, or that an interrupt
 *  has put behind a younger one, is delivered when it is found, and counted in
 *  uvperf_stats_t.late_records.
 *
 *  Another process that samples the same software event can stamp our records
 *  with its own clock. A time is impossible if it is from before the set was
 *  opened, or more than 1 ms later than the set's clock. A record with such a
 *  time is delivered after the record before it in its ring. Its record->time
 *  is the time of that one, or for the first of a ring the time at which the
 *  set was opened. (record->bytes has the time that the kernel wrote.) So
 *  record->time can go back there. Such a record delays no other record, and is
 *  counted in uvperf_stats_t.bad_times, not in late_records.
 *  A foreign time that is possible cannot be recognized. If it is later than
 *  ours (by at most 1 ms), its ring waits for that time; if it is earlier, the
 *  record is late.
 *  When CLOCK_REALTIME or CLOCK_TAI is set back, the times of records from
 *  before that are impossible, and make no later record late.
 *  In a time namespace (time_namespaces(7)), record->time is still the time of
 *  the initial one.
 *
 *  A LOST record has the time at which there was room again (before the record
 *  behind it in its ring); the loss was somewhere since the record before it.
 *  @param set      Initialized with UVPERF_SET_RECORDS.
 *  @param options  Caller's, copied; NULL for the defaults. flush_ms 0 is
 *    never where wakeup_bytes is 1, else 100; with UVPERF_SET_OVERWRITE it and
 *    the bounds of slices mean nothing.
 *  @param cb       Called for each record.
 *  @param error    May be NULL; receives the reason of a failure.
 *  @return 0, or
 *    UV_EALREADY  already started;
 *    UV_EOF       every target is gone, and every record was delivered; or no
 *      ring can be read any more;
 *    UV_EPROTO    the same, and the head of a ring is not a multiple of 8. If
 *      other rings can be read, start succeeds instead, and
 *      uvperf_ring_info_t.status says which ring is not read;
 *    UV_EINVAL    no UVPERF_SET_RECORDS, no cb, bad options or flags; or all
 *      attrs only count; or somebody else has closed an inner handle;
 *    UV_E2BIG     options that the library does not know;
 *    UV_ENOMEM    out of memory;
 *    UV_EPERM     in a forked child;
 *    UV_EEXIST    another handle of the loop polls the fd of a ring;
 *    UV_ENOSPC    out of epoll watches (cause loop);
 *    another      with UVPERF_SET_FOLLOW_CPUS, why
 *      /sys/devices/system/cpu/online cannot be read (cause no_cpu, or files
 *      where no fd is left for it); or why no event that writes records could
 *      be opened (uvperf_set_failures); or what uvperf_set_enable gives: the
 *      handle is stopped.
 *  Source: perf_event_open(2), "MMAP layout". */
UVPERF_EXTERN int uvperf_set_start(uvperf_set_t *set,
                                   const uvperf_stream_options_t *options,
                                   uvperf_set_record_cb cb,
                                   uvperf_error_t *error);

/** Disables the set, if start enabled it, and cancels delivery at once: no
 *  record callback runs after it until the next start or flush. Records that
 *  were not delivered stay in the rings and come then.
 *  @return 0, also when not started; or
 *    UV_EPERM  in a forked child. */
UVPERF_EXTERN int uvperf_set_stop(uvperf_set_t *set);

/** Delivers, unsliced and before it returns, the records that one look at the
 *  rings shows, through the callback of the last start; in the order of time,
 *  without waiting for slack_us, where that was asked for. Works between stop
 *  and start too.
 *  @return 0, also when the rings are empty or delivery has ended; or
 *    UV_EINVAL  never started; or UVPERF_SET_OVERWRITE: uvperf_set_snapshot
 *      delivers then;
 *    UV_EBUSY   called inside a callback of the handle;
 *    UV_EPERM   in a forked child. */
UVPERF_EXTERN int uvperf_set_flush(uvperf_set_t *set);

/** Returns the next record without a callback, for programs that drive a loop
 *  of their own, as uvperf_event_next does. They initialize the set, enable it
 *  (uvperf_set_enable), poll the fd of each ring (uvperf_set_ring) with a
 *  timeout, as records may wait below wakeup_bytes, and take records until
 *  UV_EAGAIN. libuv need not run until the handle is closed.
 *
 *  Without UVPERF_SET_TIME_ORDER rings take turns: all records that one look
 *  at a ring has shown come together. With it the records that one look at all
 *  rings has shown come in the order of time, without waiting for slack_us, as
 *  by uvperf_set_flush. A look costs one
 *  load for each ring, so there is no call for one ring alone. The bytes of
 *  records go back to the kernel after each quarter of a ring, and when a look
 *  is used up; those of the last record at the next call.
 *
 *  It may take turns with uvperf_set_start and uvperf_set_flush: each goes on
 *  where the other has stopped. CPUs are not followed by it
 *  (UVPERF_SET_FOLLOW_CPUS).
 *  @param set     With UVPERF_SET_RECORDS; not started, and not inside one of
 *    its callbacks.
 *  @param record  Receives the library's record, valid, with all it points to,
 *    until the next call of next, start, flush or close. NULL without one.
 *  @return 0, or
 *    UV_EAGAIN  the rings are empty;
 *    UV_EPROTO  as of uvperf_set_record_cb: with a record that came raw; or
 *      without one, because a ring made no sense: uvperf_set_failed_ring
 *      returns it, until the next call;
 *    UV_EOF     every target is gone and every record was given; or no ring can
 *      be read any more. Ends are looked for by the second call in a row that
 *      finds nothing, as that takes a system call for up to 64 targets. The
 *      callback of uvperf_set_on_end is called then, inside this function;
 *    UV_ECANCELED  that callback has closed the set;
 *    UV_EINVAL  record is NULL; no UVPERF_SET_RECORDS, or all events of the set
 *      only count; or UVPERF_SET_OVERWRITE: uvperf_set_snapshot delivers then;
 *    UV_EBUSY   started, inside a callback of the handle, or being opened;
 *    UV_EBADF   opening has failed;
 *    UV_ENOMEM  out of memory;
 *    UV_EPERM   in a forked child.
 *  Source: perf_event_open(2), "MMAP layout". */
UVPERF_EXTERN int uvperf_set_next(uvperf_set_t *set,
                                  const uvperf_record_t **record);

/** Returns whether a record waits in any ring, without taking it and without a
 *  system call.
 *  @return 1, and uvperf_set_next or a flush finds it (with
 *    UVPERF_SET_OVERWRITE a snapshot); 0; or
 *    UV_EINVAL  no UVPERF_SET_RECORDS;
 *    UV_EBUSY   inside a callback of the handle, or while it is being opened;
 *    UV_EBADF   opening has failed;
 *    UV_EPERM   in a forked child. */
UVPERF_EXTERN int uvperf_set_has_record(const uvperf_set_t *set);

/** Delivers a snapshot of all overwritable rings at one time through the
 *  callback of the last start: see uvperf_event_snapshot, which says what it
 *  holds, how long it takes and what the flags do. All rings are paused, and
 *  waited for, together. With UVPERF_SET_TIME_ORDER the records of all rings
 *  come in the order of their time, oldest first; else ring by ring. (A record
 *  that an interrupt has put behind a younger one is in late_records, counted
 *  for each snapshot by itself. uvperf_set_start describes impossible times.) A
 *  record tells its source also when its target
 *  was removed since. Works after stop and UV_EOF too. A callback that stops or
 *  closes the handle ends the snapshot; what was not delivered is in no other,
 *  but one with UVPERF_SNAPSHOT_ALL.
 *  @param flags  UVPERF_SNAPSHOT_*; with UVPERF_SET_TIME_ORDER
 *    UVPERF_SNAPSHOT_OLDEST_FIRST changes nothing.
 *  @param error  Receives why it failed.
 *  @return 0, also when there is nothing new; or
 *    UV_EINVAL  never started, no UVPERF_SET_OVERWRITE, or unknown flags;
 *    UV_EBUSY   called inside a callback of the handle; or
 *      uvperf_set_snapshot_start has begun one;
 *    UV_ENOMEM  out of memory (it takes as much as all rings for the while):
 *      nothing was delivered, and the next snapshot has it;
 *    UV_EPERM   in a forked child;
 *    another    PERF_EVENT_IOC_PAUSE_OUTPUT failed. If a ring could not be
 *      paused, nothing was delivered. If a ring could not be resumed, all
 *      records were delivered and that ring stays paused; the next snapshot
 *      tries again.
 *  Source: perf_event_open(2), PERF_EVENT_IOC_PAUSE_OUTPUT. */
UVPERF_EXTERN int uvperf_set_snapshot(uvperf_set_t *set, uint32_t flags,
                                      uvperf_error_t *error);

/** Called once when a snapshot that uvperf_set_snapshot_start began has ended:
 *  as uvperf_event_snapshot_cb.
 *  @param set     The handle.
 *  @param status  0; UV_ECANCELED if the handle was stopped or closed before;
 *    UV_ENOMEM; or another if PERF_EVENT_IOC_PAUSE_OUTPUT failed: see
 *    uvperf_set_snapshot. */
typedef void (*uvperf_set_snapshot_cb)(uvperf_set_t *set, int status);

/** Begins the same snapshot without stopping the loop: a thread of libuv's pool
 *  takes it, the loop delivers it in slices, then done_cb is called. See
 *  uvperf_event_snapshot_start, which describes stop, close and fork. Targets
 *  and CPUs may come and go meanwhile; rings that are opened after this call
 *  are not in the snapshot. UV_EOF of a started set comes after done_cb.
 *  @param flags    UVPERF_SNAPSHOT_*.
 *  @param done_cb  Called once if this returns 0; must not be NULL.
 *  @param error    Receives why it failed at once.
 *  @return 0, or
 *    UV_EINVAL  no done_cb, never started, no UVPERF_SET_OVERWRITE, or unknown
 *      flags;
 *      or the program has closed an inner handle by uv_close;
 *    UV_EBUSY   another was begun, and its done_cb has not been called; or
 *      called inside a callback of uvperf_set_snapshot;
 *    UV_ENOMEM  out of memory;
 *    UV_EAGAIN, UV_EPERM  the process may make no threads; UV_EPERM also in a
 *      forked child. */
UVPERF_EXTERN int uvperf_set_snapshot_start(uvperf_set_t *set, uint32_t flags,
                                            uvperf_set_snapshot_cb done_cb,
                                            uvperf_error_t *error);

/** Has the end of each target reported, while the handle is started. A target
 *  is gone when its events hang up; to find that out, the set polls one fd for
 *  each target that lives. It does so when the timer of flush_ms fires, which
 *  wakes the loop anyway, at most once in 100 ms; and 10 ms after an EXIT
 *  record was delivered. It also has a timer of its own, for a flush_ms that
 *  is never or above 100. That fires within 100 ms after the set was started or
 *  has delivered records, and then ever more rarely, so that an idle set wakes
 *  the loop once a second. So the end is reported within about 100 ms with the
 *  default flush_ms of 100. With wakeup_bytes 1 (flush_ms is never by default
 *  then) or UVPERF_SET_OVERWRITE (EXIT records hasten nothing there) the end of
 *  an idle target can be reported a second late. Records that wait in the rings
 *  then are delivered first; with UVPERF_SET_OVERWRITE they stay. If many
 *  targets have ended, each turn of the loop reports ends for a millisecond.
 *  @param cb  NULL: no end is reported but UV_EOF.
 *  @return 0, or
 *    UV_EINVAL  the set has no UVPERF_SET_RECORDS, so it cannot be started. */
UVPERF_EXTERN int uvperf_set_on_end(uvperf_set_t *set, uvperf_set_end_cb cb);

/** Has it told when CPUs come and go, while the handle is started or reading,
 *  of a set with UVPERF_SET_FOLLOW_CPUS.
 *  @param cb  NULL for none.
 *  @return 0, or
 *    UV_EINVAL  the set has no UVPERF_SET_FOLLOW_CPUS. */
UVPERF_EXTERN int uvperf_set_on_cpu(uvperf_set_t *set, uvperf_set_cpu_cb cb);

/** Finds the event with an id, as in LOST and THROTTLE records and in the
 *  values of PERF_SAMPLE_READ.
 *  @param id  PERF_EVENT_IOC_ID's.
 *  @return The set's own, valid until its target is removed, its CPU comes
 *    back, or close; inside a record callback until that returns. NULL if there
 *    is none. */
UVPERF_EXTERN const uvperf_source_t *uvperf_set_source(const uvperf_set_t *set,
                                                       uint64_t id);

/** Gets what the handle has seen, of all rings.
 *  @param stats  Receives the totals since init. */
UVPERF_EXTERN void uvperf_set_stats(const uvperf_set_t *set,
                                    uvperf_stats_t *stats);

/** Tells how many rings there are: one for each CPU on which an event that
 *  writes records was ever opened.
 *  @return 0 without UVPERF_SET_RECORDS. */
UVPERF_EXTERN size_t uvperf_set_nr_rings(const uvperf_set_t *set);

/** Gets what is known of one ring.
 *  @param index  Below uvperf_set_nr_rings; a ring keeps its index.
 *  @param ring   Receives it.
 *  @return 0, or
 *    UV_EINVAL  there is no such ring. */
UVPERF_EXTERN int uvperf_set_ring(const uvperf_set_t *set, size_t index,
                                  uvperf_ring_info_t *ring);

/** Gets the ring, and so the CPU, that failed. Call it inside a record callback
 *  that has an error and no record, or after uvperf_set_next has returned
 *  UV_EPROTO without a record.
 *  @param ring  Receives what is known of the ring.
 *  @return 0, or
 *    UV_ENOENT  called at another time, or inside a callback that is not about
 *      one ring (UV_EOF). */
UVPERF_EXTERN int uvperf_set_failed_ring(const uvperf_set_t *set,
                                         uvperf_ring_info_t *ring);

#ifdef __cplusplus
}
#endif

#endif
