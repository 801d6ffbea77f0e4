/* SPDX-License-Identifier: MIT */
/* Words for an event and its target, for the reasons of failures. Names only
 * what is generic; it is not the inverse of a parser. */
#include "describe.h"

#include <stdio.h>

#include "system.h"

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

static const char *const hardware[] = {
    "cpu-cycles",
    "instructions",
    "cache-references",
    "cache-misses",
    "branch-instructions",
    "branch-misses",
    "bus-cycles",
    "stalled-cycles-frontend",
    "stalled-cycles-backend",
    "ref-cycles",
};

static const char *const software[] = {
    "cpu-clock",        "task-clock",   "page-faults",  "context-switches",
    "cpu-migrations",   "minor-faults", "major-faults", "alignment-faults",
    "emulation-faults", "dummy",        "bpf-output",   "cgroup-switches",
};

static const char *const caches[] = {"L1-dcache", "L1-icache", "LLC", "dTLB",
                                     "iTLB",      "branch",    "node"};

static const char *const operations[] = {"load", "store", "prefetch"};

static const char *const results[] = {"access", "miss"};

static void describe_cache(char *text, size_t size, uint64_t config) {
  uint64_t cache = config & 0xff;
  uint64_t operation = config >> 8 & 0xff;
  uint64_t result = config >> 16 & 0xff;

  if (cache < COUNT_OF(caches) && operation < COUNT_OF(operations) &&
      result < COUNT_OF(results))
    snprintf(text, size, "cache event %s %s %s", caches[cache],
             operations[operation], results[result]);
  else
    snprintf(text, size, "cache event %#llx", (unsigned long long)config);
}

static void describe_other(char *text, size_t size, const char *root,
                           const struct perf_event_attr *attr) {
  unsigned long long config = attr->config;
  char pmu[24];

  if (uvperf__system_pmu_name(root, attr->type, pmu, sizeof(pmu)) == 0)
    snprintf(text, size, "event %#llx of PMU %s", config, pmu);
  else
    snprintf(text, size, "event %#llx of type %u", config, attr->type);
}

/* The upper half of a hardware event's config may be the type of a PMU. */
static void describe_named(char *text, size_t size, const char *kind,
                           const char *const *names, size_t nr,
                           uint64_t config) {
  uint32_t event = (uint32_t)config;

  if (event < nr)
    snprintf(text, size, "%s event %s", kind, names[event]);
  else
    snprintf(text, size, "%s event %#llx", kind, (unsigned long long)config);
}

void uvperf__describe_event(char *text, size_t size, const char *root,
                            const struct perf_event_attr *attr) {
  unsigned long long config = attr->config;

  switch (attr->type) {
    case PERF_TYPE_HARDWARE:
      describe_named(text, size, "hardware", hardware, COUNT_OF(hardware),
                     config);
      return;
    case PERF_TYPE_SOFTWARE:
      describe_named(text, size, "software", software, COUNT_OF(software),
                     config);
      return;
    case PERF_TYPE_TRACEPOINT:
      snprintf(text, size, "tracepoint %llu", config);
      return;
    case PERF_TYPE_HW_CACHE:
      describe_cache(text, size, config);
      return;
    case PERF_TYPE_RAW:
      snprintf(text, size, "raw event %#llx", config);
      return;
    case PERF_TYPE_BREAKPOINT:
      snprintf(text, size, "breakpoint at %#llx",
               (unsigned long long)attr->bp_addr);
      return;
    default:
      describe_other(text, size, root, attr);
  }
}

void uvperf__describe_target(char *text, size_t size, int pid, int cpu,
                             int cgroup) {
  char task[32] = " of the calling thread";
  char where[24] = "";

  if (cgroup >= 0)
    snprintf(task, sizeof(task), " of cgroup fd %d", cgroup);
  else if (pid == -1)
    snprintf(task, sizeof(task), " of every task");
  else if (pid != 0)
    snprintf(task, sizeof(task), " of thread %d", pid);
  if (cpu != -1)
    snprintf(where, sizeof(where), " on CPU %d", cpu);
  snprintf(text, size, "%s%s", task, where);
}
