/* SPDX-License-Identifier: MIT */
/* The options of a set of events: which attrs it measures, and on which
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
  /* The thread that calls uvperf_set_init, uvperf_set_add or one of
   * their asynchronous forms. With attr.inherit, tasks that this thread starts
   * later are measured too. */
  UVPERF_TARGET_SELF = 0,
  /* All tasks on some CPUs. */
  UVPERF_TARGET_CPUS = 1,
  /* One thread, by its id. attr.inherit works as for SELF. */
  UVPERF_TARGET_THREAD = 2,
  /* A process: all of its threads, and the threads and child processes that
   * these create from now on (the set sets attr.inherit for this). Child
   * processes that exist already are not included: add them as targets. If a
   * thread that has no event yet creates a thread or process while the process
   * is being opened, this one is missed, with all that it creates, and nothing
   * reports it. A process that creates tasks all the time, or a tree of
   * processes, is measured without a gap by its cgroup. */
  UVPERF_TARGET_PROCESS = 3,
  /* A forked child that has not called execve(2) yet. Counting starts at its
   * execve(2) (attr.enable_on_exec) and includes its children. Before
   * execve(2), uvperf_enable and uvperf_disable do not affect the
   * child. uv_spawn returns after execve(2), so spawn a shell that waits, as
   * samples/count_command.c does: sh -c 'read go <&3 && exec 3<&- "$@"' sh
   * COMMAND ARG…. The shell's fd 3 is a pipe. Write a newline into it when the
   * set is ready, or close it to cancel the command. */
  UVPERF_TARGET_COMMAND = 4,
  /* All tasks in a cgroup and in the cgroups below it, on some CPUs. */
  UVPERF_TARGET_CGROUP = 5
};

/* The set does not set attr.inherit for a process or a command. Uprobes and
 * kprobes by name never inherit: see UVPERF_FALLBACK_INHERIT. */
#define UVPERF_TARGET_NO_INHERIT 1u
/* `pid` is a pidfd (pidfd_open(2), clone3(2), SCM_PIDFD) of the thread, the
 * process or the command. The caller owns the fd, and may close it after the
 * call. The task is measured, or adding the target fails. Another task that
 * gets the same id is noticed by its start time, so it must begin in the same
 * 10 ms to be measured instead. These codes belong to a pidfd:
 *
 *   UV_EBADF   it is no pidfd
 *   UV_ESRCH   its task has ended, or is in another PID namespace
 *   UV_EACCES  /proc hides the task (hidepid=)
 *   UV_EPERM   a seccomp filter or a security module forbids reading /proc
 *   UV_ENOENT  /proc is not mounted, or shows another PID namespace
 *
 * Source: pidfd_open(2), "Pid" in proc_pid_fdinfo(5). */
#define UVPERF_TARGET_PIDFD 2u

/* Where to measure. Start from UVPERF_TARGET_INIT. New versions only append
 * fields. All elements of an array have the same `size`. */
typedef struct uvperf_target_s {
  /* sizeof(uvperf_target_t). */
  size_t size;
  /* enum uvperf_target_type. */
  uint32_t type;
  /* For THREAD the id of the thread. For PROCESS and COMMAND the id of the
   * process, or with UVPERF_TARGET_PIDFD the pidfd. Otherwise 0.
   *
   * The task that has this id during the call is measured. If it ends, and
   * another task has the id before the events are open, the events count as not
   * opened: UV_ESRCH. This needs /proc of our own PID namespace. */
  int32_t pid;
  /* A list of CPUs, such as "0-3,8", or NULL. NULL for CPUS and CGROUP means
   * all online CPUs, and without UVPERF_SET_FIXED_CPUS also CPUs that come
   * online later. NULL for tasks means one event that follows the task to every
   * CPU. With UVPERF_SET_RECORDS, NULL for tasks means one event for each
   * present CPU, because a ring belongs to one CPU. Counts of a task on a
   * single CPU are not scaled: see UVPERF_COUNT_UNSCALED. */
  const char *cpus;
  /* For CGROUP the directory of the cgroup; NULL for other types. A path that
   * leads to a cgroup, such as "/sys/fs/cgroup/x", is used unchanged. Any other
   * path, such as "x", or "/x" from /proc/PID/cgroup, starts at a
   * mount of cgroups. This mount is the v1 mount with perf_event. If there is
   * no such v1 mount, it is the v2 mount. */
  const char *cgroup;
  /* UVPERF_TARGET_*. */
  uint32_t flags;
  uint32_t reserved; /* 0 */
  /* The caller's; the set never uses it. In the target's records it is
   * uvperf_source_t.data. */
  void *data;
} uvperf_target_t;

/* The defaults, for an initializer. */
#define UVPERF_TARGET_INIT                                                     \
  { sizeof(uvperf_target_t), UVPERF_TARGET_SELF, 0, NULL, NULL, 0, 0, NULL }

/* The call fails if any event cannot be opened. Without this flag the set has
 * all events that can be opened, and uvperf_set_failures reports the other
 * events. */
#define UVPERF_SET_STRICT 1u
/* Reads the counts of the calling thread without a system call (rdpmc), if CPU
 * and kernel allow it. Otherwise the set uses read(2). The set also uses
 * read(2) when called from other threads, for events with attr.inherit, for
 * events that write into rings, and for a whole group if one of its events
 * needs read(2). Each event maps a page, which counts against
 * perf_event_mlock_kb.
 *
 * On aarch64 the event must request this with bit 1 of attr.config1
 * (`rdpmc=1`), kernel.perf_user_access must be 1, and the thread must stay on
 * CPUs of the event's PMU. An administrator can forbid it later, by setting
 * kernel.perf_user_access to 0, or on x86 by writing 0 into
 * /sys/devices/cpu/rdpmc. Then a signal ends the process at the next reading.
 *
 * When the kernel enables or disables another event of the thread, the times in
 * an event's page advance by about a microsecond more than the times of
 * read(2). The times in readings never go back. */
#define UVPERF_SET_USER_READ 2u
/* Maps one ring for each measured CPU. All events on the CPU write their
 * records into it: see set.h. Each ring needs one more fd. The ring belongs to
 * an event that counts nothing, on the process's first thread, so the ring
 * outlives targets and CPUs.
 *
 * The set adds PERF_SAMPLE_IDENTIFIER and sample_id_all to all attrs, so that
 * each record has the id of its event. All attrs get one clock. If attrs that
 * write records have use_clockid, they must have the same clock, and all attrs
 * get that clock. Otherwise the clock is CLOCK_MONOTONIC, the clock of
 * uv_hrtime. attr.write_backward needs UVPERF_SET_OVERWRITE. attr.inherit_stat
 * is not allowed, because Linux would write its READ records into another CPU's
 * ring without a lock.
 *
 * On each CPU, let only one event sample the same software event. If several
 * events do (two attrs with page-faults, or a task and its CPU), each sample
 * usually has the id of the event that was enabled last (Linux 6.18), even if
 * another program opened that event. The set makes such records decodable: all
 * its attrs that sample the same event get the union of their PERF_SAMPLE_* and
 * registers, and the largest sample_stack_user. */
#define UVPERF_SET_RECORDS 4u
/* Delivers the records of all rings in the order of their times: see
 * uvperf_start. Adds PERF_SAMPLE_TIME to each attr that writes records.
 * Needs UVPERF_SET_RECORDS. */
#define UVPERF_SET_TIME_ORDER 8u
/* Measures only the CPUs that are online when a target is added. Without this
 * flag the set follows CPUs while the handle is started or reading, and its
 * loop runs. The kernel disables the events of an offline CPU for good, so the
 * set opens them again when the CPU returns. Targets whose `cpus` is NULL get
 * events on a new CPU too. Counts continue from their old values. What happens
 * before the new events are open is not counted.
 *
 * Events of tasks continue by themselves, and so do events of PMUs that the
 * kernel moves to another CPU of the package. For other PMUs that count once
 * for each package, no other CPU continues the count. Children that a task
 * created before a CPU existed are not measured on that CPU.
 *
 * The kernel's hotplug messages need one more fd for each loop, a socket. If
 * the socket is not available (a seccomp filter) or receives nothing (some
 * containers), the set finds changes within about a second. */
#define UVPERF_SET_FIXED_CPUS 16u
/* Makes all rings overwritable, for a flight recorder: they keep the newest
 * records and never wake the loop. uvperf_snapshot delivers the records;
 * uvperf_start delivers nothing. The set sets write_backward in each attr
 * that writes records, and clears the wakeups of the attr. Put records that
 * must not be overwritten, such as names of tasks, into another set.
 *
 * Needs UVPERF_SET_RECORDS. wakeup_bytes and slack_us must be 0. Each record,
 * and so each attr's sample_stack_user, must be smaller than a ring: see
 * uvperf_snapshot. A removed target keeps some hundred bytes for each of
 * its events until its ring has been overwritten completely. */
#define UVPERF_SET_OVERWRITE 32u
/* Enables the set as soon as all events are open, as uvperf_enable does.
 * with open_cb the thread pool does so. Records wait in their rings
 * until uvperf_start. */
#define UVPERF_SET_ENABLED 64u
/* Allows a set without targets: uvperf_set_add adds them later. Without
 * this flag a set without targets is UV_EINVAL, because it would count
 * nothing. */
#define UVPERF_SET_TARGETS_LATER 128u
/* Attrs without use_clockid keep perf's own clock, so that times can be
 * compared with times in files of perf(1) (on x86 with a stable TSC). Programs
 * cannot read that clock. Cannot be combined with UVPERF_SET_TIME_ORDER. */
#define UVPERF_SET_PERF_CLOCK 256u

/* -- side-band records: see uvperf_set_options_t.side_band ---------------- */

/* FORK, EXIT and COMM records. The COMM record of an execve(2) has
 * PERF_RECORD_MISC_COMM_EXEC. */
#define UVPERF_SIDE_BAND_TASKS 1u
/* MMAP2 records of executable mappings, and FORK and EXIT. */
#define UVPERF_SIDE_BAND_MMAP 2u
/* MMAP2 records of other mappings too (PERF_RECORD_MISC_MMAP_DATA). */
#define UVPERF_SIDE_BAND_MMAP_DATA 4u
/* MMAP2 records have the build id of the file, not its inode (Linux 5.12).
 * Needs UVPERF_SIDE_BAND_MMAP or UVPERF_SIDE_BAND_MMAP_DATA. */
#define UVPERF_SIDE_BAND_BUILD_ID 8u
/* SWITCH records, or SWITCH_CPU_WIDE records if CPUs are measured. */
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
 * everything that these options point to, with one exception: config1 and
 * config2 of a probe in `attrs` point to strings. These strings must stay as
 * long as targets are added. Unknown bits and wrong values are UV_EINVAL. New
 * versions only append fields. */
typedef struct uvperf_set_options_s {
  /* sizeof(uvperf_set_options_t). */
  size_t size;
  /* Pointers to the attrs, because the sizes of attrs can differ. No pointer is
   * NULL. The array is NULL if `names` or `events` is used, or if the set has
   * only `side_band`. For groups and labels, put the attrs into a list
   * (uvperf_event_list_add). If the PMU of an attr belongs to one kind of
   * cores, the attr is opened only on these cores. A name is opened on each
   * kind of cores.
   *
   * The set changes its copies. It sets `disabled` and read_format. The set
   * sets inherit and enable_on_exec as the target requires. The set's flags and
   * fallbacks can change more fields. The set clears PERF_SAMPLE_READ, unless
   * the attr writes records into a ring of the set. PERF_SAMPLE_STACK_USER is
   * UV_EINVAL if the kernel would write such samples over the next record: see
   * uvperf_event_init. */
  const struct perf_event_attr *const *attrs;
  size_t nr_attrs;
  /* Used instead of attrs: events by their names, such as
   * "{cycles,instructions},cs" (uvperf-events(7)). With UVPERF_SET_RECORDS the
   * set samples the events as perf record does: see `sample`. The names are
   * parsed during the call, which can take milliseconds for patterns and
   * uprobes. A program that cannot wait passes `events`. */
  const char *names;
  /* Used instead of names: a list from uvperf_event_list_parse, from
   * uvperf_event_list_add, or from both. The list may be freed after init. */
  const uvperf_event_list_t *events;
  /* The targets, at least one. With UVPERF_SET_TARGETS_LATER they can be NULL
   * and 0. */
  const uvperf_target_t *targets;
  size_t nr_targets;
  /* UVPERF_SET_*. */
  uint32_t flags;
  /* Bits of enum uvperf_fallback: the allowed changes of an attr that the
   * kernel refuses. The changes at the first place where an attr opens are used
   * at all other places, so that its counts can be added. uvperf_changes
   * returns them.
   *
   * UVPERF_FALLBACK_USER, PRECISE and CLOCK change the label of an attr, so
   * init chooses them, and later targets are opened alike. Without a target,
   * init opens each event for the thread that opens the set, and closes it at
   * once. If it cannot be opened there in any form, it is not changed later
   * either. */
  uint32_t fallbacks;
  /* UVPERF_SIDE_BAND_*. This field and the next two need UVPERF_SET_RECORDS.
   *
   * Side-band records come from one more attr, the last one of the set: a dummy
   * event (PERF_COUNT_SW_DUMMY, "dummy:u"). The dummy is opened and enabled
   * before all other events, and disabled after them, so no mapping is missed.
   * The caller's own dummy attrs are opened in the same order, unless they are
   * members of a group. Side-band records have PERF_SAMPLE_TID, TIME and CPU.
   * The dummy's count is always 0. If the kernel does not know a bit, the dummy
   * cannot be opened. */
  uint32_t side_band;
  /* A ring wakes the loop when this number of bytes was written since the last
   * wakeup. At most half of the ring. 0 is the default: a quarter of the ring.
   * 1 wakes for each record. An attr's wakeup_events add wakeups; its
   * wakeup_watermark is ignored. */
  uint32_t wakeup_bytes;
  /* Bytes of each ring's data part, rounded up to a power of two of pages. 0 is
   * the default: 512 KiB, or less if perf_event_mlock_kb does not allow that.
   * The default is at least a page and twice wakeup_bytes. With
   * UVPERF_SET_OVERWRITE it is also more than any sample_stack_user. A size
   * other than 0 is never reduced. */
  size_t ring_bytes;
  /* Microseconds that a record may need from its time stamp until it is visible
   * in its ring. Records that are younger than this wait. 0 is the default:
   * 1000. Must be 0 without UVPERF_SET_TIME_ORDER. */
  uint32_t slack_us;
  /* As in uvperf_event_options_t, also for a target that is added with a
   * callback, which then gets UV_ETIMEDOUT. */
  uint32_t open_timeout_ms;
  /* A function that opens the events, and its argument. NULL means
   * perf_event_open(2). Both are the caller's and must stay valid until the set
   * is closed and no call of the function runs. With such a function,
   * UVPERF_FALLBACK_KERNEL has no effect. */
  uvperf_open_fn open;
  void *open_arg;
  /* NULL: init opens all events before it returns. Otherwise threads of libuv's
   * pool open them, and then this is called: see uvperf_open_cb. The threads
   * use their own capabilities, namespaces and seccomp filters, and call a
   * replaced allocator (uvperf_replace_allocator). UVPERF_TARGET_SELF is the
   * thread that calls init. If the process forks meanwhile, no callback of the
   * handle runs in the child, as with uvperf_close. */
  uvperf_open_cb open_cb;
  /* How events by name sample, or NULL. Needs UVPERF_SET_RECORDS. Copied during
   * the call. What a name says itself (period=, freq=, call-graph=,
   * stack-size=, max-stack=) is kept. Begin with uvperf_attr_init(&attr, 0, 0).
   * Besides size, these fields are used, and any other must be 0:
   *
   * - sample_type: 0 is the default: IP, TID, TIME, CPU and PERIOD, and RAW for
   *   tracepoints and bpf-output. What a name requests is added.
   * - sample_period, in events (nanoseconds for clocks), or sample_freq, in Hz,
   *   as uvperf_attr_set_period and uvperf_attr_set_frequency set them. If 0,
   *   each hit of tracepoints, probes, breakpoints and bpf-output is sampled.
   *   Other events are then sampled 4000 times per second, or
   *   kernel.perf_event_max_sample_rate times if that rate is less. Names with
   *   period=0, dummies, and members of a group with modifier S only count.
   * - branch_sample_type, sample_regs_user, sample_regs_intr, sample_stack_user
   *   and sample_max_stack: each needs its bit of sample_type. */
  const struct perf_event_attr *sample;
} uvperf_set_options_t;

/* The defaults, for an initializer. */
#define UVPERF_SET_OPTIONS_INIT                                                \
  {                                                                            \
    sizeof(uvperf_set_options_t), NULL, 0, NULL, NULL, NULL, 0, 0, 0, 0, 0, 0, \
        0, 0, NULL, NULL, NULL, NULL                                           \
  }

/* One event of a set that could not be opened. */
typedef struct uvperf_set_failure_s {
  /* The reason. attr_index is the attr. target_index is the target, counted
   * from 0 in the order in which targets were given and added; an index is
   * never used twice. */
  uvperf_error_t error;
  /* The task and the CPU as for perf_event_open(2); -1 means any. For the
   * calling thread, pid is its id, not 0. */
  int32_t pid;
  int32_t cpu;
  uint64_t reserved[2];
} uvperf_set_failure_t;

#ifdef __cplusplus
}
#endif

#endif
