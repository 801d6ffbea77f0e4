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
