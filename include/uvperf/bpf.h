/* SPDX-License-Identifier: MIT */
/* The reader of a BPF map as a libuv handle: the samples that BPF programs send
 * by bpf_perf_event_output() to a BPF_MAP_TYPE_PERF_EVENT_ARRAY, or the records
 * that they write by bpf_ringbuf_output() or bpf_ringbuf_submit() to a
 * BPF_MAP_TYPE_RINGBUF (Linux 5.8).
 *
 *   init (-> open_cb)
 *     -> start <-> stop -> close -> close_cb
 *        publish <-> unpublish
 *
 * Perf event array: each CPU has an event (PERF_COUNT_SW_BPF_OUTPUT) with a
 * ring. In the map the event is under the CPU's id: programs find it by
 * BPF_F_CURRENT_CPU. A second reader of a map replaces the entries of the
 * first: to hand the map over, start the second, then close the first without
 * stop or unpublish.
 *
 * Ring buffer: the programs of all CPUs write into one ring, which is the map
 * itself. A second reader of a map takes records from the first.
 *
 * handle.h has the functions of all handles, and the rules for their use. */
#ifndef UVPERF_BPF_H
#define UVPERF_BPF_H

#include <stddef.h>
#include <stdint.h>

#include <uv.h>

#include <linux/perf_event.h>

#include "uvperf/attr.h"
#include "uvperf/error.h"
#include "uvperf/handle.h"
#include "uvperf/record.h"
#include "uvperf/stream.h"
#include "uvperf/version.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A record of the type PERF_RECORD_SAMPLE has what the program sent in
 * sample.raw: `data`, and `size` in bytes.
 *
 * Of a ring buffer: the data begin at a multiple of 8, and `size` is what the
 * program reserved (with 0 `data` is not NULL either). `remaining` is as for
 * arrays, `cpu` is UINT32_MAX, and all other fields are 0 or NULL, also `size`
 * and `bytes` of the record, as it has no perf header. Records that programs
 * discard are not delivered; uvperf_stats_t counts their bytes. A program can
 * reserve up to the ring's bytes less 16, and gets -EAGAIN, or no record, if
 * there is no room.
 *
 * Of a perf event array: `cpu` is always the CPU on which the program ran. The
 * data start 4 bytes after a multiple of 8: use memcpy, or types that need no
 * larger alignment than 4. The kernel rounds the size up, with undefined bytes,
 * so that size + 4 is a multiple of 8 (perf_sample_save_raw_data() in
 * include/linux/perf_event.h). If samples have different lengths, programs must
 * send the length too.
 *
 * A record has at most 65528 bytes, so with PERF_SAMPLE_RAW alone a program can
 * send up to 65516. If a program sends more, the kernel drops or damages the
 * record, and still returns 0 to the program. Programs get -ENOSPC for each
 * sample that does not fit into the ring. The kernel reports these samples in a
 * record (uvperf_record_lost) before the next record that fits. lost_records
 * of uvperf_stats also counts them if no later record fits. */
typedef struct uvperf_bpf_reader_s uvperf_bpf_reader_t;

/* The handle of a reader: see handle.h. What a ring buffer cannot do:
 * - The kernel does not count lost records: see `lost` in the options.
 * - Programs write whether it is read or not, from before init until after
 *   close. unpublish is UV_EINVAL, as enable and disable are for every reader.
 * - It follows no CPUs: uvperf_on_cpu is UV_EINVAL.
 * - Snapshots need a map with BPF_F_RB_OVERWRITE (Linux 6.19), the flag
 *   UVPERF_BPF_READER_OVERWRITE, and a program of 64 bits. Such a map is read
 *   by snapshots only.
 * A record that a program is writing holds up the records after it. If that
 * takes long, the map's fd stays readable, so after some turns the library does
 * not poll it for a millisecond. uvperf_has_record can be 1 for records that
 * programs have discarded.
 *
 * Of an array: uvperf_close takes its entries out of the map before it
 * returns. If another program has replaced entries, the entries of that
 * program remain. In two cases these entries are removed too: the map was
 * given by map_fd and the process has no CAP_SYS_ADMIN, or the map has
 * BPF_F_PRESERVE_ELEMS. Then close deletes entries by the ids of the CPUs.
 * If a forked child lives and has not closed the handle, the disabled events
 * can stay in the map. Then programs get -EOPNOTSUPP. */
struct uvperf_bpf_reader_s {
  uvperf_handle_t handle; /* the base, for the functions of all handles */
};

/** Returns the reader that a handle belongs to, for callbacks.
 *  @return NULL if it is of another type. */
static inline uvperf_bpf_reader_t *
uvperf_handle_bpf_reader(uvperf_handle_t *handle) {
  return handle->type == UVPERF_HANDLE_BPF_READER
             ? (uvperf_bpf_reader_t *)(void *)handle
             : NULL;
}

/* Makes the rings overwritable (attr.write_backward): they keep the newest
 * records and never wake the loop. Only uvperf_snapshot delivers them. A ring
 * buffer must have been made with BPF_F_RB_OVERWRITE; otherwise this flag is
 * UV_EINVAL. */
#define UVPERF_BPF_READER_OVERWRITE 1u
/* Reads only the CPUs that are online at init. (It changes nothing for a ring
 * buffer.) Without this flag the reader follows CPUs while the handle is
 * started and its loop runs. A CPU that returns gets a new event, because the
 * kernel disables the old one for good. A new CPU gets an event if options.cpus
 * is NULL or contains that CPU.
 *
 * The kernel's hotplug messages need one more fd for each loop, a socket. If
 * the socket is not available or receives nothing, the reader finds changes
 * within about a second. */
#define UVPERF_BPF_READER_FIXED_CPUS 2u
/* An options.attr without use_clockid keeps perf's own clock. Without this flag
 * the attr gets CLOCK_MONOTONIC, the clock of bpf_ktime_get_ns() in programs
 * and of uv_hrtime. */
#define UVPERF_BPF_READER_PERF_CLOCK 4u

/* A number of 64 bits in a map, in which BPF programs count: see `lost` of the
 * options. Zero it before you fill it. */
typedef struct uvperf_bpf_counter_s {
  /* The caller's fd of the map; may be closed after init. Any type of map whose
   * values can be read by bpf(2). If the map has a value for each CPU, these
   * are added. */
  int map_fd;
  /* Bytes from the start of the value to the number. A global variable of a
   * program is in the map of its section (.bss), at the variable's offset. */
  uint32_t offset;
  /* The key, of as many bytes as the map's keys have. Copied. NULL is a key of
   * zero bytes: the first entry of an array. */
  const void *key;
} uvperf_bpf_counter_t;

/* What to read, and how. Start from UVPERF_BPF_READER_OPTIONS_INIT; NULL means
 * the same. New versions only append fields.
 *
 * For a ring buffer these are UV_EINVAL, with the reason in the error: attr,
 * cpus, ring_bytes, wakeup_events above 1, wakeup_bytes, open, and
 * UVPERF_BPF_READER_PERF_CLOCK. So options with wakeup_events 1 fit both types
 * of map: each record wakes the loop, unless the program has set
 * BPF_RB_NO_WAKEUP. Such records wait for flush_ms (100 ms by default). */
typedef struct uvperf_bpf_reader_options_s {
  /* sizeof(uvperf_bpf_reader_options_t). */
  size_t size;
  /* The path where the map is pinned ("/sys/fs/bpf/events"). map_fd must be -1
   * then. NULL if map_fd is given. Copied. */
  const char *path;
  /* NULL is the default: PERF_COUNT_SW_BPF_OUTPUT with PERF_SAMPLE_RAW, which
   * writes samples only. Otherwise it is the caller's attr, of the same type
   * and config. attr->size bytes are copied (0 counts as 64). The attr can
   * request more PERF_SAMPLE_* or another clock. The attr can also request
   * other records of all tasks on the CPUs, such as COMM or MMAP2. With COMM or
   * MMAP2 there are also FORK and EXIT records. Samples without PERF_SAMPLE_RAW
   * have no data.
   *
   * The library changes disabled, write_backward, use_clockid and the wakeups
   * as the other options require. The library adds PERF_FORMAT_LOST to
   * read_format, but not to an attr with PERF_SAMPLE_READ or PERF_FORMAT_GROUP.
   *
   * inherit is UV_EINVAL, because the kernel accepts no such event in a map.
   * PERF_SAMPLE_STACK_USER is UV_EINVAL if sample_stack_user is 0, or if an
   * overwritable ring is not larger than sample_stack_user. It is also
   * UV_EINVAL with PERF_SAMPLE_RAW if the attr has PERF_SAMPLE_REGS_INTR or
   * PERF_SAMPLE_AUX, because such a sample can be longer than 65528 bytes.
   * Other causes of UV_EINVAL are as for uvperf_event_init. */
  const struct perf_event_attr *attr;
  /* A list of CPUs, such as "0-3,8". Copied. NULL is the default: all CPUs that
   * are online (uvperf_cpus) and have an entry in the map, which means
   * an id below max_entries. See uvperf_bpf_reader_cpu_status. A listed CPU
   * without an entry is UV_EINVAL. */
  const char *cpus;
  /* Bytes of each ring's data part, rounded up to a power of two of pages. 0 is
   * the default: 512 KiB, or less if perf_event_mlock_kb does not allow that.
   * The default is at least a page and twice wakeup_bytes.
   * uvperf_ring returns the size. A size other than 0 is never
   * reduced. An overwritable ring must be larger than its largest record. A
   * record that is too large overwrites its own header, and damages snapshots
   * of the ring. */
  size_t ring_bytes;
  /* A ring wakes the loop after wakeup_events samples (1 wakes for each
   * sample), or after wakeup_bytes bytes, at most half of the ring. At least
   * one of the two must be 0. If both are 0 (the default), a ring wakes the
   * loop after a quarter of its bytes. With wakeup_events a quarter of the
   * bytes wakes the loop too. Fewer samples or bytes wait for flush_ms: see
   * uvperf_start. Overwritable rings ignore both fields. */
  uint32_t wakeup_events;
  uint32_t wakeup_bytes;
  /* UVPERF_BPF_READER_*. */
  uint32_t flags;
  /* As in uvperf_event_options_t. */
  uint32_t open_timeout_ms;
  /* A function that opens the events, and its argument. NULL means
   * perf_event_open(2). Both are the caller's and must stay valid until the
   * reader is closed and no call of the function runs. */
  uvperf_open_fn open;
  void *open_arg;
  /* NULL: init opens the events before it returns. Otherwise threads of libuv's
   * pool open events and rings, CPU after CPU, and then this is called: see
   * uvperf_open_cb, and open_cb of uvperf_set_options_t. */
  uvperf_open_cb open_cb;
  /* Where the programs count records that they could not write: of a ring
   * buffer only. lost_records of uvperf_stats is this number as it is, also
   * what was counted before init. The library reads it by bpf(2), and not if it
   * did so in the last 100 ms. NULL: lost_records is 0, as the kernel does not
   * count. */
  const uvperf_bpf_counter_t *lost;
} uvperf_bpf_reader_options_t;

/* The defaults, for an initializer. */
#define UVPERF_BPF_READER_OPTIONS_INIT                                         \
  {                                                                            \
    sizeof(uvperf_bpf_reader_options_t), NULL, NULL, NULL, 0, 0, 0, 0, 0,      \
        NULL, NULL, NULL, NULL                                                 \
  }

/** Opens an event and maps a ring for each CPU, or maps the ring buffer. Until
 *  uvperf_start fills a perf event array, its programs get -ENOENT.
 *  @param loop     Must outlive the handle.
 *  @param reader   Caller's, uninitialized; `data` is not changed. After an
 *    error it is the caller's again, and nothing is open or on the loop.
 *  @param map_fd   The caller's fd; may be closed afterwards. -1 with a path.
 *  @param options  Caller's, copied with all it points to. May be NULL.
 *  @param error    Receives why it failed.
 *  @return 0, or
 *    UV_EINVAL  no loop or reader; both or neither of map_fd and path; another
 *      type of map; or a wrong option: see the fields of the options;
 *    UV_EBADF   map_fd is not open;
 *    UV_ENOENT, UV_EACCES, UV_ENOTDIR  the path cannot be opened;
 *    UV_E2BIG   options or attr have fields that library or kernel do not know;
 *    UV_ENODEV  no CPU with an entry in the map is online (cause no_cpu);
 *    UV_EACCES  measuring CPUs needs perf_event_paranoid 0 or CAP_PERFMON;
 *    UV_EPERM   bpf(2): no CAP_BPF, a seccomp filter, or a security module;
 *    UV_EPERM, UV_EAGAIN  a ring cannot be locked in memory (locked_memory);
 *    UV_EACCES, UV_EPERM  a ring buffer that is open read-only, or is frozen;
 *    UV_EPROTO  another reader has left a ring buffer between two records;
 *    UV_EMFILE, UV_ENFILE  too few fds: see error->needed and error->limit;
 *    UV_ENOMEM  out of memory;
 *    UV_ENOSYS  this kernel has no bpf(2) or no perf events;
 *    another    see uvperf_event_init, or as error->reason says.
 *  Source: bpf(2); perf_event_open(2); kernel/bpf/arraymap.c, ringbuf.c. */
UVPERF_EXTERN int
uvperf_bpf_reader_init(uv_loop_t *loop, uvperf_bpf_reader_t *reader, int map_fd,
                       const uvperf_bpf_reader_options_t *options,
                       uvperf_error_t *error);

/** Takes the events out of the map, all or none, until publish.
 *
 *  From then on bpf_perf_event_output() returns -ENOENT to the programs, and
 *  nothing is counted as lost. A program that has found its event already may
 *  still write once. Records in the rings are delivered. Records other than
 *  samples are still written if options.attr requests them. A later start does
 *  not put the events into the map. Entries of another program under the same
 *  keys are removed too: to hand the map over to another reader, close this
 *  reader.
 *  @param error  Receives why it failed.
 *  @return 0, also when the events are not in the map. After one of these codes
 *    all events are still in the map:
 *    UV_EINVAL  the map is a ring buffer;
 *    UV_EPERM  in a forked child (cause argument), or bpf(2) is refused, as
 *      after BPF_MAP_FREEZE (cause permission);
 *    another   see bpf(2).
 *  Source: bpf(2), BPF_MAP_DELETE_ELEM. */
UVPERF_EXTERN int uvperf_bpf_reader_unpublish(uvperf_bpf_reader_t *reader,
                                              uvperf_error_t *error);

/** Puts the events into the map, all or none, until unpublish or close. Records
 *  wait in the rings while the reader is not started.
 *  @param error  Receives why it failed.
 *  @return 0, also when the events are there already, or the map is a ring
 *    buffer. Otherwise a code as for uvperf_start, and no event was put
 *    there. */
UVPERF_EXTERN int uvperf_bpf_reader_publish(uvperf_bpf_reader_t *reader,
                                            uvperf_error_t *error);

/** Returns whether programs on a CPU can send samples.
 *
 *  Programs can send samples only while the events are in the map.
 *  @param cpu  The CPU's id.
 *  @return 0 if it has an event, or exists and the map is a ring buffer; or
 *    UV_ENODEV  it is offline;
 *    UV_E2BIG   the map has no entry for it (max_entries). Programs there get
 *      -E2BIG;
 *    UV_ENOENT  it is not in options.cpus, does not exist, or came online later
 *      (with UVPERF_BPF_READER_FIXED_CPUS);
 *    another    the failure to open its event when it came online. */
UVPERF_EXTERN int
uvperf_bpf_reader_cpu_status(const uvperf_bpf_reader_t *reader, int cpu);

#ifdef __cplusplus
}
#endif

#endif
