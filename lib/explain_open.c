/* SPDX-License-Identifier: MIT */
/* Turns an errno of perf_event_open(2), and what /proc and /sys say about this
 * machine, into a cause, a reason and a remedy. It tries nothing again: a
 * reason is what is known to be so, else the likeliest one. */
#include "explain.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "attempt.h"
#include "attr.h"
#include "system.h"

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

static int has_seccomp_filter(const char *root) {
  char text[16];

  /* SECCOMP_MODE_FILTER, proc(5). */
  return uvperf__system_line(root, "/proc/self/status", "Seccomp:", text,
                             sizeof(text)) == 0 &&
         atoi(text) == 2;
}

/* The real uid of a task, or of ourselves ("self"). */
static int uid_of(const char *root, const char *task, unsigned long *uid) {
  char path[48], text[64];
  int rc;

  snprintf(path, sizeof(path), "/proc/%s/status", task);
  rc = uvperf__system_line(root, path, "Uid:", text, sizeof(text));
  *uid = rc == 0 ? strtoul(text, NULL, 10) : 0;
  return rc;
}

static int is_foreign(const uvperf__attempt_t *attempt) {
  unsigned long own, other;
  char task[16];

  if (attempt->pid <= 0)
    return 0;
  snprintf(task, sizeof(task), "%d", attempt->pid);
  return uid_of(attempt->root, "self", &own) == 0 &&
         uid_of(attempt->root, task, &other) == 0 && own != other;
}

/* kernel/events/core.c, perf_kprobe_event_init and perf_uprobe_event_init ask
 * for the capability whatever the level. */
static int is_probe(const uvperf__attempt_t *attempt) {
  return uvperf__system_is_probe(attempt->root, attempt->attr->type);
}

/* What asks for the lowest perf_event_paranoid, so that the remedy suffices.
 * Sources: perf_trace_event_perm, perf_allow_cpu and perf_allow_kernel; levels
 * above 2 are of Debian and Ubuntu. */
static const char *paranoid_need(const uvperf__attempt_t *attempt,
                                 int64_t *level) {
  const struct perf_event_attr *attr = attempt->attr;

  *level = -1;
  if (attr->type == PERF_TYPE_TRACEPOINT &&
      (attr->sample_type & PERF_SAMPLE_RAW) &&
      (attempt->code == -EPERM || attempt->pid == -1))
    return "a tracepoint's data";
  *level = 0;
  if (attempt->pid == -1 || attempt->cgroup >= 0)
    return "a whole CPU";
  *level = 1;
  if (!attr->exclude_kernel)
    return "the kernel side (exclude_kernel avoids it)";
  if (attr->sample_type & PERF_SAMPLE_PHYS_ADDR)
    return "PERF_SAMPLE_PHYS_ADDR";
  *level = 2;
  return "any event";
}

static void explain_paranoid(const uvperf__attempt_t *attempt) {
  int64_t level, most;
  const char *what = paranoid_need(attempt, &most);

  if (uvperf__system_paranoid(attempt->root, &level) != 0)
    uvperf__attempt_say(
        attempt, UVPERF_CAUSE_PERMISSION,
        "denied without CAP_PERFMON; kernel.perf_event_paranoid could not be "
        "read");
  else if (level > most)
    uvperf__attempt_say(
        attempt, UVPERF_CAUSE_PERMISSION,
        "%s needs kernel.perf_event_paranoid <= %d (it is %lld) or CAP_PERFMON",
        what, (int)most, (long long)level);
  else
    uvperf__attempt_say(
        attempt, UVPERF_CAUSE_PERMISSION,
        "denied without CAP_PERFMON, though kernel.perf_event_paranoid is "
        "%lld: a security module, or a task that is not dumpable",
        (long long)level);
}

static void explain_permission(const uvperf__attempt_t *attempt) {
  if (uvperf__system_has_perfmon(attempt->root) == 1)
    uvperf__attempt_say(
        attempt, UVPERF_CAUSE_PERMISSION,
        "denied in spite of CAP_PERFMON: a user namespace, a security module "
        "or kernel lockdown; run it outside of that");
  else if (is_foreign(attempt))
    uvperf__attempt_say(
        attempt, UVPERF_CAUSE_PERMISSION,
        "the thread belongs to another user: run as that user or with "
        "CAP_PERFMON");
  else if (is_probe(attempt))
    uvperf__attempt_say(
        attempt, UVPERF_CAUSE_PERMISSION,
        "probes need CAP_PERFMON, whatever kernel.perf_event_paranoid is");
  else if (uvperf__attr_value(attempt->attr, UVPERF_ATTR_NAMESPACES))
    uvperf__attempt_say(attempt, UVPERF_CAUSE_PERMISSION,
                        "the namespaces bit needs CAP_PERFMON, whatever "
                        "kernel.perf_event_paranoid is");
  else
    explain_paranoid(attempt);
}

static void explain_eperm(const uvperf__attempt_t *attempt) {
  if (has_seccomp_filter(attempt->root))
    uvperf__attempt_say(
        attempt, UVPERF_CAUSE_NO_PERF,
        "this process has a seccomp filter: let the container's profile allow "
        "perf_event_open");
  else
    explain_permission(attempt);
}

static void explain_enosys(const uvperf__attempt_t *attempt) {
  if (has_seccomp_filter(attempt->root))
    explain_eperm(attempt);
  else
    uvperf__attempt_say(
        attempt, UVPERF_CAUSE_NO_PERF,
        "this kernel has no perf_event_open: it needs CONFIG_PERF_EVENTS");
}

static void explain_enoent(const uvperf__attempt_t *attempt) {
  char pmu[24];

  if (attempt->attr->type == PERF_TYPE_HARDWARE ||
      attempt->attr->type == PERF_TYPE_HW_CACHE ||
      attempt->attr->type == PERF_TYPE_RAW)
    uvperf__attempt_say(
        attempt, UVPERF_CAUSE_NO_EVENT,
        "the CPU's PMU has no such event, or there is no PMU (a virtual "
        "machine?): try a software event such as cpu-clock");
  else if (attempt->cgroup >= 0)
    uvperf__attempt_say(
        attempt, UVPERF_CAUSE_NO_EVENT,
        "no such event, or the cgroup's hierarchy is without perf_event");
  else if (attempt->attr->type < PERF_TYPE_MAX)
    uvperf__attempt_say(attempt, UVPERF_CAUSE_NO_EVENT,
                        "this kernel has no such event");
  else if (uvperf__system_pmu_name(attempt->root, attempt->attr->type, pmu,
                                   sizeof(pmu)) == 0)
    uvperf__attempt_say(
        attempt, UVPERF_CAUSE_NO_EVENT,
        "the PMU has no such event: see its events directory in /sys");
  else
    uvperf__attempt_say(attempt, UVPERF_CAUSE_NO_EVENT,
                        "no PMU has this type: types are the numbers in "
                        "/sys/bus/event_source/devices/*/type");
}

static void explain_enodev(const uvperf__attempt_t *attempt) {
  if (!uvperf__attempt_cpu(attempt, "online", "the CPU is offline"))
    uvperf__attempt_say(attempt, UVPERF_CAUSE_NO_EVENT,
                        "the PMU's device is gone");
}

static void explain_e2big(const uvperf__attempt_t *attempt) {
  uint32_t asked = attempt->asked_size;
  uint32_t known = attempt->attr->size;

  if (asked != 0 && (asked < PERF_ATTR_SIZE_VER0 ||
                     asked > (unsigned long)sysconf(_SC_PAGESIZE))) {
    uvperf__attempt_say(attempt, UVPERF_CAUSE_ARGUMENT,
                        "attr.size %u is not between 64 and a page", asked);
    return;
  }
  uvperf__attempt_say(
      attempt, UVPERF_CAUSE_OLD_KERNEL,
      "the attr has %u bytes, this kernel knows the first %u, and a later one "
      "is not 0: leave newer fields 0",
      asked, known);
  attempt->error->limit = known;
  attempt->error->needed = asked;
}

static void explain_enotsup(const uvperf__attempt_t *attempt) {
  const char *what = "this use of it";

  if (uvperf__attr_value(attempt->attr, UVPERF_ATTR_AUX_OUTPUT) ||
      uvperf__attr_value(attempt->attr, UVPERF_ATTR_AUX_ACTION) ||
      uvperf__attr_value(attempt->attr, UVPERF_ATTR_AUX_SAMPLE_SIZE))
    what = "AUX";
  else if (attempt->attr->sample_type & PERF_SAMPLE_BRANCH_STACK)
    what = "branch stacks";
  else if (attempt->attr->precise_ip)
    what = "this precise_ip: lower it";
  else if (attempt->attr->sample_period != 0)
    what = "sampling: count only, or sample cpu-clock";
  uvperf__attempt_say(attempt, UVPERF_CAUSE_NOT_SUPPORTED,
                      "the PMU cannot do %s", what);
}

static void explain_esrch(const uvperf__attempt_t *attempt) {
  uvperf__attempt_say(
      attempt, UVPERF_CAUSE_NO_TASK,
      "there is no such thread in this PID namespace, or it has ended");
}

/* Reads nothing: there is no fd left to read with. */
static void explain_emfile(const uvperf__attempt_t *attempt) {
  struct rlimit files = {0, 0};

  getrlimit(RLIMIT_NOFILE, &files);
  uvperf__attempt_say(
      attempt, UVPERF_CAUSE_FILES,
      "all %llu fds that RLIMIT_NOFILE allows are open: raise it (hard limit "
      "%llu); each event takes one per CPU",
      (unsigned long long)files.rlim_cur, (unsigned long long)files.rlim_max);
  attempt->error->limit = files.rlim_cur;
  attempt->error->needed = (uint64_t)files.rlim_cur + 1;
}

static void explain_enfile(const uvperf__attempt_t *attempt) {
  uvperf__attempt_say(
      attempt, UVPERF_CAUSE_FILES,
      "the system's table of open files is full: raise fs.file-max");
}

static void explain_enospc(const uvperf__attempt_t *attempt) {
  if (attempt->attr->type == PERF_TYPE_BREAKPOINT)
    uvperf__attempt_say(
        attempt, UVPERF_CAUSE_BREAKPOINT_SLOTS,
        "the CPU's breakpoint slots (4 on x86) are used up, perhaps by a "
        "debugger: close one");
  else
    uvperf__attempt_say(attempt, UVPERF_CAUSE_UNKNOWN,
                        "the PMU has no room left");
}

/* get_callchain_buffers gives EOVERFLOW, older kernels another. */
static int explain_stack(const uvperf__attempt_t *attempt) {
  uint64_t asked =
      uvperf__attr_value(attempt->attr, UVPERF_ATTR_SAMPLE_MAX_STACK);
  int64_t most;

  if (uvperf__system_max_stack(attempt->root, &most) != 0 || most < 0 ||
      asked <= (uint64_t)most)
    return 0;
  uvperf__attempt_say(
      attempt, UVPERF_CAUSE_MAX_STACK,
      "sample_max_stack %llu is above kernel.perf_event_max_stack, %lld: ask "
      "for less or raise it",
      (unsigned long long)asked, (long long)most);
  attempt->error->limit = (uint64_t)most;
  attempt->error->needed = asked;
  return 1;
}

static void explain_enomem(const uvperf__attempt_t *attempt) {
  if (!explain_stack(attempt))
    uvperf__attempt_say(attempt, UVPERF_CAUSE_MEMORY, "out of memory");
}

static void explain_unknown(const uvperf__attempt_t *attempt) {
  uvperf__attempt_say(attempt, UVPERF_CAUSE_UNKNOWN,
                      "perf_event_open gave errno %d", -attempt->code);
}

static void explain_eoverflow(const uvperf__attempt_t *attempt) {
  if (!explain_stack(attempt))
    explain_unknown(attempt);
}

static void explain_ebusy(const uvperf__attempt_t *attempt) {
  uvperf__attempt_say(
      attempt, UVPERF_CAUSE_BUSY,
      "another user holds the PMU exclusively: wait for it to close");
}

static void explain_ebadf(const uvperf__attempt_t *attempt) {
  uvperf__attempt_say(
      attempt, UVPERF_CAUSE_ARGUMENT, "%s",
      attempt->cgroup >= 0
          ? "the cgroup is not an open fd of a cgroup's directory"
          : "the leader is not an open perf event");
}

/* One per errno. */
static const struct {
  int code;
  void (*explain)(const uvperf__attempt_t *attempt);
} handlers[] = {
    {-EACCES, explain_permission},     {-EPERM, explain_eperm},
    {-ENOENT, explain_enoent},         {-ENODEV, explain_enodev},
    {-EINVAL, uvperf__attempt_einval}, {-E2BIG, explain_e2big},
    {-EOPNOTSUPP, explain_enotsup},    {-ESRCH, explain_esrch},
    {-EMFILE, explain_emfile},         {-ENFILE, explain_enfile},
    {-ENOSPC, explain_enospc},         {-ENOMEM, explain_enomem},
    {-EOVERFLOW, explain_eoverflow},   {-EBUSY, explain_ebusy},
    {-EBADF, explain_ebadf},           {-ENOSYS, explain_enosys},
};

int uvperf__explain_open(uvperf_error_t *error, int code, const char *root,
                         const struct perf_event_attr *attr,
                         uint32_t asked_size, int pid, int cpu, int cgroup) {
  uvperf__attempt_t attempt = {error, root, attr, asked_size,
                               code,  pid,  cpu,  cgroup};
  size_t i;

  if (error == NULL)
    return code;
  for (i = 0; i < COUNT_OF(handlers) && handlers[i].code != code; i++)
    continue;
  if (i < COUNT_OF(handlers))
    handlers[i].explain(&attempt);
  else
    explain_unknown(&attempt);
  return code;
}
