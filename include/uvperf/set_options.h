/* SPDX-License-Identifier: MIT */
/* What a set of events measures: which attrs, where, and what may go wrong.
 * Needs no libuv. */
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

/* What to measure all attrs of a set on. */
enum uvperf_target_type {
  /* The thread that calls uvperf_set_init, uvperf_set_add_target or one of
   * their asynchronous forms; where attr.inherit is set also what it starts
   * from then on. */
  UVPERF_TARGET_SELF = 0,
  /* Every task that runs on some CPUs. */
  UVPERF_TARGET_CPUS = 1,
  /* One thread, as SELF. */
  UVPERF_TARGET_THREAD = 2,
  /* A process: the threads that it has now, and those and the child processes
   * that they make from now on (by attr.inherit, which is set for this). The
   * child processes that it has now are targets of their own. A thread that is
   * made while the threads are being listed can be missed. */
  UVPERF_TARGET_PROCESS = 3,
  /* A child that has been forked and has not called execve(2) yet: counting
   * begins by itself when it does (attr.enable_on_exec), also of what it
   * forks. uvperf_set_enable and uvperf_set_disable leave it alone before.
   * uv_spawn returns when its child has called execve(2): have it start a shell
   * that waits, sh -c 'read go <&3 && exec 3<&- "$@"' sh COMMAND ARG…, and
   * write a newline into a pipe that is its fd 3 once the set is made. If the
   * set cannot be made, close the pipe, and the command does not run. See
   * samples/count_command.c. */
  UVPERF_TARGET_COMMAND = 4,
  /* Every task in a cgroup and those below it, on some CPUs. */
  UVPERF_TARGET_CGROUP = 5
};

/* Does not set attr.inherit for a process or a command. For uprobes and kprobes
 * by name the library does so itself: see UVPERF_FALLBACK_INHERIT. */
#define UVPERF_TARGET_NO_INHERIT 1u

/* Where to measure. Start from UVPERF_TARGET_INIT. Fields are only ever
 * appended; in an array `size` is the same everywhere. */
typedef struct uvperf_target_s {
  /* sizeof(uvperf_target_t). */
  size_t size;
  /* enum uvperf_target_type. */
  uint32_t type;
  /* THREAD: the thread's id; PROCESS and COMMAND: the process's. Else 0. */
  int32_t pid;
  /* A list such as "0-3,8". NULL: for CPUS and CGROUP those that are online
   * now, and with UVPERF_SET_FOLLOW_CPUS those that come; for the others one
   * event that follows the task to every CPU, or, with UVPERF_SET_RECORDS, one
   * for each CPU that is present, as a ring is of one CPU. The counts of a task
   * by CPU are not scaled: see time_enabled in count.h. */
  const char *cpus;
  /* CGROUP: the directory of the cgroup. A path at or below a mount of cgroups
   * is taken as it is ("/sys/fs/cgroup/x"). Any other, such as "/x" of
   * /proc/PID/cgroup or "x", is below the place where v1 with perf_event is
   * mounted, or v2 if there is none. Of other types: NULL. */
  const char *cgroup;
  /* UVPERF_TARGET_*. */
  uint32_t flags;
  uint32_t reserved; /* 0 */
  /* The user's, never touched: uvperf_source_t.data of its records. */
  void *data;
} uvperf_target_t;

/* The defaults, for an initializer. */
#define UVPERF_TARGET_INIT                                                     \
  { sizeof(uvperf_target_t), UVPERF_TARGET_SELF, 0, NULL, NULL, 0, 0, NULL }

/* Refuses what cannot be opened completely. Without it what can be opened is,
 * and uvperf_set_failures tells the rest. */
#define UVPERF_SET_STRICT 1u
/* Maps a page of each event of the calling thread, so that its counts are read
 * without a system call where CPU and kernel allow it (rdpmc); else, and from
 * another thread, by read(2) as without it. So are events with attr.inherit,
 * those that write into the rings of UVPERF_SET_RECORDS, and those of a group
 * of which one cannot be read so. The page counts against perf_event_mlock_kb.
 * On aarch64 the event must ask for it, by bit 1 of attr.config1 (`rdpmc=1`),
 * kernel.perf_user_access must be 1, and the thread must stay on CPUs of the
 * event's PMU. An administrator who forbids it while it is in use, by 0 there
 * or, on x86, in /sys/devices/cpu/rdpmc, ends the process by a signal at the
 * next reading.
 *
 * A page's times advance while the kernel enables or disables other events of
 * the thread, about a microsecond each; those of read(2) do not. The times
 * of a set's readings never go back. */
#define UVPERF_SET_USER_READ 2u
/* Maps a ring for each CPU that is measured, into which all events there write
 * their records: see set.h. Each attr gets PERF_SAMPLE_IDENTIFIER and
 * sample_id_all, so that each record tells whose it is, and keeps
 * PERF_SAMPLE_READ if it writes records. A ring belongs to an event of the
 * process's first thread that counts nothing, so that it outlives targets and
 * CPUs: one fd for each CPU more. attr.write_backward needs
 * UVPERF_SET_OVERWRITE. Not for attr.inherit_stat, whose records Linux writes
 * into the ring of another CPU without a lock. Attrs that write records have
 * one clock: that of those with use_clockid, and where none has it
 * CLOCK_MONOTONIC, which is uv_hrtime's. Of a software event that several
 * events sample at once on a CPU (page-faults of two attrs, or of a task and
 * its CPU) Linux 6.18 gives each sample the id of the first, also where that is
 * another program's: have one event sample it.
 * Attrs that sample the same one get each other's PERF_SAMPLE_* and registers,
 * and the largest sample_stack_user, so that each such record can be read. */
#define UVPERF_SET_RECORDS 4u
/* Delivers the records of all rings in the order of their time: see
 * uvperf_set_start. Adds PERF_SAMPLE_TIME to each attr that writes records.
 * Needs UVPERF_SET_RECORDS. */
#define UVPERF_SET_TIME_ORDER 8u
/* Opens anew the events of a CPU that comes back online, as the kernel has
 * turned the old ones off for good, and those of one that comes for the first
 * time, for targets whose `cpus` is NULL; the handle must be started, or
 * reading, and its loop run. Counts go on from what they were; what happens on
 * that CPU until its events are open is not in them. Events of tasks go on by
 * themselves, and so do those of a PMU that the kernel moves to another CPU of
 * the package; of others that are counted once a package no other CPU takes the
 * place. A task's children, made before a CPU was there for the first time, are
 * not measured on it. It takes one fd more, of a socket on which the kernel
 * tells what has changed; where that is not to be had (a seccomp filter), or
 * silent (some containers), it is found within about a second all the same. */
#define UVPERF_SET_FOLLOW_CPUS 16u
/* Has all rings overwritable, and gives each attr that writes records
 * write_backward, and no wakeups: the newest stay, and nobody is woken;
 * uvperf_set_snapshot delivers what is there, uvperf_set_start does not. For a
 * flight recorder. Records that must not be overwritten (the names of tasks,
 * say) are a set of their own without it. Needs UVPERF_SET_RECORDS;
 * wakeup_bytes and slack_us must be 0, and each attr's sample_stack_user below
 * the size of a ring (and so must be each record: see uvperf_event_snapshot).
 * What is known of a target that was removed, some hundred
 * bytes for each of its events, is kept until the ring has gone round once
 * since: for those during whose time anything was written into it. */
#define UVPERF_SET_OVERWRITE 32u
/* Enables the set as soon as all of it is open, as uvperf_set_enable does; with
 * uvperf_set_open the pool does that too. Records wait in their rings until
 * uvperf_set_start. */
#define UVPERF_SET_ENABLED 64u
/* The set may begin without targets: uvperf_set_add_target brings them. Without
 * this flag a set of no targets, which would count nothing, is UV_EINVAL. */
#define UVPERF_SET_TARGETS_LATER 128u
/* Leaves attrs without use_clockid perf's own clock, which no program can read
 * (on x86 with a stable TSC a file of perf(1) can be compared with it). Not
 * with UVPERF_SET_TIME_ORDER. */
#define UVPERF_SET_PERF_CLOCK 256u

/* What a set can tell beside its attrs' records, by an attr more: a dummy event
 * (PERF_COUNT_SW_DUMMY, "dummy:u") that comes after all others, but is opened
 * and enabled before them at each place, and disabled after them, so that no
 * mapping is missed. So are attrs of the user's that are such events and lead
 * no group or their own. Its records have PERF_SAMPLE_TID, TIME and CPU; it
 * counts nothing, and in readings it is 0. A bit that the kernel does not know
 * is a failure of that attr. */
/* FORK, EXIT and COMM, that of an execve(2) with PERF_RECORD_MISC_COMM_EXEC. */
#define UVPERF_SIDE_BAND_TASKS 1u
/* MMAP2 of what is mapped executable; the kernel tells FORK and EXIT too. */
#define UVPERF_SIDE_BAND_MMAP 2u
/* MMAP2 of other mappings (PERF_RECORD_MISC_MMAP_DATA); those of MMAP too. */
#define UVPERF_SIDE_BAND_MMAP_DATA 4u
/* MMAP2 with the build id of the file, not its inode (Linux 5.12); together
 * with one of these two. */
#define UVPERF_SIDE_BAND_BUILD_ID 8u
/* SWITCH, or of CPUs SWITCH_CPU_WIDE. */
#define UVPERF_SIDE_BAND_SWITCH 16u
/* NAMESPACES: needs CAP_PERFMON. */
#define UVPERF_SIDE_BAND_NAMESPACES 32u
/* KSYMBOL (Linux 5.1). */
#define UVPERF_SIDE_BAND_KSYMBOL 64u
/* BPF_EVENT (Linux 5.1). */
#define UVPERF_SIDE_BAND_BPF_EVENT 128u
/* CGROUP (Linux 5.7). */
#define UVPERF_SIDE_BAND_CGROUP 256u
/* TEXT_POKE (Linux 5.9). */
#define UVPERF_SIDE_BAND_TEXT_POKE 512u

/* What to measure. Start from UVPERF_SET_OPTIONS_INIT. All that it points to is
 * the caller's and is copied, but for what config1 and config2 of a probe point
 * to where `attrs` is used: that must stay while targets are added. Fields are
 * only ever appended. */
typedef struct uvperf_set_options_s {
  /* sizeof(uvperf_set_options_t). */
  size_t size;
  /* The attrs, by pointers, as their sizes may differ; or NULL and `events`; or
   * none, with `side_band`. An attr of the PMU of one kind of cores is opened
   * on their CPUs only; it is one event, where a name in `events` is one for
   * each kind. */
  const struct perf_event_attr *const *attrs;
  size_t nr_attrs;
  /* Of each attr the index of its group's leader, which comes before it: its
   * own for a leader and for one in no group. NULL: there are no groups. */
  const size_t *leaders;
  /* Instead of attrs: a list by uvperf_event_list_parse, with its groups, and
   * what its items tell of CPUs, packages and flags. May be freed after
   * init. With UVPERF_SET_RECORDS they are sampled as perf record does: see
   * sample_type. */
  const uvperf_event_list_t *events;
  /* At least one; or NULL and 0 with UVPERF_SET_TARGETS_LATER. */
  const uvperf_target_t *targets;
  size_t nr_targets;
  /* UVPERF_SET_*. */
  uint32_t flags;
  /* enum uvperf_fallback: what may be changed of an attr if the kernel refuses
   * it. The first place where an attr opens decides for all others of it, so
   * that its counts can be added; uvperf_set_changes tells. */
  uint32_t fallbacks;
  /* With UVPERF_SET_RECORDS, else 0: */
  /* UVPERF_SIDE_BAND_*. */
  uint32_t side_band;
  /* Wakes the loop when so many bytes were written into a ring since the last
   * wakeup, at most half of the ring; 0 is the default, a quarter of it, and 1
   * wakes for each record. An attr's own wakeup_events wake beside it; its
   * wakeup_watermark means nothing. */
  uint32_t wakeup_bytes;
  /* Size of the data part of each ring in bytes, rounded up to a power of two
   * of pages; never made smaller behind the caller's back. 0 is the default:
   * 512 KiB, or as much less (down to one page, to twice wakeup_bytes, or to
   * more than what must fit with UVPERF_SET_OVERWRITE) as perf_event_mlock_kb
   * allows. */
  size_t ring_bytes;
  /* With UVPERF_SET_TIME_ORDER, else 0: so many microseconds a record may take
   * from its time stamp until it can be seen in its ring; 0 is the default,
   * 1000. Records younger than that wait. */
  uint32_t slack_us;
  uint32_t reserved; /* 0 */
  /* NULL: perf_event_open(2) opens the events. Else this function does, with
   * open_arg; both are the caller's and must last until the set is closed.
   * UVPERF_FALLBACK_KERNEL, which asks the kernel, does nothing then. */
  uvperf_open_fn open;
  void *open_arg;
  /* NULL; or of each attr what it is to be called (uvperf_set_item), NULL for
   * uvperf_attr_label's name. In a list of events that is the term name=. */
  const char *const *labels;
  /* With UVPERF_SET_RECORDS, of each of `events` that samples; else 0. The bits
   * of the masks are added to what its name asks for (call-graph=), and numbers
   * are for names that have none of their own. */
  /* PERF_SAMPLE_*. 0 is the default: IP, TID, TIME, CPU and PERIOD, and RAW of
   * tracepoints and bpf-output. */
  uint64_t sample_type;
  /* PERF_SAMPLE_BRANCH_*, with PERF_SAMPLE_BRANCH_STACK in sample_type. */
  uint64_t branch_sample_type;
  /* Masks of registers, with PERF_SAMPLE_REGS_USER and REGS_INTR in
   * sample_type. */
  uint64_t sample_regs_user;
  uint64_t sample_regs_intr;
  /* How often names sample that have neither period= nor freq=: each so many
   * events (nanoseconds of a clock), or so many times a second; one of the two.
   * Both 0 is the default: each hit of tracepoints, probes, breakpoints and
   * bpf-output, all others 4000 times a second, or
   * kernel.perf_event_max_sample_rate if that is less. A name with period=0
   * counts only. So do dummies, and the members of a group with modifier S,
   * whose leader samples for all of it. */
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
  /* Why; attr_index is the attr, target_index the target (counted from 0 in the
   * order in which targets were given and added; never used twice). */
  uvperf_error_t error;
  /* Where: -1 for any, as perf_event_open(2) takes them; the pid of the calling
   * thread is its id. */
  int32_t pid;
  int32_t cpu;
  uint64_t reserved[2];
} uvperf_set_failure_t;

#ifdef __cplusplus
}
#endif

#endif
