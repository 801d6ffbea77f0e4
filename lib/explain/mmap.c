/* SPDX-License-Identifier: MIT */
/* Explains why mapping a ring failed. open*.c explain failures to open. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "attr/attr.h"
#include "explain/internal.h"
#include "host/system.h"
#include "util/error.h"

static uint64_t page_bytes(void) {
  return (uint64_t)sysconf(_SC_PAGESIZE);
}

/* Returns the KiB in a line of /proc/self/status, or 0 if the line does not
 * exist. */
static int64_t status_kib(const char *key) {
  char text[32];

  if (uvperf__system_line("/proc/self/status", key, text, sizeof(text)) != 0)
    return 0;
  return strtoll(text, NULL, 10);
}

/* There are two functions, because the type of a resource's number differs
 * between libcs. */
static uint64_t locked_limit(void) {
  struct rlimit limit = {0, 0};

  getrlimit(RLIMIT_MEMLOCK, &limit);
  return limit.rlim_cur;
}

static uint64_t space_limit(void) {
  struct rlimit limit = {0, 0};

  getrlimit(RLIMIT_AS, &limit);
  return limit.rlim_cur;
}

/* Whether perf_mmap_calc_limits allows everything. */
static int is_unlimited(void) {
  int64_t level;

  if (uvperf__system_has_capability(UVPERF__CAP_IPC_LOCK) == 1 &&
      uvperf__system_is_user_namespace() != 1)
    return 1;
  return uvperf__system_number(UVPERF__PARANOID, &level) == 0 && level < 0;
}

/* perf_mmap_calc_limits in kernel/events/core.c: a user's rings may take
 * mlock_kb for each online CPU. The rest counts for RLIMIT_MEMLOCK, together
 * with the memory that the process has pinned already. The page before the data
 * counts too. We cannot see how much of the first limit the user's other
 * processes take. */
static int explain_locked(uvperf_error_t *error, int code, size_t bytes) {
  uint64_t needed = (uint64_t)bytes + page_bytes();
  uint64_t locked = locked_limit();
  uint64_t limit;
  int64_t kb = 0;
  int cpus = uvperf__system_online_cpus();

  if (is_unlimited())
    return uvperf__error_set(
        error, code, UVPERF_CAUSE_PERMISSION,
        "cannot map a ring of %llu bytes: denied below all limits of locked "
        "memory, perhaps by a security module; see the audit log",
        (unsigned long long)needed);
  if (uvperf__system_number(UVPERF__MLOCK_KB, &kb) != 0 || kb < 0)
    kb = 0;
  if (cpus < 1)
    cpus = 1;
  limit = (uint64_t)kb * 1024 * (uint64_t)cpus;
  uvperf__error_set(
      error, code, UVPERF_CAUSE_LOCKED_MEMORY,
      "cannot map a ring of %llu bytes: the limits are %lld KiB "
      "(perf_event_mlock_kb) x %d CPUs and %llu KiB (RLIMIT_MEMLOCK, %lld KiB "
      "used); use smaller rings, raise a limit, or get CAP_IPC_LOCK",
      (unsigned long long)needed, (long long)kb, cpus,
      (unsigned long long)(locked / 1024), (long long)status_kib("VmPin:"));
  limit = locked > UINT64_MAX - limit ? UINT64_MAX : limit + locked;
  return uvperf__error_limit(error, code, limit, needed);
}

/* mlock_future_ok in mm/mmap.c returns this code after mlockall(2) with
 * MCL_FUTURE. */
static int explain_mlockall(uvperf_error_t *error, int code, size_t bytes) {
  uint64_t locked = locked_limit();
  int64_t used = status_kib("VmLck:");

  uvperf__error_set(error, code, UVPERF_CAUSE_LOCKED_MEMORY,
                    "cannot map a ring of %llu bytes: mlockall(2) locks it "
                    "too, and RLIMIT_MEMLOCK is %llu bytes (%lld KiB used); "
                    "raise it, or call mlockall later",
                    (unsigned long long)(bytes + page_bytes()),
                    (unsigned long long)locked, (long long)used);
  return uvperf__error_limit(error, code, locked,
                             (uint64_t)used * 1024 + bytes + page_bytes());
}

/* The kernel does not report which of these ran out. */
static int explain_memory(uvperf_error_t *error, int code, const char *event,
                          size_t bytes) {
  uint64_t space = space_limit();
  int64_t most = 0;

  uvperf__system_number("/proc/sys/vm/max_map_count", &most);
  if (space == (uint64_t)RLIM_INFINITY)
    return uvperf__error_set(
        error, code, UVPERF_CAUSE_MEMORY,
        "cannot map a ring of %zu bytes for %s: out of memory, "
        "or of vm.max_map_count (%lld) mappings",
        bytes, event, (long long)most);
  return uvperf__error_set(
      error, code, UVPERF_CAUSE_MEMORY,
      "cannot map a ring of %zu bytes for %s: out of memory, of the %llu "
      "bytes of RLIMIT_AS, or of vm.max_map_count mappings",
      bytes, event, (unsigned long long)space);
}

/* Returns the fault for which perf_mmap refuses a ring, or for which the ring
 * could never wake a reader. Returns NULL if there is no such fault. */
static const char *fault_of(const struct perf_event_attr *attr, int cpu,
                            size_t bytes) {
  if (attr->inherit && cpu == -1)
    return "a ring with attr.inherit needs a CPU; open one event per CPU with "
           "UVPERF_EVENT_CPU";
  if (bytes < page_bytes() || (bytes & (bytes - 1)) != 0)
    return "the size is not a power of two pages; choose one that is";
  if (uvperf__attr_watermark(attr) >= bytes)
    return "no wakeup would come, as attr.wakeup_watermark is not below the "
           "size of the ring; lower it";
  return NULL;
}

int uvperf__explain_map(uvperf_error_t *error, int code,
                        const struct perf_event_attr *attr, int cpu,
                        size_t bytes) {
  char event[UVPERF__DESCRIBE_BYTES], unknown[40];
  int cause = UVPERF_CAUSE_ARGUMENT;
  const char *why = NULL;

  if (error == NULL)
    return code;
  uvperf__describe_event(event, sizeof(event), attr);
  switch (code) {
    case -EPERM:
      return explain_locked(error, code, bytes);
    case -EAGAIN:
      return explain_mlockall(error, code, bytes);
    case -ENOMEM:
      return explain_memory(error, code, event, bytes);
    case -EACCES:
      cause = UVPERF_CAUSE_PERMISSION;
      why = "denied, perhaps by a security module; see the audit log";
      break;
    case -ENODEV:
      cause = UVPERF_CAUSE_NO_EVENT;
      why = "the PMU's device is gone";
      break;
    case -EBUSY:
      why = "the event writes to another event's ring";
      break;
    case -EINVAL:
      why = fault_of(attr, cpu, bytes);
      break;
  }
  if (why == NULL) {
    cause = UVPERF_CAUSE_UNKNOWN;
    snprintf(unknown, sizeof(unknown), "mmap(2) returned errno %d", -code);
    why = unknown;
  }
  return uvperf__error_set(error, code, cause,
                           "cannot map a ring of %zu bytes for %s: %s", bytes,
                           event, why);
}
