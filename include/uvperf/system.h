/* SPDX-License-Identifier: MIT */
/* What this system and this process allow: the settings, limits and privileges
 * that decide what can be measured. Needs no libuv.
 *
 * Each call reads the files of /proc anew, which takes a fraction of a
 * millisecond. Functions that return int return a negative errno on error, the
 * same value as libuv's UV_E*. They take no memory, and leave no file open. Any
 * thread may call them, several at once. */
#ifndef UVPERF_SYSTEM_H
#define UVPERF_SYSTEM_H

#include <stddef.h>
#include <stdint.h>

#include "uvperf/attr.h"
#include "uvperf/version.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A value that cannot be read: this kernel lacks the setting, or /proc is not
 * there or hidden. Nothing is guessed in its place. */
#define UVPERF_LIMIT_UNKNOWN INT64_MIN
/* No limit (RLIM_INFINITY). */
#define UVPERF_LIMIT_NONE INT64_MAX

/* Any of the values may be UVPERF_LIMIT_UNKNOWN. Those that say whether are 1
 * or 0. Privileges are those of the process's first thread. */
typedef struct uvperf_limits_s {
  /* -- /proc/sys/kernel: see proc_sys_kernel(5) ---------------------------- */

  /* Whether this kernel has perf events: whether perf_event_paranoid is there,
   * which is what perf_event_open(2) says is the test. A container's seccomp
   * filter may deny them nevertheless. */
  int64_t has_perf;
  /* What is denied without privileges: -1 to 2; some distributions have 3 or
   * 4, which deny all. */
  int64_t perf_event_paranoid;
  /* KiB that the rings of one user may lock for each CPU that is online. */
  int64_t perf_event_mlock_kb;
  /* The highest attr.sample_freq, in Hz. The kernel lowers it by itself when
   * samples take too long. */
  int64_t perf_event_max_sample_rate;
  /* The highest attr.sample_max_stack, in frames. */
  int64_t perf_event_max_stack;
  /* How many contexts (kernel, user…) a call chain may have. */
  int64_t perf_event_max_contexts_per_stack;
  /* Percent of a CPU's time that samples may take, before the kernel lowers
   * perf_event_max_sample_rate; 0 and 100: never. */
  int64_t perf_cpu_time_max_percent;
  /* Whether the watchdog for hard lockups is on, which on many machines takes
   * one hardware counter of each CPU. */
  int64_t nmi_watchdog;
  /* To whom /proc/kallsyms shows addresses. 0: to CAP_SYSLOG, and at
   * perf_event_paranoid 1 or less to all; 1: to CAP_SYSLOG; 2: to nobody. */
  int64_t kptr_restrict;

  /* -- memory and fds: getrlimit(2) ---------------------------------------- */

  /* Bytes that this process may lock (RLIMIT_MEMLOCK) above what
   * perf_event_mlock_kb gives; how far it may raise that (the hard limit). */
  int64_t memlock_bytes;
  int64_t memlock_bytes_max;
  /* How many fds it may have open (RLIMIT_NOFILE); how far it may raise that.
   * Each event on each CPU takes one. */
  int64_t open_files;
  int64_t open_files_max;
  /* How many files may be open in the whole system (/proc/sys/fs/file-max). */
  int64_t file_max;

  /* -- privileges: capabilities(7) ----------------------------------------- */

  /* Whether the capability is in the effective set. In a user namespace other
   * than the initial one it is worth nothing for perf events, see
   * is_user_namespace. */
  int64_t cap_perfmon;    /* measuring; 0 before Linux 5.8, which has none */
  int64_t cap_sys_admin;  /* measuring, uprobes, loading BPF programs */
  int64_t cap_ipc_lock;   /* rings of any size */
  int64_t cap_bpf;        /* loading BPF programs; 0 before Linux 5.8 */
  int64_t cap_syslog;     /* the kernel's addresses in /proc/kallsyms */
  int64_t cap_sys_ptrace; /* other users' tasks */
  /* Whether the process is in a user namespace other than the initial one. */
  int64_t is_user_namespace;

  /* The kernel's version, for example 6 and 18. */
  int64_t kernel_major;
  int64_t kernel_minor;

  int64_t reserved[17]; /* UVPERF_LIMIT_UNKNOWN */
} uvperf_limits_t;

/** Tells the limits of this system and process.
 *  @param limits  Caller's; all of it is written, also where nothing can be
 *    read.
 *  @return 0, or
 *    -EINVAL  `limits` is NULL.
 *  Source: perf_event_open(2), "perf_event related configuration files"; the
 *  kernel's Documentation/admin-guide/sysctl/kernel.rst and perf-security.rst;
 *  perf_mmap in kernel/events/core.c. */
UVPERF_EXTERN int uvperf_system_limits(uvperf_limits_t *limits);

/** Tells whether this process may measure whatever perf_event_paranoid is: it
 *  has CAP_PERFMON (Linux 5.8) or CAP_SYS_ADMIN, and is in the initial user
 *  namespace. Where perf_event_paranoid is 3 or more, the kernels that have
 *  such a level want CAP_SYS_ADMIN, and so do uprobes and breakpoints in the
 *  kernel.
 *  @return 1 or 0, or, where /proc does not tell, what open(2) and read(2) say,
 *    or -ENODATA or -EINVAL for a file that is none of the kernel's.
 *  Source: perfmon_capable in the kernel's include/linux/capability.h. */
UVPERF_EXTERN int uvperf_system_has_perfmon(void);

/* -- clocks --------------------------------------------------------------- */

/* One moment on two clocks. Records have times of CLOCK_MONOTONIC (see
 * UVPERF_EVENT_PERF_CLOCK in event.h), as uv_hrtime has; people want a date. */
typedef struct uvperf_clock_pair_s {
  /* Nanoseconds of CLOCK_MONOTONIC, as in records: in a time namespace that is
   * not what this program reads. */
  uint64_t monotonic;
  /* Nanoseconds of CLOCK_REALTIME, since 1970. */
  uint64_t realtime;
  /* By how many nanoseconds, at most, the second was read off the first. */
  uint64_t error;
} uvperf_clock_pair_t;

/** Reads both clocks, and again if that took long: the tightest of ten tries.
 *  CLOCK_REALTIME may be set, and is slewed: pair anew once in a while.
 *  @param pair  Receives it.
 *  @return 0, or what clock_gettime(2) gives.
 *  Source: clock_gettime(2). */
UVPERF_EXTERN int uvperf_clock_pair(uvperf_clock_pair_t *pair);

/** Turns a time of CLOCK_MONOTONIC, as of a record, into one of CLOCK_REALTIME.
 *  @param pair  Of uvperf_clock_pair.
 *  @param time  Nanoseconds; before or after the pair's.
 *  @return Nanoseconds since 1970. */
UVPERF_EXTERN uint64_t uvperf_clock_realtime(const uvperf_clock_pair_t *pair,
                                             uint64_t time);

/* -- CPUs ----------------------------------------------------------------- */

/* Which CPUs: lists such as "0,2-5", and those of this machine. The ids of CPUs
 * are never 0 to their number less 1: some may be offline. Needs no libuv. */

/** Reads a list of CPUs as the kernel writes them and its users do. To learn
 *  how much room it needs, call it with *nr 0 first.
 *  @param list  Caller's, a string: ids of CPUs and ranges of them, separated
 *    by commas, in any order; white space may stand around the numbers. ""
 *    lists no CPU.
 *  @param cpus  Caller's; receives the ids, each once and ascending. May be
 *    NULL where *nr is 0.
 *  @param nr    Caller's: the ids that cpus has room for; receives how many
 *    there are.
 *  @return 0, or, with cpus and, but for -ENOBUFS, *nr left alone,
 *    -ENOBUFS  cpus has too little room; *nr is how many ids there are;
 *    -EINVAL   the text is no list, or has a CPU above 65535; or an argument is
 *      NULL.
 *  Source: Linux's Documentation/admin-guide/cputopology.rst. */
UVPERF_EXTERN int uvperf_cpu_list_parse(const char *list, int *cpus,
                                        size_t *nr);

/** Tells which CPUs are online now: an event can be opened on these.
 *  @param cpus  Caller's; receives the ids, ascending. May be NULL where *nr is
 *    0.
 *  @param nr    Caller's: the ids that cpus has room for; receives how many
 *    there are. More may be online at the next call.
 *  @return 0, or, with cpus and, but for -ENOBUFS, *nr left alone,
 *    -ENOBUFS  cpus has too little room; *nr is how many ids there are;
 *    -EINVAL   an argument is NULL, or the file holds no list;
 *    -ENOENT   sysfs is not mounted; or what else open(2) and read(2) say, such
 *      as -EMFILE.
 *  Source: /sys/devices/system/cpu/online. */
UVPERF_EXTERN int uvperf_cpus_online(int *cpus, size_t *nr);

/** Tells which CPUs this machine can ever have: the ids in records are among
 *  them.
 *  @param cpus  As for uvperf_cpus_online.
 *  @param nr    As for uvperf_cpus_online; it stays the same until the next
 *    boot.
 *  @return as uvperf_cpus_online.
 *  Source: /sys/devices/system/cpu/possible. */
UVPERF_EXTERN int uvperf_cpus_possible(int *cpus, size_t *nr);

/* -- PMUs ----------------------------------------------------------------- */

/* What this machine can measure with: its PMUs, the terms that say which event
 * of theirs, and the events that have names. Nothing is kept between calls:
 * each reads sysfs, which takes some microseconds for each file. Any thread may
 * call, several at once. Needs no libuv.
 *
 * All three walks leave out what cannot be read or has no sense, as perf(1)
 * does: a PMU without a type, a term that is of no field of struct
 * perf_event_attr, an event whose scale is no number. They end early, and
 * return what the callback returned, if that is not 0; a positive value is told
 * from their own errors, which are negative. */

/* One PMU. It and what it points to are valid during the callback. */
typedef struct uvperf_pmu_s {
  /* "cpu", "cpu_core", "uncore_imc_0", "msr", …; one path component. */
  const char *name;
  /* The list of CPUs in its file cpumask or cpus, for uvperf_cpu_list_parse;
   * NULL where it has none: its events can be opened on any CPU. */
  const char *cpus;
  /* For attr.type. */
  uint32_t type;
  /* 1: the list is a cpumask. The PMU counts for more than one CPU (uncore),
   * and an event has to be opened once on each CPU of the list. 0: the list is
   * of the CPUs that have this PMU (hybrid machines), or there is none. */
  int is_cpumask;
  /* The highest attr.precise_ip it can do; -1: the kernel does not tell. */
  int max_precise;
} uvperf_pmu_t;

/* Returns 0 to go on. May call any function of the library. */
typedef int (*uvperf_pmu_cb)(const uvperf_pmu_t *pmu, void *arg);

/** Shows each PMU of this machine, in the order of sysfs, which is none.
 *  @param cb   Called for each, before the function returns.
 *  @param arg  Caller's, for cb.
 *  @return 0 after the last one; what cb returned other than 0; or
 *    -EINVAL  cb is NULL;
 *    -ENOENT  sysfs is not mounted, or the kernel has no perf events;
 *    -EMFILE, -ENFILE, -ENOMEM  files cannot be opened now;
 *    or what else open(2) says of the directory.
 *  Source: /sys/bus/event_source/devices. */
UVPERF_EXTERN int uvperf_pmu_walk(uvperf_pmu_cb cb, void *arg);

/** Gets the number of a PMU: type of an attr.
 *  @param pmu   Caller's: the PMU's name, such as "msr".
 *  @param type  Receives the number; 0 on error.
 *  @return 0, or
 *    -EINVAL   an argument is NULL; pmu is no name: empty, "..", with a slash,
 *      longer than 255 bytes; or its file holds no number;
 *    -ENOENT   there is no such PMU;
 *    -ENODATA  it has no number;
 *    -EMFILE, -ENFILE, -ENOMEM  files cannot be opened now;
 *    or what else open(2) says of the file.
 *  Source: /sys/bus/event_source/devices/<pmu>/type. */
UVPERF_EXTERN int uvperf_pmu_type(const char *pmu, uint32_t *type);

/* One term of a PMU's events. It and what it points to are valid during the
 * callback. */
typedef struct uvperf_pmu_format_s {
  /* "event", "umask", "ldlat", … */
  const char *name;
  /* As sysfs has it, "config:0-7,32-35", without the newline. */
  const char *text;
  /* UVPERF_ATTR_CONFIG or UVPERF_ATTR_CONFIG1 to CONFIG4. */
  enum uvperf_attr_field field;
  /* The bits of that field, never 0. A value's lowest bit goes to the lowest of
   * them, and so on. */
  uint64_t mask;
} uvperf_pmu_format_t;

/* Returns 0 to go on. May call any function of the library. */
typedef int (*uvperf_pmu_format_cb)(const uvperf_pmu_format_t *format,
                                    void *arg);

/** Shows each term that the events of a PMU can be made of.
 *  @param pmu  Caller's: the PMU's name.
 *  @param cb   Called for each, before the function returns; never for a PMU
 *    without terms, such as software.
 *  @param arg  Caller's, for cb.
 *  @return 0 after the last one; what cb returned other than 0; or
 *    -EINVAL  pmu or cb is NULL, or pmu is no name: empty, "..", with a slash,
 *      longer than 255 bytes;
 *    -ENOENT  there is no such PMU;
 *    -EMFILE, -ENFILE, -ENOMEM  files cannot be opened now;
 *    or what else open(2) says of the directory.
 *  Source: /sys/bus/event_source/devices/<pmu>/format. */
UVPERF_EXTERN int uvperf_pmu_walk_formats(const char *pmu,
                                          uvperf_pmu_format_cb cb, void *arg);

/* One event that the kernel has a name for. It and what it points to are valid
 * during the callback. */
typedef struct uvperf_pmu_event_s {
  /* "cpu-cycles", "mem-loads", "energy-pkg", … */
  const char *name;
  /* What it is of the PMU's terms, "event=0xcd,umask=0x1,ldlat=3"; a value of ?
   * is for the user to give. Not empty. */
  const char *terms;
  /* Of what, "Joules"; "" for a plain count. */
  const char *unit;
  /* What one count is in that unit; 1 for a plain count. */
  double scale;
  /* 1: one CPU of each package counts for all. */
  int is_per_package;
  /* 1: a value at a time and no sum, so that differences mean nothing. */
  int is_snapshot;
} uvperf_pmu_event_t;

/* Returns 0 to go on. May call any function of the library. */
typedef int (*uvperf_pmu_event_cb)(const uvperf_pmu_event_t *event, void *arg);

/** Shows each event of a PMU that the kernel has a name for. perf(1) knows more
 *  names, from tables of its own.
 *  @param pmu  Caller's: the PMU's name.
 *  @param cb   Called for each, before the function returns; never for a PMU
 *    without named events.
 *  @param arg  Caller's, for cb.
 *  @return as uvperf_pmu_walk_formats.
 *  Source: /sys/bus/event_source/devices/<pmu>/events. */
UVPERF_EXTERN int uvperf_pmu_walk_events(const char *pmu,
                                         uvperf_pmu_event_cb cb, void *arg);

/* -- tracefs -------------------------------------------------------------- */

/* What tracefs says: which tracepoints this kernel has and what their ids are,
 * and which tracers. Needs no libuv.
 *
 * tracefs is looked for at each call: at /sys/kernel/tracing, then at
 * /sys/kernel/debug/tracing, then where the mounts in /proc say. A place counts
 * only if its directory events/ is there. By default only root may read it, and
 * after `mount -o remount,gid=GROUP,mode=750 /sys/kernel/tracing` a group.
 * Functions that return int return 0 or a negative errno, the same value as
 * libuv's UV_E*. They take no memory, and leave no file open. Any thread may
 * call them, several at once. */

/** Tells where tracefs is mounted.
 *  @param path  Caller's; receives for example "/sys/kernel/tracing". May be
 *    NULL if *size is 0.
 *  @param size  Bytes of `path`; receives the bytes needed, with the ending
 *    NUL.
 *  @return 0, or, with `path` and, but for -ENOBUFS, *size left alone,
 *    -EINVAL   an argument is NULL;
 *    -ENOBUFS  `path` is too small: *size is what it needs;
 *    -ENODEV   tracefs is not mounted: `mount -t tracefs tracefs
 *              /sys/kernel/tracing` as root does it;
 *    -EACCES   it is there, but this process may not read it;
 *    or what open(2) says (-EMFILE, -ENFILE, -ENOMEM).
 *  Source: the kernel's Documentation/trace/ftrace.rst, "The File System". */
UVPERF_EXTERN int uvperf_tracefs_path(char *path, size_t *size);

/** Tells the id of a tracepoint: config of an attr of PERF_TYPE_TRACEPOINT.
 *  @param category  For example "sched".
 *  @param name      For example "sched_switch".
 *  @param id        Receives the id; 0 on error. Ids hold until reboot, those
 *    of probes and modules until these are removed.
 *  @return 0, or
 *    -EINVAL  an argument is NULL, or a name that no directory can have (empty,
 *             ".", "..", with a slash);
 *    -ENOENT  this kernel has no such tracepoint, or none for perf events: some
 *             of ftrace's own events have no id;
 *    -ENODEV, -EACCES and others as uvperf_tracefs_path.
 *  Source: the kernel's Documentation/trace/events.rst; event_create_dir in
 *  kernel/trace/trace_events.c. */
UVPERF_EXTERN int uvperf_tracefs_id(const char *category, const char *name,
                                    uint64_t *id);

/** What uvperf_tracefs_walk calls.
 *  @param category  Valid during the call, as is
 *  @param name      its name.
 *  @param id        Its id, see uvperf_tracefs_id.
 *  @param arg       What was given to the walk.
 *  @return 0 to go on; else the walk ends and returns this. */
typedef int (*uvperf_tracefs_event_cb)(const char *category, const char *name,
                                       uint64_t id, void *arg);

/** Tells each tracepoint that perf events can be opened of, so each that has an
 *  id, in the order of tracefs' directories, which is not that of the alphabet.
 *  (Some are refused nevertheless: ftrace:function at times even to root, and
 *  irq_vectors:irq_work_exit may be counted and not sampled.) The time is spent
 *  in reading the ids of those that fit, a few microseconds each: all of some
 *  2,300 take about 15 ms, one takes 0.05.
 *  @param category  Which categories: a pattern as fnmatch(3) has it with
 *    FNM_NOESCAPE, byte for byte (*, ?, [a-z], [!a-z]). NULL: all.
 *  @param name      Which names, likewise.
 *  @param cb        Called with each; may call any function but must not jump
 *    out.
 *  @param arg       For `cb`.
 *  @return what `cb` returned other than 0; else 0, also if nothing fits; or
 *    -EINVAL  `cb` is NULL;
 *    -EACCES  tracefs is not for this process; or, after the walk, some of what
 *             fits is not;
 *    -ENODEV and others as uvperf_tracefs_path.
 *  Source: as uvperf_tracefs_id; perf_trace_init in
 *  kernel/trace/trace_event_perf.c. */
UVPERF_EXTERN int uvperf_tracefs_walk(const char *category, const char *name,
                                      uvperf_tracefs_event_cb cb, void *arg);

/** What uvperf_tracefs_walk_categories and uvperf_tracefs_walk_tracers call.
 *  @param name  For example "sched", "function_graph"; valid during the call.
 *  @param arg   What was given to the walk.
 *  @return 0 to go on; else the walk ends and returns this. */
typedef int (*uvperf_tracefs_name_cb)(const char *name, void *arg);

/** Shows each category of tracepoints (perf-utils calls them subsystems), in
 *  the order of tracefs' directory; also those whose tracepoints may not be
 *  read.
 *  @param cb   Called with each.
 *  @param arg  For `cb`.
 *  @return what `cb` returned other than 0; else 0; or
 *    -EINVAL  `cb` is NULL;
 *    -ENODEV, -EACCES and others as uvperf_tracefs_path.
 *  Source: as uvperf_tracefs_id. */
UVPERF_EXTERN int uvperf_tracefs_walk_categories(uvperf_tracefs_name_cb cb,
                                                 void *arg);

/** Tells which tracer of ftrace runs. A tracer other than "nop" costs time that
 *  a measurement sees; perf events neither need nor change it.
 *  @param tracer  Caller's; receives its name. May be NULL if *size is 0.
 *  @param size    Bytes of `tracer`; receives the bytes needed, with the ending
 *    NUL.
 *  @return as uvperf_tracefs_path; -ENOENT where the kernel has no tracers.
 *  Source: Documentation/trace/ftrace.rst, "current_tracer". */
UVPERF_EXTERN int uvperf_tracefs_current_tracer(char *tracer, size_t *size);

/** Tells each tracer that this kernel has, in the kernel's order.
 *  @param cb   Called with each.
 *  @param arg  For `cb`.
 *  @return what `cb` returned other than 0; else 0; or
 *    -EINVAL  `cb` is NULL;
 *    -ENOENT  the kernel has no tracers;
 *    -ENODEV, -EACCES and others as uvperf_tracefs_path.
 *  Source: Documentation/trace/ftrace.rst, "available_tracers". */
UVPERF_EXTERN int uvperf_tracefs_walk_tracers(uvperf_tracefs_name_cb cb,
                                              void *arg);

#ifdef __cplusplus
}
#endif

#endif
