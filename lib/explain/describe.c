/* SPDX-License-Identifier: MIT */
/* Describes an event and its target in words, for the reasons of failures. Only
 * generic events get their name. For other events the text is not a name that a
 * parser would accept. */
#include "explain/internal.h"

#include <stdarg.h>
#include <stdio.h>

#include "attr/generic_name.h"
#include "host/cpu_list.h"
#include "host/pmu.h"
#include "host/system.h"
#include "util/ascii.h"
#include "util/error.h"
#include "util/file.h"

/* The upper half of a generic event's config may be the type of a PMU (hybrid
 * machines). */
void uvperf__describe_event(char *text, size_t size,
                            const struct perf_event_attr *attr) {
  static const char *const kinds[PERF_TYPE_MAX] = {
      [PERF_TYPE_HARDWARE] = "hardware",
      [PERF_TYPE_SOFTWARE] = "software",
      [PERF_TYPE_HW_CACHE] = "cache",
      [PERF_TYPE_RAW] = "raw",
  };
  unsigned long long config = attr->config;
  char name[UVPERF__GENERIC_NAME_BYTES], pmu[24];

  if (uvperf__generic_name(attr->type, (uint32_t)config, name, sizeof(name)) ==
      0)
    snprintf(text, size, "'%s'", name);
  else if (attr->type == PERF_TYPE_TRACEPOINT)
    snprintf(text, size, "tracepoint %llu", config);
  else if (attr->type == PERF_TYPE_BREAKPOINT)
    snprintf(text, size, "breakpoint at %#llx",
             (unsigned long long)attr->bp_addr);
  else if (attr->type < PERF_TYPE_MAX)
    snprintf(text, size, "%s event %#llx", kinds[attr->type], config);
  else if (uvperf__pmu_name(attr->type, pmu, sizeof(pmu)) == 0)
    snprintf(text, size, "event %#llx of PMU %s", config, pmu);
  else
    snprintf(text, size, "event %#llx of type %u", config, attr->type);
}

/* Directory names may contain any bytes, and a reason may be printed. */
static void describe_cgroup(char *text, size_t size, int cgroup) {
  char path[64];
  size_t i;

  if (uvperf__file_path_of(cgroup, path, sizeof(path)) != 0 || path[0] != '/') {
    snprintf(text, size, " for cgroup fd %d", cgroup);
    return;
  }
  for (i = 0; path[i] != '\0'; i++)
    path[i] = uvperf__visible(path[i]);
  snprintf(text, size, " for cgroup %s%s", path,
           i < sizeof(path) - 1 ? "" : "...");
}

/* Writes " of thread 12 on CPU 3" and similar texts. pid and cpu are as in
 * perf_event_open(2). cgroup is -1 if there is none. The text is cut, never
 * overrun. */
static void describe_target(char *text, size_t size, int pid, int cpu,
                            int cgroup) {
  char task[80] = " for the calling thread";
  char where[24] = "";

  if (cgroup >= 0)
    describe_cgroup(task, sizeof(task), cgroup);
  else if (pid == -1)
    snprintf(task, sizeof(task), "%s", cpu == -1 ? " for every task" : "");
  else if (pid != 0)
    snprintf(task, sizeof(task), " for thread %d", pid);
  if (cpu != -1)
    snprintf(where, sizeof(where), " on CPU %d", cpu);
  snprintf(text, size, "%s%s", task, where);
}

/* The error's text begins with the failed call. */
int uvperf__open_say(const uvperf__open_call_t *call, int cause,
                     const char *format, ...) {
  char event[UVPERF__DESCRIBE_BYTES], target[UVPERF__DESCRIBE_BYTES];
  char reason[sizeof(call->error->reason)];
  va_list args;

  uvperf__describe_event(event, sizeof(event), call->attr);
  describe_target(target, sizeof(target), call->pid, call->cpu, call->cgroup);
  va_start(args, format);
  vsnprintf(reason, sizeof(reason), format, args);
  va_end(args);
  uvperf__error_set(call->error, call->code, cause, "%scannot open %s%s: %s",
                    call->is_by_program ? "options.open " : "", event, target,
                    reason);
  return 1;
}

int uvperf__open_find(const uvperf__open_call_t *call,
                      const uvperf__open_reason_t *reasons, size_t nr) {
  size_t i;

  for (i = 0; i < nr; i++)
    if ((reasons[i].code == 0 || reasons[i].code == call->code) &&
        (reasons[i].test == NULL || reasons[i].test(call)))
      return reasons[i].text == NULL ||
             uvperf__open_say(call, reasons[i].cause, reasons[i].text,
                              -call->code);
  return 0;
}

/* If a program's function opens the event, the kernel cannot be asked which
 * bits it knows. A clock can replace only cycles: see fallback.c. */
static int may_help(const uvperf__open_call_t *call,
                    enum uvperf_fallback fallback) {
  if (!call->may_allow || (call->fallbacks & (uint32_t)fallback))
    return 0;
  if (fallback == UVPERF_FALLBACK_KERNEL)
    return !call->is_by_program;
  return fallback != UVPERF_FALLBACK_CLOCK ||
         (call->attr->type == PERF_TYPE_HARDWARE &&
          (uint32_t)call->attr->config == PERF_COUNT_HW_CPU_CYCLES);
}

int uvperf__open_or_allow(const uvperf__open_call_t *call,
                          enum uvperf_fallback fallback) {
  static const struct {
    enum uvperf_fallback fallback;
    const char *text;
  } remedies[] = {
      {UVPERF_FALLBACK_KERNEL, ", or allow UVPERF_FALLBACK_KERNEL"},
      {UVPERF_FALLBACK_USER, ", or allow UVPERF_FALLBACK_USER"},
      {UVPERF_FALLBACK_PRECISE, ", or allow UVPERF_FALLBACK_PRECISE"},
      {UVPERF_FALLBACK_CLOCK, ", or allow UVPERF_FALLBACK_CLOCK"},
  };
  size_t i;

  for (i = 0; i < sizeof(remedies) / sizeof(remedies[0]); i++)
    if (remedies[i].fallback == fallback && may_help(call, fallback))
      uvperf__error_add(call->error, remedies[i].text);
  return 1;
}

int uvperf__open_limit(const uvperf__open_call_t *call, uint64_t limit,
                       uint64_t needed) {
  return uvperf__error_limit(call->error, 1, limit, needed);
}

int uvperf__open_fault(const uvperf__open_call_t *call, int cause,
                       const char *fault) {
  return fault != NULL && uvperf__open_say(call, cause, "%s", fault);
}

int uvperf__open_cpu(const uvperf__open_call_t *call, const char *list,
                     const char *why) {
  char cpus[UVPERF__TEXT_BYTES];

  if (call->cpu < 0 || uvperf__system_cpu_list(list, cpus) != 0 ||
      uvperf__cpu_list_has(cpus, call->cpu) != 0)
    return 0;
  return uvperf__open_say(call, UVPERF_CAUSE_NO_CPU,
                          "%s; the %s CPUs are %.31s", why, list, cpus);
}
