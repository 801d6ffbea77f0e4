/* SPDX-License-Identifier: MIT */
/* Gathers what decides how much can be measured. What an event needs of it is
 * told by explain*.c. */
#include "host/system_limits.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "host/system.h"

static int64_t number(const char *root, const char *path) {
  int64_t value;

  return uvperf__system_number(root, path, &value) == 0 ? value
                                                        : UVPERF_LIMIT_UNKNOWN;
}

static void read_sysctls(const char *root, uvperf_limits_t *limits) {
  limits->perf_event_paranoid =
      number(root, "/proc/sys/kernel/perf_event_paranoid");
  limits->perf_event_mlock_kb =
      number(root, "/proc/sys/kernel/perf_event_mlock_kb");
  limits->perf_event_max_sample_rate =
      number(root, "/proc/sys/kernel/perf_event_max_sample_rate");
  limits->perf_event_max_stack =
      number(root, "/proc/sys/kernel/perf_event_max_stack");
  limits->perf_event_max_contexts_per_stack =
      number(root, "/proc/sys/kernel/perf_event_max_contexts_per_stack");
  limits->perf_cpu_time_max_percent =
      number(root, "/proc/sys/kernel/perf_cpu_time_max_percent");
  limits->nmi_watchdog = number(root, "/proc/sys/kernel/nmi_watchdog");
  limits->kptr_restrict = number(root, "/proc/sys/kernel/kptr_restrict");
  limits->file_max = number(root, "/proc/sys/fs/file-max");
}

/* Where the file of each kernel is not there either, its absence says nothing
 * of this one. */
static int64_t has_perf(const char *root) {
  unsigned int major, minor;
  int64_t level;
  int rc = uvperf__system_paranoid(root, &level);

  if (rc == 0)
    return 1;
  return rc == -ENOENT && uvperf__system_kernel(root, &major, &minor) == 0
             ? 0
             : UVPERF_LIMIT_UNKNOWN;
}

/* A word of /proc/self/limits, and where the next one may begin. */
static int64_t read_rlimit(const char **text) {
  unsigned long long value;
  const char *word = *text + strspn(*text, " ");
  size_t length = strcspn(word, " ");
  char *end;

  *text = word + length;
  if (length == strlen("unlimited") && memcmp(word, "unlimited", length) == 0)
    return UVPERF_LIMIT_NONE;
  value = strtoull(word, &end, 10);
  if (length == 0 || *word == '-' || end != word + length)
    return UVPERF_LIMIT_UNKNOWN;
  return value >= INT64_MAX ? UVPERF_LIMIT_NONE : (int64_t)value;
}

/* The soft limit and the hard one; getrlimit(2) would be of this process
 * whatever the root is. */
static void read_rlimits(const char *root, const char *key, int64_t *soft,
                         int64_t *hard) {
  char line[128];
  const char *text = line;

  if (uvperf__system_line(root, "/proc/self/limits", key, line, sizeof(line)) !=
      0)
    return;
  *soft = read_rlimit(&text);
  *hard = read_rlimit(&text);
}

static void read_privileges(const char *root, uvperf_limits_t *limits) {
  uint64_t caps;
  int rc = uvperf__system_is_user_namespace(root);

  if (rc >= 0)
    limits->is_user_namespace = rc;
  if (uvperf__system_capabilities(root, &caps) != 0)
    return;
  limits->cap_perfmon = caps >> UVPERF__CAP_PERFMON & 1;
  limits->cap_sys_admin = caps >> UVPERF__CAP_SYS_ADMIN & 1;
  limits->cap_ipc_lock = caps >> UVPERF__CAP_IPC_LOCK & 1;
  limits->cap_bpf = caps >> UVPERF__CAP_BPF & 1;
  limits->cap_syslog = caps >> UVPERF__CAP_SYSLOG & 1;
  limits->cap_sys_ptrace = caps >> UVPERF__CAP_SYS_PTRACE & 1;
}

void uvperf__system_limits(const char *root, uvperf_limits_t *limits) {
  int64_t *value = (int64_t *)limits;
  unsigned int major, minor;
  size_t i;

  for (i = 0; i < sizeof(*limits) / sizeof(*value); i++)
    value[i] = UVPERF_LIMIT_UNKNOWN;
  limits->has_perf = has_perf(root);
  read_sysctls(root, limits);
  read_rlimits(root, "Max locked memory", &limits->memlock_bytes,
               &limits->memlock_bytes_max);
  read_rlimits(root, "Max open files", &limits->open_files,
               &limits->open_files_max);
  read_privileges(root, limits);
  if (uvperf__system_kernel(root, &major, &minor) == 0) {
    limits->kernel_major = major;
    limits->kernel_minor = minor;
  }
}

int uvperf__system_is_perfmon(const char *root) {
  int has = uvperf__system_has_perfmon(root);
  int is_elsewhere;

  if (has != 1)
    return has;
  is_elsewhere = uvperf__system_is_user_namespace(root);
  return is_elsewhere < 0 ? is_elsewhere : !is_elsewhere;
}

int uvperf_system_limits(uvperf_limits_t *limits) {
  if (limits == NULL)
    return -EINVAL;
  uvperf__system_limits("", limits);
  return 0;
}

int uvperf_system_has_perfmon(void) {
  return uvperf__system_is_perfmon("");
}
