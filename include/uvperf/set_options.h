/* SPDX-License-Identifier: MIT */
/* The options of a set of events: which attrs it measures, and at which
 * targets. Needs no libuv. */
#ifndef UVPERF_SET_OPTIONS_H
#define UVPERF_SET_OPTIONS_H

#include <stddef.h>
#include <stdint.h>

#include <linux/perf_event.h>

#include "uvperf/attr.h"
#include "uvperf/error.h"
#include "uvperf/name.h"
#include "uvperf/version.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The kinds of targets of a set. */
enum uvperf_target_type {
  /* The thread that calls uvperf_set_init, uvperf_set_add_target or one of
   * their asynchronous forms. With attr.inherit also the tasks that it starts
   * from then on. */
  UVPERF_TARGET_SELF = 0,
  /* All tasks on some CPUs. */
  UVPERF_TARGET_CPUS = 1,
  /* One thread, by its id; otherwise as SELF. */
  UVPERF_TARGET_THREAD = 2,
  /* A process: all of its threads, and the threads and child processes that
   * these create from now on (the set sets attr.inherit for this). Child
   * processes that exist already are not included: add them as targets. A
   * thread that is created while the threads are being listed can be missed. */
  UVPERF_TARGET_PROCESS = 3,
  /* A forked child that has not called execve(2) yet. Counting starts at its
   * execve(2) (attr.enable_on_exec) and includes its children. Before that,
   * uvperf_set_enable and uvperf_set_disable do not affect it. uv_spawn returns
   * after execve(2), so let it start a shell that waits, as
   * samples/count_command.c does: sh -c 'read go <&3 && exec 3<&- "$@"' sh
   * COMMAND ARG…. Write a newline into the pipe that is its fd 3 when the set
   * is ready, or close the pipe to cancel the command. */
  UVPERF_TARGET_COMMAND = 4,
  /* All tasks in a cgroup and in the cgroups below it, on some CPUs. */
  UVPERF_TARGET_CGROUP = 5
};

/* Does not set attr.inherit for a process or a command. Uprobes and kprobes by
 * name never have it: see UVPERF_FALLBACK_INHERIT. */
#define UVPERF_TARGET_NO_INHERIT 1u

/* Where to measure. Start from UVPERF_TARGET_INIT. New versions only append
 * fields. All elements of an array have the same `size`. */
typedef struct uvperf_target_s {
  /* sizeof(uvperf_target_t). */
  size_t size;
  /* enum uvperf_target_type. */
  uint32_t type;
  /* The thread's id for THREAD, the process's id for PROCESS and COMMAND, else
   * 0. */
  int32_t pid;
  /* A list of CPUs, such as "0-3,8", or NULL. NULL for CPUS and CGROUP means
   * all online CPUs, and with UVPERF_SET_FOLLOW_CPUS also CPUs that come online
   * later. NULL for tasks means one event that follows the task to every CPU,
   * or with UVPERF_SET_RECORDS one event for each present CPU, because a ring
   * belongs to one CPU. Counts of a task by CPU are not scaled: see
   * UVPERF_COUNT_UNSCALED. */
  const char *cpus;
  /* CGROUP: the directory of the cgroup; NULL for other types. A path at or
   * below a mount of cgroups, such as "/sys/fs/cgroup/x", is used unchanged.
   * Any other, such as "x", or "/x" from /proc/PID/cgroup, starts at the mount
   * of v1 with perf_event, or at the mount of v2 without such a v1. */
  const char *cgroup;
  /* UVPERF_TARGET_*. */
  uint32_t flags;
  uint32_t reserved; /* 0 */
  /* The caller's, never used: uvperf_source_t.data of the target's records. */
  void *data;
} uvperf_target_t;

/* The defaults, for an initializer. */
#define UVPERF_TARGET_INIT                                                     \
  { sizeof(uvperf_target_t), UVPERF_TARGET_SELF, 0, NULL, NULL, 0, 0, NULL }

/* Fails if one event cannot be opened. Without it the set has all events that
 * can be opened, and uvperf_set_failures reports the others. */
#define UVPERF_SET_STRICT 1u
/* Reads the counts of the calling thread without a system call (rdpmc), if CPU
 * and kernel allow it. read(2) is used otherwise, from other threads, for
 * events with attr.inherit, for events that write into rings, and for a whole
 * group if one of its events needs it. Each event maps a page, which counts
 * against perf_event_mlock_kb.
 *
 * On aarch64 the event must request this with bit 1 of attr.config1
 * (`rdpmc=1`), kernel.perf_user_access must be 1, and the thread must stay on
 * CPUs of the event's PMU. If an administrator forbids it later, by 0 there or
 * in /sys/devices/cpu/rdpmc on x86, the next reading ends the process by a
 * signal.
 *
 * The times of a page advance by about a microsecond when the kernel enables or
 * disables another event of the thread; the times of read(2) do not. The times
 * in readings never go back. */
#define UVPERF_SET_USER_READ 2u
/* Maps one ring for each measured CPU. All events on the CPU write their
 * records into it: see set.h. Each ring needs one more fd: it belongs to an
 * event of the process's first thread that counts nothing, so it outlives
 * targets and CPUs.
 *
 * The set adds PERF_SAMPLE_IDENTIFIER and sample_id_all to all attrs: they
 * assign a record to its event. All attrs get one clock: the use_clockid of the
 * attrs that write records, which must be the same, or CLOCK_MONOTONIC, the
 * clock of uv_hrtime. attr.write_backward needs UVPERF_SET_OVERWRITE.
 * attr.inherit_stat is not allowed: Linux writes its records into another CPU's
 * ring without a lock.
 *
 * Let only one event sample a given software event on a CPU. If several do (two
 * attrs with page-faults, or a task and its CPU), each sample has the id of the
 * first (Linux 6.18), even if that belongs to another program. Attrs of one set
 * that sample the same event get each other's PERF_SAMPLE_* and registers, and
 * the largest sample_stack_user, so that such records can be decoded. */
#define UVPERF_SET_RECORDS 4u
/* Delivers the records of all rings in the order of their times: see
 * uvperf_set_start. Adds PERF_SAMPLE_TIME to each attr that writes records.
 * Needs UVPERF_SET_RECORDS. */
#define UVPERF_SET_TIME_ORDER 8u
/* Opens events on CPUs that come online, for targets whose `cpus` is NULL. The
 * kernel disables the events of an offline CPU for good, so they are opened
 * again when the CPU returns; a new CPU gets events too. The handle must be
 * started or reading, and its loop must run. Counts continue from their old
 * values, without the time before the new events were opened.
 *
 * Events of tasks, and of PMUs that the kernel moves to another CPU of the
 * package, continue by themselves. For other PMUs that count once for each
 * package, no other CPU takes over. Children that a task created before a CPU
 * existed are not measured on it.
 *
 * The kernel's hotplug messages need one more fd, a socket. If it is not
 * available (a seccomp filter) or silent (some containers), changes are found
 * within about a second. */
#define UVPERF_SET_FOLLOW_CPUS 16u
/* Makes all rings overwritable, for a flight recorder: they keep the newest
 * records and never wake the loop. uvperf_set_snapshot delivers the records;
 * uvperf_set_start delivers nothing. The set sets write_backward in each attr
 * that writes records, and clears its wakeups. Put records that must not be
 * overwritten, such as names of tasks, into another set.
 *
 * Needs UVPERF_SET_RECORDS. wakeup_bytes and slack_us must be 0. Each record,
 * and so each attr's sample_stack_user, must be smaller than a ring: see
 * uvperf_event_snapshot. A removed target keeps some hundred bytes for each of
 * its events until its ring has been overwritten completely. */
#define UVPERF_SET_OVERWRITE 32u
/* Enables the set as soon as all events are open, as uvperf_set_enable does;
 * uvperf_set_open does it on the thread pool. Records wait in their rings until
 * uvperf_set_start. */
#define UVPERF_SET_ENABLED 64u
/* Allows a set without targets: uvperf_set_add_target adds them later. Without
 * this flag that is UV_EINVAL, because the set would count nothing. */
#define UVPERF_SET_TARGETS_LATER 128u
/* Leaves attrs without use_clockid on perf's own clock, for comparison with
 * files of perf(1) (on x86 with a stable TSC). Programs cannot read that clock.
 * Not with UVPERF_SET_TIME_ORDER. */
#define UVPERF_SET_PERF_CLOCK 256u

/* -- side-band records: see uvperf_set_options_t.side_band ---------------- */

/* FORK, EXIT and COMM records; for an execve(2) COMM has
 * PERF_RECORD_MISC_COMM_EXEC. */
#define UVPERF_SIDE_BAND_TASKS 1u
/* MMAP2 records of executable mappings, and FORK and EXIT. */
#define UVPERF_SIDE_BAND_MMAP 2u
/* MMAP2 records of other mappings too (PERF_RECORD_MISC_MMAP_DATA). */
#define UVPERF_SIDE_BAND_MMAP_DATA 4u
/* MMAP2 records have the build id of the file, not its inode (Linux 5.12).
 * Needs one of the two before. */
#define UVPERF_SIDE_BAND_BUILD_ID 8u
/* SWITCH records; SWITCH_CPU_WIDE for CPUs. */
#define UVPERF_SIDE_BAND_SWITCH 16u
/* NAMESPACES records; needs CAP_PERFMON. */
#define UVPERF_SIDE_BAND_NAMESPACES 32u
/* KSYMBOL records (Linux 5.1). */
#define UVPERF_SIDE_BAND_KSYMBOL 64u
/* BPF_EVENT records (Linux 5.1). */
#define UVPERF_SIDE_BAND_BPF_EVENT 128u
/* CGROUP records (Linux 5.7). */
#define UVPERF_SIDE_BAND_CGROUP 256u
/* TEXT_POKE records (Linux 5.9). */
#define UVPERF_SIDE_BAND_TEXT_POKE 512u

/* What to measure. Start from UVPERF_SET_OPTIONS_INIT. The set copies
 * everything that it points to, with one exception: config1 and config2 of a
 * probe in `attrs` point to strings, which must stay as long as targets are
 * added. Unknown bits and wrong values are UV_EINVAL. New versions only append
 * fields. */
typedef struct uvperf_set_options_s {
  /* sizeof(uvperf_set_options_t). */
  size_t size;
  /* The attrs, by pointers because their sizes can differ; no pointer is NULL.
   * The array is NULL with `events`, or with `side_band` alone. An attr of a
   * PMU that belongs to one kind of cores is opened only on these, whereas a
   * name in `events` is opened on each kind.
   *
   * The set changes its copies: `disabled`, and as the target requires inherit
   * and enable_on_exec; read_format; and whatever its flags and fallbacks say.
   * It clears PERF_SAMPLE_READ, unless the attr writes records into a ring of
   * the set. Samples with PERF_SAMPLE_STACK_USER that the kernel would write
   * over the next record are UV_EINVAL: see uvperf_event_init. */
  const struct perf_event_attr *const *attrs;
  size_t nr_attrs;
  /* For each attr the index of its group's leader, which comes before it and
   * leads itself; its own index for a leader or without a group. NULL: there
   * are no groups. */
  const size_t *leaders;
  /* Instead of attrs: a list from uvperf_event_list_parse, with its groups, and
   * the CPUs, packages and flags of its items. It may be freed after init. With
   * UVPERF_SET_RECORDS the events are sampled as perf record does: see
   * sample_type. */
  const uvperf_event_list_t *events;
  /* At least one; or NULL and 0 with UVPERF_SET_TARGETS_LATER. */
  const uvperf_target_t *targets;
  size_t nr_targets;
  /* UVPERF_SET_*. */
  uint32_t flags;
  /* enum uvperf_fallback: allowed changes of an attr that the kernel refuses.
   * The first place where an attr opens decides for all other places, so that
   * its counts can be added. uvperf_set_changes returns the changes. */
  uint32_t fallbacks;
  /* UVPERF_SIDE_BAND_*. This field and the next two need UVPERF_SET_RECORDS.
   *
   * Side-band records come from one more attr, the last one of the set: a dummy
   * event (PERF_COUNT_SW_DUMMY, "dummy:u"). It is opened and enabled before all
   * others, and disabled after them, so no mapping is missed. The same is done
   * with the caller's own dummy attrs, unless they are members of a group. Its
   * records have PERF_SAMPLE_TID, TIME and CPU. Its count is always 0. If the
   * kernel does not know a bit, that attr cannot be opened. */
  uint32_t side_band;
  /* Bytes in a ring since the last wakeup that wake the loop, at most half of
   * the ring. 0 is the default, a quarter of the ring; 1 wakes for each record.
   * An attr's wakeup_events add wakeups; its wakeup_watermark is ignored. */
  uint32_t wakeup_bytes;
  /* Bytes of each ring's data part, rounded up to a power of two of pages. 0 is
   * the default: 512 KiB, or less if perf_event_mlock_kb does not allow that.
   * It is at least a page and twice wakeup_bytes, and with UVPERF_SET_OVERWRITE
   * more than any sample_stack_user. A size other than 0 is never reduced. */
  size_t ring_bytes;
  /* With UVPERF_SET_TIME_ORDER, else 0: microseconds that a record may need
   * from its time stamp until it is visible in its ring. Younger records wait.
   * 0 is the default, 1000. */
  uint32_t slack_us;
  uint32_t reserved; /* 0 */
  /* A function that opens the events, with open_arg; NULL for
   * perf_event_open(2). Both are the caller's and must stay until the set is
   * closed. With it, UVPERF_FALLBACK_KERNEL has no effect. */
  uvperf_open_fn open;
  void *open_arg;
  /* For each attr its label (see uvperf_set_item), NULL for the name from
   * uvperf_attr_label; or NULL for all. In a list of events the term name= is
   * the label. */
  const char *const *labels;
  /* PERF_SAMPLE_* of each event in `events` that samples. 0 is the default: IP,
   * TID, TIME, CPU and PERIOD, and RAW for tracepoints and bpf-output. Bits are
   * added to those that the name requests (call-graph=). This field and the
   * following need UVPERF_SET_RECORDS and `events`; numbers are for names
   * without their own. */
  uint64_t sample_type;
  /* PERF_SAMPLE_BRANCH_*, with PERF_SAMPLE_BRANCH_STACK in sample_type. */
  uint64_t branch_sample_type;
  /* Masks of registers, with PERF_SAMPLE_REGS_USER and REGS_INTR in
   * sample_type. */
  uint64_t sample_regs_user;
  uint64_t sample_regs_intr;
  /* For names without period= and freq=: the number of events between samples
   * (nanoseconds for clocks), or of samples a second; one of the two must be 0.
   * Both 0 is the default: each hit of tracepoints, probes, breakpoints and
   * bpf-output; 4000 times a second for other events, or
   * kernel.perf_event_max_sample_rate if that is less. Names with period=0,
   * dummies, and members of a group with modifier S only count. */
  uint64_t sample_period;
  uint64_t sample_freq;
  /* Bytes of the user stack, with PERF_SAMPLE_STACK_USER. */
  uint32_t sample_stack_user;
  /* Entries of a call chain, with PERF_SAMPLE_CALLCHAIN; at most 65535. */
  uint32_t sample_max_stack;
} uvperf_set_options_t;

/* The defaults, for an initializer. */
#define UVPERF_SET_OPTIONS_INIT                                                \
  {                                                                            \
    sizeof(uvperf_set_options_t), NULL, 0, NULL, NULL, NULL, 0, 0, 0, 0, 0, 0, \
        0, 0, NULL, NULL, NULL, 0, 0, 0, 0, 0, 0, 0, 0                         \
  }

/* One event of a set that could not be opened. */
typedef struct uvperf_set_failure_s {
  /* The reason. attr_index is the attr. target_index is the target, counted
   * from 0 in the order in which targets were given and added; an index is
   * never used twice. */
  uvperf_error_t error;
  /* The task and the CPU as for perf_event_open(2), -1 for any. The calling
   * thread has its id here. */
  int32_t pid;
  int32_t cpu;
  uint64_t reserved[2];
} uvperf_set_failure_t;

#ifdef __cplusplus
}
#endif

#endif
