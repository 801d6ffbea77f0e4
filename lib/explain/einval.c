/* SPDX-License-Identifier: MIT */
/* EINVAL, the errno of perf_event_open(2) with the most meanings: looks for
 * what the kernel is known to refuse, in the kernel's order. What is in the
 * attr and what is of the group have files of their own. */
#include <errno.h>
#include <stdio.h>

#include "attr/attr.h"
#include "explain/internal.h"
#include "host/pmu.h"
#include "host/system.h"
#include "host/tracefs.h"

/* What perf_event_open and perf_event_alloc refuse of a target. */
static const char *target_fault(const uvperf__attempt_t *attempt) {
  if (attempt->cgroup >= 0 && attempt->cpu == -1)
    return "a cgroup needs a cpu: open one event for each";
  if (attempt->pid == -1 && attempt->cpu == -1)
    return "every task (pid -1) needs a cpu: open one event for each";
  if (attempt->pid < -1 || attempt->cpu < -1)
    return "pid and cpu are ids, or -1";
  if (uvperf__attr_value(attempt->attr, UVPERF_ATTR_SIGTRAP) &&
      (attempt->pid == -1 || attempt->cgroup >= 0))
    return "sigtrap needs a task";
  return NULL;
}

/* kernel/trace/trace_event_perf.c, perf_trace_event_perm, on ftrace:function;
 * perf_trace_init on those that tracefs lists and perf does not have. */
static void explain_ftrace(const uvperf__attempt_t *attempt) {
  uvperf__attempt_say(
      attempt, UVPERF_CAUSE_NOT_SUPPORTED,
      "events of ftrace cannot be opened so: ftrace:function samples neither "
      "user call chain nor stack, and the others are for ftrace only");
}

/* PMUs say EINVAL for a config that they do not know, for what they never can,
 * and for a target that is not theirs (the uncore ones, whose cpumask in sysfs
 * names the CPUs that speak for all). */
static int explain_pmu(const uvperf__attempt_t *attempt) {
  const struct perf_event_attr *attr = attempt->attr;
  char pmu[32], path[96], cpus[32];
  int excludes = attr->exclude_user || attr->exclude_kernel ||
                 attr->exclude_hv || attr->exclude_idle || attr->exclude_host ||
                 attr->exclude_guest;

  if (attr->type < PERF_TYPE_MAX ||
      uvperf__pmu_name(attempt->root, attr->type, pmu, sizeof(pmu)) != 0)
    return 0;
  snprintf(path, sizeof(path), "/sys/bus/event_source/devices/%s/cpumask", pmu);
  if (attempt->pid != -1 &&
      uvperf__system_line(attempt->root, path, "", cpus, sizeof(cpus)) == 0)
    uvperf__attempt_say(attempt, UVPERF_CAUSE_ARGUMENT,
                        "this PMU counts whole CPUs only: pid -1, and as cpu "
                        "one of its cpumask, %s",
                        cpus);
  else if (excludes || attr->sample_period != 0)
    uvperf__attempt_say(
        attempt, UVPERF_CAUSE_NOT_SUPPORTED,
        "not every PMU can %s: try without, or see its format and events in "
        "sysfs for the config",
        !excludes                  ? "sample"
        : attr->sample_period == 0 ? "exclude_*"
                                   : "sample and exclude_*");
  else
    uvperf__attempt_say(attempt, UVPERF_CAUSE_NO_EVENT,
                        "the PMU has no such config: see its format and events "
                        "in /sys/bus/event_source/devices");
  return 1;
}

/* perf_cgroup_connect and perf_copy_attr without CONFIG_CGROUP_PERF. */
static int explain_cgroup(const uvperf__attempt_t *attempt) {
  char text[8];

  if ((attempt->cgroup < 0 &&
       !(attempt->attr->sample_type & PERF_SAMPLE_CGROUP)) ||
      uvperf__system_line(attempt->root, "/proc/cgroups", "perf_event", text,
                          sizeof(text)) != -ENODATA)
    return 0;
  uvperf__attempt_say(attempt, UVPERF_CAUSE_NOT_SUPPORTED,
                      "this kernel has no perf events of cgroups: it needs "
                      "CONFIG_CGROUP_PERF");
  return 1;
}

static int explain_aux(const uvperf__attempt_t *attempt) {
  if (!uvperf__attr_value(attempt->attr, UVPERF_ATTR_AUX_SAMPLE_SIZE) &&
      !(uvperf__attr_value(attempt->attr, UVPERF_ATTR_AUX_ACTION) & 6))
    return 0;
  uvperf__attempt_say(attempt, UVPERF_CAUSE_NOT_SUPPORTED,
                      "AUX samples, pause and resume need a group leader with "
                      "an AUX area (intel_pt has one)");
  return 1;
}

/* set_ext_hw_attr in arch/x86/events/core.c: what is not in the CPU's table of
 * caches is ENOENT, and what this kind of CPU never counts of one EINVAL. */
static int explain_cache(const uvperf__attempt_t *attempt) {
  if (attempt->attr->type != PERF_TYPE_HW_CACHE)
    return 0;
  uvperf__attempt_say(attempt, UVPERF_CAUSE_NO_EVENT,
                      "the CPU's PMU has no such event of this cache, or there "
                      "is no such cache: try another operation or result");
  return 1;
}

static void explain_combination(const uvperf__attempt_t *attempt) {
  uvperf__attempt_say(attempt, UVPERF_CAUSE_UNKNOWN,
                      "the kernel or PMU takes no such combination of config, "
                      "bits and group (dmesg may tell more)");
}

/* The kernel says the same of an id that is none and of all else: only tracefs,
 * where it can be read, tells the one from the other. */
static void explain_tracepoint(const uvperf__attempt_t *attempt) {
  uvperf__tracefs_ids_t own = {0};
  int is_ftrace;
  int rc =
      uvperf__tracefs_find(attempt->tracepoints ? attempt->tracepoints : &own,
                           attempt->root, attempt->attr->config, &is_ftrace);

  if (is_ftrace)
    explain_ftrace(attempt);
  else if (rc == -ENOENT)
    uvperf__attempt_say(attempt, UVPERF_CAUSE_NO_EVENT,
                        "no tracepoint has this id: read it from "
                        "events/<group>/<name>/id in tracefs");
  else if (uvperf__attempt_group(attempt) || explain_aux(attempt))
    return;
  else if (rc == 0)
    explain_combination(attempt);
  else
    uvperf__attempt_say(
        attempt, UVPERF_CAUSE_NO_EVENT,
        "probably no tracepoint has this id: read it, as root, from "
        "events/<group>/<name>/id in tracefs");
}

void uvperf__attempt_einval(const uvperf__attempt_t *attempt) {
  if (uvperf__attempt_attr(attempt) ||
      uvperf__attempt_fault(attempt, UVPERF_CAUSE_ARGUMENT,
                            target_fault(attempt)) ||
      uvperf__attempt_cpu(attempt, "possible", "there is no such CPU") ||
      explain_cgroup(attempt))
    return;
  if (attempt->attr->type == PERF_TYPE_TRACEPOINT)
    explain_tracepoint(attempt);
  else if (!uvperf__attempt_breakpoint(attempt) &&
           !uvperf__attempt_probe(attempt) && !uvperf__attempt_group(attempt) &&
           !explain_aux(attempt) && !explain_pmu(attempt) &&
           !explain_cache(attempt))
    explain_combination(attempt);
}
