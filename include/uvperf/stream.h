/* SPDX-License-Identifier: MIT */
/* How the records of rings are delivered on a loop, and what was seen of them:
 * the same of events, sets and BPF readers. Needs no libuv. */
#ifndef UVPERF_STREAM_H
#define UVPERF_STREAM_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Does not enable what is started: the user does (or the kernel, by
 * enable_on_exec, which implies it). What start did not enable stop does not
 * disable. */
#define UVPERF_START_NO_ENABLE 1u
/* Tells the end of each slice that delivered something: status 0, no record. */
#define UVPERF_START_SLICE_END 2u

/* What a snapshot of overwritable rings is to be. */
/* Each ring's records oldest first. Else the newest comes first, as they lie in
 * the ring. In either order a LOST record comes right before the one that was
 * written next. */
#define UVPERF_SNAPSHOT_OLDEST_FIRST 1u
/* All that the rings hold. Else what was written since the snapshot before (or
 * since the look of uvperf_event_next, if that is later). What is delivered
 * twice by that counts twice in the statistics. */
#define UVPERF_SNAPSHOT_ALL 2u
/* Does not wait for records that are just being written on other CPUs. Such a
 * record is not in the snapshot, but may spoil the oldest one, so of a ring
 * that has gone round the oldest quarter, at most 64 KiB, is left out, and no
 * record of it is counted as cut. That is not enough where the records that one
 * CPU writes at a time (an interrupt's in the middle of a task's) are longer
 * than that. */
#define UVPERF_SNAPSHOT_NO_WAIT 4u

/* How to deliver. Start from UVPERF_STREAM_OPTIONS_INIT; NULL means the same.
 * A slice is what is delivered in one turn of the loop; it ends with the first
 * of the three bounds, and the rest goes on in the next turn. */
typedef struct uvperf_stream_options_s {
  /* sizeof(uvperf_stream_options_t). */
  size_t size;
  /* Records in a slice; 0 is the default, 4096. */
  uint32_t slice_records;
  /* Microseconds of a slice, callbacks included; 0 is the default, 1000. The
   * clock is looked at after the first record, and then so often that a steady
   * callback overruns little, at least once every 128 records. */
  uint32_t slice_us;
  /* Bytes in a slice; 0 is the default, 1 MiB. At least one record is
   * delivered. */
  uint64_t slice_bytes;
  /* Looks for records below the wakeup watermark every so many milliseconds,
   * by an unref'd timer. 0 is the default: never with a wakeup for each record
   * of an event that is not pinned, else 100. -1 is never. The timer fires at
   * multiples of flush_ms on the loop's clock (uv_now), so that those of all
   * handles of a loop fire in the same turn. With -1 and a watermark that
   * leaves no room in the ring for one more record, the ring can fill without
   * ever waking. A loop whose backend fd is polled by an outer loop (Electron,
   * GLib) loses wakeups by that, and needs it. */
  int32_t flush_ms;
  /* UVPERF_START_*. */
  uint32_t flags;
} uvperf_stream_options_t;

/* The defaults, for an initializer. */
#define UVPERF_STREAM_OPTIONS_INIT                                             \
  { sizeof(uvperf_stream_options_t), 0, 0, 0, 0, 0 }

/* What a handle has seen since init. */
typedef struct uvperf_stats_s {
  /* Delivered, those with UV_EPROTO included. */
  uint64_t records;
  /* Of those records. */
  uint64_t bytes;
  /* Poll callbacks. */
  uint64_t wakeups;
  /* Turns of the loop in which something was delivered; of one ring of several:
   * in which something of it was. */
  uint64_t slices;
  /* Callbacks with UV_EPROTO: one for each damaged record, and one each time a
   * ring made no sense. */
  uint64_t corrupt;
  /* Most bytes ever found waiting in the ring; of several rings: in one. */
  uint64_t high_water_bytes;
  /* Records that the kernel told to be lost, in LOST and LOST_SAMPLES records.
   * Overlaps with uvperf_count_t.lost: never add the two. For a BPF reader this
   * includes lost samples that no record has reported yet: see
   * uvperf_bpf_reader_stats. */
  uint64_t lost_records;
  /* Records of an overwritable ring that newer ones had overwritten in part
   * when they were to be given; each at most once. Those that are overwritten
   * wholly nobody counts. */
  uint64_t cut_records;
  /* Records that were delivered after one with a later time: of a set with
   * UVPERF_SET_TIME_ORDER. */
  uint64_t late_records;
  /* CPUs of a set that went offline, and that came online, while it followed
   * them: see uvperf_set_on_cpu. */
  uint64_t cpus_gone;
  uint64_t cpus_come;
  /* Bytes that were skipped because a ring made no sense: each time all bytes
   * up to its head, in an overwritable ring all older bytes. The number of
   * records in them is unknown. Before Linux 6.6 this can happen by itself: an
   * interrupt that writes in the midst of another record may make the kernel
   * overwrite a full ring. For a ring that is not overwritable, bytes +
   * skipped_bytes + uvperf_ring_info_t.waiting is its head, modulo 2^64, except
   * inside callbacks and while a record of uvperf_event_next, uvperf_set_next
   * or uvperf_bpf_reader_next is valid. */
  uint64_t skipped_bytes;
  /* Records whose time is impossible, of a set with UVPERF_SET_TIME_ORDER: from
   * before the set was opened, or more than 1 ms later than the set's clock.
   * Another process that samples the same software event with another clock
   * causes them. They are delivered with the time of the record before them in
   * their ring (see uvperf_set_start), and are not in late_records. */
  uint64_t bad_times;
  /* Bytes of samples after their last field. Other events that sample the same
   * software event, also of other processes, cause them: see
   * uvperf_sample_t. */
  uint64_t surplus_bytes;
  /* Snapshots of an overwritable ring that should have waited for writers and
   * could not, because membarrier(2) failed: it is UV_EINVAL with a nohz_full
   * CPU, and a seccomp filter can refuse it. They are as with
   * UVPERF_SNAPSHOT_NO_WAIT. A snapshot of several rings counts for each. */
  uint32_t unwaited_snapshots;
  uint32_t reserved0;
} uvperf_stats_t;

/* One ring of several. */
typedef struct uvperf_ring_info_s {
  int32_t cpu; /* whose records it has; -1 for any */
  /* The one fd that is polled. It can change when the process's first thread
   * ends. Do not close it. */
  int32_t fd;
  /* Bytes of the data part. */
  uint64_t bytes;
  /* Bytes that wait in it now; of an overwritable ring those that were written
   * since its last snapshot, at most all. */
  uint64_t waiting;
  /* Events that write into it. */
  uint64_t nr_events;
  /* 0: it is read. Else the reason why nothing more will be read from it:
   * UV_EPROTO (its head is not a multiple of 8), or the code with which polling
   * it failed (UV_EBADF if that is unknown). */
  int32_t status;
  uint32_t reserved0;
  uint64_t reserved[3];
  /* wakeups and slices are those of this ring. */
  uvperf_stats_t stats;
} uvperf_ring_info_t;

#ifdef __cplusplus
}
#endif

#endif
