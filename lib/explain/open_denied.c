/* SPDX-License-Identifier: MIT */
/* EACCES and EPERM of perf_event_open(2): perf_event_paranoid and capabilities,
 * the rules for tracing tasks, seccomp filters, lockdown and security
 * modules. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "attr/attr.h"
#include "explain/internal.h"
#include "host/system.h"
#include "sys/sys.h"
#include "util/error.h"

/* Above this level the kernels of some distributions (Debian, Ubuntu) allow no
 * event without CAP_SYS_ADMIN. The levels of the mainline kernel end here. */
#define LAST_COMMON_LEVEL 2

static int64_t paranoid_level(void) {
  int64_t level;

  return uvperf__system_number(UVPERF__PARANOID, &level) == 0 ? level : -1;
}

/* A seccomp filter sees only the number of the call. The kernel reads the attr
 * after the filter, and returns EFAULT if there is no attr. So if a call
 * without an attr gets any other error, the error comes from the filter, with
 * two exceptions:
 * - The kernels of distributions that refuse every event return EACCES before
 *   they read the attr.
 * - A kernel without perf events returns ENOSYS itself, and has no
 *   perf_event_paranoid.
 *
 * Profiles of containers allow the call to processes that have CAP_PERFMON. */
int uvperf__open_filtered(const uvperf__open_call_t *call) {
  if (!uvperf__system_has_filter())
    return 0;
  if (call->code == -EACCES && paranoid_level() > LAST_COMMON_LEVEL)
    return 0;
  if ((call->code == -ENOSYS && uvperf__system_lacks(UVPERF__PARANOID)) ||
      uvperf__sys_open(NULL, 0, -1, -1, 0) != call->code)
    return 0;
  if (uvperf__system_has_capability(UVPERF__CAP_PERFMON) == 1)
    return uvperf__open_say(
        call, UVPERF_CAUSE_NO_PERF,
        "a seccomp filter forbids perf_event_open(2) despite CAP_PERFMON; "
        "allow it in the container's profile (systemd: SystemCallFilter=)");
  return uvperf__open_say(call, UVPERF_CAUSE_NO_PERF,
                          "a seccomp filter forbids perf_event_open(2); run "
                          "the container with --cap-add PERFMON, or allow it "
                          "in its profile (systemd: SystemCallFilter=)");
}

/* capable() of the kernel checks in the initial user namespace. */
static int is_elsewhere(void) {
  return uvperf__system_is_user_namespace() == 1;
}

static const char *capability_name(int is_admin) {
  static const char *const names[2][2] = {
      {"CAP_PERFMON", "CAP_SYS_ADMIN"},
      {"CAP_PERFMON outside this user namespace",
       "CAP_SYS_ADMIN outside this user namespace"},
  };

  return names[is_elsewhere()][is_admin];
}

/* Returns the capability that lifts the rules of perf_event_paranoid here. */
static const char *paranoid_capability(void) {
  return capability_name(uvperf__system_is_before(5, 8) == 1 ||
                         paranoid_level() > LAST_COMMON_LEVEL);
}

/* Reads the real, effective and saved uid of a task, or of ourselves
 * ("self"). */
static int uids_of(const char *task, unsigned long uid[3]) {
  char path[48], text[64];

  snprintf(path, sizeof(path), "/proc/%s/status", task);
  return uvperf__system_line(path, "Uid:", text, sizeof(text)) == 0 &&
         sscanf(text, "%lu %lu %lu", &uid[0], &uid[1], &uid[2]) == 3;
}

/* See __ptrace_may_access in kernel/ptrace.c: each uid of the task must be
 * equal to the caller's real uid. */
static int explain_foreign(const uvperf__open_call_t *call) {
  unsigned long own[3], other[3];
  char task[16];
  size_t i;

  snprintf(task, sizeof(task), "%d", call->pid);
  if (call->pid <= 0 || !uids_of("self", own) || !uids_of(task, other))
    return 0;
  for (i = 0; i < 3 && other[i] == own[0]; i++)
    continue;
  if (i == 3)
    return 0;
  return uvperf__open_say(call, UVPERF_CAUSE_PERMISSION,
                          "the thread belongs to another user (uid %lu); run "
                          "as that user or with %s",
                          other[i], paranoid_capability());
}

/* perf_event_open and perf_kprobe_event_init in kernel/events/core.c require
 * the capability at every level. */
static int explain_privileged(const uvperf__open_call_t *call) {
  const char *what;

  if (uvperf__open_is_probe(call, "kprobe"))
    what = "a kprobe";
  else if (uvperf__attr_value(call->attr, UVPERF_ATTR_NAMESPACES))
    what = "attr.namespaces";
  else
    return 0;
  return uvperf__open_say(call, UVPERF_CAUSE_PERMISSION,
                          "%s needs %s at any kernel.perf_event_paranoid", what,
                          paranoid_capability());
}

/* Events for which CAP_PERFMON is not enough: uprobes since Linux 6.16 and in
 * older stable kernels (perf_uprobe_event_init), and breakpoints in the kernel
 * (hw_breakpoint_parse). This is the only EPERM that is special to
 * breakpoints. */
static int explain_admin(const uvperf__open_call_t *call) {
  const char *what;

  if (!is_elsewhere() &&
      uvperf__system_has_capability(UVPERF__CAP_SYS_ADMIN) == 1)
    return 0;
  if (call->code == -EACCES && uvperf__open_is_probe(call, "uprobe"))
    what = "a uprobe";
  else if (call->code == -EPERM && call->attr->type == PERF_TYPE_BREAKPOINT)
    what = "a breakpoint at a kernel address";
  else
    return 0;
  return uvperf__open_say(call, UVPERF_CAUSE_PERMISSION,
                          "%s needs %s at any kernel.perf_event_paranoid", what,
                          capability_name(1));
}

/* See perf_copy_attr: if branch_sample_type names no side, branches are
 * recorded on the sides that the event does not exclude. */
static int has_kernel_branches(const struct perf_event_attr *attr) {
  const uint64_t sides = PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_KERNEL |
                         PERF_SAMPLE_BRANCH_HV;
  uint64_t asked = uvperf__attr_value(attr, UVPERF_ATTR_BRANCH_SAMPLE_TYPE);

  if (!(attr->sample_type & PERF_SAMPLE_BRANCH_STACK))
    return 0;
  if (asked & sides)
    return (asked & sides) != PERF_SAMPLE_BRANCH_USER;
  return !attr->exclude_kernel || !attr->exclude_hv;
}

/* Returns the part of the event that needs the lowest perf_event_paranoid. A
 * remedy for this part helps the whole event. Sources: perf_trace_event_perm,
 * perf_allow_cpu and perf_allow_kernel. */
static const char *paranoid_need(const uvperf__open_call_t *call,
                                 int64_t *level) {
  const struct perf_event_attr *attr = call->attr;

  *level = -1;
  if (attr->type == PERF_TYPE_TRACEPOINT &&
      (call->code == -EPERM ||
       ((attr->sample_type & PERF_SAMPLE_RAW) && call->pid == -1)))
    return "a tracepoint's data";
  *level = 0;
  if (call->cgroup >= 0)
    return "a whole CPU or a cgroup";
  if (call->pid == -1)
    return "a whole CPU";
  *level = 1;
  if (!attr->exclude_kernel)
    return "the kernel side";
  if (attr->sample_type & PERF_SAMPLE_PHYS_ADDR)
    return "PERF_SAMPLE_PHYS_ADDR";
  if (has_kernel_branches(attr))
    return "a branch stack of more than PERF_SAMPLE_BRANCH_USER";
  *level = LAST_COMMON_LEVEL;
  return "any event";
}

/* If the kernel side is denied, adds the remedy that needs no privileges. */
static int or_exclude_kernel(const uvperf__open_call_t *call) {
  if (call->attr->exclude_user || (call->fallbacks & UVPERF_FALLBACK_USER))
    return 1;
  uvperf__error_add(call->error, "; or set exclude_kernel");
  if (call->attr->type >= PERF_TYPE_MAX) /* PERF_PMU_CAP_NO_EXCLUDE: msr */
    uvperf__error_add(call->error, ", if this PMU can");
  return uvperf__open_or_allow(call, UVPERF_FALLBACK_USER);
}

static int explain_paranoid(const uvperf__open_call_t *call) {
  int64_t level, most;
  const char *what = paranoid_need(call, &most);

  if (uvperf__system_number(UVPERF__PARANOID, &level) != 0)
    return uvperf__open_say(call, UVPERF_CAUSE_PERMISSION,
                            "this needs %s, or a lower "
                            "kernel.perf_event_paranoid, which cannot be read",
                            paranoid_capability());
  if (level <= most)
    return 0;
  uvperf__open_say(
      call, UVPERF_CAUSE_PERMISSION,
      "%s needs kernel.perf_event_paranoid <= %d (it is %lld) or %s", what,
      (int)most, (long long)level, paranoid_capability());
  return most != 1 || call->attr->exclude_kernel || or_exclude_kernel(call);
}

/* See perf_check_permission: the same rights as for ptrace(2) are needed, and
 * more rights for signals. */
static int explain_trace(const uvperf__open_call_t *call, int privileged) {
  int signals = uvperf__attr_value(call->attr, UVPERF_ATTR_SIGTRAP) != 0;

  if (call->pid <= 0 || call->code == -EPERM || (privileged && !signals))
    return 0;
  if (signals)
    return uvperf__open_say(
        call, UVPERF_CAUSE_PERMISSION,
        "attr.sigtrap needs the right to ptrace(2) the thread (see "
        "kernel.yama.ptrace_scope), or %s and CAP_KILL",
        paranoid_capability());
  return uvperf__open_say(call, UVPERF_CAUSE_PERMISSION,
                          "the thread is not dumpable, is setuid or is in "
                          "another user namespace, so tracing it needs %s",
                          paranoid_capability());
}

/* LOCKDOWN_PERF of security/lockdown. */
static int explain_lockdown(const uvperf__open_call_t *call) {
  char text[64];

  if (call->code != -EPERM ||
      !(call->attr->sample_type & PERF_SAMPLE_REGS_INTR) ||
      uvperf__system_line("/sys/kernel/security/lockdown", "", text,
                          sizeof(text)) != 0 ||
      strstr(text, "[confidentiality]") == NULL)
    return 0;
  return uvperf__open_say(call, UVPERF_CAUSE_PERMISSION,
                          "kernel lockdown (confidentiality) forbids "
                          "PERF_SAMPLE_REGS_INTR to all users; leave it out");
}

/* Explains a denial although the process has CAP_PERFMON: at this level of
 * perf_event_paranoid only CAP_SYS_ADMIN helps. */
static int explain_in_spite(const uvperf__open_call_t *call) {
  if (paranoid_level() <= LAST_COMMON_LEVEL ||
      uvperf__system_has_capability(UVPERF__CAP_SYS_ADMIN) != 0)
    return 0;
  return uvperf__open_say(call, UVPERF_CAUSE_PERMISSION,
                          "at kernel.perf_event_paranoid %lld CAP_PERFMON is "
                          "not enough; lower it to 2 or use CAP_SYS_ADMIN",
                          (long long)paranoid_level());
}

int uvperf__open_denied(const uvperf__open_call_t *call) {
  int privileged = uvperf__system_is_perfmon() == 1;

  if (uvperf__open_filtered(call) || explain_admin(call) ||
      explain_lockdown(call))
    return 1;
  if (privileged && explain_in_spite(call))
    return 1;
  if (!privileged && (explain_foreign(call) || explain_privileged(call) ||
                      explain_paranoid(call)))
    return 1;
  return explain_trace(call, privileged) ||
         uvperf__open_say(
             call, UVPERF_CAUSE_PERMISSION,
             "denied despite capabilities and perf_event_paranoid, perhaps by "
             "a security module; see the audit log");
}
