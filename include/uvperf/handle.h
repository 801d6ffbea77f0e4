/* SPDX-License-Identifier: MIT */
/* What an event (event.h), a set (set.h) and a reader of a BPF map (bpf.h) have
 * in common as handles of a libuv loop. Each of them begins with a
 * uvperf_handle_t, whose address these functions take:
 *
 *    uvperf_close(&set.handle, on_close);
 *
 * Rules for every function of a handle:
 * - Call it on the thread of the handle's loop.
 * - Codes are 0 or a negative UV_E*.
 * - `error` may be NULL. It receives the cause, the reason and the remedy of a
 *   failure.
 * - Inside a callback of the handle all functions may be called, except flush,
 *   snapshot, next and has_record. A callback for the end of a snapshot may
 *   call these too. A record callback of a flush or snapshot may also run the
 *   loop.
 * - After uvperf_close, until close_cb has returned, functions that return a
 *   code return UV_ECANCELED, uvperf_stop returns 0, uvperf_stats fills in the
 *   statistics at the close, and other getters still work. A second close, and
 *   a use after close_cb, is a programming error and fails an assertion, in all
 *   builds; after close_cb only ref, unref, has_ref, is_active and is_closing
 *   may be called, while the memory lives. */
#ifndef UVPERF_HANDLE_H
#define UVPERF_HANDLE_H

#include <stddef.h>

#include <uv.h>

#include "uvperf/attr.h"
#include "uvperf/error.h"
#include "uvperf/record.h"
#include "uvperf/stream.h"
#include "uvperf/version.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The types of handles. */
enum uvperf_handle_type {
  UVPERF_HANDLE_EVENT = 1,
  UVPERF_HANDLE_SET = 2,
  UVPERF_HANDLE_BPF_READER = 3
};

/** Called once when closing has ended. The handle's memory is the caller's
 *  again and may be freed here.
 *  @param handle  The handle. */
typedef void (*uvperf_close_cb)(uvperf_handle_t *handle);

/* The first member of each handle. The caller allocates the handle and keeps it
 * in place until close_cb. If a failed init has registered an inner libuv
 * handle, the loop must run once more before uv_loop_close returns 0.
 *
 * After fork(2) the child must call uv_loop_fork and close the handles before
 * it runs the loop. A child that was forked in a record callback must close
 * before that callback returns, because it has neither the ring nor the record.
 * In the child all functions except uvperf_close and the getters return
 * UV_EPERM, and uvperf_close does not touch the parent's events, rings and
 * maps. This holds for every child with memory of its own. This includes a
 * child of clone(2), and a child in another pid namespace whose pid is the same
 * number as its parent's. (Before Linux 4.14 a child with the same pid is not
 * noticed.) A child that shares the memory, such as one made by vfork(2), must
 * not call any function here.
 *
 * libuv calls abort(3) if it cannot register an fd while it runs the loop, or
 * cannot make the threads of its pool: see uvperf-details(7). */
struct uvperf_handle_s {
  /* public: the caller's; the library never touches it */
  void *data;
  /* read-only */
  uv_loop_t *loop;
  int type; /* enum uvperf_handle_type */
  /* private */
  int is_closed;
  void *impl;
  uvperf_close_cb close_cb;
  void *reserved[3];
};

/** Closes the handle, which cancels everything. No reading and no record comes
 *  after it, even in the middle of a drain. When the loop runs next, or later,
 *  close_cb is called, and then the rings are unmapped and the fds closed: run
 *  the loop until then. If an event leads a group, its siblings are disabled
 *  and stay open. A reader takes its entries out of the map before this
 *  returns: see uvperf_bpf_reader_t.
 *
 *  A callback of a flush or snapshot may close any handle and run the loop.
 *  Then close_cb is called inside that callback, and may free the handle. A
 *  record is valid until its callback returns. Rings and fds of a handle are
 *  released when its flush, snapshot or callback returns.
 *
 *  The kernel needs 30 ms and more to close a tracepoint or a probe. A thread
 *  of libuv's pool disables and closes these events, and sets of 64 or more
 *  events, for one handle of a loop at a time, while the loop goes on. Until
 *  then the events of a set still count. close_cb is called afterwards. A child
 *  that is forked meanwhile gets no close_cb, keeps the fds, and cannot close
 *  its loop (UV_EBUSY). The loop's thread closes the events itself after a
 *  close inside a flush or snapshot, or if a BPF program has no link
 *  (uvperf_attach_bpf).
 *
 *  Call it exactly once, also after uvperf_walk_close, or if the program has
 *  closed the inner handles by uv_close. If libuv has finished closing all of
 *  them, close_cb is called before this returns, and the loop is not touched.
 *  @param close_cb  May be NULL. */
UVPERF_EXTERN void uvperf_close(uvperf_handle_t *handle,
                                uvperf_close_cb close_cb);

/** Lets the started handle keep the loop alive, as uv_ref. This is the
 *  default. */
UVPERF_EXTERN void uvperf_ref(uvperf_handle_t *handle);

/** Lets the loop end although the handle is started, as uv_unref. */
UVPERF_EXTERN void uvperf_unref(uvperf_handle_t *handle);

/** Returns whether the handle is ref'd, as uv_has_ref.
 *  @return 1 or 0. */
UVPERF_EXTERN int uvperf_has_ref(const uvperf_handle_t *handle);

/** Returns whether the handle is active, as uv_is_active. A handle is active
 *  while it is being opened, while targets are being opened, and while a set is
 *  reading at an interval. A started handle is active until its targets are
 *  gone and all records were delivered. A started event without a ring, and a
 *  started handle whose rings are overwritable, are not active.
 *  @return 1 or 0. */
UVPERF_EXTERN int uvperf_is_active(const uvperf_handle_t *handle);

/** Returns whether the handle is closing or closed, as uv_is_closing.
 *  @return 1 or 0. */
UVPERF_EXTERN int uvperf_is_closing(const uvperf_handle_t *handle);

/** Returns the size of a type of handle, for other languages, as
 *  uv_handle_size.
 *  @param type  enum uvperf_handle_type.
 *  @return Bytes, or (size_t)-1 for another type. */
UVPERF_EXTERN size_t uvperf_handle_size(int type);

/** Closes the owner of an inner handle, for programs that tear down by uv_walk.
 *  All handles of uvperf on a loop share a few inner handles. They are left
 *  open, and are closed with the last owner:
 *
 *    static void walk(uv_handle_t *handle, void *arg) {
 *      if (!uvperf_walk_close(handle) && !uv_is_closing(handle))
 *        uv_close(handle, NULL);
 *    }
 *
 *  A program that closes inner handles by uv_close itself ends delivery, and
 *  readings at an interval. A callback with UV_ECANCELED reports this in the
 *  next turn in which a ring wakes the loop, a flush_ms timer fires or an
 *  interval ends. If all inner handles were closed, no callback reports it, but
 *  openings and snapshots that are on the thread pool still end with theirs.
 *  uvperf_start then returns UV_EINVAL.
 *
 *  @param handle  Any handle of any loop. The function recognises uvperf's
 *    handles by type and callback, and never follows the `data` of other
 *    handles.
 *  @return 1 if the handle belongs to handles of uvperf. If it belongs to one,
 *    that owner is now closing. 0 for any other handle, and nothing was done.
 *    The owner's memory must stay until the loop has run. One later
 *    uvperf_close is allowed, and stores its callback. If the loop has
 *    closed the owner by then, uvperf_close calls back at once, and the rules
 *    for the time after close_cb hold already, also in that callback. */
UVPERF_EXTERN int uvperf_walk_close(uv_handle_t *handle);

/* -- delivery ------------------------------------------------------------- */

/** Called for each record, on the loop's thread.
 *  @param handle  The handle: uvperf_handle_event, uvperf_handle_set and
 *    uvperf_handle_bpf_reader return its owner.
 *  @param status
 *    0          a record; or without one the end of a slice
 *      (UVPERF_START_SLICE_END);
 *    UV_EPROTO  with a record: its header is sound but its body is not, or its
 *      id is unknown and the ring's events write different layouts. The record
 *      is raw, and delivery goes on;
 *    UV_EPROTO  without a record: a ring made no sense, for example after a
 *      record longer than 64 KiB. Its bytes are skipped (skipped_bytes of
 *      uvperf_stats_t), and delivery goes on, unless the ring has ended
 *      (uvperf_ring_info_t.status);
 *    UV_EOF     without a record: all targets of an event or a set are gone,
 *      and all records were delivered. Delivery has stopped;
 *    UV_EBADF   without a record: the event is in error state, for example
 *      because the PMU could not hold a pinned event. Delivery has stopped;
 *    UV_ECANCELED  without a record: the program has closed inner handles by
 *      uv_close (see uvperf_walk_close). Delivery has stopped;
 *    another    without a record: a ring has ended, because no fd could be
 *      polled for it. After the last ring delivery has stopped.
 *  @param record  Never NULL. Owned by the library, and valid with all that it
 *    points to until the callback returns. "Without a record" its type is
 *    UVPERF_RECORD_NONE, and its cpu that of the ring, or UINT32_MAX if the
 *    status is not about one ring. */
typedef void (*uvperf_record_cb)(uvperf_handle_t *handle, int status,
                                 const uvperf_record_t *record);

/** Starts delivery. The first start also enables the events, or puts those of a
 *  reader into the map, unless the program has enabled or disabled them before.
 *  A handle that delivers keeps the loop alive (unless unref'd) until it is
 *  stopped or its targets are gone. The records of overwritable rings are
 *  delivered by uvperf_snapshot only. More: uvperf-details(7).
 *  @param options  Caller's, copied; NULL for the defaults.
 *  @param cb       Called for each record. Of an event NULL: it must be if the
 *    event has no ring, and may be if no snapshot is taken of its ring.
 *  @param error    Receives why it failed. The handle is stopped then.
 *  @return 0, or
 *    UV_EALREADY  already started;
 *    UV_EOF       all targets are gone, and all records were delivered;
 *    UV_EPROTO    no ring can be read: the head of one is not a multiple of 8;
 *    UV_EINVAL    no cb; no UVPERF_SET_RECORDS; a cb although the events only
 *      count (no period, frequency or side-band records); wrong options or
 *      flags; or the program has closed an inner handle by uv_close;
 *    UV_E2BIG, UV_ENOMEM  unknown options; out of memory;
 *    UV_EPERM     in a forked child (cause argument); or the map is frozen or
 *      open for reading only, or bpf(2) is refused (cause permission);
 *    UV_EBUSY, UV_EBADF  the handle is being opened; opening it has failed;
 *    UV_EEXIST    another handle of the loop polls the fd of a ring;
 *    UV_ENOSPC    out of epoll watches (cause loop);
 *    another      an event cannot be enabled or put into the map, or the online
 *      CPUs cannot be listed.
 *  Source: perf_event_open(2), PERF_EVENT_IOC_ENABLE; bpf(2). */
UVPERF_EXTERN int uvperf_start(uvperf_handle_t *handle,
                               const uvperf_stream_options_t *options,
                               uvperf_record_cb cb, uvperf_error_t *error);

/** Called once when a snapshot has ended, after its last record. All functions
 *  may be called here, unless the handle is closing.
 *  @param status
 *    0             all records were delivered;
 *    UV_ECANCELED  the handle was stopped or closed before the end;
 *    another       as uvperf_snapshot returns it. */
typedef void (*uvperf_snapshot_cb)(uvperf_handle_t *handle, int status);

/** Delivers the newest records of overwritable rings to the callback of the
 *  last start, with status 0 or UV_EPROTO. Only whole records are delivered:
 *  see cut_records of uvperf_stats_t. It can be repeated at any time, also
 *  after stop or when the targets are gone. All rings are paused together while
 *  they are copied. A set with UVPERF_SET_TIME_ORDER delivers oldest first.
 *  Stopping or closing ends the snapshot; then only UVPERF_SNAPSHOT_ALL
 *  delivers the rest later. More: uvperf-details(7).
 *  @param flags    UVPERF_SNAPSHOT_*.
 *  @param done_cb  NULL: all is delivered before this returns. Otherwise a
 *    thread of libuv's pool copies the rings, and the loop delivers the records
 *    in slices and stays alive until then. done_cb is called once if this
 *    returns 0.
 *  @return 0, also if there is nothing new, or
 *    UV_EINVAL  never started with a callback; no overwritable rings; unknown
 *      flags; or the program has closed an inner handle by uv_close;
 *    UV_EBUSY   inside a callback of the handle (with done_cb only in one of a
 *      snapshot), or before the done_cb of an earlier snapshot;
 *    UV_ENOMEM  out of memory for a copy of the rings;
 *    UV_EAGAIN, UV_EPERM, UV_ENOTSUP  the process cannot use the pool (see
 *      uvperf_open_cb); UV_EPERM also in a forked child;
 *    another    PERF_EVENT_IOC_PAUSE_OUTPUT failed for a ring.
 *  Source: perf_event_open(2), PERF_EVENT_IOC_PAUSE_OUTPUT. */
UVPERF_EXTERN int uvperf_snapshot(uvperf_handle_t *handle, uint32_t flags,
                                  uvperf_snapshot_cb done_cb,
                                  uvperf_error_t *error);

/** Stops delivery at once. No callback runs until the next start, flush or
 *  snapshot, which delivers the records that are in the rings. As uv_read_stop
 *  leaves bytes in a socket, it leaves the events as they are: they count, the
 *  rings fill, what does not fit is lost and counted as lost, and a reader's
 *  events stay in the map. To end the cost too, call uvperf_disable or
 *  uvperf_bpf_reader_unpublish.
 *  @return 0, also if it was not started, or
 *    UV_EBUSY, UV_EBADF  while it is being opened; opening has failed;
 *    UV_EPERM  in a forked child. */
UVPERF_EXTERN int uvperf_stop(uvperf_handle_t *handle);

/** Delivers all records that are in the rings now, before it returns.
 *
 *  The callback of the last start receives them, without slices. With
 *  UVPERF_SET_TIME_ORDER they come in the order of their times, without waiting
 *  for slack_us. This also works between stop and start.
 *  @return 0, also if the rings are empty or delivery has ended, or
 *    UV_EINVAL  never started, no ring, or overwritable rings: take a snapshot;
 *    UV_EBUSY   inside a callback of the handle, or while it is being opened;
 *    UV_EBADF   opening has failed;
 *    UV_ENOMEM  out of memory: a flush inside a callback of another handle may
 *      need memory. Nothing was delivered;
 *    UV_EPERM   in a forked child. */
UVPERF_EXTERN int uvperf_flush(uvperf_handle_t *handle);

/** Returns the next record without a callback, for a program with its own loop:
 *  it enables the events, polls the fd of each ring (uvperf_ring), and takes
 *  records until UV_EAGAIN. uvperf-details(7) says how. The uv loop need not
 *  run until the handle is closed. Start and flush may be used too: each call
 *  continues where the last one stopped.
 *  @param record  Receives the library's record. It and all it points to are
 *    valid until the next call of next, start, flush, snapshot or close. NULL
 *    if there is none, but with UV_EPROTO as in uvperf_record_cb.
 *  @return 0, or
 *    UV_EAGAIN  the rings are empty;
 *    UV_EOF     all targets are gone, and all records were returned; an event
 *      or a set checks this at the second call in a row without a record. Or no
 *      ring can be read;
 *    UV_EPROTO  as in uvperf_record_cb, with a record or without;
 *    UV_EBADF   the event is in error state; or opening has failed;
 *    UV_EBUSY   started, or the event's overwritable ring is not paused; inside
 *      a callback; being opened; or a snapshot was begun;
 *    UV_EINVAL  record is NULL; no ring, or all events only count; or the
 *      overwritable rings of a set or a reader: take a snapshot;
 *    UV_ECANCELED  a callback of uvperf_set_on_end has closed the set;
 *    UV_ENOMEM  out of memory; call again;
 *    UV_EPERM   in a forked child.
 *  Source: perf_event_open(2), "MMAP layout". */
UVPERF_EXTERN int uvperf_next(uvperf_handle_t *handle,
                              const uvperf_record_t **record);

/** Returns whether a record waits in any ring, without a system call and
 *  without taking it.
 *  @return 1 if a record waits for next, a flush, or in overwritable rings a
 *    snapshot. 0 if no record waits, and if none can be taken: there is no
 *    ring, inside a callback of the handle, in a forked child, and unless the
 *    handle is open. */
UVPERF_EXTERN int uvperf_has_record(const uvperf_handle_t *handle);

/** Fills in the statistics of the handle, over all rings.
 *
 *  It may read(2) the events of rings that were half full: see lost_is_read.
 *  @param stats  Caller's; receives the totals since init. */
UVPERF_EXTERN void uvperf_stats(const uvperf_handle_t *handle,
                                uvperf_stats_t *stats);

/** Returns the number of rings: 1 for an event with a ring of its own; for a
 *  set or a reader one for each CPU that ever had an event that writes records.
 *  @return 0 if there is no ring. */
UVPERF_EXTERN size_t uvperf_nr_rings(const uvperf_handle_t *handle);

/** Describes one ring, and fills in its statistics as uvperf_stats does.
 *  @param index  Below uvperf_nr_rings; a ring keeps its index.
 *  @param ring   Caller's; receives the description.
 *  @return 0, or
 *    UV_EINVAL  there is no such ring. */
UVPERF_EXTERN int uvperf_ring(const uvperf_handle_t *handle, size_t index,
                              uvperf_ring_info_t *ring);

/** Called when a set or a reader has handled a CPU that went offline or came
 *  online, while it is started or reading.
 *  @param cpu     The CPU's id.
 *  @param status
 *    0          the CPU is online, and its events are open. They are enabled,
 *      or in the map, if the others are;
 *    UV_ENODEV  without an error: the CPU is offline, its events have stopped,
 *      and its ring is being drained;
 *    another    with an error: the CPU is online, and this is the first failure
 *      there. The code can be UV_ENODEV too, if the event's PMU counts on other
 *      CPUs.
 *  @param error   The failure, or NULL. Valid until the callback returns. */
typedef void (*uvperf_cpu_cb)(uvperf_handle_t *handle, int cpu, int status,
                              const uvperf_error_t *error);

/** Sets a callback for CPUs that go offline or come online. It is called for
 *  the CPUs of the targets, or of the reader's options.cpus; for a reader
 *  without options.cpus also for a CPU that has no entry in the map.
 *  @param cb  NULL for none.
 *  @return 0, or
 *    UV_EINVAL  the handle does not follow CPUs: an event; a set with
 *      UVPERF_SET_FIXED_CPUS; a reader with UVPERF_BPF_READER_FIXED_CPUS;
 *    UV_EPERM   in a forked child. */
UVPERF_EXTERN int uvperf_on_cpu(uvperf_handle_t *handle, uvperf_cpu_cb cb);

/* -- control -------------------------------------------------------------- */

/** Enables counting. It is not needed after a start that enables. The events
 *  of targets that are added later to a set are enabled too. An event first
 *  enables the siblings that it leads (options.leader), and runs without the
 *  limit of an earlier uvperf_event_refresh. More: uvperf-details(7).
 *  @param handle  An event or a set. A reader's events are enabled by start and
 *    uvperf_bpf_reader_publish: it has none of these functions (UV_EINVAL).
 *  @param attr    0 for an event alone, UVPERF_ALL for the event's whole group
 *    or for a set. In the functions below the index of one attr, as in
 *    uvperf_set_item, or 0 for an event.
 *  @param error   Receives why it failed. A set goes on after a failure; the
 *    error is that of the first, with its attr_index and target_index.
 *  @return 0, also if it was enabled before, or
 *    UV_EINVAL  there is no such attr;
 *    UV_EPERM   in a forked child, because the fd is the parent's event (cause
 *      argument); or a seccomp filter or a security module forbids the ioctl
 *      (cause permission);
 *    UV_EACCES  a security module forbids it (cause permission), as
 *      security_perf_event_write decides;
 *    UV_ENODEV  the event's PMU is gone (cause no_event; Linux 6.15);
 *    UV_ENOTSUP  the overflows of the event or of a sibling ran out, and this
 *      kernel cannot start it again (uvperf_event_refresh);
 *    UV_EBUSY, UV_EBADF, UV_ECANCELED  the handle is not open.
 *  Source: perf_event_open(2), PERF_EVENT_IOC_ENABLE. */
UVPERF_EXTERN int uvperf_enable(uvperf_handle_t *handle, size_t attr,
                                uvperf_error_t *error);

/** Disables counting, until it is enabled: a later start does not do that. The
 *  counts stay, and records in the rings are still delivered. A hit on another
 *  CPU at that moment may be counted without a record, and without being
 *  counted as lost: the kernel interrupts it between counting and writing. A
 *  command that has not called execve(2) yet counts from execve(2) on.
 *  @param attr   As for uvperf_enable.
 *  @param error  As for uvperf_enable.
 *  @return 0, also if it was disabled before, or a code as uvperf_enable.
 *  Source: perf_event_open(2), PERF_EVENT_IOC_DISABLE. */
UVPERF_EXTERN int uvperf_disable(uvperf_handle_t *handle, size_t attr,
                                 uvperf_error_t *error);

/** Sets the counts to 0, even if events are running. The kernel never resets
 *  the times of an event.
 *
 *  A set resets the times too, because later readings subtract the counts of
 *  now. Values that are not sums (UVPERF_ITEM_SNAPSHOT) do not change. A delta
 *  across a reset counts from the reset. If an event cannot be read now, its
 *  state is UVPERF_COUNT_ERROR, also in the first reading in which it can be
 *  read again; it counts from that reading on.
 *  @param attr   As for uvperf_enable.
 *  @param error  As for uvperf_enable.
 *  @return 0, or a code as uvperf_enable.
 *  Source: perf_event_open(2), PERF_EVENT_IOC_RESET. */
UVPERF_EXTERN int uvperf_reset(uvperf_handle_t *handle, size_t attr,
                               uvperf_error_t *error);

/** Changes the period, or with attr.freq the frequency, of running or stopped
 *  events at once. The attr then has the new value. A running event forgets how
 *  far it was in the old period, so its first samples can come early. Targets
 *  that are added later to a set get it too. The kernel does not tell tasks
 *  that have inherited an event (attr.inherit), and may swap events with them.
 *  To change the period of all tasks, add the target again. Samples of a clock
 *  keep the old record->period: use the attr's instead.
 *  @param attr  The attr's index, or 0 for an event.
 *  @param period  Events between samples (nanoseconds for the clocks), below
 *    2^63; or Hz with attr.freq, up to perf_event_max_sample_rate. Not 0.
 *  @param error   Receives why it failed.
 *  @return 0, or
 *    UV_EINVAL  period is 0 or too large (cause sample_rate for a frequency);
 *      the attr does not sample; or the PMU cannot count that far;
 *    another    as uvperf_enable.
 *  Source: perf_event_open(2), PERF_EVENT_IOC_PERIOD. */
UVPERF_EXTERN int uvperf_change_period(uvperf_handle_t *handle, size_t attr,
                                       uint64_t period, uvperf_error_t *error);

/** Sets the filter of a tracepoint. Hits that do not match are neither counted
 *  nor sampled. A tracepoint takes one filter only. An event of a PMU that
 *  traces instructions takes address filters, any number of times. Targets that
 *  are added later to a set get it too.
 *  @param attr  The attr's index, or 0 for an event.
 *  @param filter  For example "fd == 3 && count > 100"; copied. The fields are
 *    in events/<category>/<name>/format in tracefs.
 *  @param error   Receives why it failed.
 *  @return 0, or
 *    UV_EINVAL  no tracepoint; the text is not a filter of its fields, or is as
 *      long as a page or longer;
 *    UV_EEXIST  the event has a filter already;
 *    UV_ENOTSUP  an address filter that this PMU cannot do;
 *    UV_ENOENT  an address filter's file does not exist; or a bracket in a
 *      tracepoint's filter is not closed;
 *    UV_ESRCH   a quotation mark is not closed (calc_stack in
 *      kernel/trace/trace_events_filter.c);
 *    UV_ENOSPC, UV_E2BIG  too many conditions for a kernel before 4.17;
 *    UV_ENOMEM  out of memory;
 *    another    as uvperf_enable.
 *  Source: perf_event_open(2), PERF_EVENT_IOC_SET_FILTER. */
UVPERF_EXTERN int uvperf_apply_filter(uvperf_handle_t *handle, size_t attr,
                                      const char *filter,
                                      uvperf_error_t *error);

/** Attaches a BPF program to the events of an attr until uvperf_close. At which
 *  hits it runs, and what its result means, is in uvperf-details(7).
 *  @param attr  The attr's index, or 0 for an event.
 *  @param prog_fd  The caller's fd of the program; it may be closed afterwards.
 *  @param cookie   For bpf_get_attach_cookie() in the program; 0 for none.
 *  @param error    Receives why it failed.
 *  @return 0, or
 *    UV_EBADF   prog_fd is not an open fd;
 *    UV_EINVAL  the fd is no BPF program, or its type does not fit the event;
 *    UV_EEXIST  the event has a program, or the tracepoint has this program;
 *    UV_E2BIG   the tracepoint has 64 programs, the most that it can have;
 *    UV_EACCES  the program reads beyond the tracepoint's fields;
 *    UV_EPROTO  the event has precise_ip, and its samples lack the stack that
 *      the program reads;
 *    UV_ENOTSUP  this kernel lacks BPF for perf events, or links with a cookie;
 *    UV_EMFILE, UV_ENFILE, UV_EPERM  no fd for its BPF link, or bpf(2) is
 *      forbidden;
 *    UV_ENOMEM  out of memory;
 *    another    as uvperf_enable.
 *  Source: perf_event_open(2), PERF_EVENT_IOC_SET_BPF. */
UVPERF_EXTERN int uvperf_attach_bpf(uvperf_handle_t *handle, size_t attr,
                                    int prog_fd, uint64_t cookie,
                                    uvperf_error_t *error);

/** Returns the ids of the BPF programs that are attached to an attr's
 *  tracepoint, through this event or any other. Needs CAP_PERFMON.
 *  @param attr  The attr's index, or 0 for an event.
 *  @param ids    Caller's; receives up to *nr ids. May be NULL if *nr is 0.
 *  @param nr     In: the number of ids that fit. Out: the number of programs;
 *    unchanged unless the result is 0 or UV_ENOSPC.
 *  @param error  Receives why it failed.
 *  @return 0, or
 *    UV_ENOSPC  more programs are attached than fit; ids has the first ones;
 *    UV_EINVAL  ids or nr is NULL; no tracepoint; or no event of the attr is
 *      open;
 *    UV_EPERM   no CAP_PERFMON (cause permission);
 *    UV_ENOTSUP  this kernel has no BPF for perf events;
 *    UV_ENOMEM  out of memory;
 *    another    as uvperf_enable.
 *  Source: perf_event_open(2), PERF_EVENT_IOC_QUERY_BPF. */
UVPERF_EXTERN int uvperf_query_bpf(uvperf_handle_t *handle, size_t attr,
                                   uint32_t *ids, size_t *nr,
                                   uvperf_error_t *error);

/** Returns the changes that fallbacks made to an attr to open its events. In a
 *  set all places have the same changes, except UVPERF_FALLBACK_INHERIT, which
 *  applies only to targets with inheritance.
 *  @param attr  The attr's index, or 0 for an event.
 *  @param nr  Receives the number of changes; 0 if there are none, if the attr
 *    is open nowhere, or does not exist.
 *  @return The changes in the order in which they were made; NULL if there are
 *    none. Owned by the handle and valid until close, or until a target is
 *    added. */
UVPERF_EXTERN const uvperf_change_t *
uvperf_changes(const uvperf_handle_t *handle, size_t attr, size_t *nr);

/** Returns an attr as the events were opened with it. For a set it is that of
 *  uvperf_set_item. For an event it is a copy of attr->size bytes (0 counts as
 *  64) of the caller's attr, with these changes:
 *  - `disabled` is 1;
 *  - a read_format with PERF_FORMAT_GROUP also has PERF_FORMAT_ID, because
 *    values are matched by id;
 *  - use_clockid and clockid are set, unless the caller set use_clockid: see
 *    UVPERF_EVENT_PERF_CLOCK;
 *  - UVPERF_EVENT_IDENTIFY has added its bits, and options.fallbacks have made
 *    their changes.
 *
 *  With UVPERF_EVENT_FD only `disabled` is changed.
 *  @param attr  The attr's index, or 0 for an event.
 *  @return NULL if there is no such attr. Owned by the handle, and valid until
 *    close; of a set until a target is added. While the handle is being opened,
 *    an event's is valid until open_cb, and the others have none. */
UVPERF_EXTERN const struct perf_event_attr *
uvperf_handle_attr(const uvperf_handle_t *handle, size_t attr);

#ifdef __cplusplus
}
#endif

#endif
