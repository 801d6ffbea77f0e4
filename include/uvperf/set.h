/* SPDX-License-Identifier: MIT */
/* Several events as one libuv handle: opened, enabled and read together.
 *
 *   init (-> open_cb)
 *     -> enable <-> disable -> close -> close_cb
 *        read, read_start <-> read_stop
 *        start <-> stop: records, with UVPERF_SET_RECORDS
 *
 * A target has one or more places. A place is a CPU, a thread, or a thread on a
 * CPU. Each attr is opened at each place, in its group if it has one. If some
 * events cannot be opened, the other events still work: see
 * uvperf_set_failures.
 *
 * handle.h has the functions of all handles, and the rules for their use. */
#ifndef UVPERF_SET_H
#define UVPERF_SET_H

#include <stddef.h>
#include <stdint.h>

#include <uv.h>

#include "uvperf/attr.h"
#include "uvperf/count.h"
#include "uvperf/error.h"
#include "uvperf/handle.h"
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
 *  @param status
 *    0          reading and delta are valid;
 *    UV_ENOMEM  this reading failed: reading and delta are NULL, and the next
 *      delta covers this interval too;
 *    UV_ECANCELED  the program has closed an inner handle by uv_close: reading
 *      and delta are NULL, and the set is not read at an interval any more.
 *  @param reading  The counts since init or the last uvperf_reset. If an
 *    event could not be read, the state of its count says so. The set owns the
 *    reading, and it is valid until the callback returns. To keep it, use
 *    uvperf_reading_copy.
 *  @param delta    The counts since the last callback with status 0, or since
 *    uvperf_set_read_start; uvperf_reading_info has its length. The set
 *    owns the delta, which is valid as long as `reading`. */
typedef void (*uvperf_set_read_cb)(uvperf_set_t *set, int status,
                                   const uvperf_reading_t *reading,
                                   const uvperf_reading_t *delta);

/** Called once when uvperf_set_add is done, on the loop's thread.
 *  @param set     The handle.
 *  @param status  If it is not 0, nothing was added.
 *    0             the target was added;
 *    UV_ECANCELED  the target was removed, or the set closed, meanwhile;
 *    UV_EAGAIN     try again, because the set changed meanwhile: an attr was
 *      opened elsewhere with other fallbacks, or got another period or filter,
 *      or a CPU that the set follows came online;
 *    another       see uvperf_set_add.
 *  @param data    The target's uvperf_target_t.data.
 *  @param index   The target's index, as uvperf_set_add returned it.
 *  @param error   The failure, valid until the callback returns; NULL if status
 *    is 0. */
typedef void (*uvperf_set_target_cb)(uvperf_set_t *set, int status, void *data,
                                     uint32_t index,
                                     const uvperf_error_t *error);

/* The handle of a set: see handle.h. */
struct uvperf_set_s {
  uvperf_handle_t handle; /* the base, for the functions of all handles */
};

/** Returns the set that a handle belongs to, for callbacks.
 *  @return NULL if it is of another type. */
static inline uvperf_set_t *uvperf_handle_set(uvperf_handle_t *handle) {
  return handle->type == UVPERF_HANDLE_SET ? (uvperf_set_t *)(void *)handle
                                           : NULL;
}

/** Opens each attr at each place of each target, disabled.
 *
 *  uvperf_set_failures reports events that cannot be opened. The call itself
 *  fails if fds or memory run out, or if only the event of options.side_band
 *  can be opened. With UVPERF_SET_STRICT each failed event makes it fail. It
 *  blocks, up to 15 ms for the first event, unless options.open_cb is set.
 *  @param loop     Must outlive the handle.
 *  @param set      Caller's, uninitialized; `data` is not changed. After an
 *    error it is the caller's again, and nothing is open or on the loop.
 *  @param options  Caller's; copied, with everything it points to.
 *  @param error    Receives the most specific failure, with attr and target.
 *  @return 0 if an event was opened, or if there are no targets yet; or
 *    UV_EINVAL  an argument is NULL; or an option, a target or an attr is
 *      wrong: see the fields of uvperf_set_options_t, and uvperf_event_init;
 *    UV_E2BIG   library or kernel do not know a field; or over 65536 attrs;
 *    UV_EMFILE, UV_ENFILE  too few fds (cause files): error->needed is the
 *      RLIMIT_NOFILE that the whole set needs, error->limit the current one;
 *    UV_ENOMEM  out of memory;
 *    UV_ESRCH   no such thread or process;
 *    UV_ENOENT  no such PMU or event here; the cgroup is gone (cause no_task);
 *    UV_ENODEV  the CPUs are offline, or the event's PMU counts on other CPUs;
 *    UV_EACCES, UV_EPERM  perf_event_paranoid or the target's owner forbids it;
 *    UV_EPERM, UV_EAGAIN  a ring cannot be locked in memory (locked_memory);
 *    another    see uvperf_event_init, or as error->reason says.
 *  Source: perf_event_open(2), "ERRORS". */
UVPERF_EXTERN int uvperf_set_init(uv_loop_t *loop, uvperf_set_t *set,
                                  const uvperf_set_options_t *options,
                                  uvperf_error_t *error);

/** Reads all counts, before it returns.
 *
 *  At each place it makes one read(2) for each group and for each attr without
 *  a group. A read(2) for another CPU takes some tens of microseconds. If an
 *  event cannot be read, the state of its count says so, and the call succeeds.
 *  If a task other than the calling thread has not run since the last reading,
 *  the set checks in /proc whether the task has ended. This check takes about
 *  15 microseconds.
 *  @param reading  Caller's, from uvperf_reading_new; its contents are
 *    replaced.
 *  @param error    Receives why it failed.
 *  @return 0; or one of these, and `reading` is unchanged:
 *    UV_EINVAL  reading is NULL;
 *    UV_ENOMEM  out of memory;
 *    UV_EPERM   in a forked child.
 *  Source: perf_event_open(2), "Reading results". */
UVPERF_EXTERN int uvperf_set_read(uvperf_set_t *set, uvperf_reading_t *reading,
                                  uvperf_error_t *error);

/** Reads all counts at an interval, and calls back with each reading.
 *
 *  The first delta begins with this call, which reads all counts. The kth
 *  callback comes k intervals after this call. If the loop is late, one later
 *  callback covers all missed intervals. So the deltas add up to the counts
 *  since this call. Without uvperf_enable or UVPERF_SET_ENABLED all counts
 *  are 0 (UVPERF_COUNT_NOT_ENABLED).
 *
 *  Many events are read in slices, one in each turn of the loop. A slice reads
 *  32 groups (one place each), and more for up to a millisecond, which it
 *  shares with all handles of the loop (uvperf_stream_options_t). Only the
 *  members of a group are read together. All functions may be called meanwhile.
 *
 *  The handle keeps the loop alive (unless unref'd) until it is stopped, even
 *  if all tasks have ended. See also uvperf-details(7).
 *  @param interval_ms  Milliseconds, at least 1.
 *  @param cb           Called for each reading.
 *  @param error        Receives why it failed.
 *  @return 0, or
 *    UV_EALREADY  it is already started: stop it first;
 *    UV_EINVAL    interval_ms is 0, or cb is NULL; or the program has closed an
 *      inner handle by uv_close;
 *    UV_ENOMEM, UV_EPERM  out of memory; in a forked child;
 *    another      the online CPUs cannot be listed (uvperf_cpus), without
 *      UVPERF_SET_FIXED_CPUS. */
UVPERF_EXTERN int uvperf_set_read_start(uvperf_set_t *set, uint64_t interval_ms,
                                        uvperf_set_read_cb cb,
                                        uvperf_error_t *error);

/** Stops the readings at once, also between two slices.
 *
 *  No callback comes afterwards. Counting goes on.
 *  @return 0, also when not started; or
 *    UV_EPERM  in a forked child. */
UVPERF_EXTERN int uvperf_set_read_stop(uvperf_set_t *set);

/** Adds a target: opens each attr at each of its places.
 *
 *  The events get the filters, periods and BPF programs that were set, and
 *  count at once if the set is enabled. Events that cannot be opened are
 *  handled as by uvperf_set_init. How a target is added on the thread pool is
 *  in uvperf-details(7).
 *  @param target  Caller's, copied. UVPERF_TARGET_SELF is the thread that calls
 *    this.
 *  @param cb      NULL: the target is added before this returns. Otherwise
 *    threads of libuv's pool open its events while the set works on, and then
 *    this is called, once, if this returns 0. uvperf_set_remove cancels it.
 *  @param index   Receives the target's index, at once also with cb. Failures
 *    and places have this index. A set never uses an index twice. May be NULL.
 *  @param error   Receives why it failed, as for uvperf_set_init.
 *  @return 0; or one of these, and nothing was added:
 *    UV_EINVAL  target is NULL;
 *    UV_EPERM   in a forked child (cause argument);
 *    UV_EEXIST  another handle of the loop polls the fd of a new ring;
 *    UV_ENOSPC  out of epoll watches for a new ring (cause loop);
 *    UV_EAGAIN, UV_EPERM, UV_ENOTSUP  cb, but the process cannot use the pool:
 *      see uvperf_open_cb;
 *    another    see uvperf_set_init for failures of targets, and uvperf_enable
 *      for failures of events. */
UVPERF_EXTERN int uvperf_set_add(uvperf_set_t *set,
                                 const uvperf_target_t *target,
                                 uvperf_set_target_cb cb, uint32_t *index,
                                 uvperf_error_t *error);

/** Closes the events of one target, and returns its last counts.
 *
 *  Later readings and deltas have no places of the target, and totals do not
 *  include its counts. So no delta of uvperf_set_read_start has what the target
 *  counted since the last callback. `last` has it: subtract a copy of that
 *  callback's reading (uvperf_reading_delta).
 *
 *  The target of a uvperf_set_add whose callback was not called yet is
 *  cancelled: the callback comes later, with UV_ECANCELED, and `last` has no
 *  places.
 *
 *  Failures of the target are forgotten. Records that the target has written
 *  are still delivered, with their source. libuv's thread pool closes
 *  tracepoints, probes, and 64 or more events, as in uvperf_close.
 *  uvperf_stats_t.closing_fds is 0 when all of these fds are closed.
 *  @param index  The target's index. The targets in the options have the
 *    indexes from 0 on.
 *  @param last   NULL, or the caller's, from uvperf_reading_new. Receives the
 *    counts of the target's places, read as by uvperf_set_read before the
 *    events are closed.
 *  @param error  Receives why it failed.
 *  @return 0; or one of these, and nothing was removed and `last` is unchanged:
 *    UV_ENOENT  there is no such target;
 *    UV_ENOMEM  out of memory for `last`;
 *    UV_EPERM   in a forked child. */
UVPERF_EXTERN int uvperf_set_remove(uvperf_set_t *set, uint32_t index,
                                    uvperf_reading_t *last,
                                    uvperf_error_t *error);

/** Puts the events of one attr into a BPF map, each under the id of its CPU.
 *
 *  BPF programs read the count of their CPU by bpf_perf_event_read_value() with
 *  BPF_F_CURRENT_CPU. It returns -ENOENT if the CPU has no event.
 *  uvperf_reset does not change these counts. The map, a
 *  BPF_MAP_TYPE_PERF_EVENT_ARRAY, has only events of UVPERF_TARGET_CPUS
 *  targets. If two targets share a CPU, it has the event of the first. The set
 *  updates the map when targets or CPUs change. uvperf_close removes the
 *  entries.
 *  @param attr    The attr's index. Each attr fills one map.
 *  @param map_fd  An fd of the map, the caller's; may be closed afterwards.
 *  @param error   Receives why it failed.
 *  @return 0, also if there are no targets; or, with all new entries removed,
 *    UV_EINVAL  no such attr; the wrong type of map; or no target of CPUs;
 *    UV_EBADF   map_fd is not open;
 *    UV_EEXIST  the attr fills a map already;
 *    UV_E2BIG   the map has no entry for a CPU (max_entries);
 *    UV_ENOTSUP the kernel accepts no event with attr.inherit;
 *    UV_EPERM   in a forked child (cause argument); or the map is frozen or
 *      open for reading only, or bpf(2) is refused (cause permission);
 *    UV_EMFILE, UV_ENFILE, UV_ENOMEM  no fd (the set keeps one) or no memory;
 *    UV_EBUSY   the set is being opened;
 *    another    see bpf(2).
 *  Source: bpf(2), BPF_MAP_UPDATE_ELEM; bpf-helpers(7),
 *  bpf_perf_event_read_value(). */
UVPERF_EXTERN int uvperf_set_fill_map(uvperf_set_t *set, size_t attr,
                                      int map_fd, uvperf_error_t *error);

/** Returns the events of the current targets that could not be opened.
 *
 *  There is one failure for each attr and place, or for each attr of a target
 *  whose places could not be found.
 *  @param nr  Receives the number of failures.
 *  @return an array, sorted by target, place and attr; NULL without failures.
 *    The set owns it. The array is valid until a target is added or removed, a
 *    CPU comes online (uvperf_on_cpu), or the set is closed. */
UVPERF_EXTERN const uvperf_set_failure_t *
uvperf_set_failures(const uvperf_set_t *set, size_t *nr);

/** Returns the number of attrs, opened or not. Each part of an event counts.
 *
 *  The attr of options.side_band is the last one.
 *  @return at least 1. */
UVPERF_EXTERN size_t uvperf_set_nr_attrs(const uvperf_set_t *set);

/** Returns the item of an attr: its label, scale, unit and group.
 *
 *  Label and unit describe the event that is opened, also after a fallback, and
 *  never change: see uvperf_set_options_t.fallbacks. UVPERF_FALLBACK_USER adds
 *  the modifier u to the label, as perf(1) does. After UVPERF_FALLBACK_CLOCK or
 *  UVPERF_FALLBACK_PRECISE the label is from uvperf_attr_label, even if the
 *  caller chose a name (name=, uvperf_event_list_add).
 *
 *  item->attr is the attr as it was opened, with fallbacks. Before the attr is
 *  opened anywhere, it is the attr that will be tried. Only these fields are as
 *  the caller set them: disabled, inherit and enable_on_exec.
 *
 *  With UVPERF_SET_RECORDS init makes all labels, because records have the item
 *  too: record->source->item. Otherwise the first call for an attr without a
 *  given label makes all missing labels. For tracepoints it reads tracefs,
 *  which takes some milliseconds. If memory or fds run out, the label is
 *  "type=…,config=…", and the next call tries again.
 *  @param attr  The attr's index.
 *  @return the item, or NULL if there is no such attr. The set owns it. The
 *    item is valid until the set is closed, and so are all labels that it
 *    had. */
UVPERF_EXTERN const uvperf_event_item_t *
uvperf_set_item(const uvperf_set_t *set, size_t attr);

/** Returns the number of open events. Each event has one fd.
 *
 *  The events that own rings are not included.
 *  @return 0 or more. */
UVPERF_EXTERN size_t uvperf_set_nr_open(const uvperf_set_t *set);

/** Returns the fd of an attr at a place, for calls that the library lacks.
 *
 *  For example, put the fd into a BPF map whose programs find it by the CPU's
 *  id. The fd is close-on-exec. Do not close it.
 *  @param attr    The attr's index.
 *  @param serial  The place's uvperf_place_t.serial.
 *  @return the fd, or -1 if the event is not open. The set owns the fd. The fd
 *    is valid until its target is removed, its CPU comes back online
 *    (uvperf_on_cpu), or the set is closed. */
UVPERF_EXTERN int uvperf_set_fd(const uvperf_set_t *set, size_t attr,
                                uint64_t serial);

/* -- records of a set ----------------------------------------------------- */

/** Called when all tasks of a target have ended.
 *
 *  With attr.inherit this includes the tasks that they created. All records of
 *  the target were delivered before. With UVPERF_SET_OVERWRITE the records wait
 *  for a snapshot. If no event of the target writes records (it only counts, or
 *  could not be opened), the set looks for the target's tasks in /proc, but not
 *  for their children. The target stays in the set until
 *  uvperf_set_remove, which may be called here.
 *
 *  UV_EOF follows the end of the last target. If that target was removed, no
 *  UV_EOF follows, because a set without targets waits for more. The records of
 *  a target that is added after UV_EOF are delivered after the next
 *  uvperf_start.
 *  @param set     The handle.
 *  @param target  The target's index. */
typedef void (*uvperf_set_end_cb)(uvperf_set_t *set, uint32_t target);

/** Sets a callback for the end of each target, while the handle is started.
 *
 *  A target has ended when its events hang up. To notice this, the set polls
 *  one fd for each live target. The set polls at the flush_ms timer, but at
 *  most once in 100 ms, and 10 ms after an EXIT record. If flush_ms is longer
 *  than 100 ms or there is no flush_ms timer, the set uses a timer of its own,
 *  which slows down to once a second while the set is idle. So the end is
 *  reported within about 100 ms. In an idle set with wakeup_bytes 1 or
 *  UVPERF_SET_OVERWRITE it can take a second.
 *
 *  Records that wait in the rings are delivered first. With
 *  UVPERF_SET_OVERWRITE they stay in the rings. If many targets have ended,
 *  each turn of the loop reports ends for a millisecond.
 *  @param cb  If NULL, only UV_EOF is reported.
 *  @return 0, or
 *    UV_EINVAL  the set has no UVPERF_SET_RECORDS, so it cannot be started;
 *    UV_EPERM   in a forked child. */
UVPERF_EXTERN int uvperf_set_on_end(uvperf_set_t *set, uvperf_set_end_cb cb);

/** Returns the source of the event that has an id.
 *
 *  Such ids are in LOST and THROTTLE records and in PERF_SAMPLE_READ values.
 *  @param id  The id, as of PERF_EVENT_IOC_ID.
 *  @return the source, or NULL if there is none. The set owns it. The source is
 *    valid until its target is removed, its CPU comes back online, or the set
 *    is closed. Inside a record callback it is valid until the callback
 *    returns. */
UVPERF_EXTERN const uvperf_source_t *uvperf_set_source(const uvperf_set_t *set,
                                                       uint64_t id);

#ifdef __cplusplus
}
#endif

#endif
