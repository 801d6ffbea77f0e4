/* SPDX-License-Identifier: MIT */
/* Turns an errno of perf_event_open(2), and the facts about this machine in
 * /proc and /sys, into a cause, a reason and a remedy. If possible the reason
 * is a known fact. Otherwise it is the most likely reason. The event is not
 * tried again. perf_event_open(2) is called only to find out whether the system
 * call exists. open_einval.c explains EINVAL, and open_denied.c explains denied
 * events. */

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "attr/attr.h"
#include "explain/internal.h"
#include "host/pmu.h"
#include "host/system.h"
#include "sys/sys.h"
#include "util/file.h"

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

#if defined(__s390__)
#define IS_S390 1
#else
#define IS_S390 0
#endif

/* Even with ENOSYS the system call may exist: perf_copy_attr returns ENOSYS if
 * the processor's code has no user stack dumps or no registers. */
static int explain_enosys(const uvperf__open_call_t *call) {
  const uint64_t fields =
      PERF_SAMPLE_STACK_USER | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_REGS_INTR;
  int64_t level;

  if ((call->attr->sample_type & fields) &&
      uvperf__sys_open(NULL, 0, -1, -1, 0) != -ENOSYS)
    return uvperf__open_say(
        call, UVPERF_CAUSE_NOT_SUPPORTED,
        "this architecture cannot copy stacks or registers; leave out "
        "PERF_SAMPLE_STACK_USER, _REGS_USER and _REGS_INTR");
  if (uvperf__system_paranoid(&level) == 0)
    return uvperf__open_say(call, UVPERF_CAUSE_NO_PERF,
                            "an emulator or sandbox hides the kernel's "
                            "perf_event_open(2); run the program outside it");
  return uvperf__open_say(
      call, UVPERF_CAUSE_NO_PERF,
      "this kernel has no perf_event_open(2); it needs CONFIG_PERF_EVENTS");
}

/* Events that every kernel has: software events up to PERF_COUNT_SW_BPF_OUTPUT,
 * of Linux 4.4. s390 has no breakpoints. */
static int is_sure(const struct perf_event_attr *attr) {
  return attr->type == PERF_TYPE_TRACEPOINT ||
         (attr->type == PERF_TYPE_BREAKPOINT && !IS_S390) ||
         (attr->type == PERF_TYPE_SOFTWARE &&
          attr->config <= PERF_COUNT_SW_BPF_OUTPUT);
}

/* A clock can replace only cycles: see fallback.c. */
static int or_allow_clock(const uvperf__open_call_t *call) {
  if (call->attr->type != PERF_TYPE_HARDWARE ||
      (uint32_t)call->attr->config != PERF_COUNT_HW_CPU_CYCLES)
    return 1;
  return uvperf__open_or_allow(call, UVPERF_FALLBACK_CLOCK);
}

/* The kernel returns the same code for both. /proc shows a directory that was
 * removed with this mark. */
static int explain_cgroup(const uvperf__open_call_t *call) {
  static const char mark[] = " (deleted)";
  char path[PATH_MAX];
  int rc = uvperf__file_path_of(call->cgroup, path, sizeof(path));
  size_t length = rc == 0 ? strlen(path) : 0;

  if (length >= strlen(mark) && strcmp(path + length - strlen(mark), mark) == 0)
    return uvperf__open_say(call, UVPERF_CAUSE_NO_TASK,
                            "the cgroup was removed");
  return uvperf__open_say(call, UVPERF_CAUSE_ARGUMENT,
                          "the cgroup %sis not in the hierarchy that has "
                          "perf_event (see /proc/cgroups; 0 is cgroup v2)",
                          rc == 0 ? "" : "was removed, or ");
}

/* perf_init_event looks for the PMU before perf_cgroup_connect looks for the
 * cgroup. */
static int explain_enoent(const uvperf__open_call_t *call) {
  const struct perf_event_attr *attr = call->attr;
  char pmu[24];

  if (attr->type == PERF_TYPE_HARDWARE || attr->type == PERF_TYPE_HW_CACHE ||
      attr->type == PERF_TYPE_RAW)
    return uvperf__open_say(
               call, UVPERF_CAUSE_NO_EVENT,
               "the CPU's PMU has no such event, or there is no PMU (virtual "
               "machine?); try cpu-clock") &&
           or_allow_clock(call);
  if (call->cgroup >= 0 && is_sure(attr))
    return explain_cgroup(call);
  if (attr->type == PERF_TYPE_BREAKPOINT)
    return uvperf__open_say(
        call, UVPERF_CAUSE_NO_EVENT,
        "this kernel has no breakpoints (on s390 no kernel has)");
  if (attr->type < PERF_TYPE_MAX)
    return uvperf__open_say(call, UVPERF_CAUSE_NO_EVENT,
                            "this kernel has no such event");
  if (uvperf__pmu_name(attr->type, pmu, sizeof(pmu)) == 0)
    return uvperf__open_say(
        call, UVPERF_CAUSE_NO_EVENT,
        "the PMU has no such event; see its events directory in /sys");
  return uvperf__open_say(call, UVPERF_CAUSE_NO_EVENT,
                          "no PMU has this type; the types are in "
                          "/sys/bus/event_source/devices/*/type");
}

static int explain_enodev(const uvperf__open_call_t *call) {
  return uvperf__open_cpu(call, "online", "the CPU is offline") ||
         uvperf__open_dead_group(call) ||
         uvperf__open_say(call, UVPERF_CAUSE_NO_EVENT,
                          "the device of the PMU%s is gone, or does not "
                          "serve this CPU",
                          call->leader != NULL ? ", or of the leader's," : "");
}

/* perf_event_validate_size returns E2BIG too, and leaves attr.size
 * unchanged. */
static int explain_e2big(const uvperf__open_call_t *call) {
  uint32_t asked = call->asked_size;
  uint32_t known = call->attr->size;

  if (asked != 0 && (asked < PERF_ATTR_SIZE_VER0 ||
                     asked > (unsigned long)sysconf(_SC_PAGESIZE)))
    return uvperf__open_say(call, UVPERF_CAUSE_ARGUMENT,
                            "attr.size %u is not between 64 and the page size; "
                            "use sizeof(struct perf_event_attr)",
                            asked);
  if (asked == known)
    return uvperf__open_say(
        call, UVPERF_CAUSE_ARGUMENT,
        "reading the group would return more than 16 KiB; use fewer events or "
        "fewer bits of attr.read_format");
  uvperf__open_say(
      call, UVPERF_CAUSE_OLD_KERNEL,
      "attr.size is %u, this kernel knows %u bytes, and a later byte is not 0; "
      "clear the newer fields",
      asked, known);
  uvperf__open_or_allow(call, UVPERF_FALLBACK_KERNEL);
  return uvperf__open_limit(call, known, asked);
}

/* Bits of registers that only some PMUs have: PERF_REG_EXTENDED_MASK of x86,
 * XMM0 and up. */
static int has_extended_registers(const uvperf__open_call_t *call) {
#if defined(__x86_64__)
  return (uvperf__attr_value(call->attr, UVPERF_ATTR_SAMPLE_REGS_USER) |
          uvperf__attr_value(call->attr, UVPERF_ATTR_SAMPLE_REGS_INTR)) >>
             32 !=
         0;
#else
  (void)call;
  return 0;
#endif
}

static int explain_enotsup(const uvperf__open_call_t *call) {
  const char *what = "everything in the attr; set fewer bits";

  if (call->attr->sample_type & PERF_SAMPLE_BRANCH_STACK)
    what = call->attr->type == PERF_TYPE_HARDWARE
               ? "branch stacks; leave out PERF_SAMPLE_BRANCH_STACK"
               : "branch stacks; leave out PERF_SAMPLE_BRANCH_STACK, or sample "
                 "a hardware event";
  else if (has_extended_registers(call))
    what = "XMM registers; leave out the registers above bit 31";
  else if (uvperf__attr_value(call->attr, UVPERF_ATTR_AUX_OUTPUT) ||
           uvperf__attr_value(call->attr, UVPERF_ATTR_AUX_ACTION) ||
           uvperf__attr_value(call->attr, UVPERF_ATTR_AUX_SAMPLE_SIZE))
    what = "AUX; use a PMU that has an AUX area, such as intel_pt";
  else if (call->attr->precise_ip)
    return uvperf__open_say(call, UVPERF_CAUSE_NOT_SUPPORTED,
                            "the PMU does not support this precise_ip; lower "
                            "it") &&
           uvperf__open_or_allow(call, UVPERF_FALLBACK_PRECISE);
  else if (call->attr->sample_period != 0)
    return uvperf__open_say(call, UVPERF_CAUSE_NOT_SUPPORTED,
                            "the PMU does not support sampling; count only, or "
                            "sample cpu-clock") &&
           or_allow_clock(call);
  return uvperf__open_say(call, UVPERF_CAUSE_NOT_SUPPORTED,
                          "the PMU does not support %s", what);
}

static int explain_esrch(const uvperf__open_call_t *call) {
  if (call->pid < -1)
    return uvperf__open_say(call, UVPERF_CAUSE_ARGUMENT,
                            "pid is below -1; use a thread's id, 0 (the "
                            "caller) or -1 (every task)");
  return uvperf__open_say(
      call, UVPERF_CAUSE_NO_TASK,
      "this thread does not exist in this PID namespace, or has ended");
}

static int explain_emfile(const uvperf__open_call_t *call) {
  uvperf__fd_limits_t fds;

  uvperf__fd_limits(&fds);
  uvperf__open_say(call, UVPERF_CAUSE_FILES,
                   "all %llu fds of RLIMIT_NOFILE are in use; raise it (hard "
                   "limit %llu), as each event takes one per CPU",
                   (unsigned long long)fds.soft, (unsigned long long)fds.hard);
  return uvperf__open_limit(call, fds.soft, fds.needed);
}

static int explain_enfile(const uvperf__open_call_t *call) {
  int64_t most = 0;

  uvperf__system_number("/proc/sys/fs/file-max", &most);
  uvperf__open_say(call, UVPERF_CAUSE_FILES,
                   "the system's table of open files is full; raise "
                   "fs.file-max (%lld) or close files",
                   (long long)most);
  return uvperf__open_limit(call, (uint64_t)most,
                            most == 0 ? 0 : (uint64_t)most + 1);
}

/* get_callchain_buffers returns EOVERFLOW. In older kernels it returns
 * ENOMEM. */
static int explain_stack(const uvperf__open_call_t *call) {
  uint64_t asked = uvperf__attr_value(call->attr, UVPERF_ATTR_SAMPLE_MAX_STACK);
  int64_t most;

  if (uvperf__system_max_stack(&most) != 0 || most < 0 ||
      asked <= (uint64_t)most)
    return 0;
  uvperf__open_say(
      call, UVPERF_CAUSE_MAX_STACK,
      "attr.sample_max_stack %llu is above kernel.perf_event_max_stack, %lld; "
      "lower it or raise the limit",
      (unsigned long long)asked, (long long)most);
  return uvperf__open_limit(call, (uint64_t)most, asked);
}

/* css_tryget_online_from_dir in kernel/cgroup/cgroup.c accepts only
 * directories. */
static int explain_ebadf(const uvperf__open_call_t *call) {
  const char *fault = "the leader is not an open perf event";

  if (call->cgroup >= 0 && fcntl(call->cgroup, F_GETFD) < 0)
    fault = "the cgroup's fd is not open; open(2) the cgroup's directory";
  else if (call->cgroup >= 0)
    fault = "the cgroup's fd is not the directory of a cgroup; open(2) that";
  return uvperf__open_fault(call, UVPERF_CAUSE_ARGUMENT, fault);
}

/* Reasons that depend on the opener. The program's open function may ask
 * another process, so the rights and fds of this process do not explain a
 * refusal. */
static int explain_program(const uvperf__open_call_t *call) {
  switch (call->code) {
    case -EACCES:
    case -EPERM:
    case -ENOSYS:
      return uvperf__open_say(call, UVPERF_CAUSE_PERMISSION,
                              "it returned errno %d, so the opener refuses "
                              "this event or may not open it",
                              -call->code);
    case -EMFILE:
    case -ENFILE:
      return uvperf__open_say(
          call, UVPERF_CAUSE_FILES,
          "it returned errno %d, so this process or the one that opens events "
          "for it has no fds left; raise RLIMIT_NOFILE or fs.file-max",
          -call->code);
    case -ENOTTY:
      return uvperf__open_say(
          call, UVPERF_CAUSE_ARGUMENT,
          "it returned a number that is not the fd of an open perf event");
    case -EEXIST:
      return uvperf__open_say(
          call, UVPERF_CAUSE_ARGUMENT,
          "it returned an event that it had opened in an earlier call; open a "
          "new event in each call");
    case -E2BIG:
      return uvperf__open_say(call, UVPERF_CAUSE_OLD_KERNEL,
                              "it returned errno %d; clear newer fields of the "
                              "attr, or put fewer events into the group",
                              -call->code);
    default:
      return 0;
  }
}

/* The first function that knows the reason counts. */
static const struct {
  int code;
  int (*explain)(const uvperf__open_call_t *call);
} handlers[] = {
    {-EACCES, uvperf__open_denied},
    {-EPERM, uvperf__open_denied},
    {-ENOENT, uvperf__open_probe},
    {-ENOENT, explain_enoent},
    {-ENODEV, explain_enodev},
    {-EINVAL, uvperf__open_einval},
    {-E2BIG, uvperf__open_probe},
    {-E2BIG, explain_e2big},
    {-EOPNOTSUPP, uvperf__open_breakpoint},
    {-EOPNOTSUPP, explain_enotsup},
    {-ESRCH, explain_esrch},
    {-EMFILE, explain_emfile},
    {-ENFILE, explain_enfile},
    {-ENOSPC, uvperf__open_breakpoint},
    {-ENOMEM, explain_stack},
    {-EOVERFLOW, explain_stack},
    {-EBADF, explain_ebadf},
    {-ENOSYS, uvperf__open_filtered},
    {-ENOSYS, explain_enosys},
};

/* The reasons of codes that have only one reason, and a last reason for some
 * codes of the first table. */
static const struct {
  int code;
  int cause;
  const char *reason;
} reasons[] = {
    {-ENOSPC, UVPERF_CAUSE_UNKNOWN,
     "the PMU has no room left; close another of its events"},
    {-ENOMEM, UVPERF_CAUSE_MEMORY,
     "the kernel is out of memory; close some events"},
    /* exclusive_event_init and exclusive_event_installable return this code,
     * because tracing PMUs accept only one user. x86_reserve_hardware returns
     * it too, for the counters of a CPU. */
    {-EBUSY, UVPERF_CAUSE_BUSY,
     "another user holds the PMU exclusively (a tracer, a virtual machine or "
     "the firmware); wait until it is free"},
};

static int open_explain(const uvperf__open_call_t *call) {
  size_t i;

  if (call->is_by_program && explain_program(call))
    return 1;
  for (i = 0; i < COUNT_OF(handlers); i++)
    if (handlers[i].code == call->code && handlers[i].explain(call))
      return 1;
  for (i = 0; i < COUNT_OF(reasons); i++)
    if (reasons[i].code == call->code)
      return uvperf__open_say(call, reasons[i].cause, "%s", reasons[i].reason);
  return uvperf__open_probe(call) ||
         uvperf__open_say(call, UVPERF_CAUSE_UNKNOWN, "%s returned errno %d",
                          call->is_by_program ? "it" : "perf_event_open(2)",
                          -call->code);
}

int uvperf__explain_open(const uvperf__open_call_t *call) {
  if (call->error != NULL)
    open_explain(call);
  return call->code;
}
