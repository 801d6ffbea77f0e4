/* SPDX-License-Identifier: MIT */
/* Finds the remedy: the change that would turn a "no" into a "yes". */
#include "doctor/check.h"

#include <errno.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <linux/capability.h>

/* Some distributions have a higher level, at which only CAP_SYS_ADMIN helps. */
#define LAST_COMMON_LEVEL 2

/* Linux 5.8 added CAP_PERFMON. */
static int is_before_5_8(const uvperf_limits_t *limits) {
  return limits->kernel_major < 5 ||
         (limits->kernel_major == 5 && limits->kernel_minor < 8);
}

static int wants_admin(const uvperf_limits_t *limits, doctor_need_t need) {
  return need == DOCTOR_NEED_ADMIN || is_before_5_8(limits) ||
         limits->perf_event_paranoid > LAST_COMMON_LEVEL;
}

/* Perf events need the capability in the initial user namespace. exec(2) grants
 * only capabilities of the bounding set. After PR_SET_NO_NEW_PRIVS the
 * capabilities of a file have no effect. */
int doctor_can_setcap(const doctor_machine_t *machine, int capability) {
  return machine->limits.is_user_namespace != 1 &&
         prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1 &&
         prctl(PR_CAPBSET_READ, capability, 0, 0, 0) != 0;
}

const char *doctor_root(const doctor_machine_t *machine) {
  return machine->limits.is_user_namespace == 1
             ? "as root outside of the user namespace"
         : machine->is_contained ? "as root on the host"
                                 : "as root";
}

/* Returns the highest perf_event_paranoid at which no capability is needed. */
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

/* Writes how to get the capability. If setcap(8) does not help, the process
 * must be started with the capability. */
static void put_gain(const doctor_machine_t *machine, doctor_need_t need,
                     const char *before, char *text, size_t size) {
  int is_admin = wants_admin(&machine->limits, need);
  const char *name = is_admin ? "SYS_ADMIN" : "PERFMON";

  if (machine->limits.is_user_namespace == 1)
    snprintf(text, size, "%srun it as root outside of the user namespace",
             before);
  else if (doctor_can_setcap(machine, is_admin ? CAP_SYS_ADMIN : CAP_PERFMON))
    snprintf(text, size, "%sas root: setcap %s=ep PROGRAM", before,
             is_admin ? "cap_sys_admin" : "cap_perfmon");
  else
    snprintf(text, size,
             "%sstart it as root with CAP_%s (docker: --cap-add %s)", before,
             name, name);
}

static int is_allowed(const uvperf_limits_t *limits, doctor_need_t need) {
  if (need <= DOCTOR_NEED_DATA && is_at_most(limits, level_for(need)))
    return 1;
  return limits->has_perfmon == 1 && need != DOCTOR_NEED_ADMIN &&
         is_at_most(limits, LAST_COMMON_LEVEL);
}

static void denied(doctor_item_t *item, const doctor_machine_t *machine,
                   doctor_need_t need) {
  const uvperf_limits_t *limits = &machine->limits;
  int is_root = geteuid() == 0;
  char before[96];

  if (is_allowed(limits, need)) {
    snprintf(
        item->remedy, sizeof(item->remedy),
        "allow it in the security module, or in the lockdown of the kernel");
    return;
  }
  if (need <= DOCTOR_NEED_DATA)
    snprintf(before, sizeof(before),
             "%s: sysctl kernel.perf_event_paranoid=%d, or ",
             doctor_root(machine), level_for(need));
  else
    snprintf(
        before, sizeof(before), "%s%s",
        need == DOCTOR_NEED_OWNER && !is_root ? "run it as the process's user, "
                                              : "",
        is_root || limits->is_user_namespace == 1 ? "" : "run it as root, or ");
  put_gain(machine, need, before, item->remedy, sizeof(item->remedy));
}

static const char *without_perf(const doctor_machine_t *machine) {
  if (machine->seccomp == 2)
    return machine->limits.cap_perfmon == 1
               ? "a seccomp profile that allows perf_event_open (docker: "
                 "--security-opt seccomp=PROFILE; systemd: SystemCallFilter=)"
               : "a seccomp profile that allows perf_event_open (docker: "
                 "--cap-add PERFMON, or --security-opt seccomp=PROFILE; "
                 "systemd: SystemCallFilter=)";
  return machine->limits.has_perf == 1
             ? "run it outside of the emulator or sandbox"
             : "a kernel with CONFIG_PERF_EVENTS";
}

static const char *by_cause(int cause, const doctor_machine_t *machine) {
  switch (cause) {
    case UVPERF_CAUSE_NOT_SUPPORTED:
      return "another CPU or kernel; do without it here";
    case UVPERF_CAUSE_FILES:
      return "raise the limit of open files: ulimit -n";
    case UVPERF_CAUSE_LOCKED_MEMORY:
      return machine->is_contained
                 ? "smaller rings; docker: --ulimit memlock=BYTES, or "
                   "--cap-add IPC_LOCK"
                 : "smaller rings; as root: sysctl "
                   "kernel.perf_event_mlock_kb=N, a higher ulimit -l, or "
                   "setcap cap_ipc_lock=ep PROGRAM";
    case UVPERF_CAUSE_MEMORY:
      return "smaller rings, or more memory";
    case UVPERF_CAUSE_BUSY:
      return "end other programs that use the PMU";
    case UVPERF_CAUSE_BREAKPOINT_SLOTS:
      return "end other programs that use breakpoints, such as a debugger";
    case UVPERF_CAUSE_NO_PERF:
      return without_perf(machine);
    default:
      return "";
  }
}

doctor_result_t doctor_unreadable(doctor_item_t *item,
                                  const doctor_machine_t *machine, int code,
                                  const char *what, const char *mount) {
  int cause = code == -EMFILE || code == -ENFILE ? UVPERF_CAUSE_FILES
              : code == -ENOMEM                  ? UVPERF_CAUSE_MEMORY
                                                 : UVPERF_CAUSE_UNKNOWN;

  snprintf(item->remedy, sizeof(item->remedy), "%s",
           code == -ENOENT ? mount : by_cause(cause, machine));
  return doctor_cannot(item, DOCTOR_UNKNOWN, code, cause, "%s cannot be read",
                       what);
}

static const char *without_event(const doctor_try_t *try) {
  switch (try->attr.type) {
    case PERF_TYPE_HARDWARE:
    case PERF_TYPE_HW_CACHE:
      return "a physical machine, or a virtual one with a PMU; or use the CPU "
             "clock";
    case PERF_TYPE_BREAKPOINT:
      return "another architecture; do without it here";
    default:
      return "another kernel; do without it here";
  }
}

void doctor_remedy(doctor_item_t *item, const doctor_machine_t *machine,
                   const doctor_check_t *check, const doctor_try_t *try) {
  int cause = item->error.cause;

  if (item->remedy[0] != '\0')
    return;
  if (cause == UVPERF_CAUSE_PERMISSION)
    denied(item, machine, check->need);
  else if (check->since != NULL &&
           (cause == UVPERF_CAUSE_OLD_KERNEL || item->error.code == UV_EINVAL))
    snprintf(item->remedy, sizeof(item->remedy), "Linux %s or newer",
             check->since);
  else if (cause == UVPERF_CAUSE_NO_EVENT)
    snprintf(item->remedy, sizeof(item->remedy), "%s", without_event(try));
  else
    snprintf(item->remedy, sizeof(item->remedy), "%s",
             by_cause(cause, machine));
}
