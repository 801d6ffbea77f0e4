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

/* The program's open function may ask another process, so the rights and fds of
 * this process do not explain a refusal. */
static int is_by_program(const uvperf__open_call_t *call) {
  return call->is_by_program;
}

/* perf_copy_attr returns ENOSYS if the processor's code has no user stack dumps
 * or no registers. */
static int has_no_registers(const uvperf__open_call_t *call) {
  const uint64_t fields =
      PERF_SAMPLE_STACK_USER | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_REGS_INTR;

  return (call->attr->sample_type & fields) &&
         uvperf__sys_open(NULL, 0, -1, -1, 0) != -ENOSYS;
}

static int has_paranoid(const uvperf__open_call_t *call) {
  int64_t level;

  (void)call;
  return uvperf__system_number(UVPERF__PARANOID, &level) == 0;
}

/* Events that every kernel has: software events up to PERF_COUNT_SW_BPF_OUTPUT,
 * of Linux 4.4. s390 has no breakpoints. */
static int is_sure(const struct perf_event_attr *attr) {
  return attr->type == PERF_TYPE_TRACEPOINT ||
         (attr->type == PERF_TYPE_BREAKPOINT && !IS_S390) ||
         (attr->type == PERF_TYPE_SOFTWARE &&
          attr->config <= PERF_COUNT_SW_BPF_OUTPUT);
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
  uint32_t type = call->attr->type;
  char pmu[24];

  if (type == PERF_TYPE_HARDWARE || type == PERF_TYPE_HW_CACHE ||
      type == PERF_TYPE_RAW)
    return uvperf__open_say(
               call, UVPERF_CAUSE_NO_EVENT,
               "the CPU's PMU has no such event, or there is no PMU (virtual "
               "machine?); try cpu-clock") &&
           uvperf__open_or_allow(call, UVPERF_FALLBACK_CLOCK);
  if (call->cgroup >= 0 && is_sure(call->attr))
    return explain_cgroup(call);
  return uvperf__open_say(
      call, UVPERF_CAUSE_NO_EVENT, "%s",
      type == PERF_TYPE_BREAKPOINT
          ? "this kernel has no breakpoints (on s390 no kernel has)"
      : type < PERF_TYPE_MAX ? "this kernel has no such event"
      : uvperf__pmu_name(type, pmu, sizeof(pmu)) == 0
          ? "the PMU has no such event; see its events directory in /sys"
          : "no PMU has this type; the types are in "
            "/sys/bus/event_source/devices/*/type");
}

static int explain_offline(const uvperf__open_call_t *call) {
  return uvperf__open_cpu(call, "online", "the CPU is offline");
}

static int has_leader(const uvperf__open_call_t *call) {
  return call->leader != NULL;
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
           uvperf__open_or_allow(call, UVPERF_FALLBACK_CLOCK);
  return uvperf__open_say(call, UVPERF_CAUSE_NOT_SUPPORTED,
                          "the PMU does not support %s", what);
}

static int is_below_pids(const uvperf__open_call_t *call) {
  return call->pid < -1;
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

  if (uvperf__system_number(UVPERF__MAX_STACK, &most) != 0 || most < 0 ||
      asked <= (uint64_t)most)
    return 0;
  uvperf__open_say(
      call, UVPERF_CAUSE_MAX_STACK,
      "attr.sample_max_stack %llu is above kernel.perf_event_max_stack, %lld; "
      "lower it or raise the limit",
      (unsigned long long)asked, (long long)most);
  return uvperf__open_limit(call, (uint64_t)most, asked);
}

static int is_cgroup(const uvperf__open_call_t *call) {
  return call->cgroup >= 0;
}

static int is_closed_cgroup(const uvperf__open_call_t *call) {
  return call->cgroup >= 0 && fcntl(call->cgroup, F_GETFD) < 0;
}

#define REFUSED                                                                \
  "it returned errno %d, so the opener refuses this event or may not open it"
#define NO_FDS                                                                 \
  "it returned errno %d, so this process or the one that opens events for it " \
  "has no fds left; raise RLIMIT_NOFILE or fs.file-max"

static const uvperf__open_reason_t reasons[] = {
    {-EACCES, is_by_program, UVPERF_CAUSE_PERMISSION, REFUSED},
    {-EPERM, is_by_program, UVPERF_CAUSE_PERMISSION, REFUSED},
    {-ENOSYS, is_by_program, UVPERF_CAUSE_PERMISSION, REFUSED},
    {-EMFILE, is_by_program, UVPERF_CAUSE_FILES, NO_FDS},
    {-ENFILE, is_by_program, UVPERF_CAUSE_FILES, NO_FDS},
    {-ENOTTY, is_by_program, UVPERF_CAUSE_ARGUMENT,
     "it returned a number that is not the fd of an open perf event"},
    {-EEXIST, is_by_program, UVPERF_CAUSE_ARGUMENT,
     "it returned an event that it had opened in an earlier call; open a new "
     "event in each call"},
    {-E2BIG, is_by_program, UVPERF_CAUSE_OLD_KERNEL,
     "it returned errno %d; clear newer fields of the attr, or put fewer "
     "events into the group"},
    {-EACCES, uvperf__open_denied, 0, NULL},
    {-EPERM, uvperf__open_denied, 0, NULL},
    {-EINVAL, uvperf__open_einval, 0, NULL},
    {0, uvperf__open_probe, 0, NULL},
    {-ENOENT, explain_enoent, 0, NULL},
    {-ENODEV, explain_offline, 0, NULL},
    {-ENODEV, uvperf__open_dead_group, 0, NULL},
    {-ENODEV, has_leader, UVPERF_CAUSE_NO_EVENT,
     "the device of the PMU, or of the leader's, is gone, or does not serve "
     "this CPU"},
    {-ENODEV, NULL, UVPERF_CAUSE_NO_EVENT,
     "the device of the PMU is gone, or does not serve this CPU"},
    {-E2BIG, explain_e2big, 0, NULL},
    {-EOPNOTSUPP, explain_enotsup, 0, NULL},
    {-ESRCH, is_below_pids, UVPERF_CAUSE_ARGUMENT,
     "pid is below -1; use a thread's id, 0 (the caller) or -1 (every task)"},
    {-ESRCH, NULL, UVPERF_CAUSE_NO_TASK,
     "this thread does not exist in this PID namespace, or has ended"},
    {-EMFILE, explain_emfile, 0, NULL},
    {-ENFILE, explain_enfile, 0, NULL},
    {-ENOSPC, NULL, UVPERF_CAUSE_UNKNOWN,
     "the PMU has no room left; close another of its events"},
    {-ENOMEM, explain_stack, 0, NULL},
    {-ENOMEM, NULL, UVPERF_CAUSE_MEMORY,
     "the kernel is out of memory; close some events"},
    {-EOVERFLOW, explain_stack, 0, NULL},
    /* css_tryget_online_from_dir in kernel/cgroup/cgroup.c accepts only
     * directories. */
    {-EBADF, is_closed_cgroup, UVPERF_CAUSE_ARGUMENT,
     "the cgroup's fd is not open; open(2) the cgroup's directory"},
    {-EBADF, is_cgroup, UVPERF_CAUSE_ARGUMENT,
     "the cgroup's fd is not the directory of a cgroup; open(2) that"},
    {-EBADF, NULL, UVPERF_CAUSE_ARGUMENT,
     "the leader is not an open perf event"},
    /* exclusive_event_init and exclusive_event_installable return this code,
     * because tracing PMUs accept only one user. x86_reserve_hardware returns
     * it too, for the counters of a CPU. */
    {-EBUSY, NULL, UVPERF_CAUSE_BUSY,
     "another user holds the PMU exclusively (a tracer, a virtual machine or "
     "the firmware); wait until it is free"},
    /* Even with ENOSYS the system call may exist. */
    {-ENOSYS, uvperf__open_filtered, 0, NULL},
    {-ENOSYS, has_no_registers, UVPERF_CAUSE_NOT_SUPPORTED,
     "this architecture cannot copy stacks or registers; leave out "
     "PERF_SAMPLE_STACK_USER, _REGS_USER and _REGS_INTR"},
    {-ENOSYS, has_paranoid, UVPERF_CAUSE_NO_PERF,
     "an emulator or sandbox hides the kernel's perf_event_open(2); run the "
     "program outside it"},
    {-ENOSYS, NULL, UVPERF_CAUSE_NO_PERF,
     "this kernel has no perf_event_open(2); it needs CONFIG_PERF_EVENTS"},
    {0, is_by_program, UVPERF_CAUSE_UNKNOWN, "it returned errno %d"},
    {0, NULL, UVPERF_CAUSE_UNKNOWN, "perf_event_open(2) returned errno %d"},
};

int uvperf__explain_open(const uvperf__open_call_t *call) {
  if (call->error != NULL)
    uvperf__open_find(call, reasons, COUNT_OF(reasons));
  return call->code;
}
