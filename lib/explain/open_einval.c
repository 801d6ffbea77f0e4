/* SPDX-License-Identifier: MIT */
/* EINVAL, the errno of perf_event_open(2) with the most meanings. Looks for
 * known faults in the order in which perf_copy_attr and perf_event_open in
 * kernel/events/core.c check: the attr, the target, and the group's leader. A
 * bad leader can also cause ENODEV. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "attr/attr.h"
#include "explain/internal.h"
#include "host/pmu.h"
#include "host/system.h"
#include "host/task.h"
#include "host/tracefs.h"

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

/* -- of the attr and the target ------------------------------------------- */

/* The bits of Linux 6.19, perf_event.h. */
#define SAMPLE_BITS ((UINT64_C(1) << 25) - 1)
#define FORMAT_BITS ((UINT64_C(1) << 5) - 1)
#define BRANCH_BITS ((UINT64_C(1) << 20) - 1)

/* PERF_SAMPLE_BRANCH_PLM_ALL: the sides whose branches are recorded, not the
 * kinds of branches. */
#define BRANCH_SIDES                                                           \
  ((uint64_t)(PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_KERNEL |            \
              PERF_SAMPLE_BRANCH_HV))

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
    {"text_poke", UVPERF_ATTR_TEXT_POKE, 1, 5, 9},
    {"cgroup", UVPERF_ATTR_CGROUP, 1, 5, 7},
    {"PERF_SAMPLE_CGROUP", UVPERF_ATTR_SAMPLE_TYPE, PERF_SAMPLE_CGROUP, 5, 7},
    {"branch hw_index", UVPERF_ATTR_BRANCH_SAMPLE_TYPE,
     PERF_SAMPLE_BRANCH_HW_INDEX, 5, 7},
    {"PERF_SAMPLE_AUX", UVPERF_ATTR_SAMPLE_TYPE, PERF_SAMPLE_AUX, 5, 5},
    {"aux_output", UVPERF_ATTR_AUX_OUTPUT, 1, 5, 4},
    {"ksymbol", UVPERF_ATTR_KSYMBOL, 1, 5, 1},
    {"bpf_event", UVPERF_ATTR_BPF_EVENT, 1, 5, 1},
};

static uint64_t field_value(const uvperf__open_call_t *call,
                            enum uvperf_attr_field field) {
  return uvperf__attr_value(call->attr, field);
}

/* The kernel checks branch_sample_type only with PERF_SAMPLE_BRANCH_STACK. */
static int is_checked(const uvperf__open_call_t *call,
                      enum uvperf_attr_field field) {
  return field != UVPERF_ATTR_BRANCH_SAMPLE_TYPE ||
         (call->attr->sample_type & PERF_SAMPLE_BRANCH_STACK);
}

static int explain_novelty(const uvperf__open_call_t *call) {
  char release[24];
  size_t i;

  for (i = 0; i < COUNT_OF(novelties); i++) {
    const novelty_t *late = &novelties[i];

    if (!(field_value(call, late->field) & late->mask) ||
        !is_checked(call, late->field) ||
        uvperf__system_is_before(late->major, late->minor) != 1)
      continue;
    uvperf__system_line("/proc/sys/kernel/osrelease", "", release,
                        sizeof(release));
    uvperf__open_say(call, UVPERF_CAUSE_OLD_KERNEL,
                     "%s needs Linux %u.%u, and this is %s; leave it out",
                     late->name, late->major, late->minor, release);
    return uvperf__open_or_allow(call, UVPERF_FALLBACK_KERNEL);
  }
  return 0;
}

/* Bits that no kernel had when this was written. */
static int explain_unknown_bits(const uvperf__open_call_t *call) {
  const struct {
    const char *name;
    uint64_t bits;
  } unknown[] = {
      {"the flag word",
       uvperf__attr_flags(call->attr) & ~UVPERF__ATTR_NAMED_FLAGS},
      {"sample_type", call->attr->sample_type & ~SAMPLE_BITS},
      {"read_format", call->attr->read_format & ~FORMAT_BITS},
      {"branch_sample_type",
       is_checked(call, UVPERF_ATTR_BRANCH_SAMPLE_TYPE)
           ? field_value(call, UVPERF_ATTR_BRANCH_SAMPLE_TYPE) & ~BRANCH_BITS
           : 0},
      {"aux_action", field_value(call, UVPERF_ATTR_AUX_ACTION) & ~UINT64_C(7)},
      {"__reserved_2", call->attr->__reserved_2},
  };
  size_t i;

  for (i = 0; i < COUNT_OF(unknown) && unknown[i].bits == 0; i++)
    continue;
  if (i == COUNT_OF(unknown))
    return 0;
  uvperf__open_say(
      call, UVPERF_CAUSE_OLD_KERNEL,
      "%s has bits that neither this kernel nor Linux 6.19 knows, %#llx; "
      "clear them",
      unknown[i].name, (unsigned long long)unknown[i].bits);
  return uvperf__open_or_allow(call, UVPERF_FALLBACK_KERNEL);
}

/* See perf_reg_validate in arch/x86/kernel/perf_regs.c: it accepts no segment
 * registers except CS and SS, and there is a gap before XMM0. On other
 * architectures only the mask 0 is known to be bad. */
static int are_bad_registers(uint64_t mask) {
#if defined(__x86_64__)
  return mask == 0 || (mask & UINT64_C(0xff00f000)) != 0;
#else
  return mask == 0;
#endif
}

/* The kernel checks these faults in perf_copy_attr, before the rate. */
static const char *copy_fault(const uvperf__open_call_t *call) {
  uint64_t sample_type = call->attr->sample_type;
  uint64_t stack = field_value(call, UVPERF_ATTR_SAMPLE_STACK_USER);

  if ((sample_type & PERF_SAMPLE_BRANCH_STACK) &&
      !(field_value(call, UVPERF_ATTR_BRANCH_SAMPLE_TYPE) & ~BRANCH_SIDES))
    return "branch_sample_type names no kind of branches; set one, such as "
           "PERF_SAMPLE_BRANCH_ANY";
  if ((sample_type & PERF_SAMPLE_REGS_USER) &&
      are_bad_registers(field_value(call, UVPERF_ATTR_SAMPLE_REGS_USER)))
    return "sample_regs_user must name one or more registers of "
           "<asm/perf_regs.h> (x86-64: not DS to GS)";
  if ((sample_type & PERF_SAMPLE_STACK_USER) &&
      (stack % 8 != 0 || stack >= UINT16_MAX))
    return "sample_stack_user must be a multiple of 8 below 65535";
  if ((sample_type & PERF_SAMPLE_REGS_INTR) &&
      are_bad_registers(field_value(call, UVPERF_ATTR_SAMPLE_REGS_INTR)))
    return "sample_regs_intr must name one or more registers of "
           "<asm/perf_regs.h> (x86-64: not DS to GS)";
  if ((sample_type & PERF_SAMPLE_WEIGHT) &&
      (sample_type & UVPERF_SAMPLE_WEIGHT_STRUCT))
    return "PERF_SAMPLE_WEIGHT and PERF_SAMPLE_WEIGHT_STRUCT exclude each "
           "other; set only one";
  if (field_value(call, UVPERF_ATTR_INHERIT_THREAD) &&
      !field_value(call, UVPERF_ATTR_INHERIT))
    return "inherit_thread needs inherit; set both";
  if (field_value(call, UVPERF_ATTR_REMOVE_ON_EXEC) &&
      field_value(call, UVPERF_ATTR_ENABLE_ON_EXEC))
    return "remove_on_exec and enable_on_exec exclude each other; set only one";
  if (field_value(call, UVPERF_ATTR_SIGTRAP) &&
      !field_value(call, UVPERF_ATTR_REMOVE_ON_EXEC))
    return "sigtrap needs remove_on_exec; set both";
  return NULL;
}

static int explain_rate(const uvperf__open_call_t *call) {
  const struct perf_event_attr *attr = call->attr;
  int64_t most;

  if (!attr->freq ||
      uvperf__system_number(UVPERF__MAX_SAMPLE_RATE, &most) != 0 || most < 0 ||
      attr->sample_freq <= (uint64_t)most)
    return 0;
  uvperf__open_say(
      call, UVPERF_CAUSE_SAMPLE_RATE,
      "%llu Hz is above kernel.perf_event_max_sample_rate, %lld (the kernel "
      "lowers it under load); sample less often or raise it",
      (unsigned long long)attr->sample_freq, (long long)most);
  return uvperf__open_limit(call, (uint64_t)most, attr->sample_freq);
}

/* See perf_event_set_clock: events that may count in an NMI accept only the
 * first two clocks. */
static const char *clock_fault(const uvperf__open_call_t *call) {
  int clock = (int)field_value(call, UVPERF_ATTR_CLOCKID);

  if (!field_value(call, UVPERF_ATTR_USE_CLOCKID) || clock == CLOCK_MONOTONIC ||
      clock == CLOCK_MONOTONIC_RAW)
    return NULL;
  if (clock != CLOCK_REALTIME && clock != CLOCK_BOOTTIME && clock != CLOCK_TAI)
    return "perf does not know this clockid; use CLOCK_MONOTONIC, "
           "_MONOTONIC_RAW, _REALTIME, _BOOTTIME or _TAI";
  return call->attr->type == PERF_TYPE_SOFTWARE
             ? NULL
             : "only software events can use this clockid; use "
               "CLOCK_MONOTONIC or CLOCK_MONOTONIC_RAW";
}

/* Faults of the attr and the target that perf_event_open or perf_event_alloc
 * refuses, after the rate. */
static const char *late_fault(const uvperf__open_call_t *call) {
  const char *bad_clock = clock_fault(call);
  int reads_children =
      call->attr->inherit && (call->attr->sample_type & PERF_SAMPLE_READ);

  if (!call->attr->freq && call->attr->sample_period >> 63)
    return "sample_period is not below 2^63; lower it";
  if (reads_children && !(call->attr->sample_type & PERF_SAMPLE_TID))
    return "PERF_SAMPLE_READ with inherit needs PERF_SAMPLE_TID (and Linux "
           "6.12); set it, or clear inherit";
  if (reads_children && uvperf__system_is_before(6, 12) == 1)
    return "PERF_SAMPLE_READ with inherit needs Linux 6.12; clear one of them";
  if ((field_value(call, UVPERF_ATTR_AUX_ACTION) & 6) == 6)
    return "aux_pause and aux_resume exclude each other; set only one";
  if (bad_clock != NULL)
    return bad_clock;
  if (call->cgroup >= 0 && call->cpu == -1)
    return "a cgroup needs a CPU; open one event per CPU";
  if (call->pid == -1 && call->cpu == -1)
    return "every task (pid -1) needs a CPU; open one event per CPU";
  if (call->pid < -1 || call->cpu < -1)
    return "pid or cpu is below -1; use an id or -1";
  if (field_value(call, UVPERF_ATTR_SIGTRAP) &&
      (call->pid == -1 || call->cgroup >= 0))
    return "sigtrap needs a task; use its pid";
  return NULL;
}

static int explain_argument(const uvperf__open_call_t *call) {
  return uvperf__open_fault(call, UVPERF_CAUSE_ARGUMENT, copy_fault(call)) ||
         explain_rate(call) ||
         uvperf__open_fault(call, UVPERF_CAUSE_ARGUMENT, late_fault(call)) ||
         uvperf__open_cpu(call, "possible", "there is no such CPU");
}

/* -- of the group's leader ------------------------------------------------- */

/* pid 0 is the calling thread, also for the leader, because both belong to one
 * loop. */
static int thread_of(int pid) {
  int thread;

  if (pid != 0)
    return pid;
  thread = uvperf__system_thread();
  return thread > 0 ? thread : 0;
}

/* Whether it is certain that the kernel counts the event itself. It is certain
 * for software events, tracepoints and breakpoints. Other events may each
 * belong to a different PMU. */
static int is_software(const struct perf_event_attr *attr) {
  return attr->type == PERF_TYPE_SOFTWARE ||
         attr->type == PERF_TYPE_TRACEPOINT ||
         attr->type == PERF_TYPE_BREAKPOINT;
}

static const char *group_fault(const uvperf__open_call_t *call) {
  const uvperf__open_call_t *leader = call->leader;

  if (call->pid != -1 && call->cgroup < 0 &&
      leader->attr->inherit != call->attr->inherit)
    return "inherit differs from the leader's; set it in both or in none";
  if ((call->cgroup >= 0) != (leader->cgroup >= 0))
    return "only one of the event and its leader measures a cgroup; open both "
           "for the same cgroup, or none";
  if (leader->leader != NULL)
    return "the leader is itself a member of a group; use the leader of that "
           "group";
  if (uvperf__attr_clock(call->attr) != uvperf__attr_clock(leader->attr))
    return "use_clockid or clockid differs from the leader's; use the leader's";
  if (call->cpu != leader->cpu)
    return "the leader is on another CPU; open one group per CPU";
  if (call->cgroup < 0 && thread_of(call->pid) != thread_of(leader->pid))
    return "the leader measures another thread; open one group per thread";
  if (call->attr->exclusive || call->attr->pinned)
    return "only the leader may be pinned or exclusive, for the whole group; "
           "clear both in the other events";
  if (call->cgroup >= 0 && call->cgroup != leader->cgroup)
    return "the leader measures another cgroup; open one group per cgroup";
  if (!is_software(call->attr))
    return "the PMU cannot count this in the leader's group; a group has "
           "hardware events of one PMU only, and no more than it has counters";
  return NULL;
}

/* The kernel checks the leader before it looks for the task. If the leader's
 * task has ended, it returns ENODEV (PERF_EVENT_STATE_DEAD, Linux 6.15). For a
 * moment before that, the leader no longer belongs to the task's context, and
 * the kernel returns EINVAL. */
int uvperf__open_dead_group(const uvperf__open_call_t *call) {
  uvperf__task_t task;
  int rc;

  if (call->leader == NULL || call->pid <= 0)
    return 0;
  rc = uvperf__task_read(call->pid, &task);
  if (rc != -ESRCH && (rc != 0 || !task.has_ended))
    return 0;
  return uvperf__open_say(call, UVPERF_CAUSE_NO_TASK,
                          "the thread has ended since its group's leader was "
                          "opened");
}

static int explain_group(const uvperf__open_call_t *call) {
  return uvperf__open_dead_group(call) ||
         (call->leader != NULL &&
          uvperf__open_fault(call, UVPERF_CAUSE_ARGUMENT, group_fault(call)));
}

/* -- of the PMU, and all --------------------------------------- */

/* Whether the event asks for a counter that user space may read: see
 * __armv8_pmuv3_map_event in drivers/perf/arm_pmuv3.c. */
static int wants_user_read(const uvperf__open_call_t *call, const char *pmu) {
  uvperf__pmu_format_t format;

  return uvperf__pmu_format(pmu, "rdpmc", &format) == 0 &&
         (field_value(call, format.field) & format.mask) != 0;
}

/* PMUs return EINVAL for a config that they do not know, for features that they
 * do not have, and for a target that they cannot measure: uncore PMUs count
 * only on the CPUs of their cpumask in sysfs. */
static int explain_pmu(const uvperf__open_call_t *call) {
  const struct perf_event_attr *attr = call->attr;
  char pmu[32], path[96], cpus[32];
  int excludes = attr->exclude_user || attr->exclude_kernel ||
                 attr->exclude_hv || attr->exclude_idle || attr->exclude_host ||
                 attr->exclude_guest;

  if (attr->type < PERF_TYPE_MAX ||
      uvperf__pmu_name(attr->type, pmu, sizeof(pmu)) != 0)
    return 0;
  snprintf(path, sizeof(path), "/sys/bus/event_source/devices/%s/cpumask", pmu);
  if (call->pid != -1 && uvperf__system_line(path, "", cpus, sizeof(cpus)) == 0)
    return uvperf__open_say(call, UVPERF_CAUSE_ARGUMENT,
                            "this PMU counts whole CPUs only; use pid -1, and "
                            "UVPERF_EVENT_CPU with a CPU of its cpumask, %s",
                            cpus);
  if (call->pid == -1 && wants_user_read(call, pmu))
    return uvperf__open_say(
        call, UVPERF_CAUSE_ARGUMENT,
        "only a thread's event can have rdpmc=1; leave it out for a whole CPU");
  if (excludes || attr->sample_period != 0)
    return uvperf__open_say(call, UVPERF_CAUSE_NOT_SUPPORTED,
                            "the PMU may not support %s or this config; try "
                            "without, and see its format and events in sysfs",
                            !excludes                  ? "sampling"
                            : attr->sample_period == 0 ? "exclude_*"
                                                       : "sampling, exclude_*");
  return uvperf__open_say(call, UVPERF_CAUSE_NO_EVENT,
                          "the PMU has no such config; see its format and "
                          "events in /sys/bus/event_source/devices");
}

/* perf_cgroup_connect and perf_copy_attr without CONFIG_CGROUP_PERF. */
static int has_no_cgroups(const uvperf__open_call_t *call) {
  char text[8];

  return (call->cgroup >= 0 ||
          (call->attr->sample_type & PERF_SAMPLE_CGROUP)) &&
         uvperf__system_line("/proc/cgroups", "perf_event", text,
                             sizeof(text)) == -ENODATA;
}

static int needs_aux(const uvperf__open_call_t *call) {
  return field_value(call, UVPERF_ATTR_AUX_SAMPLE_SIZE) ||
         (field_value(call, UVPERF_ATTR_AUX_ACTION) & 6);
}

static int is_cache(const uvperf__open_call_t *call) {
  return call->attr->type == PERF_TYPE_HW_CACHE;
}

/* The kernel returns the same code for an id that does not exist and for all
 * other faults. Only tracefs shows which of the two it is, if tracefs is
 * readable. Returns -EINVAL for other events. */
static int find_tracepoint(const uvperf__open_call_t *call, int *is_ftrace) {
  uvperf__tracefs_ids_t own = {0};

  *is_ftrace = 0;
  if (call->attr->type != PERF_TYPE_TRACEPOINT)
    return -EINVAL;
  return uvperf__tracefs_find(call->tracepoints ? call->tracepoints : &own,
                              call->attr->config, is_ftrace);
}

/* In kernel/trace/trace_event_perf.c, perf_trace_event_perm refuses
 * ftrace:function. perf_trace_init refuses tracepoints that tracefs lists but
 * perf does not have. */
static int is_of_ftrace(const uvperf__open_call_t *call) {
  int is_ftrace;

  find_tracepoint(call, &is_ftrace);
  return is_ftrace;
}

static int is_no_tracepoint(const uvperf__open_call_t *call) {
  int is_ftrace;

  return find_tracepoint(call, &is_ftrace) == -ENOENT;
}

static int may_be_no_tracepoint(const uvperf__open_call_t *call) {
  int is_ftrace;

  return call->attr->type == PERF_TYPE_TRACEPOINT &&
         find_tracepoint(call, &is_ftrace) != 0;
}

static const uvperf__open_reason_t reasons[] = {
    {0, explain_novelty, 0, NULL},
    {0, explain_unknown_bits, 0, NULL},
    {0, explain_argument, 0, NULL},
    {0, has_no_cgroups, UVPERF_CAUSE_NOT_SUPPORTED,
     "this kernel has no perf events for cgroups; it needs CONFIG_CGROUP_PERF"},
    {0, is_of_ftrace, UVPERF_CAUSE_NOT_SUPPORTED,
     "of ftrace's events perf can open ftrace:function only, without user call "
     "chains and stacks; use another event, or clear those bits"},
    {0, is_no_tracepoint, UVPERF_CAUSE_NO_EVENT,
     "no tracepoint has this id; read it from events/<group>/<name>/id in "
     "tracefs"},
    {0, uvperf__open_probe, 0, NULL},
    {0, explain_group, 0, NULL},
    {0, needs_aux, UVPERF_CAUSE_NOT_SUPPORTED,
     "AUX samples, pause and resume need an AUX area; use a group leader that "
     "has one, such as intel_pt"},
    {0, may_be_no_tracepoint, UVPERF_CAUSE_NO_EVENT,
     "probably no tracepoint has this id; read it, as root, from "
     "events/<group>/<name>/id in tracefs"},
    {0, explain_pmu, 0, NULL},
    /* set_ext_hw_attr in arch/x86/events/core.c returns ENOENT if an event is
     * missing in the CPU's table of caches, and EINVAL if this kind of CPU
     * never counts it. */
    {0, is_cache, UVPERF_CAUSE_NO_EVENT,
     "the CPU's PMU has no such event for this cache, or there is no such "
     "cache; try another operation or result"},
    {0, NULL, UVPERF_CAUSE_UNKNOWN,
     "the kernel or PMU rejects this combination of config, bits and group; "
     "dmesg may have details"},
};

int uvperf__open_einval(const uvperf__open_call_t *call) {
  return uvperf__open_find(call, reasons, COUNT_OF(reasons));
}
