/* SPDX-License-Identifier: MIT */
/* What would turn a no into a yes. The reason says why; here is what to do. */
#include "doctor_check.h"

/* Above this level, of some distributions, only CAP_SYS_ADMIN helps. */
#define LAST_COMMON_LEVEL 2

/* Which had no CAP_PERFMON. */
static int is_before_5_8(const uvperf_limits_t *limits) {
  return limits->kernel_major < 5 ||
         (limits->kernel_major == 5 && limits->kernel_minor < 8);
}

static const char *capability(const uvperf_limits_t *limits,
                              doctor_need_t need) {
  if (need == DOCTOR_NEED_ADMIN || is_before_5_8(limits) ||
      limits->perf_event_paranoid > LAST_COMMON_LEVEL)
    return "cap_sys_admin";
  return "cap_perfmon";
}

/* The highest perf_event_paranoid at which it needs no capability. */
static int level_for(doctor_need_t need) {
  return need == DOCTOR_NEED_OWN      ? 2
         : need == DOCTOR_NEED_KERNEL ? 1
         : need == DOCTOR_NEED_CPU    ? 0
                                      : -1;
}

static int is_at_most(const uvperf_limits_t *limits, int level) {
  return limits->perf_event_paranoid != UVPERF_LIMIT_UNKNOWN &&
         limits->perf_event_paranoid <= level;
}

/* A capability that a user namespace gives is not the kernel's. */
static void denied(doctor_item_t *item, const uvperf_limits_t *limits,
                   doctor_need_t need) {
  const char *where =
      limits->is_user_namespace == 1 ? ", outside of the user namespace" : "";
  int is_allowed = uvperf_system_has_perfmon() == 1 &&
                   need != DOCTOR_NEED_ADMIN &&
                   is_at_most(limits, LAST_COMMON_LEVEL);

  if (need <= DOCTOR_NEED_DATA)
    is_allowed |= is_at_most(limits, level_for(need));
  if (is_allowed)
    snprintf(item->remedy, sizeof(item->remedy),
             "have the security module or the lockdown of the kernel allow it");
  else if (need <= DOCTOR_NEED_DATA)
    snprintf(item->remedy, sizeof(item->remedy),
             "as root%s: sysctl kernel.perf_event_paranoid=%d, or setcap "
             "%s=ep PROGRAM",
             where, level_for(need), capability(limits, need));
  else
    snprintf(item->remedy, sizeof(item->remedy),
             "%srun it as root%s, or as root: setcap %s=ep PROGRAM",
             need == DOCTOR_NEED_OWNER ? "run it as the process's user, " : "",
             where, capability(limits, need));
}

static const char *by_cause(int cause, const doctor_machine_t *machine) {
  switch (cause) {
    case UVPERF_CAUSE_NOT_SUPPORTED:
      return "another CPU or kernel; do without it here";
    case UVPERF_CAUSE_FILES:
      return "raise the limit of open files: ulimit -n";
    case UVPERF_CAUSE_LOCKED_MEMORY:
      return "smaller rings; as root: sysctl kernel.perf_event_mlock_kb=N, a "
             "higher ulimit -l, or setcap cap_ipc_lock=ep PROGRAM";
    case UVPERF_CAUSE_MEMORY:
      return "smaller rings, or more memory";
    case UVPERF_CAUSE_BUSY:
      return "end what else uses the PMU";
    case UVPERF_CAUSE_BREAKPOINT_SLOTS:
      return "end what else has breakpoints, a debugger perhaps";
    case UVPERF_CAUSE_NO_PERF:
      return machine->seccomp == 2
                 ? "a seccomp profile that allows perf_event_open (docker: "
                   "--cap-add PERFMON, or --security-opt seccomp=PROFILE)"
                 : "a kernel with CONFIG_PERF_EVENTS";
    default:
      return "";
  }
}

static int is_of_cpu(const doctor_try_t *try) {
  return try->attr.type == PERF_TYPE_HARDWARE ||
         try->attr.type == PERF_TYPE_HW_CACHE;
}

void doctor_remedy(doctor_item_t *item, const doctor_machine_t *machine,
                   const doctor_check_t *check, const doctor_try_t *try) {
  int cause = item->error.cause;

  if (item->remedy[0] != '\0')
    return;
  if (cause == UVPERF_CAUSE_PERMISSION)
    denied(item, &machine->limits, check->need);
  else if (check->since != NULL &&
           (cause == UVPERF_CAUSE_OLD_KERNEL || item->error.code == UV_EINVAL))
    snprintf(item->remedy, sizeof(item->remedy), "Linux %s or newer",
             check->since);
  else if (cause == UVPERF_CAUSE_NO_EVENT && is_of_cpu(try))
    snprintf(item->remedy, sizeof(item->remedy),
             "the machine itself, or a virtual one with a PMU; else the clock "
             "of the CPU");
  else
    snprintf(item->remedy, sizeof(item->remedy), "%s",
             by_cause(cause, machine));
}
