/* SPDX-License-Identifier: MIT */
/* Writes a uvperf_error_t: the names of causes, and texts that are cut and
 * never overrun. Which cause an errno has is for explain_*.c. */
#include "explain/explain.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "explain/attempt.h"
#include "explain/describe.h"
#include "host/system.h"

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

static const char *const cause_names[] = {
    [UVPERF_CAUSE_NONE] = "none",
    [UVPERF_CAUSE_ARGUMENT] = "argument",
    [UVPERF_CAUSE_PERMISSION] = "permission",
    [UVPERF_CAUSE_NO_EVENT] = "no_event",
    [UVPERF_CAUSE_NOT_SUPPORTED] = "not_supported",
    [UVPERF_CAUSE_OLD_KERNEL] = "old_kernel",
    [UVPERF_CAUSE_NO_CPU] = "no_cpu",
    [UVPERF_CAUSE_NO_TASK] = "no_task",
    [UVPERF_CAUSE_FILES] = "files",
    [UVPERF_CAUSE_LOCKED_MEMORY] = "locked_memory",
    [UVPERF_CAUSE_MEMORY] = "memory",
    [UVPERF_CAUSE_BUSY] = "busy",
    [UVPERF_CAUSE_BREAKPOINT_SLOTS] = "breakpoint_slots",
    [UVPERF_CAUSE_SAMPLE_RATE] = "sample_rate",
    [UVPERF_CAUSE_MAX_STACK] = "max_stack",
    [UVPERF_CAUSE_NO_PERF] = "no_perf",
    [UVPERF_CAUSE_LOOP] = "loop",
    [UVPERF_CAUSE_UNKNOWN] = "unknown",
    [UVPERF_CAUSE_EXISTS] = "exists",
    [UVPERF_CAUSE_BPF_PROGRAMS] = "bpf_programs",
};

const char *uvperf_cause_name(int cause) {
  if (cause < 0 || (size_t)cause >= COUNT_OF(cause_names))
    return "unknown";
  return cause_names[cause];
}

static void fill(uvperf_error_t *error, int code, int cause, const char *what,
                 const char *format, va_list args)
    __attribute__((format(printf, 5, 0)));

static void fill(uvperf_error_t *error, int code, int cause, const char *what,
                 const char *format, va_list args) {
  size_t used;

  memset(error, 0, sizeof(*error));
  error->code = code;
  error->cause = cause;
  snprintf(error->reason, sizeof(error->reason), "%.*s",
           (int)sizeof(error->reason) - 1, what);
  used = strlen(error->reason);
  vsnprintf(error->reason + used, sizeof(error->reason) - used, format, args);
}

int uvperf__explain(uvperf_error_t *error, int code, int cause,
                    const char *format, ...) {
  va_list args;

  if (error == NULL)
    return code;
  va_start(args, format);
  fill(error, code, cause, "", format, args);
  va_end(args);
  return code;
}

int uvperf__explain_options(uvperf_error_t *error, int code, const char *name) {
  return uvperf__explain(error, code, UVPERF_CAUSE_ARGUMENT,
                         code == -E2BIG
                             ? "%s has fields that this version does not know"
                             : "%s.size is too small: use its initializer",
                         name);
}

/* Puts what was tried before the reason. */
void uvperf__attempt_say(const uvperf__attempt_t *attempt, int cause,
                         const char *format, ...) {
  char event[UVPERF__DESCRIBE_BYTES], target[UVPERF__DESCRIBE_BYTES];
  char what[sizeof(event) + sizeof(target) + 2];
  va_list args;

  uvperf__describe_event(event, sizeof(event), attempt->root, attempt->attr);
  uvperf__describe_target(target, sizeof(target), attempt->pid, attempt->cpu,
                          attempt->cgroup);
  snprintf(what, sizeof(what), "%s%s: ", event, target);
  va_start(args, format);
  fill(attempt->error, attempt->code, cause, what, format, args);
  va_end(args);
}

int uvperf__attempt_fault(const uvperf__attempt_t *attempt, int cause,
                          const char *fault) {
  if (fault != NULL)
    uvperf__attempt_say(attempt, cause, "%s", fault);
  return fault != NULL;
}

int uvperf__attempt_cpu(const uvperf__attempt_t *attempt, const char *list,
                        const char *why) {
  char path[64], cpus[32];

  if (attempt->cpu < 0 ||
      uvperf__system_has_cpu(attempt->root, list, attempt->cpu) != 0)
    return 0;
  snprintf(path, sizeof(path), "/sys/devices/system/cpu/%s", list);
  uvperf__system_line(attempt->root, path, "", cpus, sizeof(cpus));
  uvperf__attempt_say(attempt, UVPERF_CAUSE_NO_CPU, "%s; %s are %s", why, list,
                      cpus);
  return 1;
}
