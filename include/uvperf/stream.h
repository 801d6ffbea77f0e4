/* SPDX-License-Identifier: MIT */
/* How events, sets and BPF readers deliver records on a loop, and statistics
 * about these records. Needs no libuv. */
#ifndef UVPERF_STREAM_H
#define UVPERF_STREAM_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Starts without enabling the events, also if it is the first start. The caller
 * enables them later. If the attr of uvperf_event_init has enable_on_exec, this
 * flag is implied, and the kernel enables the event at execve(2). */
#define UVPERF_START_NO_ENABLE 1u
/* Also calls the callback at the end of each slice that delivered a record.
 * This call has status 0 and no record. */
#define UVPERF_START_SLICE_END 2u

/* Delivers each ring's records oldest first. Without this flag the newest
 * record comes first, as in the ring. In both orders a LOST record comes right
 * before the record that was written after it. */
#define UVPERF_SNAPSHOT_OLDEST_FIRST 1u
/* Delivers all records in the rings. Without this flag, a snapshot has only
 * records that were written since the previous snapshot, or since a later
 * uvperf_next. Records that are delivered twice count twice in the
 * statistics. */
#define UVPERF_SNAPSHOT_ALL 2u
/* Does not wait for records that other CPUs are writing at this moment. Such a
 * record is not in the snapshot, and may overwrite the oldest record. So the
 * oldest quarter of a full ring, at most 64 KiB, is left out, and its records
 * are not counted as cut. This quarter is too small if one CPU writes more
 * bytes than that at a time (an interrupt writes a record while a task's record
 * is being written). */
#define UVPERF_SNAPSHOT_NO_WAIT 4u

/* How to deliver records. Start from UVPERF_STREAM_OPTIONS_INIT; NULL means the
 * same. In one turn of the loop a handle delivers at most one slice. A slice
 * ends at the first of three limits, and a later turn continues.
 *
 * All handles of a loop together deliver, and read at intervals
 * (uvperf_set_read_start), for 1 ms in a turn, and then until the callback that
 * runs has returned. In a flood each handle gets a part of this time, of at
 * least 100 us, but not in each turn if there are more than 10. Handles that
 * had no records or counts left in the turn before come first. If a program
 * contains two copies of this library, each has its own 1 ms. */
typedef struct uvperf_stream_options_s {
  /* sizeof(uvperf_stream_options_t). */
  size_t size;
  /* The limit of records in a slice. 0 means the default, 4096. */
  uint32_t slice_records;
  /* The time limit of a slice in microseconds, including its callbacks. 0 means
   * the default, 1000. A larger limit extends the turn of the loop for this
   * handle. The clock is read after the first record, and then at
   * least once every 128 records. If the callback is slow, the clock is read
   * more often. */
  uint32_t slice_us;
  /* The limit of bytes in a slice. 0 means the default, 1 MiB. A slice has at
   * least one record, even if that record is longer than the limit. */
  uint64_t slice_bytes;
  /* The period of a timer, in milliseconds. The timer delivers records that are
   * too few to wake the loop, and does not keep the loop alive. 0 (the default)
   * means 100 ms. But if each record wakes the loop, 0 means no timer, except
   * for a pinned event. -1 means no timer. The timers of all handles of a loop
   * fire in the same turn, at multiples of flush_ms on the loop's clock
   * (uv_now). With -1 and too high a watermark, a ring can fill without a
   * wakeup.
   *
   * Each turn of the loop also looks at all rings: whether they have a record,
   * if each record causes a wakeup, or else whether a quarter is full. So a
   * loop whose backend fd is polled by another loop (Electron, GLib) gets its
   * records although it loses the wakeups. If the loop has more than 32 rings,
   * each turn looks at 8 of them. */
  int32_t flush_ms;
  /* UVPERF_START_*. */
  uint32_t flags;
} uvperf_stream_options_t;

/* The defaults, for an initializer. */
#define UVPERF_STREAM_OPTIONS_INIT                                             \
  { sizeof(uvperf_stream_options_t), 0, 0, 0, 0, 0 }

/* Statistics of a handle since init. */
typedef struct uvperf_stats_s {
  /* Records that were delivered, including those with UV_EPROTO. */
  uint64_t records;
  /* Bytes of the delivered records. Of a BPF ring buffer, also those of
   * discarded records, and 8 for each header. */
  uint64_t bytes;
  /* How often the loop called a poll callback. */
  uint64_t wakeups;
  /* Turns of the loop that delivered at least one record. In uvperf_ring_info_t
   * only records of this ring count. */
  uint64_t slices;
  /* Callbacks with UV_EPROTO: one for each damaged record, and one each time
   * the contents of a ring made no sense. */
  uint64_t corrupt;
  /* The most bytes that ever waited in one ring. */
  uint64_t high_water_bytes;
  /* Records that the kernel could not write, because a ring was full or paused,
   * or that a PMU has lost. lost_is_read says where the number comes from. It
   * can include what uvperf_count_t.lost counts: never add the two. */
  uint64_t lost_records;
  /* Records of an overwritable ring that were overwritten in part by newer
   * records before they could be delivered. Each record is counted once.
   * Records that were overwritten completely are not counted. */
  uint64_t cut_records;
  /* With UVPERF_SET_TIME_ORDER: records that were delivered after a record with
   * a later time. */
  uint64_t late_records;
  /* How often a CPU went offline, and how often a CPU came online, in a handle
   * that follows CPUs: see uvperf_on_cpu. */
  uint64_t cpus_gone;
  uint64_t cpus_come;
  /* Bytes that were skipped because a ring made no sense: all bytes up to its
   * head, or all older bytes of an overwritable ring. How many records these
   * bytes held is unknown. Before Linux 6.6 a full ring can be damaged by an
   * interrupt that writes while another record is written. In a ring that is
   * not overwritable, the head is bytes + skipped_bytes +
   * uvperf_ring_info_t.waiting, modulo 2^64. This does not hold inside
   * callbacks, and while a record of uvperf_next is valid. */
  uint64_t skipped_bytes;
  /* With UVPERF_SET_TIME_ORDER: records with an impossible time. Such a time is
   * before the set was opened, or more than 1 ms ahead of the set's clock. The
   * cause is another process that samples the same software event with another
   * clock. The records are delivered with the time of the record before them in
   * their ring (see uvperf_start), and are not counted in late_records. */
  uint64_t bad_times;
  /* Bytes after the last field of samples. The cause is another event, perhaps
   * of another process, that samples the same software event: see
   * uvperf_sample_t. */
  uint64_t surplus_bytes;
  /* Snapshots that could not wait for writers because membarrier(2) failed.
   * membarrier(2) returns EINVAL if a CPU is nohz_full, or a seccomp filter
   * refuses it. Such snapshots are taken as with UVPERF_SNAPSHOT_NO_WAIT. A
   * snapshot of several rings is counted once for each ring. */
  uint32_t unwaited_snapshots;
  /* Of a BPF ring buffer, 1: lost_records was read from the map of
   * options.lost. Of others, 1: the kernel was asked for lost_records
   * (PERF_FORMAT_LOST, Linux 6.0), by read(2) of the events of rings that were
   * half full at least. A read(2) interrupts another CPU, so the number may be
   * up to 100 ms old, unless delivery was stopped or flushed since, or the
   * handle closes. 0: the number is what LOST records report. A loss after
   * which no record was written is not in it. Sets and readers ask by
   * themselves, unless a reader's attr has PERF_SAMPLE_READ or
   * PERF_FORMAT_GROUP. An event asks if its attr.read_format has
   * UVPERF_FORMAT_LOST without PERF_FORMAT_GROUP: the library does not add it,
   * because it would change what read(2) of the event's fd returns. */
  uint32_t lost_is_read;
  /* Of lost_records, those that a PMU has lost: LOST_SAMPLES records. A larger
   * ring does not help against these. */
  uint64_t lost_samples;
  /* The fds that libuv's thread pool has still to close. They belong to removed
   * targets of a set, and to CPUs that came back online. Until they are closed,
   * they count against RLIMIT_NOFILE. */
  uint32_t closing_fds;
  uint32_t reserved0;
  uint64_t reserved[6]; /* 0; for later versions */
} uvperf_stats_t;

/* One ring of several. */
typedef struct uvperf_ring_info_s {
  int32_t cpu; /* the CPU that writes into it; -1 for any */
  /* The fd that is polled. The fd can change when the first thread of the
   * process ends. Do not close it. */
  int32_t fd;
  /* Bytes of the data part. */
  uint64_t bytes;
  /* Bytes that wait in the ring now. In an overwritable ring, the bytes that
   * were written since its last snapshot. */
  uint64_t waiting;
  /* The number of events that write into the ring. */
  uint64_t nr_events;
  /* 0 while the ring is read. Any other code means that nothing more is read
   * from the ring. UV_EPROTO means that the ring's head is not a multiple of 8.
   * UV_EOF means that the target of an event is gone. UV_ECANCELED means that
   * other code has closed an inner libuv handle, on one ring of each handle.
   * Other codes are the error of polling the ring, or UV_EBADF if that error is
   * unknown. */
  int32_t status;
  uint32_t reserved0;
  uint64_t reserved[3];
  /* The statistics of this ring alone, including wakeups and slices. */
  uvperf_stats_t stats;
} uvperf_ring_info_t;

#ifdef __cplusplus
}
#endif

#endif
