/* SPDX-License-Identifier: MIT */
/* The records of a set: many events on many CPUs or tasks, one ring for each
 * CPU, one callback. The set is made with UVPERF_SET_RECORDS.
 *
 *   init -> start <-> stop -> close -> close_cb
 *
 * With UVPERF_SET_OVERWRITE the rings hold the newest records, and give them to
 * uvperf_set_snapshot alone.
 *
 * The rules of set.h hold here too; all functions but uvperf_set_flush and
 * uvperf_set_snapshot may be called inside any callback of the handle. */
#ifndef UVPERF_SET_STREAM_H
#define UVPERF_SET_STREAM_H

#include <stddef.h>
#include <stdint.h>

#include "uvperf/error.h"
#include "uvperf/record.h"
#include "uvperf/set.h"
#include "uvperf/stream.h"
#include "uvperf/version.h"

#ifdef __cplusplus
extern "C" {
#endif

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
 *  ring for the next turn, which comes within flush_ms or, if that is 0, soon
 *  after slack_us. So a quiet ring holds up nobody. Nothing is copied (but a
 *  record that wraps) or sorted: beside the rings it takes about a hundred
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
 *  @param options  Caller's, copied; NULL for the defaults. flush_ms -1 is 0
 *    where wakeup_bytes is 1, else 100; with UVPERF_SET_OVERWRITE it and the
 *    bounds of slices mean nothing.
 *  @param cb       Called for each record.
 *  @param error    May be NULL; receives the reason of a failure.
 *  @return 0, or
 *    UV_EALREADY  already started;
 *    UV_EOF       every target is gone, and every record was delivered; or no
 *      ring can be read any more;
 *    UV_EPROTO    the same, and the head of a ring is not a multiple of 8. If
 *      other rings can be read, start succeeds instead, and
 *      uvperf_ring_info_t.status says which ring is not read;
 *    UV_EINVAL    no UVPERF_SET_RECORDS, no cb, bad options or flags; or
 *      somebody else has closed an inner handle;
 *    UV_E2BIG     options that the library does not know;
 *    UV_ENOMEM    out of memory;
 *    UV_EPERM     in a forked child;
 *    UV_EEXIST    another handle of the loop polls the fd of a ring;
 *    UV_ENOSPC    out of epoll watches (cause loop);
 *    another      with UVPERF_SET_FOLLOW_CPUS, why
 *      /sys/devices/system/cpu/online cannot be read (cause no_cpu, or files
 *      where no fd is left for it); or what uvperf_set_enable gives: the handle
 *      is stopped.
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
UVPERF_EXTERN int uvperf_set_snapshot(uvperf_set_t *set, uint32_t flags);

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
                                            uvperf_set_snapshot_cb done_cb);

/** Has the end of each target reported, while the handle is started. A target
 *  is gone when its events hang up; to find that out, the set polls one fd for
 *  each target that lives. It does so when the timer of flush_ms fires, which
 *  wakes the loop anyway, at most once in 100 ms; and 10 ms after an EXIT
 *  record was delivered. It also has a timer of its own, for a flush_ms of 0
 *  or above 100. That fires within 100 ms after the set was started or has
 *  delivered records, and then ever more rarely, so that an idle set wakes the
 *  loop once a second. So the end is reported within about 100 ms with the
 *  default flush_ms of 100. With wakeup_bytes 1 (flush_ms is 0 by default then)
 *  or UVPERF_SET_OVERWRITE (EXIT records hasten nothing there) the end of an
 *  idle target can be reported a second late. Records that wait in the rings
 *  then are delivered first; with UVPERF_SET_OVERWRITE they stay. If many
 *  targets have ended, each turn of the loop reports ends for a millisecond.
 *  @param cb  NULL: no end is reported but UV_EOF. */
UVPERF_EXTERN void uvperf_set_on_end(uvperf_set_t *set, uvperf_set_end_cb cb);

/** Has it told when CPUs come and go, while the handle is started or reading,
 *  of a set with UVPERF_SET_FOLLOW_CPUS.
 *  @param cb  NULL for nobody. */
UVPERF_EXTERN void uvperf_set_on_cpu(uvperf_set_t *set, uvperf_set_cpu_cb cb);

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
 *  that has an error and no record.
 *  @param ring  Receives what is known of the ring.
 *  @return 0, or
 *    UV_ENOENT  called outside of such a callback, or inside one that is not
 *      about one ring (UV_EOF). */
UVPERF_EXTERN int uvperf_set_failed_ring(const uvperf_set_t *set,
                                         uvperf_ring_info_t *ring);

#ifdef __cplusplus
}
#endif

#endif
