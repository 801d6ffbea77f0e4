/* SPDX-License-Identifier: MIT */
/* Explains all errnos for breakpoints (kernel/events/hw_breakpoint.c, and the
 * processor's code that it calls), and for uprobes and kprobes
 * (perf_uprobe_init and perf_kprobe_init in kernel/trace/trace_event_perf.c,
 * and the functions that they call). */
#include <errno.h>

#include "explain/internal.h"
#include "host/pmu.h"
#include "util/bytes.h"

/* -- breakpoints ----------------------------------------------------------- */

/* <linux/hw_breakpoint.h>. */
#define BREAKPOINT_READ  1
#define BREAKPOINT_WRITE 2
#define BREAKPOINT_X     4

#if defined(__x86_64__) || defined(__i386__)
#define IS_X86 1
#else
#define IS_X86 0
#endif

#if defined(__aarch64__)
#define IS_ARM64 1
#else
#define IS_ARM64 0
#endif

/* HBP_NUM of arch/x86/include/asm/hw_breakpoint.h. */
#define X86_SLOTS 4

static const char *type_fault(uint32_t type) {
  if (type == 0 || type > BREAKPOINT_X)
    return "bp_type must be HW_BREAKPOINT_W, _RW or _X";
  if (IS_X86 && type == BREAKPOINT_READ)
    return "x86 has no breakpoints for reads only; use HW_BREAKPOINT_RW";
  return NULL;
}

/* arch_build_bp_info and hw_breakpoint_arch_parse of x86. Other processors
 * accept other lengths, for example 3 bytes on arm64. */
static const char *place_fault(const struct perf_event_attr *attr) {
  if (IS_X86 && attr->bp_type == BREAKPOINT_X && attr->bp_len != sizeof(long))
    return "bp_len must be sizeof(long) for HW_BREAKPOINT_X";
  if (attr->bp_len == 0 || (IS_X86 && uvperf__bits(attr->bp_len) != 1))
    return "bp_len must be 1, 2, 4 or 8";
  if (IS_X86 && attr->bp_type != BREAKPOINT_X &&
      attr->bp_addr % attr->bp_len != 0)
    return "bp_addr must be a multiple of bp_len";
  /* This fault is not found on 32-bit kernels, because those do not all begin
   * at the same address. */
  if (attr->exclude_kernel && attr->bp_addr >> 63)
    return "bp_addr is in the kernel, which exclude_kernel excludes; clear "
           "exclude_kernel";
  return NULL;
}

static int explain_slots(const uvperf__open_call_t *call) {
  if (call->attr->type != PERF_TYPE_BREAKPOINT)
    return 0;
  uvperf__open_say(
      call, UVPERF_CAUSE_BREAKPOINT_SLOTS,
      "all %sbreakpoint slots of the CPU are in use by this thread, CPU-wide "
      "events or a debugger; close one",
      IS_X86 ? "4 " : "");
  return IS_X86 ? uvperf__open_limit(call, X86_SLOTS, X86_SLOTS + 1) : 1;
}

const char *uvperf__breakpoint_fault(const struct perf_event_attr *attr,
                                     int code) {
  const char *fault;

  if (attr->bp_len > 8)
    return "this CPU has no breakpoints longer than 8 bytes; use bp_len 1, 2, "
           "4 or 8";
  if (code == -EOPNOTSUPP)
    return NULL;
  fault = type_fault(attr->bp_type);
  return fault != NULL ? fault : place_fault(attr);
}

static int explain_breakpoint(const uvperf__open_call_t *call) {
  return call->attr->type == PERF_TYPE_BREAKPOINT &&
         uvperf__open_fault(call,
                            call->code == -EINVAL ? UVPERF_CAUSE_ARGUMENT
                                                  : UVPERF_CAUSE_NOT_SUPPORTED,
                            uvperf__breakpoint_fault(call->attr, call->code));
}

/* hw_breakpoint_arch_parse of arm64 checks this before capabilities. */
static int is_kernel_address_of_a_task(const uvperf__open_call_t *call) {
  return IS_ARM64 && call->attr->type == PERF_TYPE_BREAKPOINT &&
         call->pid != -1 && call->attr->bp_addr >> 63;
}

/* -- all ------------------------------------------------------------------- */

/* The kernel's own ENOTSUPP, which has no name in user space. */
#define KERNEL_ENOTSUPP 524

int uvperf__open_is_probe(const uvperf__open_call_t *call, const char *pmu) {
  return uvperf__pmu_is(call->attr->type, pmu);
}

static int is_uprobe(const uvperf__open_call_t *call) {
  return uvperf__open_is_probe(call, "uprobe");
}

static int is_kprobe(const uvperf__open_call_t *call) {
  return uvperf__open_is_probe(call, "kprobe");
}

#define LONG_PATH   "the path in uprobe_path (config1) is too long"
#define NO_FUNCTION "the kernel has no such function; see /proc/kallsyms"
#define BAD_FUNCTION                                                           \
  "the function may not be probed, or not at this probe_offset; see "          \
  "kprobes/blacklist in debugfs"

static const uvperf__open_reason_t reasons[] = {
    {-ENOSPC, explain_slots, 0, NULL},
    {-EINVAL, explain_breakpoint, 0, NULL},
    {-EOPNOTSUPP, explain_breakpoint, 0, NULL},
    {-EINVAL, is_kernel_address_of_a_task, UVPERF_CAUSE_NOT_SUPPORTED,
     "on arm64 a breakpoint at a kernel address needs a whole CPU; use pid -1 "
     "and a CPU"},
    {-ENOENT, is_uprobe, UVPERF_CAUSE_NO_EVENT,
     "the file that uprobe_path (config1) names does not exist"},
    {-EFAULT, is_uprobe, UVPERF_CAUSE_ARGUMENT,
     "uprobe_path (config1) must point to a path"},
    {-E2BIG, is_uprobe, UVPERF_CAUSE_ARGUMENT, LONG_PATH},
    {-ENAMETOOLONG, is_uprobe, UVPERF_CAUSE_ARGUMENT, LONG_PATH},
    {-EINVAL, is_uprobe, UVPERF_CAUSE_ARGUMENT,
     "uprobe_path (config1) must name a regular file, and probe_offset "
     "(config2) an instruction in it"},
    {-EIO, is_uprobe, UVPERF_CAUSE_ARGUMENT,
     "the file system of uprobe_path (config1) does not support uprobes"},
    {-KERNEL_ENOTSUPP, is_uprobe, UVPERF_CAUSE_ARGUMENT,
     "the instruction at probe_offset (config2) cannot be probed"},
    {-ENOENT, is_kprobe, UVPERF_CAUSE_NO_EVENT, NO_FUNCTION},
    {-EADDRNOTAVAIL, is_kprobe, UVPERF_CAUSE_NO_EVENT, NO_FUNCTION},
    {-EFAULT, is_kprobe, UVPERF_CAUSE_ARGUMENT,
     "kprobe_func (config1) must point to a function's name, or be 0"},
    {-E2BIG, is_kprobe, UVPERF_CAUSE_ARGUMENT,
     "the name in kprobe_func (config1) is too long"},
    {-EINVAL, is_kprobe, UVPERF_CAUSE_ARGUMENT, BAD_FUNCTION},
    {-EILSEQ, is_kprobe, UVPERF_CAUSE_ARGUMENT, BAD_FUNCTION},
};

int uvperf__open_probe(const uvperf__open_call_t *call) {
  return uvperf__open_find(call, reasons, sizeof(reasons) / sizeof(reasons[0]));
}
