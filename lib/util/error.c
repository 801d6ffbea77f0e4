/* SPDX-License-Identifier: MIT */
/* Fills a uvperf_error_t with the name of a cause and a text. The text is cut,
 * never overrun. explain/ finds out why the kernel refused something. */
#include "util/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "util/file.h"

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

int uvperf__error_set(uvperf_error_t *error, int code, int cause,
                      const char *format, ...) {
  va_list args;

  if (error == NULL)
    return code;
  memset(error, 0, sizeof(*error));
  error->code = code;
  error->cause = cause;
  va_start(args, format);
  vsnprintf(error->reason, sizeof(error->reason), format, args);
  va_end(args);
  return code;
}

int uvperf__error_limit(uvperf_error_t *error, int code, uint64_t limit,
                        uint64_t needed) {
  if (error != NULL) {
    error->limit = limit;
    error->needed = needed;
  }
  return code;
}

void uvperf__error_add(uvperf_error_t *error, const char *text) {
  size_t length = strlen(error->reason);

  if (length + strlen(text) + 1 < sizeof(error->reason))
    strcpy(error->reason + length, text);
}

int uvperf__error_bits(uvperf_error_t *error, const char *name, uint32_t bits) {
  return uvperf__error_argument(error, "%s 0x%x has unknown bits; clear them",
                                name, bits);
}

int uvperf__error_forked(uvperf_error_t *error, const char *handle) {
  return uvperf__error_set(error, -EPERM, UVPERF_CAUSE_ARGUMENT,
                           "the %s belongs to the parent process; open one in "
                           "this process",
                           handle);
}

int uvperf__error_opening(uvperf_error_t *error, const char *handle) {
  return uvperf__error_set(error, -EBUSY, UVPERF_CAUSE_ARGUMENT,
                           "the %s is being opened; wait for its callback",
                           handle);
}

int uvperf__error_not_opened(uvperf_error_t *error, int code,
                             const char *handle) {
  return uvperf__error_set(error, code, UVPERF_CAUSE_ARGUMENT,
                           "the %s could not be opened; close it", handle);
}

int uvperf__error_cancelled(uvperf_error_t *error, const char *handle) {
  return uvperf__error_set(error, -ECANCELED, UVPERF_CAUSE_ARGUMENT,
                           "the %s was closed while it was being opened",
                           handle);
}

int uvperf__error_closed(uvperf_error_t *error, const char *handle) {
  return uvperf__error_set(error, -ECANCELED, UVPERF_CAUSE_ARGUMENT,
                           "the %s was closed", handle);
}

int uvperf__error_online(uvperf_error_t *error, int code, const char *remedy) {
  if (uvperf__is_shortage(code))
    return uvperf__error_shortage(error, code, "cannot list the online CPUs");
  return uvperf__error_set(error, code, UVPERF_CAUSE_NO_CPU,
                           "cannot read /sys/devices/system/cpu/online (errno "
                           "%d); mount sysfs on /sys, or %s",
                           -code, remedy);
}

int uvperf__error_options(uvperf_error_t *error, int code, const char *name) {
  return uvperf__error_set(
      error, code, UVPERF_CAUSE_ARGUMENT,
      code == -E2BIG
          ? "%s has fields that this version does not know; clear them"
          : "%s.size is too small; use its initializer",
      name);
}

int uvperf__error_shortage(uvperf_error_t *error, int code, const char *what) {
  uvperf__fd_limits_t fds;

  if (code == -ENOMEM)
    return uvperf__error_set(error, code, UVPERF_CAUSE_MEMORY,
                             "%s: out of memory", what);
  if (code == -ENFILE)
    return uvperf__error_set(
        error, code, UVPERF_CAUSE_FILES,
        "%s: the system's table of open files is full; raise fs.file-max",
        what);
  uvperf__fd_limits(&fds);
  uvperf__error_set(error, code, UVPERF_CAUSE_FILES,
                    "%s: all %llu fds of RLIMIT_NOFILE are in use; raise it",
                    what, (unsigned long long)fds.soft);
  return uvperf__error_limit(error, code, fds.soft, fds.needed);
}

int uvperf__error_is_shortage(const uvperf_error_t *error) {
  return uvperf__is_shortage(error->code) &&
         (error->cause == UVPERF_CAUSE_FILES ||
          error->cause == UVPERF_CAUSE_MEMORY);
}
