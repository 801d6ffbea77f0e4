/* SPDX-License-Identifier: MIT */
/* EINVAL, the errno of perf_event_open(2) with the most meanings: looks for what
 * the kernel is known to refuse, the surest first. Tries nothing again. */
#include <errno.h>
#include <stdio.h>
#include <time.h>

#include "attempt.h"
#include "attr.h"
#include "describe.h"
#include "system.h"

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

/* An attr bit (or field) that kernels before `major`.`minor` refuse. */
typedef struct novelty_s {
  const char *name;
  enum uvperf_attr_field field;
  uint64_t mask;
  unsigned int major;
  unsigned int minor;
} novelty_t;

static const novelty_t novelties[] = {
    {"defer_callchain", UVPERF_ATTR_DEFER_CALLCHAIN, 1, 6, 19},
    {"defer_output", UVPERF_ATTR_DEFER_OUTPUT, 1, 6, 19},
    {"start_paused, pause or resume", UVPERF_ATTR_AUX_ACTION, UINT64_MAX, 6,
     13},
    {"branch counters", UVPERF_ATTR_BRANCH_SAMPLE_TYPE,
     UVPERF_SAMPLE_BRANCH_COUNTERS, 6, 8},
    {"branch priv_save", UVPERF_ATTR_BRANCH_SAMPLE_TYPE,
     UVPERF_SAMPLE_BRANCH_PRIV_SAVE, 6, 1},
    {"PERF_FORMAT_LOST", UVPERF_ATTR_READ_FORMAT, UVPERF_FORMAT_LOST, 6, 0},
    {"sigtrap", UVPERF_ATTR_SIGTRAP, 1, 5, 13},
    {"remove_on_exec", UVPERF_ATTR_REMOVE_ON_EXEC, 1, 5, 13},
    {"inherit_thread", UVPERF_ATTR_INHERIT_THREAD, 1, 5, 13},
    {"build_id", UVPERF_ATTR_BUILD_ID, 1, 5, 12},
    {"PERF_SAMPLE_WEIGHT_STRUCT", UVPERF_ATTR_SAMPLE_TYPE,
     UVPERF_SAMPLE_WEIGHT_STRUCT, 5, 12},
    {"PERF_SAMPLE_CODE_PAGE_SIZE", UVPERF_ATTR_SAMPLE_TYPE,
     UVPERF_SAMPLE_CODE_PAGE_SIZE, 5, 11},
    {"PERF_SAMPLE_DATA_PAGE_SIZE", UVPERF_ATTR_SAMPLE_TYPE,
     UVPERF_SAMPLE_DATA_PAGE_SIZE, 5, 11},
};

static int explain_rate(const uvperf__attempt_t *attempt) {
  const struct perf_event_attr *attr = attempt->attr;
  int64_t most;

  if (!attr->freq ||
      uvperf__system_max_sample_rate(attempt->root, &most) != 0 || most < 0 ||
      attr->sample_freq <= (uint64_t)most)
    return 0;
  uvperf__attempt_say(
      attempt, UVPERF_CAUSE_SAMPLE_RATE,
      "%llu Hz is above kernel.perf_event_max_sample_rate, %lld (the kernel "
      "lowers it under load): ask for less or raise it",
      (unsigned long long)attr->sample_freq, (long long)most);
  attempt->error->limit = (uint64_t)most;
  attempt->error->needed = attr->sample_freq;
  return 1;
}

static int is_perf_clock(uint64_t clock) {
  return clock == CLOCK_MONOTONIC || clock == CLOCK_MONOTONIC_RAW ||
         clock == CLOCK_REALTIME || clock == CLOCK_BOOTTIME ||
         clock == CLOCK_TAI;
}

/* perf_event_set_clock: of the PMUs here only those of software events have
 * PERF_PMU_CAP_NO_NMI. */
static int is_unsafe_clock(const struct perf_event_attr *attr) {
  uint64_t clock = uvperf__attr_value(attr, UVPERF_ATTR_CLOCKID);

  return uvperf__attr_value(attr, UVPERF_ATTR_USE_CLOCKID) &&
         attr->type != PERF_TYPE_SOFTWARE && clock != CLOCK_MONOTONIC &&
         clock != CLOCK_MONOTONIC_RAW;
}

/* What kernel/events/core.c refuses of a target on any machine. */
static const char *target_fault(const uvperf__attempt_t *attempt) {
  if (attempt->cgroup >= 0 && attempt->cpu == -1)
    return "a cgroup needs a cpu: open one event for each";
  if (attempt->pid == -1 && attempt->cpu == -1)
    return "every task (pid -1) needs a cpu: open one event for each";
  if (attempt->pid < -1 || attempt->cpu < -1)
    return "pid and cpu are ids, or -1";
  if (uvperf__attr_value(attempt->attr, UVPERF_ATTR_SIGTRAP) &&
      attempt->pid == -1)
    return "sigtrap needs a task";
  return NULL;
}

/* What perf_copy_attr and perf_event_alloc refuse on any machine. */
static const char *attr_fault(const uvperf__attempt_t *attempt) {
  uint64_t sample_type =
      uvperf__attr_value(attempt->attr, UVPERF_ATTR_SAMPLE_TYPE);
  uint64_t stack =
      uvperf__attr_value(attempt->attr, UVPERF_ATTR_SAMPLE_STACK_USER);

  if (uvperf__attr_value(attempt->attr, UVPERF_ATTR_SIGTRAP) &&
      !uvperf__attr_value(attempt->attr, UVPERF_ATTR_REMOVE_ON_EXEC))
    return "sigtrap needs remove_on_exec";
  if (uvperf__attr_value(attempt->attr, UVPERF_ATTR_REMOVE_ON_EXEC) &&
      uvperf__attr_value(attempt->attr, UVPERF_ATTR_ENABLE_ON_EXEC))
    return "remove_on_exec and enable_on_exec exclude each other";
  if (uvperf__attr_value(attempt->attr, UVPERF_ATTR_INHERIT_THREAD) &&
      !uvperf__attr_value(attempt->attr, UVPERF_ATTR_INHERIT))
    return "inherit_thread needs inherit";
  if (uvperf__attr_value(attempt->attr, UVPERF_ATTR_USE_CLOCKID) &&
      !is_perf_clock(uvperf__attr_value(attempt->attr, UVPERF_ATTR_CLOCKID)))
    return "use_clockid takes MONOTONIC, MONOTONIC_RAW, REALTIME, BOOTTIME, "
           "TAI";
  if ((sample_type & PERF_SAMPLE_WEIGHT) &&
      (sample_type & UVPERF_SAMPLE_WEIGHT_STRUCT))
    return "PERF_SAMPLE_WEIGHT and WEIGHT_STRUCT exclude each other";
  if ((sample_type & PERF_SAMPLE_STACK_USER) &&
      (stack % 8 != 0 || stack >= UINT16_MAX))
    return "sample_stack_user must be a multiple of 8 below 65535";
  if (!uvperf__attr_value(attempt->attr, UVPERF_ATTR_FREQ) &&
      uvperf__attr_value(attempt->attr, UVPERF_ATTR_SAMPLE_PERIOD) >> 63)
    return "sample_period must be below 2^63";
  if (uvperf__attr_value(attempt->attr, UVPERF_ATTR_INHERIT) &&
      (sample_type & PERF_SAMPLE_READ))
    return "PERF_SAMPLE_READ with inherit needs Linux 6.12 and PERF_SAMPLE_TID";
  if (is_unsafe_clock(attempt->attr))
    return "REALTIME, BOOTTIME and TAI cannot be read in an NMI: only software "
           "events take them; use MONOTONIC or MONOTONIC_RAW";
  return NULL;
}

static int explain_fault(const uvperf__attempt_t *attempt, const char *fault) {
  if (fault != NULL)
    uvperf__attempt_say(attempt, UVPERF_CAUSE_ARGUMENT, "%s", fault);
  return fault != NULL;
}

/* Bits that a kernel does not know are EINVAL, perf_copy_attr. */
static int explain_novelty(const uvperf__attempt_t *attempt) {
  char release[32];
  unsigned int major, minor;
  size_t i;

  if (uvperf__system_line(attempt->root, "/proc/sys/kernel/osrelease", "",
                          release, sizeof(release)) != 0 ||
      sscanf(release, "%u.%u", &major, &minor) != 2)
    return 0;
  for (i = 0; i < COUNT_OF(novelties); i++) {
    const novelty_t *late = &novelties[i];

    if (!(uvperf__attr_value(attempt->attr, late->field) & late->mask) ||
        major > late->major || (major == late->major && minor >= late->minor))
      continue;
    uvperf__attempt_say(attempt, UVPERF_CAUSE_OLD_KERNEL,
                        "%s needs Linux %u.%u; this is %s", late->name,
                        late->major, late->minor, release);
    return 1;
  }
  return 0;
}

void uvperf__attempt_einval(const uvperf__attempt_t *attempt) {
  if (explain_fault(attempt, target_fault(attempt)) ||
      uvperf__attempt_cpu(attempt, "possible", "there is no such CPU") ||
      explain_rate(attempt) || explain_novelty(attempt) ||
      explain_fault(attempt, attr_fault(attempt)))
    return;
  if (attempt->attr->type == PERF_TYPE_TRACEPOINT)
    uvperf__attempt_say(attempt, UVPERF_CAUSE_NO_EVENT,
                        "no tracepoint has this id: read it from "
                        "events/<group>/<name>/id in tracefs");
  else if (attempt->attr->type == PERF_TYPE_BREAKPOINT)
    uvperf__attempt_say(
        attempt, UVPERF_CAUSE_ARGUMENT, "%s",
        uvperf__describe_breakpoint_rule(attempt->attr->bp_type));
  else if (uvperf__attr_value(attempt->attr, UVPERF_ATTR_AUX_SAMPLE_SIZE))
    uvperf__attempt_say(attempt, UVPERF_CAUSE_NOT_SUPPORTED,
                        "AUX samples need a group leader whose PMU can take "
                        "snapshots of AUX data (intel_pt can)");
  else if (uvperf__attr_value(attempt->attr, UVPERF_ATTR_AUX_ACTION))
    uvperf__attempt_say(attempt, UVPERF_CAUSE_NOT_SUPPORTED,
                        "aux_action to pause or to resume, not both, needs a "
                        "group leader whose PMU can pause AUX data (intel_pt "
                        "can)");
  else
    uvperf__attempt_say(
        attempt, UVPERF_CAUSE_UNKNOWN,
        "the kernel or PMU takes no such combination of config, bits and "
        "group (dmesg may tell more)");
}
