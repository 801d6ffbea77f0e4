/* SPDX-License-Identifier: MIT */
/* Why mapping a ring failed. What opening can meet is in explain.c. */
#include "explain.h"

#include <errno.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

#include "attr.h"
#include "describe.h"
#include "system.h"

static uint64_t page_bytes(void) {
  return (uint64_t)sysconf(_SC_PAGESIZE);
}

/* kernel/events/core.c, perf_mmap: a user's rings may take mlock_kb for each
 * CPU that is online, and what is above that counts for RLIMIT_MEMLOCK. The
 * page before the data counts too. */
static void explain_locked(uvperf_error_t *error, int code, const char *root,
                           size_t bytes) {
  struct rlimit locked = {0, 0};
  uint64_t needed = (uint64_t)bytes + page_bytes();
  uint64_t limit;
  int64_t kb = 0;
  int cpus = uvperf__system_online_cpus(root);

  getrlimit(RLIMIT_MEMLOCK, &locked);
  if (uvperf__system_mlock_kb(root, &kb) != 0 || kb < 0)
    kb = 0;
  if (cpus < 1)
    cpus = 1;
  limit = (uint64_t)kb * 1024 * (uint64_t)cpus;
  limit = locked.rlim_cur > UINT64_MAX - limit ? UINT64_MAX
                                               : limit + locked.rlim_cur;
  uvperf__explain(error, code, UVPERF_CAUSE_LOCKED_MEMORY,
                  "a ring of %llu bytes: all of this user's may lock %lld KiB "
                  "(perf_event_mlock_kb) x %d CPUs + RLIMIT_MEMLOCK %llu: ask "
                  "for less, raise one of them, or CAP_IPC_LOCK",
                  (unsigned long long)needed, (long long)kb, cpus,
                  (unsigned long long)locked.rlim_cur);
  error->limit = limit;
  error->needed = needed;
}

/* What perf_mmap refuses, or what could never wake a reader; NULL for none. */
static const char *fault_of(const struct perf_event_attr *attr, int cpu,
                            size_t bytes) {
  if (attr->inherit && cpu == -1)
    return "inherit with a ring needs a cpu: open one event for each";
  if (bytes < page_bytes() || (bytes & (bytes - 1)) != 0)
    return "the size must be a power of two of pages";
  if (uvperf__attr_watermark(attr) >= bytes)
    return "wakeup_watermark must be smaller than the ring, or no wakeup ever "
           "comes";
  return NULL;
}

static void explain_fault(uvperf_error_t *error, int code, const char *event,
                          size_t bytes, const char *fault) {
  if (fault != NULL)
    uvperf__explain(error, code, UVPERF_CAUSE_ARGUMENT,
                    "a ring of %zu bytes for %s: %s", bytes, event, fault);
  else
    uvperf__explain(error, code, UVPERF_CAUSE_UNKNOWN,
                    "a ring of %zu bytes for %s: mmap gave errno %d", bytes,
                    event, -code);
}

int uvperf__explain_map(uvperf_error_t *error, int code, const char *root,
                        const struct perf_event_attr *attr, int cpu,
                        size_t bytes) {
  char event[UVPERF__DESCRIBE_BYTES];
  const char *fault = NULL;

  if (error == NULL)
    return code;
  uvperf__describe_event(event, sizeof(event), root, attr);
  switch (code) {
    case -EPERM:
    case -EAGAIN:
      explain_locked(error, code, root, bytes);
      return code;
    case -ENOMEM:
      return uvperf__explain(error, code, UVPERF_CAUSE_MEMORY,
                             "a ring of %zu bytes for %s: out of memory, or of "
                             "vm.max_map_count mappings",
                             bytes, event);
    case -EBUSY:
      fault = "the event writes to another event's ring";
      break;
    case -EINVAL:
      fault = fault_of(attr, cpu, bytes);
      break;
  }
  explain_fault(error, code, event, bytes, fault);
  return code;
}
