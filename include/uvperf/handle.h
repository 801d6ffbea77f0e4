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
 * - After uvperf_close only uvperf_ref, uvperf_unref, uvperf_has_ref,
 *   uvperf_is_active and uvperf_is_closing may be called. Any other call is a
 *   programming error and fails an assertion, in all builds. */
#ifndef UVPERF_HANDLE_H
#define UVPERF_HANDLE_H

#include <stddef.h>

#include <uv.h>

#include "uvperf/error.h"
#include "uvperf/record.h"
#include "uvperf/stream.h"
#include "uvperf/version.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct uvperf_handle_s uvperf_handle_t;

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
 *  after it, even in the middle of a drain. The rings are unmapped, the fds are
 *  closed and close_cb is called when the loop runs next, or later: run the
 *  loop until then. If an event leads a group, its siblings are disabled and
 *  stay open. A reader takes its entries out of the map before this returns:
 *  see uvperf_bpf_reader_t.
 *
 *  A callback of a flush or snapshot may close the handle and run the loop.
 *  Then close_cb is called inside that callback, and may free the handle. The
 *  record is valid until its callback returns. Rings and fds are released when
 *  the flush or snapshot returns.
 *
 *  The kernel needs 30 ms and more to close a tracepoint or a probe. A thread
 *  of libuv's pool disables and closes these events, and sets of 64 or more
 *  events, for one handle of a loop at a time, while the loop goes on. Until
 *  then the events of a set still count. close_cb is called afterwards. A child
 *  that is forked meanwhile gets no close_cb, keeps the fds, and cannot close
 *  its loop (UV_EBUSY). The loop's thread closes the events itself after a
 *  close inside a flush or snapshot, or if a BPF program has no link
 *  (uvperf_event_attach_bpf).
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
 *  started reader whose rings are overwritable, are not active.
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

/** Closes the owner of an inner handle, for programs that tear down by uv_walk:
 *
 *    static void walk(uv_handle_t *handle, void *arg) {
 *      if (!uvperf_walk_close(handle) && !uv_is_closing(handle))
 *        uv_close(handle, NULL);
 *    }
 *
 *  @param handle  Any handle of any loop. The function recognises uvperf's
 *    handles by type and callback, and never follows the `data` of other
 *    handles.
 *  @return 1 if the handle belongs to a handle of uvperf. That owner is now
 *    closing. 0 for any other handle, and nothing was done. The owner's memory
 *    must stay until the loop has run. One later uvperf_close is allowed, and
 *    stores its callback. */
UVPERF_EXTERN int uvperf_walk_close(uv_handle_t *handle);

/* -- delivery ------------------------------------------------------------- */

/** Called for each record, on the loop's thread.
 *  @param handle  The handle: uvperf_handle_event, uvperf_handle_set and
 *    uvperf_handle_bpf_reader return its owner.
 *  @param status
 *    0          a record; with UVPERF_START_SLICE_END also the end of a slice,
 *      without a record;
 *    UV_EPROTO  with a record: its header is sound but its body is not, or its
 *      id is unknown and the ring's events write different layouts. The record
 *      is raw, and delivery goes on;
 *    UV_EPROTO  without a record: a ring made no sense, for example after a
 *      record longer than 64 KiB. All bytes up to its head are skipped
 *      (uvperf_stats_t.skipped_bytes), and delivery goes on. But if the head is
 *      not a multiple of 8, the ring has ended (uvperf_ring_info_t.status). In
 *      a snapshot the older records of the ring are skipped;
 *    UV_EOF     without a record, from an event or a set: all targets are gone,
 *      and all records were delivered, or wait for a snapshot. Delivery has
 *      stopped;
 *    UV_EBADF   without a record, from an event: it is in error state, for
 *      example because the PMU could not hold a pinned event. Delivery has
 *      stopped. Before Linux 6.15 only a start, the timer of flush_ms and
 *      uvperf_flush notice this;
 *    another    without a record: a ring has ended, and with the last ring
 *      delivery. Its fd has hung up, because a target or the process's first
 *      thread has ended, and libuv refused another fd for it, or no other fd
 *      could be opened (UV_EEXIST, UV_ENOSPC, UV_ENOMEM, UV_EMFILE).
 *  @param record  Never NULL. Owned by the library. The record and everything
 *    it points to are valid until the callback returns. "Without a record" it
 *    has the type UVPERF_RECORD_NONE and a size of 0, and its cpu is that of
 *    the ring, or UINT32_MAX if the status concerns no ring of one CPU. In a
 *    set, record->source has the attr_index (uvperf_set_item), target_index,
 *    place and the target's `data`. */
typedef void (*uvperf_record_cb)(uvperf_handle_t *handle, int status,
                                 const uvperf_record_t *record);

/** Starts delivery, and enables the events.
 *
 *  - An event enables the siblings that it leads (options.leader) first; their
 *    delivery is not started. Without a ring, or with an overwritable ring
 *    (attr.write_backward), it is only enabled.
 *  - A set is enabled as by uvperf_set_enable. Its rings take turns. With
 *    UVPERF_SET_TIME_ORDER all records come in the order of their times, after
 *    slack_us. An impossible time is replaced by the time of the record before
 *    it. With UVPERF_SET_OVERWRITE only ends of targets and changes of CPUs are
 *    reported, not records.
 *  - A BPF reader puts its events into the map, all or none. If it is paused,
 *    or with UVPERF_START_NO_ENABLE, only uvperf_bpf_reader_resume does so. Its
 *    rings take turns.
 *
 *  Records of a ring come in the kernel's order. uvperf_snapshot delivers the
 *  records of overwritable rings. A handle that delivers keeps the loop alive
 *  (unless unref'd) until it is stopped or its targets are gone; CPUs and
 *  cgroups do not end. See also uvperf-details(7).
 *  @param options  Caller's, copied; NULL for the defaults. flush_ms 0 means
 *    100, or no timer if each record wakes the loop. Overwritable rings ignore
 *    it.
 *  @param cb       Called for each record. An event may have NULL: it must if
 *    it has no ring, and it may if no snapshot is taken of its overwritable
 *    ring.
 *  @param error    Receives why it failed.
 *  @return 0, or
 *    UV_EALREADY  already started;
 *    UV_EOF       all targets are gone, and all records were delivered;
 *    UV_EPROTO    no ring can be read: the head of one is not a multiple of 8;
 *    UV_EINVAL    no cb; no UVPERF_SET_RECORDS; a cb although the events only
 *      count (no period, frequency or side-band records); wrong options or
 *      flags; or the program has closed an inner handle by uv_close;
 *    UV_E2BIG     options that the library does not know;
 *    UV_ENOMEM    out of memory;
 *    UV_EPERM     in a forked child (cause argument); or the map is frozen or
 *      open for reading only, or bpf(2) is refused (cause permission);
 *    UV_EBUSY, UV_EBADF  the handle is being opened; opening it has failed;
 *    UV_EEXIST    another handle of the loop polls the fd of a ring;
 *    UV_ENOSPC    out of epoll watches (cause loop);
 *    UV_ENOTSUP   as uvperf_event_enable;
 *    another      an event cannot be enabled or put into the map; no event that
 *      writes records is open; or the online CPUs cannot be listed (cause
 *      no_cpu or files). After each failure the handle is stopped.
 *  Source: perf_event_open(2), "MMAP layout", PERF_EVENT_IOC_ENABLE; bpf(2),
 *  BPF_MAP_UPDATE_ELEM. */
UVPERF_EXTERN int uvperf_start(uvperf_handle_t *handle,
                               const uvperf_stream_options_t *options,
                               uvperf_record_cb cb, uvperf_error_t *error);

/** Stops delivery at once. What start enabled is disabled: the event with the
 *  siblings that it leads, or the set; the events of a reader leave the map,
 *  unless uvperf_bpf_reader_resume has put them there.
 *
 *  No callback runs until the next start, flush or snapshot, which delivers the
 *  records that are still in the rings.
 *  @return 0, also if it was not started, or
 *    UV_EPERM  in a forked child.
 *  Source: perf_event_open(2), PERF_EVENT_IOC_DISABLE. */
UVPERF_EXTERN int uvperf_stop(uvperf_handle_t *handle);

/** Delivers all records that are in the rings now, before it returns.
 *
 *  The callback of the last start receives them, without slices. With
 *  UVPERF_SET_TIME_ORDER they come in the order of their times, without waiting
 *  for slack_us. This also works between stop and start.
 *  @return 0, also if the rings are empty or delivery has ended, or
 *    UV_EINVAL  never started, no ring, or overwritable rings: take a snapshot;
 *    UV_EBUSY   called inside a callback of the handle;
 *    UV_ENOMEM  out of memory: inside a callback of another handle the flush of
 *      an event may need memory. Nothing was delivered;
 *    UV_EPERM   in a forked child. */
UVPERF_EXTERN int uvperf_flush(uvperf_handle_t *handle);

/** Returns the next record without a callback, for a program with its own loop.
 *
 *  Such a program enables the events (uvperf_event_enable, uvperf_set_enable,
 *  uvperf_bpf_reader_resume), polls the fd of each ring (uvperf_ring), and
 *  takes records until UV_EAGAIN, because each wakeup is reported only once.
 *  Also take them after adding the fd to an epoll set, and poll with a timeout,
 *  because records may wait below the watermark. The uv loop need not run until
 *  the handle is closed. Rings take turns. With UVPERF_SET_TIME_ORDER records
 *  come in the order of their times, without waiting for slack_us. Start and
 *  flush may be used too: each call continues where the last one stopped. CPUs
 *  are not followed. See also uvperf-details(7).
 *
 *  For a snapshot of an event's overwritable ring (attr.write_backward) call
 *  uvperf_event_pause, this function until UV_EAGAIN, and uvperf_event_resume.
 *  These are the records since the last snapshot, newest first. The ring must
 *  be larger than any record. A record that another CPU writes at the pause
 *  belongs to the next snapshot, but can damage this one's oldest records.
 *  @param record  Receives the library's record. It and all it points to are
 *    valid until the next call of next, start, flush, snapshot or close. NULL
 *    if there is none; with UV_EPROTO never NULL, as in uvperf_record_cb.
 *  @return 0, or
 *    UV_EAGAIN  the rings are empty;
 *    UV_EOF     all targets are gone, and all records were returned; an event
 *      or a set checks this at the second call in a row without a record. Or no
 *      ring can be read;
 *    UV_EPROTO  as in uvperf_record_cb, with a record or without;
 *    UV_EBADF   the PMU could not hold a pinned event (error state); or opening
 *      has failed;
 *    UV_EBUSY   started, or an overwritable ring is not paused; inside a
 *      callback; being opened; or a snapshot was begun;
 *    UV_EINVAL  record is NULL; no ring, or all events only count; or the
 *      overwritable rings of a set or a reader: take a snapshot;
 *    UV_ECANCELED  a uvperf_set_end_cb, which this has called, has closed the
 *      set;
 *    UV_ENOMEM  out of memory; call again;
 *    UV_EPERM   in a forked child.
 *  Source: perf_event_open(2), "MMAP layout". */
UVPERF_EXTERN int uvperf_next(uvperf_handle_t *handle,
                              const uvperf_record_t **record);

/** Returns whether a record waits in any ring, without a system call and
 *  without taking it.
 *  @return 1 if a record waits for next, a flush, or in overwritable rings a
 *    snapshot; 0 if no record waits; or
 *    UV_EINVAL  no ring (an event that only counts, no UVPERF_SET_RECORDS);
 *    UV_EBUSY   inside a callback of the handle, or while it is being opened;
 *    UV_EBADF   opening has failed;
 *    UV_EPERM   in a forked child. */
UVPERF_EXTERN int uvperf_has_record(const uvperf_handle_t *handle);

/** Fills in the statistics of the handle, over all rings.
 *
 *  To fill lost_records a reader makes one read(2) for each CPU, at most once
 *  in each turn of the loop, and once after each flush. This read(2) needs
 *  Linux 6.0, and is not made if the attr has PERF_SAMPLE_READ or
 *  PERF_FORMAT_GROUP.
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

#ifdef __cplusplus
}
#endif

#endif
