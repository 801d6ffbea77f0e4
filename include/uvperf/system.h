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

#include <stdint.h>

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

  /* -- the kernel's version, for example 6 and 18 -------------------------- */

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

#ifdef __cplusplus
}
#endif

#endif
