/* SPDX-License-Identifier: MIT */
/* What BPF programs hand out by bpf_perf_event_output(), as a libuv handle: the
 * reader of a map of type BPF_MAP_TYPE_PERF_EVENT_ARRAY. It has an event
 * (PERF_COUNT_SW_BPF_OUTPUT) and a ring for each CPU, and puts the event into
 * the map under the CPU's own id, where a program that runs there finds it by
 * BPF_F_CURRENT_CPU.
 *
 *   init, or open -> open_cb
 *     -> start <-> stop -> close -> close_cb
 *        pause <-> resume
 *
 * Rules that hold for every function here:
 * - One handle, one loop, one thread: call from the loop's thread only.
 * - Returned codes are 0 or a negative UV_E*.
 * - `error` may be NULL; it receives the cause, the reason and the remedy of a
 *   failure. event.h says which functions have it.
 * - All functions but uvperf_bpf_reader_flush and flush_ring, next, has_record
 *   and snapshot may be called inside any callback of the handle. A callback of
 *   a flush or snapshot may also run the loop. A uvperf_bpf_reader_snapshot_cb
 *   may call all functions.
 * - After fork(2) the child must call uv_loop_fork and close the handles before
 *   it runs the loop; there, all but close and the getters return UV_EPERM, and
 *   close leaves the parent's events and the map alone. event.h describes which
 *   children this is true for.
 * - Calling anything but ref, unref, has_ref, is_active and is_closing after
 *   uvperf_bpf_reader_close is a programming error and asserts, in each
 *   build.
 * - One reader for a map: what a second one puts there takes the place of what
 *   the first has put. To hand a map over start the new reader, then close the
 *   old one without stop and pause: these go by the ids of the CPUs, and take
 *   out what the new one has put there. */
#ifndef UVPERF_BPF_H
#define UVPERF_BPF_H

#include <stddef.h>
#include <stdint.h>

#include <uv.h>

#include <linux/perf_event.h>

#include "uvperf/attr.h"
#include "uvperf/error.h"
#include "uvperf/record.h"
#include "uvperf/stream.h"
#include "uvperf/version.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct uvperf_bpf_reader_s uvperf_bpf_reader_t;

/* What a callback is given: a record of a ring. */
typedef struct uvperf_bpf_sample_s {
  /* The CPU whose ring it was in: on which the program ran. */
  int32_t cpu;
  uint32_t reserved;
  /* What the program handed out, by PERF_SAMPLE_RAW; NULL and 0 of any other
   * record. It begins 4 bytes behind a multiple of 8: read it by memcpy, or
   * with types that need no more than that. `size` is in bytes, and what the
   * program gave rounded up: the kernel pads, so that it is 4 less than a
   * multiple of 8, with bytes whose values mean nothing
   * (perf_sample_save_raw_data() in include/linux/perf_event.h). A program
   * whose data differ in length says in them how long they are. A record has at
   * most 65528 bytes, so that with PERF_SAMPLE_RAW alone 65516 are the most
   * that can be handed out: of more the kernel drops or spoils the record, and
   * gives the program 0 all the same. */
  const void *data;
  size_t size;
  /* Of a PERF_RECORD_LOST (or LOST_SAMPLES) the number of samples that did not
   * fit into the ring; else 0. The kernel writes this record before the next
   * record that fits. Lost samples are also counted in
   * uvperf_stats_t.lost_records, even if no record ever fits, and the programs
   * get -ENOSPC for each. */
  uint64_t lost;
  /* Bytes that waited in the ring behind this record when it was looked at
   * last. */
  uint64_t remaining;
  /* The whole record: its type, and what options.attr asked for beside the
   * data. */
  const uvperf_record_t *record;
} uvperf_bpf_sample_t;

/** Called for each record, on the loop's thread.
 *  @param reader  The handle.
 *  @param status
 *    0           a record, or, with UVPERF_START_SLICE_END, the end of a slice
 *                (sample is NULL);
 *    UV_EPROTO   with a record: its header is sound but its body is not; it
 *                comes raw (data is NULL) and delivery goes on;
 *    UV_EPROTO   without a record: a ring made no sense, for example after a
 *                program has handed out more than 65535 bytes;
 *                uvperf_bpf_reader_failed_ring returns which ring. All bytes up
 *                to its head are skipped (uvperf_stats_t.skipped_bytes), and
 *                delivery goes on. Only if the head is not a multiple of 8,
 *                nothing more comes from that ring (uvperf_ring_info_t.status);
 *                if it was the last ring, delivery has stopped. In a snapshot:
 *                the older records of a ring cannot be read, and the snapshot
 *                goes on with the next ring;
 *    another     without a record: a ring can no longer be polled, and nothing
 *                more comes from it (uvperf_bpf_reader_failed_ring). Either
 *                libuv refused its fd; or the process's first thread has ended,
 *                which hangs up the fd, and another fd could not be opened
 *                (UV_EMFILE, for example).
 *  @param sample  The library's, valid, with all it points to, until the
 *    callback returns. */
typedef void (*uvperf_bpf_reader_sample_cb)(uvperf_bpf_reader_t *reader,
                                            int status,
                                            const uvperf_bpf_sample_t *sample);

/** Called when a CPU has gone offline or come online, and what that takes is
 *  done.
 *  @param reader  The handle.
 *  @param cpu     The CPU's id.
 *  @param status  UV_ENODEV without an error: it has gone, and its ring is
 *    being drained. 0: it has come, and its event is open and, if the others
 *    are, in the map. Any with an error: it has come, and this is why programs
 *    there are not heard.
 *  @param error   Of a failure, valid until the callback returns; else NULL. */
typedef void (*uvperf_bpf_reader_cpu_cb)(uvperf_bpf_reader_t *reader, int cpu,
                                         int status,
                                         const uvperf_error_t *error);

/** Called once when uvperf_bpf_reader_open is done, on the loop's thread.
 *  @param reader  The handle. It may be started or closed in here.
 *  @param status
 *    0             the reader is as uvperf_bpf_reader_init would have left it;
 *    UV_ECANCELED  it was closed meanwhile, and close_cb comes later;
 *    another       it could not be opened, as for uvperf_bpf_reader_init. The
 *                  handle must be closed; until then other functions return
 *                  UV_EBADF.
 *  @param error   Of a failure, valid until the callback returns; else NULL. */
typedef void (*uvperf_bpf_reader_open_cb)(uvperf_bpf_reader_t *reader,
                                          int status,
                                          const uvperf_error_t *error);

/** Called once when a closed handle is done; the memory of the handle is the
 *  caller's again and may be freed here. */
typedef void (*uvperf_bpf_reader_close_cb)(uvperf_bpf_reader_t *reader);

/* The caller allocates it and keeps it in place until close_cb. */
struct uvperf_bpf_reader_s {
  /* public: the user's, never touched */
  void *data;
  /* read-only */
  uv_loop_t *loop;
  /* private */
  void *impl;
  uvperf_bpf_reader_close_cb close_cb;
  void *reserved[4];
};

/* Rings that are overwritable (attr.write_backward): the newest stay, nothing
 * is delivered by itself and nobody is woken; uvperf_bpf_reader_snapshot
 * delivers what is there. */
#define UVPERF_BPF_READER_OVERWRITE 1u
/* Stays with the CPUs that are online at init. Else, while the handle is
 * started and its loop runs, the event of a CPU that comes back online is
 * opened and put into the map anew, as the kernel has turned the old one off
 * for good, and so is that of one that comes for the first time, if
 * options.cpus is NULL or has it. That takes one fd more, of a socket on which
 * the kernel tells what has changed; where that is not to be had, or silent, it
 * is found within about a second all the same. */
#define UVPERF_BPF_READER_FIXED_CPUS 2u
/* Leaves options.attr without use_clockid perf's own clock. Else it gets
 * CLOCK_MONOTONIC, as bpf_ktime_get_ns() gives programs and uv_hrtime us. */
#define UVPERF_BPF_READER_PERF_CLOCK 4u

/* What to read, and how. Start from UVPERF_BPF_READER_OPTIONS_INIT; NULL means
 * the same. Fields are only ever appended. */
typedef struct uvperf_bpf_reader_options_s {
  /* sizeof(uvperf_bpf_reader_options_t). */
  size_t size;
  /* Where the map is pinned ("/sys/fs/bpf/events"), with map_fd -1; else NULL.
   * Copied. */
  const char *path;
  /* NULL: PERF_COUNT_SW_BPF_OUTPUT with PERF_SAMPLE_RAW, which are the samples
   * alone. Or one of that type and config of the caller's, copied: attr->size
   * bytes (0 counts as 64), for more PERF_SAMPLE_* of each sample, records such
   * as COMM or MMAP2 beside the samples (of all tasks on these CPUs; the kernel
   * tells FORK and EXIT with either), or another clock. Without PERF_SAMPLE_RAW
   * samples have no data. The library changes disabled, write_backward,
   * use_clockid and the wakeups, which are chosen below. It adds
   * PERF_FORMAT_LOST to read_format, unless the attr has PERF_SAMPLE_READ or
   * PERF_FORMAT_GROUP. */
  const struct perf_event_attr *attr;
  /* A list such as "0-3,8"; NULL: all that are online, as
   * /sys/devices/system/cpu/online tells. Of a map with fewer entries than
   * there are CPUs only those are read whose id is below that: see
   * uvperf_bpf_reader_cpu_status. Copied. */
  const char *cpus;
  /* Size of the data part of each ring in bytes, rounded up to a power of two
   * of pages; never made smaller behind the caller's back. 0 is the default:
   * 512 KiB, or as much less (down to one page, or to twice wakeup_bytes) as
   * perf_event_mlock_kb allows; uvperf_bpf_reader_ring tells. An overwritable
   * ring must be larger than the largest record: one that is not is written
   * over its own header, and spoils the snapshots it is in. */
  size_t ring_bytes;
  /* What wakes the loop: so many samples in a ring, or so many bytes (at most
   * half of the ring); one of the two, the other is 0. Both 0 is the default: a
   * quarter of the ring, which wakes beside wakeup_events too. For each sample
   * at once: wakeup_events 1. What is below it waits for flush_ms: see
   * uvperf_bpf_reader_start. Of overwritable rings they mean nothing. */
  uint32_t wakeup_events;
  uint32_t wakeup_bytes;
  /* UVPERF_BPF_READER_*. */
  uint32_t flags;
  uint32_t reserved; /* 0 */
  /* NULL: perf_event_open(2) opens the events. Else this function does, with
   * open_arg; both are the caller's and must last until the reader is
   * closed. */
  uvperf_open_fn open;
  void *open_arg;
} uvperf_bpf_reader_options_t;

/* The defaults, for an initializer. */
#define UVPERF_BPF_READER_OPTIONS_INIT                                         \
  {                                                                            \
    sizeof(uvperf_bpf_reader_options_t), NULL, NULL, NULL, 0, 0, 0, 0, 0,      \
        NULL, NULL                                                             \
  }

/** Opens an event, and maps a ring, for each CPU. The map is not touched before
 *  uvperf_bpf_reader_start: programs get -ENOENT until then.
 *  @param loop     Must outlive the handle.
 *  @param reader   Caller's, uninitialized. On error it is the caller's again
 *    at once, and nothing is left open or known to the loop. `data` is not
 *    touched.
 *  @param map_fd   Of the map; the caller's, and it may be closed then (entries
 *    of such a map die with the last fd of the file by which they were put
 *    there, so the handle keeps one). -1 with options->path.
 *  @param options  Caller's; it and what it points to are copied. NULL for the
 *    defaults.
 *  @param error    Receives why it failed.
 *  @return 0, or
 *    UV_EINVAL  loop or reader is NULL; map_fd and options->path, or neither;
 *      it is not a map, or of another type (cause argument); wakeup_events and
 *      wakeup_bytes; wakeup_bytes of more than half of a ring; no such
 *      ring_bytes; unknown flags; a list of CPUs that is none, or that has one
 *      that the map has no entry for; an attr of another type or config, with
 *      inherit (the kernel takes no such event into a map); an attr with
 *      PERF_SAMPLE_STACK_USER and sample_stack_user 0 or, for overwritable
 *      rings, not below the size of a ring; PERF_SAMPLE_STACK_USER together
 *      with PERF_SAMPLE_RAW and one of PERF_SAMPLE_REGS_INTR and
 *      PERF_SAMPLE_AUX (a program may hand out so much that the sample is
 *      longer than 65528 bytes); what uvperf_event_init says of an attr;
 *    UV_EBADF   map_fd is not open;
 *    UV_ENOENT, UV_EACCES, UV_ENOTDIR…  the path cannot be opened;
 *    UV_E2BIG   options, or the attr, have fields that the library, or the
 *      kernel, does not know;
 *    UV_ENODEV  none of the CPUs that the map has entries for is online (cause
 *      no_cpu);
 *    UV_EACCES  measuring CPUs takes perf_event_paranoid 0 or CAP_PERFMON;
 *    UV_EPERM   bpf(2) is refused: CAP_BPF is missing, or a seccomp filter or
 *      security module forbids it; or a ring cannot be locked in memory (cause
 *      locked_memory), as UV_EAGAIN;
 *    UV_EMFILE, UV_ENFILE  out of fds: error->needed and error->limit tell what
 *      RLIMIT_NOFILE the reader takes and that of now;
 *    UV_ENOMEM  out of memory;
 *    UV_ENOSYS  no bpf(2), or no perf events, in this kernel;
 *    another    as uvperf_event_init gives it, or as error->reason tells.
 *  Source: bpf(2); perf_event_open(2), "ERRORS"; kernel/bpf/arraymap.c. */
UVPERF_EXTERN int
uvperf_bpf_reader_init(uv_loop_t *loop, uvperf_bpf_reader_t *reader, int map_fd,
                       const uvperf_bpf_reader_options_t *options,
                       uvperf_error_t *error);

/** Opens a reader as uvperf_bpf_reader_init does, but its events and rings on
 *  threads of libuv's pool, CPU after CPU, so that the loop goes on: see
 *  uvperf_set_open, which says what may be called meanwhile and what else is
 *  true of it.
 *  @param loop     As for uvperf_bpf_reader_init, and so are the next three.
 *  @param reader   Caller's, uninitialized.
 *  @param map_fd   It may be closed when this returns.
 *  @param options  Copied before this returns.
 *  @param cb       Called once, after this has returned 0.
 *  @param error    Receives why it failed at once.
 *  @return 0, and the handle must be closed, even if it cannot be opened; or,
 *    with the handle the caller's again and `cb` never called,
 *    UV_EINVAL  cb is NULL; or as uvperf_bpf_reader_init;
 *    UV_EAGAIN, UV_EPERM  the process may make no threads (RLIMIT_NPROC,
 *      pids.max; a seccomp filter);
 *    another    what uvperf_bpf_reader_init says of the map and the options. */
UVPERF_EXTERN int
uvperf_bpf_reader_open(uv_loop_t *loop, uvperf_bpf_reader_t *reader, int map_fd,
                       const uvperf_bpf_reader_options_t *options,
                       uvperf_bpf_reader_open_cb cb, uvperf_error_t *error);

/** Starts delivery, and puts the events into the map (all or none), unless it
 *  is paused or flags have UVPERF_START_NO_ENABLE: then
 *  uvperf_bpf_reader_resume does. A handle that delivers keeps the loop alive
 *  (unless unref'd) until it is stopped. With UVPERF_BPF_READER_OVERWRITE it
 *  delivers by uvperf_bpf_reader_snapshot alone, and does not keep the loop
 *  alive. A ring's records come in the order in which the kernel wrote them,
 *  and rings take turns.
 *  @param reader   Initialized.
 *  @param options  Caller's, copied; NULL for the defaults. flush_ms 0 is
 *    never where wakeup_events or wakeup_bytes is 1, else 100.
 *  @param cb       Called for each record.
 *  @param error    Receives why it failed.
 *  @return 0, or
 *    UV_EALREADY  already started;
 *    UV_EOF       no ring can be read any more;
 *    UV_EPROTO    the same, and the head of a ring is not a multiple of 8. If
 *      other rings can be read, start succeeds instead, and
 *      uvperf_ring_info_t.status says which ring is not read;
 *    UV_EINVAL    no cb, bad options or flags; or somebody else has closed an
 *      inner handle;
 *    UV_E2BIG     options that the library does not know;
 *    UV_ENOMEM    out of memory;
 *    UV_EPERM     in a forked child (cause argument); the map is frozen or was
 *      opened for reading only, or bpf(2) is refused (cause permission);
 *    UV_EEXIST    another handle of the loop polls the fd of a ring;
 *    UV_ENOSPC    out of epoll watches (cause loop);
 *    another      PERF_EVENT_IOC_ENABLE failed; why
 *      /sys/devices/system/cpu/online cannot be read (cause no_cpu, or files
 *      where no fd is left for it); or the kernel takes such an event into no
 *      map: the handle is stopped.
 *  Source: bpf(2), BPF_MAP_UPDATE_ELEM; perf_event_fd_array_get_ptr() in
 *  kernel/bpf/arraymap.c. */
UVPERF_EXTERN int
uvperf_bpf_reader_start(uvperf_bpf_reader_t *reader,
                        const uvperf_stream_options_t *options,
                        uvperf_bpf_reader_sample_cb cb, uvperf_error_t *error);

/** Takes the events out of the map, if start has put them there (or would have,
 *  had it not been paused), and cancels delivery at once: no callback runs
 *  after it until the next start or flush. Records that were not delivered stay
 *  in the rings and come then. What uvperf_bpf_reader_resume has put into the
 *  map before start, or after one with UVPERF_START_NO_ENABLE, stays there.
 *  @return 0, also when not started; or
 *    UV_EPERM  in a forked child. */
UVPERF_EXTERN int uvperf_bpf_reader_stop(uvperf_bpf_reader_t *reader);

/** Takes the events out of the map, all or none: bpf_perf_event_output() gives
 *  the programs -ENOENT from then on (one that had found its event before may
 *  still write once), and nothing is counted as lost. What is in the rings is
 *  delivered. Lasts until uvperf_bpf_reader_resume, over stop and start.
 *  Records that options.attr asks for beside samples go on. What somebody else
 *  has put under the same keys goes too: to hand a map over to another reader,
 *  close.
 *  @param error  Receives why it failed.
 *  @return 0, also when it is paused already; or, with all events where they
 *    were,
 *    UV_EPERM  in a forked child (cause argument), or bpf(2) is refused, as
 *      after BPF_MAP_FREEZE (cause permission);
 *    another   what bpf(2) gives.
 *  Source: bpf(2), BPF_MAP_DELETE_ELEM. */
UVPERF_EXTERN int uvperf_bpf_reader_pause(uvperf_bpf_reader_t *reader,
                                          uvperf_error_t *error);

/** Puts the events into the map, all or none, also before start and after stop
 *  (what is written then waits in the rings). Between start and stop it only
 *  ends a pause; else the events stay in the map until uvperf_bpf_reader_pause
 *  or close.
 *  @param error  Receives why it failed.
 *  @return 0, also when they are there; or, with none of them put there, as
 *    uvperf_bpf_reader_start. */
UVPERF_EXTERN int uvperf_bpf_reader_resume(uvperf_bpf_reader_t *reader,
                                           uvperf_error_t *error);

/** Delivers, unsliced and before it returns, the records that one look at the
 *  rings shows, through the callback of the last start. Works between stop and
 *  start, and while paused, too.
 *  @return 0, also when the rings are empty or delivery has ended; or
 *    UV_EINVAL  never started, or the rings are overwritable;
 *    UV_EBUSY   called inside a callback of the handle;
 *    UV_EPERM   in a forked child. */
UVPERF_EXTERN int uvperf_bpf_reader_flush(uvperf_bpf_reader_t *reader);

/** Delivers the records of one ring alone, as uvperf_bpf_reader_flush does of
 *  all: for programs that poll the fds of the rings themselves
 *  (uvperf_bpf_reader_ring), as with libbpf's perf_buffer__consume_buffer().
 *  @param index  Below uvperf_bpf_reader_nr_rings.
 *  @return As uvperf_bpf_reader_flush; UV_EINVAL also without such a ring. */
UVPERF_EXTERN int uvperf_bpf_reader_flush_ring(uvperf_bpf_reader_t *reader,
                                               size_t index);

/** Returns the next record without a callback, for programs that drive a loop
 *  of their own. They initialize the reader, put its events into the map
 *  (uvperf_bpf_reader_resume), poll the fd of each ring
 *  (uvperf_bpf_reader_ring) with a timeout, as records may wait below the
 *  watermark, and take records until UV_EAGAIN. libuv need not run until the
 *  handle is closed.
 *
 *  Rings take turns: all records that one look at a ring has shown come
 *  together. The bytes of
 *  records go back to the kernel after each quarter of a ring, and when a look
 *  is used up; those of the last record at the next call.
 *
 *  It may take turns with start and flush: each goes on where the other has
 *  stopped. CPUs that come are not followed by it.
 *  @param reader  Not started, and not inside one of its callbacks.
 *  @param sample  Receives the library's, valid, with all it points to, until
 *    the next call of next, start, flush or close. NULL without one.
 *  @return 0, or
 *    UV_EAGAIN  the rings are empty;
 *    UV_EPROTO  as of uvperf_bpf_reader_sample_cb: with a record that came raw;
 *      or without one, because a ring made no sense:
 *      uvperf_bpf_reader_failed_ring returns it, until the next call;
 *    UV_EOF     no ring can be read any more;
 *    UV_EINVAL  sample is NULL; or the rings are overwritable:
 *      uvperf_bpf_reader_snapshot delivers then;
 *    UV_EBUSY   started, inside a callback of the handle, or being opened;
 *    UV_EBADF   opening has failed;
 *    UV_EPERM   in a forked child.
 *  Source: perf_event_open(2), "MMAP layout". */
UVPERF_EXTERN int uvperf_bpf_reader_next(uvperf_bpf_reader_t *reader,
                                         const uvperf_bpf_sample_t **sample);

/** Returns whether a record waits in any ring, without taking it and without a
 *  system call.
 *  @return 1, and uvperf_bpf_reader_next or a flush finds it (of overwritable
 *    rings a snapshot); 0; or
 *    UV_EBUSY   inside a callback of the handle, or while it is being opened;
 *    UV_EBADF   opening has failed;
 *    UV_EPERM   in a forked child. */
UVPERF_EXTERN int
uvperf_bpf_reader_has_record(const uvperf_bpf_reader_t *reader);

/** Delivers a snapshot of overwritable rings through the callback of the last
 *  start, ring by ring: see uvperf_event_snapshot, which says what it holds,
 *  how long it takes and what the flags do. sample->remaining is of the
 *  snapshot. Works after stop too. A callback that stops or closes the handle
 *  ends it; what was not delivered is gone.
 *  @param flags  UVPERF_SNAPSHOT_*.
 *  @param error  Receives why it failed.
 *  @return 0, also when there is nothing new; or
 *    UV_EINVAL  never started, unknown flags, or no overwritable rings;
 *    UV_EBUSY   called inside a callback of the handle; or
 *      uvperf_bpf_reader_snapshot_start has begun one;
 *    UV_ENOMEM  out of memory;
 *    UV_EPERM   in a forked child;
 *    another    PERF_EVENT_IOC_PAUSE_OUTPUT failed: see
 *      uvperf_set_snapshot. */
UVPERF_EXTERN int uvperf_bpf_reader_snapshot(uvperf_bpf_reader_t *reader,
                                             uint32_t flags,
                                             uvperf_error_t *error);

/** Called once when a snapshot that uvperf_bpf_reader_snapshot_start began has
 *  ended: as uvperf_event_snapshot_cb.
 *  @param reader  The handle.
 *  @param status  0; UV_ECANCELED if the handle was stopped or closed before;
 *    UV_ENOMEM; or another if PERF_EVENT_IOC_PAUSE_OUTPUT failed: see
 *    uvperf_set_snapshot. */
typedef void (*uvperf_bpf_reader_snapshot_cb)(uvperf_bpf_reader_t *reader,
                                              int status);

/** Begins the same snapshot without stopping the loop: a thread of libuv's pool
 *  takes it, the loop delivers it in slices, then done_cb is called. See
 *  uvperf_event_snapshot_start, which describes stop, close and fork. Pause and
 *  resume, which are about the map, may be called meanwhile.
 *  @param flags    UVPERF_SNAPSHOT_*.
 *  @param done_cb  Called once if this returns 0; must not be NULL.
 *  @param error    Receives why it failed at once.
 *  @return 0, or
 *    UV_EINVAL  no done_cb, never started, unknown flags, or no overwritable
 *      rings;
 *      or the program has closed an inner handle by uv_close;
 *    UV_EBUSY   another was begun, and its done_cb has not been called; or
 *      called inside a callback of uvperf_bpf_reader_snapshot;
 *    UV_ENOMEM  out of memory;
 *    UV_EAGAIN, UV_EPERM  the process may make no threads; UV_EPERM also in a
 *      forked child. */
UVPERF_EXTERN int
uvperf_bpf_reader_snapshot_start(uvperf_bpf_reader_t *reader, uint32_t flags,
                                 uvperf_bpf_reader_snapshot_cb done_cb,
                                 uvperf_error_t *error);

/** Has it told when CPUs come and go, while the handle is started: those that
 *  options.cpus has, or all; also one that the map has no entry for.
 *  @param cb  NULL for none.
 *  @return 0, or
 *    UV_EINVAL  the reader has UVPERF_BPF_READER_FIXED_CPUS. */
UVPERF_EXTERN int uvperf_bpf_reader_on_cpu(uvperf_bpf_reader_t *reader,
                                           uvperf_bpf_reader_cpu_cb cb);

/** Tells whether programs on a CPU are heard (while the events are in the map).
 *  @param cpu  A CPU's id.
 *  @return 0 if it has an event; or
 *    UV_ENODEV  it is offline;
 *    UV_E2BIG   the map has no entry for it (max_entries): programs there get
 *      that error;
 *    UV_ENOENT  it is not in options.cpus, is no CPU, or (with
 *      UVPERF_BPF_READER_FIXED_CPUS) came later;
 *    another    why its event could not be opened when it came. */
UVPERF_EXTERN int
uvperf_bpf_reader_cpu_status(const uvperf_bpf_reader_t *reader, int cpu);

/** Tells how many rings there are: one for each CPU that ever had an event. */
UVPERF_EXTERN size_t
uvperf_bpf_reader_nr_rings(const uvperf_bpf_reader_t *reader);

/** Gets what is known of one ring.
 *  @param index  Below uvperf_bpf_reader_nr_rings; a ring keeps its index.
 *  @param ring   Receives it.
 *  @return 0, or
 *    UV_EINVAL  there is no such ring. */
UVPERF_EXTERN int uvperf_bpf_reader_ring(const uvperf_bpf_reader_t *reader,
                                         size_t index,
                                         uvperf_ring_info_t *ring);

/** Gets the ring, and so the CPU, that failed. Call it inside a record callback
 *  that has an error and no record, or after uvperf_bpf_reader_next has
 *  returned UV_EPROTO without a record.
 *  @param ring  Receives what is known of the ring.
 *  @return 0, or
 *    UV_ENOENT  called at another time. */
UVPERF_EXTERN int
uvperf_bpf_reader_failed_ring(const uvperf_bpf_reader_t *reader,
                              uvperf_ring_info_t *ring);

/** Gets what the handle has seen, of all rings. It asks the kernel for
 *  lost_records (Linux 6.0; not with PERF_SAMPLE_READ or PERF_FORMAT_GROUP), by
 *  one read(2) for each CPU, at most once in a turn of the loop and after each
 *  flush. So does uvperf_bpf_reader_ring.
 *  @param stats  Receives the totals since init. */
UVPERF_EXTERN void uvperf_bpf_reader_stats(const uvperf_bpf_reader_t *reader,
                                           uvperf_stats_t *stats);

/** Gets the attr that the events were opened with.
 *  @return The handle's own, attr->size bytes; valid until close. */
UVPERF_EXTERN const struct perf_event_attr *
uvperf_bpf_reader_attr(const uvperf_bpf_reader_t *reader);

/** Closes the handle: this is how one cancels. Takes what it has put into the
 *  map out of it before it returns, and nothing else. (The kernel does that
 *  when a file of the map is closed that is the handle's own. Without
 *  CAP_SYS_ADMIN a map_fd gives it none, and with BPF_F_PRESERVE_ELEMS the
 *  kernel leaves all there: then it is done by the ids of the CPUs, and what
 *  somebody else has put there since goes too. While a forked child lives that
 *  has not closed the handle its events stay in the map, turned off: programs
 *  get -EOPNOTSUPP.) No record callback runs after it, even in the middle of a
 *  drain. When the loop runs next, rings are unmapped, fds closed and close_cb
 *  called (from 64 CPUs on by a thread of libuv's pool, see
 *  uvperf_event_close). As with uvperf_event_close, call it exactly once, also
 *  after uvperf_walk_close; see there for a close inside a flush or snapshot,
 *  and after the loop was closed.
 *  @param close_cb  May be NULL. */
UVPERF_EXTERN void uvperf_bpf_reader_close(uvperf_bpf_reader_t *reader,
                                           uvperf_bpf_reader_close_cb close_cb);

/** Lets the started handle keep the loop alive, as uv_ref. The default. */
UVPERF_EXTERN void uvperf_bpf_reader_ref(uvperf_bpf_reader_t *reader);

/** Lets the loop end although the handle is started, as uv_unref. */
UVPERF_EXTERN void uvperf_bpf_reader_unref(uvperf_bpf_reader_t *reader);

/** Tells whether the handle is ref'd, as uv_has_ref.
 *  @return 1 or 0. */
UVPERF_EXTERN int uvperf_bpf_reader_has_ref(const uvperf_bpf_reader_t *reader);

/** Tells whether the handle is active, as uv_is_active: started, and not ended.
 *  With UVPERF_BPF_READER_OVERWRITE it never is.
 *  @return 1 or 0. */
UVPERF_EXTERN int
uvperf_bpf_reader_is_active(const uvperf_bpf_reader_t *reader);

/** Tells whether the handle is closing or closed, as uv_is_closing.
 *  @return 1 or 0. */
UVPERF_EXTERN int
uvperf_bpf_reader_is_closing(const uvperf_bpf_reader_t *reader);

/** Gets sizeof(uvperf_bpf_reader_t), for other languages.
 *  @return Bytes. */
UVPERF_EXTERN size_t uvperf_bpf_reader_size(void);

#ifdef __cplusplus
}
#endif

#endif
