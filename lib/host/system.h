/* SPDX-License-Identifier: MIT */
/* Facts and limits of this system, read from /proc and /sys. Keeps no fds and
 * does not include uv.h. */
#ifndef UVPERF_LIB_HOST_SYSTEM_H
#define UVPERF_LIB_HOST_SYSTEM_H

#include <stddef.h>
#include <stdint.h>

#include "util/file.h"
#include "uvperf/system.h"

/* Reads a decimal number from the first line of path. Returns 0 or
 * -errno. -EINVAL means that the line is not a number. */
int uvperf__system_number(const char *path, int64_t *value);

/* Finds the first line of path that starts with `key` ("" matches any
 * line). `text` receives the text after the key, without the newline, cut to
 * `size`. Returns 0 or -errno. -ENODATA means that there is no such line. */
int uvperf__system_line(const char *path, const char *key, char *text,
                        size_t size);

/* Calls `each` with each such line. If it returns a value other than 0, the
 * walk ends and returns that value. Otherwise returns 0 or -errno. */
int uvperf__system_each_line(const char *path, const char *key, char *text,
                             size_t size, uvperf__name_fn each, void *data);

/* Enough for any file of sysfs: a page at most, and the NUL. */
#define UVPERF__TEXT_BYTES 4097

/* Reads all of path, without a newline at its end. Returns 0, or -errno and the
 * text "". -EINVAL means that the text has a zero byte. -EFBIG means that the
 * text does not fit: then it is cut, and not "". */
int uvperf__system_text(const char *path, char *text, size_t size);

/* Paths for uvperf__system_number. */
#define UVPERF__PARANOID        "/proc/sys/kernel/perf_event_paranoid"
#define UVPERF__MLOCK_KB        "/proc/sys/kernel/perf_event_mlock_kb"
#define UVPERF__MAX_SAMPLE_RATE "/proc/sys/kernel/perf_event_max_sample_rate"
#define UVPERF__MAX_STACK       "/proc/sys/kernel/perf_event_max_stack"

/* From <linux/capability.h>; headers before 5.8 do not have the last two. */
#define UVPERF__CAP_IPC_LOCK   14
#define UVPERF__CAP_SYS_PTRACE 19
#define UVPERF__CAP_SYS_ADMIN  21
#define UVPERF__CAP_SYSLOG     34
#define UVPERF__CAP_PERFMON    38
#define UVPERF__CAP_BPF        39

/* Whether this process has a capability in its effective set, from
 * /proc/self/status. Returns 1, 0 or -errno. */
int uvperf__system_has_capability(int capability);

/* Whether this process has a seccomp filter, from /proc/self/status. Returns 1,
 * or 0 if there is no filter or if this is unknown. */
int uvperf__system_has_filter(void);

/* Whether this process is in another user namespace than the initial one. Reads
 * /proc/self/ns/user, or /proc/self/uid_map if there is no such file. Returns
 * 1, 0 or -errno. */
int uvperf__system_is_user_namespace(void);

/* Finds how far a clock of this process is ahead of the kernel's clock, from
 * which records get their times. The two clocks differ in a time namespace.
 * Returns 0 and *ns, or -errno if that is unknown. */
int uvperf__system_clock_ahead(int clockid, int64_t *ns);

/* Returns the id of the calling thread from /proc/thread-self, or -errno. */
int uvperf__system_thread(void);

/* Returns 1 if this kernel does not have a file of /proc/sys. Returns 0 if it
 * has the file, or if /proc/sys cannot be read. */
int uvperf__system_lacks(const char *path);

/* Reads the version of the kernel. Returns 0 or -errno. */
int uvperf__system_kernel(unsigned int *major, unsigned int *minor);

/* Whether this kernel is older than Linux major.minor. Returns 1, 0 or
 * -errno. */
int uvperf__system_is_before(unsigned int major, unsigned int minor);

/* Whether the kernel has PERF_FORMAT_LOST. Returns 1 or 0. With may_ask it asks
 * the kernel with perf_event_open(2). Without may_ask it decides by the
 * kernel's version. */
int uvperf__system_has_lost(int may_ask);

/* Reads the text of /sys/devices/system/cpu/`list` ("online", "possible"). If
 * "online" cannot be read, as in a chroot without /sys, makes the list from
 * /proc/stat. Returns 0, or -errno of the file in /sys. */
int uvperf__system_cpu_list(const char *list, char text[UVPERF__TEXT_BYTES]);

/* Whether a CPU is in that list. Returns 1, 0 or -errno. */
int uvperf__system_has_cpu(const char *list, int cpu);

/* Reads the CPUs of that list, ascending. Returns the same as
 * uvperf_cpu_list_parse, or another -errno if the list cannot be read. */
int uvperf__system_cpus(const char *list, int *cpus, size_t *nr);

/* Returns the number of online CPUs, or -errno. */
int uvperf__system_online_cpus(void);

/* Finds the package of a CPU, as a number that no other package has. perf(1)
 * counts events of a package once for each die, so the number is made of
 * physical_package_id and die_id in topology/. An id that is -1 (the
 * machine does not have it) counts as 0. A missing file die_id (before Linux
 * 5.2) counts as 0 too. Returns 0 or -errno. An offline CPU is -ENOENT. */
int uvperf__cpu_package(int cpu, uint64_t *package);

/* Whether the process has CAP_PERFMON or CAP_SYS_ADMIN in the initial user
 * namespace, as the kernel requires. Returns 1, 0 or -errno. */
int uvperf__system_is_perfmon(void);

#endif
