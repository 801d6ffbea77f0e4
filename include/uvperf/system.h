/* SPDX-License-Identifier: MIT */
/* Limits, privileges, clocks, CPUs, PMUs and tracepoints of this machine and
 * process. Needs no libuv.
 *
 * The functions read /proc, sysfs and tracefs at each call and keep nothing. A
 * call that reads /proc takes a fraction of a millisecond. A call that reads a
 * file of sysfs takes some microseconds. The functions allocate no memory and
 * leave no file open. Any thread may call them, and several threads at the same
 * time. Functions that return int return a negative errno on error, the same
 * value as libuv's UV_E*.
 *
 * A walk calls a function for each item, in the arbitrary order of the kernel's
 * directory. If the function returns a value other than 0, the walk ends early
 * and returns that value. Errors of the walk are negative, so a positive value
 * is never an error. The function may call any function of the library. */
#ifndef UVPERF_SYSTEM_H
#define UVPERF_SYSTEM_H

#include <stddef.h>
#include <stdint.h>

#include "uvperf/attr.h"
#include "uvperf/version.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A value that cannot be read: this kernel does not have the setting, or /proc
 * is missing or hidden. No value is guessed instead. */
#define UVPERF_LIMIT_UNKNOWN INT64_MIN
/* No limit (RLIM_INFINITY). */
#define UVPERF_LIMIT_NONE INT64_MAX

/* The limits of this system and process. Each value can be
 * UVPERF_LIMIT_UNKNOWN. Fields that begin with "Whether" below are 1 or 0.
 * Privileges are the privileges of the process's first thread. */
typedef struct uvperf_limits_s {
  /* -- /proc/sys/kernel: see proc_sys_kernel(5) ---------------------------- */

  /* Whether this kernel has perf events. A kernel has them if
   * perf_event_paranoid exists: see perf_event_open(2). A container's seccomp
   * filter may still deny them. */
  int64_t has_perf;
  /* The level of restrictions without privileges: -1 to 2. Some distributions
   * have 3 or 4, which deny everything. */
  int64_t perf_event_paranoid;
  /* KiB of memory that one user's rings may lock for each online CPU. */
  int64_t perf_event_mlock_kb;
  /* The highest attr.sample_freq, in Hz. The kernel lowers it when samples take
   * too long. */
  int64_t perf_event_max_sample_rate;
  /* The highest attr.sample_max_stack, in frames. */
  int64_t perf_event_max_stack;
  /* The highest number of contexts (kernel, user…) in a call chain. */
  int64_t perf_event_max_contexts_per_stack;
  /* A percentage of a CPU's time. If samples take more time, the kernel lowers
   * perf_event_max_sample_rate. With 0 and 100 it never lowers it. */
  int64_t perf_cpu_time_max_percent;
  /* Whether the watchdog for hard lockups is on. On many machines the watchdog
   * takes one hardware counter of each CPU. */
  int64_t nmi_watchdog;
  /* Who can see addresses in /proc/kallsyms. 0 means processes with CAP_SYSLOG,
   * and all processes if perf_event_paranoid is 1 or less. 1 means processes
   * with CAP_SYSLOG. 2 means no process. */
  int64_t kptr_restrict;

  /* -- memory and fds: getrlimit(2) ---------------------------------------- */

  /* Bytes that this process may lock (RLIMIT_MEMLOCK) in addition to
   * perf_event_mlock_kb. The process can raise this limit to the hard limit,
   * memlock_bytes_max. */
  int64_t memlock_bytes;
  int64_t memlock_bytes_max;
  /* Fds that this process may have open (RLIMIT_NOFILE), and the hard limit.
   * Each event on each CPU needs one fd. */
  int64_t open_files;
  int64_t open_files_max;
  /* Files that may be open in the whole system (/proc/sys/fs/file-max). */
  int64_t file_max;

  /* -- privileges: capabilities(7) ----------------------------------------- */

  /* Whether the capability is in the effective set. In a user namespace other
   * than the initial one a capability has no effect on perf events: see
   * is_user_namespace. */
  int64_t cap_perfmon;    /* for measuring; 0 before Linux 5.8 */
  int64_t cap_sys_admin;  /* for measuring, uprobes, loading BPF programs */
  int64_t cap_ipc_lock;   /* for rings of any size */
  int64_t cap_bpf;        /* for loading BPF programs; 0 before Linux 5.8 */
  int64_t cap_syslog;     /* for the kernel's addresses in /proc/kallsyms */
  int64_t cap_sys_ptrace; /* for other users' tasks */
  /* Whether the process is in a user namespace other than the initial one. */
  int64_t is_user_namespace;
  /* Whether the process may measure with any value of perf_event_paranoid: it
   * has cap_perfmon or cap_sys_admin, and is in the initial user namespace.
   * Some kernels have a perf_event_paranoid of 3 or more, which requires
   * CAP_SYS_ADMIN. Uprobes, and breakpoints in the kernel, always require
   * CAP_SYS_ADMIN. Source: perfmon_capable in include/linux/capability.h. */
  int64_t has_perfmon;

  /* The kernel's version, for example 6 and 18. */
  int64_t kernel_major;
  int64_t kernel_minor;

  int64_t reserved[16]; /* UVPERF_LIMIT_UNKNOWN */
} uvperf_limits_t;

/** Reads the limits of this system and process.
 *  @param limits  Caller's; all fields are written, even if nothing can be
 *    read.
 *  @return 0, or
 *    -EINVAL  `limits` is NULL.
 *  Source: perf_event_open(2), "perf_event related configuration files"; the
 *  kernel's Documentation/admin-guide/sysctl/kernel.rst and perf-security.rst;
 *  perf_mmap in kernel/events/core.c. */
UVPERF_EXTERN int uvperf_system_limits(uvperf_limits_t *limits);

/* -- clocks --------------------------------------------------------------- */

/* One moment on two clocks, to convert the times of records to dates. Records
 * and uv_hrtime have times of CLOCK_MONOTONIC (see UVPERF_EVENT_PERF_CLOCK in
 * event.h). */
typedef struct uvperf_clock_pair_s {
  /* Nanoseconds of CLOCK_MONOTONIC as in records, without the offset of a time
   * namespace. A program in a time namespace reads other values. */
  uint64_t monotonic;
  /* Nanoseconds of CLOCK_REALTIME, since 1970. */
  uint64_t realtime;
  /* The longest possible time between the readings of the two clocks, in
   * nanoseconds. */
  uint64_t error;
  uint64_t reserved[2]; /* 0; for later versions */
} uvperf_clock_pair_t;

/** Reads both clocks at almost the same moment: the closest of ten tries. Call
 *  it again from time to time, because CLOCK_REALTIME may be set and slewed.
 *  @param pair  Receives both times.
 *  @return 0, or
 *    another  the error of clock_gettime(2).
 *  Source: clock_gettime(2). */
UVPERF_EXTERN int uvperf_clock_pair(uvperf_clock_pair_t *pair);

/** Converts a record's time from CLOCK_MONOTONIC to CLOCK_REALTIME.
 *  @param pair  From uvperf_clock_pair.
 *  @param time  Nanoseconds, before or after the time of the pair.
 *  @return nanoseconds since 1970. */
static inline uint64_t uvperf_clock_realtime(const uvperf_clock_pair_t *pair,
                                             uint64_t time) {
  return pair->realtime + (time - pair->monotonic);
}

/* -- CPUs ----------------------------------------------------------------- */

/** Parses a list of CPUs, such as "0,2-5". Call it with *nr 0 first to learn
 *  how much room the list needs.
 *  @param list  Caller's: ids of CPUs and ranges, separated by commas, in any
 *    order, with optional white space around the numbers. "" lists no CPU.
 *  @param cpus  Caller's; receives the ids, each once and ascending. May be
 *    NULL if *nr is 0.
 *  @param nr    Caller's. The number of ids that fit into cpus. Receives the
 *    number of ids in the list.
 *  @return 0, or, with cpus and *nr unchanged (except by -ENOBUFS),
 *    -ENOBUFS  cpus is too small: *nr is the number of ids;
 *    -EINVAL   the text is not a list, or has a CPU above 65535, or an argument
 *      is NULL.
 *  Source: Linux's Documentation/admin-guide/cputopology.rst. */
UVPERF_EXTERN int uvperf_cpu_list_parse(const char *list, int *cpus,
                                        size_t *nr);

/* The CPUs that uvperf_cpus lists. */
enum uvperf_cpus_kind {
  /* The CPUs that are online now. Events can be opened on these CPUs. Without
   * sysfs, as in many chroots, the list is made from /proc/stat. */
  UVPERF_CPUS_ONLINE = 1,
  /* The CPUs that this machine can ever have. CPUs in records are always among
   * them. Their number is the same until the next boot. */
  UVPERF_CPUS_POSSIBLE = 2
};

/** Lists CPUs. Some CPUs may be offline, so do not expect the ids 0 to n - 1.
 *  @param which  enum uvperf_cpus_kind.
 *  @param cpus   Caller's; receives the ids, ascending. May be NULL if *nr is
 *    0.
 *  @param nr     Caller's. The number of ids that fit into cpus. Receives the
 *    number of CPUs. The next call may find more that are online.
 *  @return 0, or, with cpus and *nr unchanged (except by -ENOBUFS),
 *    -ENOBUFS  cpus is too small: *nr is the number of CPUs;
 *    -ENOENT   sysfs is not mounted and, for the online CPUs, neither is
 *      procfs;
 *    -EINVAL   an argument is NULL, `which` is another number, or the file has
 *      no list;
 *    another   the error of open(2) or read(2), such as -EMFILE.
 *  Source: /sys/devices/system/cpu/online and possible, /proc/stat. */
UVPERF_EXTERN int uvperf_cpus(uint32_t which, int *cpus, size_t *nr);

/* -- PMUs ----------------------------------------------------------------- */

/* One PMU. The struct and everything it points to are valid until the callback
 * returns. */
typedef struct uvperf_pmu_s {
  /* The name, such as "cpu", "cpu_core", "uncore_imc_0" or "msr". It is a file
   * name. */
  const char *name;
  /* The list of CPUs in the PMU's file cpumask or cpus, for
   * uvperf_cpu_list_parse. NULL if there is no such file. Then the PMU's events
   * can be opened on any CPU. */
  const char *cpus;
  /* For attr.type. */
  uint32_t type;
  /* 1 means that the list is a cpumask. The PMU counts for more than one CPU
   * (uncore), and an event must be opened once on each CPU of the list. 0 means
   * that the list has the CPUs with this PMU (several kinds of cores), or that
   * there is no list. */
  int is_cpumask;
  /* The highest attr.precise_ip that the PMU supports; -1 if sysfs does not
   * have this value. */
  int max_precise;
} uvperf_pmu_t;

/* Receives a PMU; returns 0 to continue. */
typedef int (*uvperf_pmu_cb)(const uvperf_pmu_t *pmu, void *arg);

/** Calls a function for each PMU of this machine. A PMU whose type cannot be
 *  read is omitted, as by perf(1).
 *  @param cb   Called for each PMU, before this function returns.
 *  @param arg  Caller's, for cb.
 *  @return 0 after the last one; the value of cb, if it is not 0; or
 *    -ENOENT  sysfs is not mounted, or the kernel has no perf events;
 *    -EINVAL  cb is NULL;
 *    -EMFILE, -ENFILE, -ENOMEM  files cannot be opened now;
 *    another  the error of open(2) on the directory.
 *  Source: /sys/bus/event_source/devices. */
UVPERF_EXTERN int uvperf_pmu_walk(uvperf_pmu_cb cb, void *arg);

/** Reads the number of a PMU, for attr.type.
 *  @param pmu   Caller's: the PMU's name, such as "msr".
 *  @param type  Receives the number; 0 on error.
 *  @return 0, or
 *    -ENOENT   there is no such PMU;
 *    -EINVAL   an argument is NULL; pmu is not a name (empty, "..", with a
 *      slash, longer than 255 bytes); or the file does not have a number;
 *    -ENODATA  the PMU has no number;
 *    -EMFILE, -ENFILE, -ENOMEM  files cannot be opened now;
 *    another   the error of open(2) on the file.
 *  Source: /sys/bus/event_source/devices/<pmu>/type. */
UVPERF_EXTERN int uvperf_pmu_type(const char *pmu, uint32_t *type);

/* One term of a PMU's events. The struct and everything it points to are valid
 * until the callback returns. */
typedef struct uvperf_pmu_format_s {
  /* The name, such as "event", "umask" or "ldlat". */
  const char *name;
  /* The text in sysfs, such as "config:0-7,32-35", without the newline. */
  const char *text;
  /* UVPERF_ATTR_CONFIG or UVPERF_ATTR_CONFIG1 to CONFIG4. */
  enum uvperf_attr_field field;
  /* The bits of that field, never 0. The lowest bit of a value goes to the
   * lowest bit of the mask, and so on. */
  uint64_t mask;
} uvperf_pmu_format_t;

/* Receives a term; returns 0 to continue. */
typedef int (*uvperf_pmu_format_cb)(const uvperf_pmu_format_t *format,
                                    void *arg);

/** Calls a function for each term that events of a PMU can have. A term that
 *  cannot be read or is for no field of struct perf_event_attr is omitted, as
 *  by perf(1).
 *  @param pmu  Caller's: the PMU's name.
 *  @param cb   Called for each term, before this function returns. cb is never
 *    called for a PMU without terms, such as software.
 *  @param arg  Caller's, for cb.
 *  @return 0 after the last one; the value of cb, if it is not 0; or
 *    -ENOENT  there is no such PMU;
 *    -EINVAL  pmu or cb is NULL, or pmu is not a name (empty, "..", with a
 *      slash, longer than 255 bytes);
 *    -EMFILE, -ENFILE, -ENOMEM  files cannot be opened now;
 *    another  the error of open(2) on the directory.
 *  Source: /sys/bus/event_source/devices/<pmu>/format. */
UVPERF_EXTERN int uvperf_pmu_walk_formats(const char *pmu,
                                          uvperf_pmu_format_cb cb, void *arg);

/* One event that the kernel has a name for. The struct and everything it points
 * to are valid until the callback returns. */
typedef struct uvperf_pmu_event_s {
  /* The name, such as "cpu-cycles", "mem-loads" or "energy-pkg". */
  const char *name;
  /* The PMU's terms of this event, such as "event=0xcd,umask=0x1,ldlat=3".
   * Never empty. If a value is ?, the user must replace the ? by a number. */
  const char *terms;
  /* The unit of the event's counts, such as "Joules"; "" for a plain count. */
  const char *unit;
  /* The value of one count in that unit; 1 for a plain count. */
  double scale;
  /* 1 if one CPU of each package counts for all CPUs of the package. */
  int is_per_package;
  /* 1 if a count is a present value and not a sum. Then differences mean
   * nothing. */
  int is_snapshot;
} uvperf_pmu_event_t;

/* Receives an event; returns 0 to continue. */
typedef int (*uvperf_pmu_event_cb)(const uvperf_pmu_event_t *event, void *arg);

/** Calls a function for each event of a PMU that the kernel has a name for. An
 *  event that cannot be read, or whose scale is not a number, is omitted, as by
 *  perf(1). perf(1) knows more names, from its own tables.
 *  @param pmu  Caller's: the PMU's name.
 *  @param cb   Called for each event, before this function returns. cb is never
 *    called for a PMU without named events.
 *  @param arg  Caller's, for cb.
 *  @return as uvperf_pmu_walk_formats.
 *  Source: /sys/bus/event_source/devices/<pmu>/events. */
UVPERF_EXTERN int uvperf_pmu_walk_events(const char *pmu,
                                         uvperf_pmu_event_cb cb, void *arg);

/* -- tracefs -------------------------------------------------------------- */

/** Finds the place where tracefs is mounted. The function tries
 *  /sys/kernel/tracing, /sys/kernel/debug/tracing and the mounts in /proc, and
 *  takes the first that has a directory events/.
 *
 *  By default only root can read tracefs. After `mount -o
 *  remount,gid=GROUP,mode=750 /sys/kernel/tracing` a group can read it too.
 *  @param path  Caller's; receives for example "/sys/kernel/tracing". May be
 *    NULL if *size is 0.
 *  @param size  Bytes of `path`; receives the number of bytes needed, including
 *    the ending NUL.
 *  @return 0, or, with `path` and *size unchanged (except by -ENOBUFS),
 *    -EACCES   this process may not read it;
 *    -ENODEV   tracefs is not mounted: as root, `mount -t tracefs tracefs
 *      /sys/kernel/tracing`;
 *    -ENOBUFS  `path` is too small: *size is the size it needs;
 *    -EINVAL   an argument is NULL;
 *    another   the error of open(2), such as -EMFILE, -ENFILE, -ENOMEM.
 *  Source: the kernel's Documentation/trace/ftrace.rst, "The File System". */
UVPERF_EXTERN int uvperf_tracefs_path(char *path, size_t *size);

/** Reads the id of a tracepoint, for attr.config with PERF_TYPE_TRACEPOINT.
 *  @param category  For example "sched".
 *  @param name      For example "sched_switch".
 *  @param id        Receives the id; 0 on error. The id is valid until the next
 *    boot, or until the tracepoint's probe or module is removed.
 *  @return 0, or
 *    -ENOENT  this kernel has no such tracepoint, or perf events cannot use it
 *      because it is an event of ftrace itself, which has no id;
 *    -ENODEV, -EACCES  as uvperf_tracefs_path;
 *    -EINVAL  an argument is NULL, or not a file name (empty, ".", "..", with a
 *      slash);
 *    another  see uvperf_tracefs_path.
 *  Source: the kernel's Documentation/trace/events.rst; event_create_dir in
 *  kernel/trace/trace_events.c. */
UVPERF_EXTERN int uvperf_tracefs_id(const char *category, const char *name,
                                    uint64_t *id);

/** Receives a tracepoint from uvperf_tracefs_walk.
 *  @param category  Valid during the call, as is `name`.
 *  @param name      The tracepoint's name.
 *  @param id        Its id: see uvperf_tracefs_id.
 *  @param arg       The arg of the walk.
 *  @return 0 to continue; otherwise the walk ends and returns this value. */
typedef int (*uvperf_tracefs_event_cb)(const char *category, const char *name,
                                       uint64_t id, void *arg);

/** Calls a function for each tracepoint that perf events can use. These are the
 *  tracepoints with an id. A few of these tracepoints still cannot be opened.
 *  ftrace:function sometimes cannot be opened even by root.
 *  irq_vectors:irq_work_exit can be counted but not sampled.
 *
 *  The walk reads the ids of all matches. Some 2,300 ids take about 15 ms, and
 *  one id takes 0.05 ms.
 *  @param category  A pattern for categories, as for fnmatch(3) with
 *    FNM_NOESCAPE, byte for byte (*, ?, [a-z], [!a-z]). NULL means all.
 *  @param name      A pattern for names. NULL means all.
 *  @param cb        Called with each tracepoint. It may call any function, but
 *    must not longjmp out of the walk.
 *  @param arg       For `cb`.
 *  @return 0, also if nothing matches; the value of `cb`, if it is not 0; or
 *    -EACCES  this process may not read tracefs; or it may not read some of the
 *      matches (returned after the walk);
 *    -ENODEV  as uvperf_tracefs_path;
 *    -EINVAL  `cb` is NULL;
 *    another  see uvperf_tracefs_path.
 *  Source: as uvperf_tracefs_id; perf_trace_init in
 *  kernel/trace/trace_event_perf.c. */
UVPERF_EXTERN int uvperf_tracefs_walk(const char *category, const char *name,
                                      uvperf_tracefs_event_cb cb, void *arg);

/** Receives a name from uvperf_tracefs_walk_categories or
 *  uvperf_tracefs_walk_tracers.
 *  @param name  For example "sched", "function_graph"; valid during the call.
 *  @param arg   The arg of the walk.
 *  @return 0 to continue; otherwise the walk ends and returns this value. */
typedef int (*uvperf_tracefs_name_cb)(const char *name, void *arg);

/** Calls a function for each category of tracepoints ("subsystem" in
 *  perf-utils), even if its tracepoints may not be read.
 *  @param cb   Called with each category.
 *  @param arg  For `cb`.
 *  @return 0; the value of `cb`, if it is not 0; or
 *    -EINVAL  `cb` is NULL;
 *    -ENODEV, -EACCES  as uvperf_tracefs_path;
 *    another  see uvperf_tracefs_path.
 *  Source: as uvperf_tracefs_id. */
UVPERF_EXTERN int uvperf_tracefs_walk_categories(uvperf_tracefs_name_cb cb,
                                                 void *arg);

/** Reads the name of ftrace's present tracer. A tracer other than "nop" takes
 *  time that measurements include. Perf events neither need nor change the
 *  tracer.
 *  @param tracer  Caller's; receives the tracer's name. May be NULL if *size is
 *    0.
 *  @param size    Bytes of `tracer`; receives the number of bytes needed,
 *    including the ending NUL.
 *  @return 0, or
 *    -ENOENT  the kernel has no tracers;
 *    another  see uvperf_tracefs_path.
 *  Source: Documentation/trace/ftrace.rst, "current_tracer". */
UVPERF_EXTERN int uvperf_tracefs_current_tracer(char *tracer, size_t *size);

/** Calls a function for each tracer of this kernel, in the kernel's order.
 *  @param cb   Called with each tracer.
 *  @param arg  For `cb`.
 *  @return 0; the value of `cb`, if it is not 0; or
 *    -ENOENT  the kernel has no tracers;
 *    -EINVAL  `cb` is NULL;
 *    -ENODEV, -EACCES  as uvperf_tracefs_path;
 *    another  see uvperf_tracefs_path.
 *  Source: Documentation/trace/ftrace.rst, "available_tracers". */
UVPERF_EXTERN int uvperf_tracefs_walk_tracers(uvperf_tracefs_name_cb cb,
                                              void *arg);

#ifdef __cplusplus
}
#endif

#endif
